"""Maintenance that dies at a counted effect: what is run, who dies where, and what a scope holds afterwards.

Also a program, for a process that really dies: `python -m tests.maintenance.killing URL USER SCENARIO AT WHEN`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from typing import Any

import redis

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.effects import AskModel, Effect, drive
from impressmem_integrations.maintenance import decide
from impressmem_integrations.maintenance.flow import AskReview, maintain
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from impressmem_integrations.tools.calls import read_answer
from tests.dumps import read
from tests.scripted import Scripted, calls, impression, merge, said, save

Answered = Callable[[Effect[Any]], Any]

TALK = [*said("I moved to Oslo"), *said("My cat is called Tom"), *said("I quit my job at Acme")]
ANSWER = calls(
    *save(impression("HOME", "lives in Oslo"), impression("CAT", "has a cat", pin=True))["tool_calls"],
    merge("clue", ["CAT-OLD"], "CAT", new_content="has a cat called Tom"),
)
_WRITTEN = json.dumps(
    {
        "calls": [
            {"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
            for call in ANSWER["tool_calls"]
        ]
    }
)
SPENT = {"prompt_tokens": 900, "completion_tokens": 60}
ROOMY, TIGHT = 100_000, 6_000
"""Bounds of a day that allow many questions, and one only."""


class Killed(BaseException):
    """Stands for a process that dies."""


def model(question: AskModel) -> dict[str, Any]:
    """Answers with calls; in JSON it needs to be told once. The same question gets the same answer, in any process."""
    if question.tools is not None:
        return {**ANSWER, "usage": SPENT}
    told = "Your last answer could not be used" in question.messages[-1]["content"]
    return {"content": _WRITTEN if told else f"Sure! {_WRITTEN}", "usage": SPENT}


def one_turn(store: ImpressionStore, answered: Answered) -> Report:
    return drive(maintain(store._bound, TALK[:2]), answered)


def three_turns(store: ImpressionStore, answered: Answered) -> Report:
    return drive(maintain(store._bound, TALK), answered)


def turn_by_turn(store: ImpressionStore, answered: Answered) -> Report:
    settings = Settings(request_budget_units=40)
    return drive(maintain(store._bound, TALK, settings=settings), answered)


def reviewed(store: ImpressionStore, answered: Answered) -> Report:
    return drive(maintain(store._bound, TALK[:2], review="ask"), answered)


def collected_and_applied(store: ImpressionStore, answered: Answered) -> Report:
    report = drive(maintain(store._bound, TALK[:2], review="collect"), answered)
    for plan in drive(decide.plans(store._bound), answered):
        report = drive(decide.apply(store._bound, plan), answered)
    return report


def collected_and_rejected(store: ImpressionStore, answered: Answered) -> Report:
    report = drive(maintain(store._bound, TALK[:2], review="collect"), answered)
    for plan in drive(decide.plans(store._bound), answered):
        drive(decide.reject(store._bound, plan), answered)
    return report


def json_repaired(store: ImpressionStore, answered: Answered) -> Report:
    return drive(maintain(store._bound, TALK[:2], mode="json"), answered)


def bounded(store: ImpressionStore, answered: Answered) -> Report:
    settings = Settings(max_tokens_per_day=ROOMY)
    return drive(maintain(store._bound, TALK[:2], mode="json", settings=settings), answered)


def tightly_bounded(store: ImpressionStore, answered: Answered) -> Report:
    return drive(maintain(store._bound, TALK[:2], settings=Settings(max_tokens_per_day=TIGHT)), answered)


def ladder(store: ImpressionStore, answered: Answered) -> Report:
    settings = Settings(max_tokens_per_day=0, fallback=Scripted())
    return drive(maintain(store._bound, TALK[:2], settings=settings), answered)


SCENARIOS = {
    run.__name__: run
    for run in (
        one_turn,
        three_turns,
        turn_by_turn,
        reviewed,
        collected_and_applied,
        collected_and_rejected,
        json_repaired,
        bounded,
        ladder,
    )
}


def fresh(client: Any, user: str) -> ImpressionStore:
    """A memory with one note, which the answer merges away."""
    store = ImpressionStore(client=client, user=user)
    store.save("CAT-OLD", "cat: Tom", category="Pets", labels=["Cat"])
    return store


def run_killed(
    store: ImpressionStore,
    run: Callable[[ImpressionStore, Answered], Report],
    at: int = 0,
    *,
    after: bool = False,
    die: Callable[[], Any] | None = None,
) -> int:
    """Run a scenario and die at effect number `at` (0: never), before it is carried out or after. Returns the count."""
    count = 0

    def killed() -> None:
        if die is not None:
            die()
        raise Killed

    def answered(effect: Effect[Any]) -> Any:
        nonlocal count
        count += 1
        if count == at and not after:
            killed()
        if isinstance(effect, AskModel):
            reply: Any = read_answer(model(effect))
        elif isinstance(effect, AskReview):
            reply = effect.plan
        else:
            reply = store._answer(effect)
        if count == at and after:
            killed()
        return reply

    with contextlib.suppress(Killed):
        run(store, answered)
    return count


_TIME = re.compile(r"1[5-9]\d{11}(?:\.\d+)?")
_FACTS = re.compile(r"(?:\d+:)?([\w-]{11} T) -?\d+ -?\d+ ")
"""Digest, creation, and what is told as differences from it; in a before-image with its length."""


def state(store: ImpressionStore) -> Any:
    """Every key that a scope holds with all that is in it, but times, the salt, and the account of model calls."""
    client = store._connection.client()
    prefix = f"impressmem:1:{{{store.scope.tag}}}:".encode()
    found = {}
    for key in client.scan_iter(prefix + b"*"):
        name = key.removeprefix(prefix).decode()
        held = read(client, key, client.type(key))
        if name == "meta":
            held = {field: value for field, value in held.items() if field != b"salt"}
        if name.endswith(":strength"):
            held = sorted(member for member, _ in held)
        if name != "usage":
            found[name] = _FACTS.sub(
                r"\1 ", _TIME.sub("T", repr(sorted(held.items()) if isinstance(held, dict) else held))
            )
    return found


def usage(store: ImpressionStore) -> dict[str, int]:
    """The account of a scope: tokens of the day, what is reserved, and the sums."""
    key = f"impressmem:1:{{{store.scope.tag}}}:usage"
    held = store._connection.client().hgetall(key)
    return {name.decode(): int(value) for name, value in held.items() if name != b"day"}


def main() -> None:
    url, user, scenario, at, when = sys.argv[1:]
    store = ImpressionStore(client=redis.Redis.from_url(url), user=user)
    run_killed(store, SCENARIOS[scenario], int(at), after=when == "after", die=lambda: os._exit(9))


if __name__ == "__main__":
    main()
