"""Each turn is distilled exactly once: over replays, windows, frameworks, two writers, and a crash at any point."""

from __future__ import annotations

import contextlib
import re
import threading
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.effects import AskModel, Command, drive
from impressmem_integrations.maintenance.flow import maintain
from impressmem_integrations.tools.calls import read_answer
from tests.dumps import read
from tests.scripted import Scripted, calls, impression, merge, said, save

TALK = [*said("I moved to Oslo"), *said("My cat is called Tom"), *said("I quit my job at Acme")]


def test_a_replay_is_not_asked_about(alice):
    model = Scripted(save(impression("HOME", "lives in Oslo")))
    assert alice.maintain(TALK[:2], model).status == "stored"
    again = alice.maintain(TALK[:2], model)
    assert (again.status, again.saved, len(model.requests)) == ("already_done", (), 1)


def test_only_the_new_turn_is_asked_about_and_the_previous_answer_is_background(alice):
    model = Scripted(save(impression("HOME", "lives in Oslo")), save(impression("CAT", "has a cat called Tom")))
    alice.maintain(TALK[:2], model)
    report = alice.maintain(TALK[:4], model)
    assert report.saved == ("CAT",)
    assert "Tom" in model.asked
    assert "Oslo" not in model.asked
    assert "| I see." in model.asked


def test_a_trimmed_history_meets_what_was_distilled(alice):
    model = Scripted()
    alice.maintain(TALK[:4], model)
    alice.maintain(TALK[2:], model)
    assert len(model.requests) == 2
    assert "Acme" in model.asked
    assert "Tom" not in model.asked


def test_threads_are_counted_apart(alice):
    model = Scripted()
    alice.maintain(TALK[:2], model, thread_id="a")
    assert alice.maintain(TALK[:2], model, thread_id="a").status == "already_done"
    assert alice.maintain(TALK[:2], model, thread_id="b").status == "nothing_to_store"


def test_the_same_words_again_are_a_new_turn(alice):
    model = Scripted()
    history = said("I am tired today", "Rest well.")
    alice.maintain(history, model)
    twice = [*history, *said("Something else happened"), *history]
    report = alice.maintain(twice, model)
    assert len(report.turns) == 2
    assert len(set(report.turns)) == 2


async def test_lc_14_one_run_over_a_turn_with_many_model_calls(alice):
    def tool(n: int) -> list[dict[str, Any]]:
        made = {"id": f"t{n}", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": f"t{n}", "content": f"result {n}"},
        ]

    history = [{"role": "user", "content": "Find me a flat in Oslo"}, *tool(1), *tool(2), *tool(3)]
    history.append({"role": "assistant", "content": "Three flats found."})
    model = Scripted()
    await alice.amaintain(history, model)
    assert len(model.requests) == 1
    assert "Find me a flat in Oslo" in model.asked
    assert "Three flats found." in model.asked
    assert "result 1" not in model.asked


def test_two_writers_distil_a_turn_once(alice):
    barrier = threading.Barrier(2)

    def slow(_: Any) -> Any:
        barrier.wait(10)
        return save(impression("HOME", "lives in Oslo"))

    reports = []

    def run() -> None:
        reports.append(alice.maintain(TALK[:2], Scripted(slow)))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(report.status for report in reports) == ["already_done", "stored"]
    assert alice.get("HOME").revision == 1


class Killed(BaseException):
    """Stands for a process that dies."""


def run_killed(store: ImpressionStore, history: list[Any], answer: Any, at: int, *, after: bool) -> int:
    """Run maintenance and die at effect number `at`, before it is carried out or after. Returns the effects counted."""
    count = 0

    def answered(effect: Any) -> Any:
        nonlocal count
        count += 1
        if count == at and not after:
            raise Killed
        if isinstance(effect, AskModel):
            reply = read_answer(answer)
        else:
            assert isinstance(effect, Command)
            reply = store._connection.send(effect)
        if count == at and after:
            raise Killed
        return reply

    with contextlib.suppress(Killed):
        drive(maintain(store._bound, history), answered)
    return count


_TIME = re.compile(r"1[5-9]\d{11}(?:\.\d+)?")


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
            found[name] = _TIME.sub("T", repr(sorted(held.items()) if isinstance(held, dict) else held))
    return found


ANSWER = calls(
    *save(impression("HOME", "lives in Oslo"), impression("CAT", "has a cat", pin=True))["tool_calls"],
    merge("clue", ["CAT-OLD"], "CAT", new_content="has a cat called Tom"),
)


@pytest.mark.parametrize("messages", [2, 6], ids=["one turn", "three turns"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_counted_point_and_run_again(client, after, messages):
    def fresh(name: str) -> ImpressionStore:
        store = ImpressionStore(client=client, user=name)
        store.save("CAT-OLD", "cat: Tom", category="Pets", labels=["Cat"])
        return store

    whole = fresh("uninterrupted")
    points = run_killed(whole, TALK[:messages], ANSWER, 0, after=False)
    assert points >= 4
    for at in range(1, points + 1):
        store = fresh(f"killed-{at}")
        run_killed(store, TALK[:messages], ANSWER, at, after=after)
        run_killed(store, TALK[:messages], ANSWER, 0, after=False)
        assert state(store) == state(whole), f"killed at effect {at}"
        assert store.maintain(TALK[:messages], Scripted()).status == "already_done"
