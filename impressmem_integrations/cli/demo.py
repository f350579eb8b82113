"""`impressmem demo`: replay a transcript turn by turn, show what is remembered, and check it from another process."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from impressmem_integrations.cli.commands import as_json, on_stderr, one_line, read_transcript
from impressmem_integrations.cli.models import RULES, chosen_model
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Message, Report
from impressmem_integrations.store import ImpressionStore

BOT = "demo"
_QUESTIONS = {"nora": ("What can I cook for her birthday dinner?", "Health"), "lin": ("我可以吃什么水果？", "健康")}


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation of one user, oldest message first."""

    user: str
    name: str
    messages: tuple[Message, ...]


def demo(chosen: argparse.Namespace) -> int:
    """Run the demo. Exit code 1 where a check fails or no turn could be distilled."""
    own = chosen.transcript is not None
    messages = read_transcript(chosen.transcript) if own else _built_in()
    sessions = _sessions(messages)
    # Each line at once, also into a pipe: a model may take seconds for each turn.
    say = _silent if chosen.json else partial(print, flush=True)
    with (
        _data_folder(chosen.data) as folder,
        chosen_model(chosen.model, chosen.base_url, on_stderr) as (model, name, settings),
    ):
        url = f"embedded://{quote(str(folder))}"
        say(f"Model: {name}\nServer: embedded, data in {folder}\n")
        reports: list[Report] = []
        with closing(ImpressionStore.from_url(url, bot=BOT)) as store:
            for session in sessions:
                reports += _replay(store, session, model, settings, say)
            users = list(dict.fromkeys(session.user for session in sessions))
            remembered = {user: list(store.scoped(user=user).impressions()) for user in users}
            if not chosen.json:
                _print_memory(store, users)
            problems = _failed(reports) + _second_process(url, users, name if not own else None)
    if chosen.json:
        print(as_json({"model": name, "reports": reports, "remembered": remembered, "problems": problems}))
    else:
        _print_summary(reports, problems, name, own)
    return 1 if problems else 0


def _built_in() -> list[Message]:
    text = (resources.files("impressmem_integrations") / "demo" / "transcript.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line]


def _sessions(messages: Sequence[Message]) -> list[Session]:
    """Sessions in the order they took place; a transcript without `user` and `session` is one session of one user."""
    named = [(str(message.get("user", "you")), str(message.get("session", "session")), message) for message in messages]
    found = [
        Session(user, name, tuple(message for _, _, message in group))
        for (user, name), group in groupby(named, key=lambda entry: entry[:2])
    ]
    return sorted(found, key=lambda session: str(session.messages[0].get("at", "")))


@contextmanager
def _data_folder(chosen: str | None) -> Iterator[Path]:
    if chosen:
        yield Path(chosen).expanduser().absolute()
        return
    with tempfile.TemporaryDirectory(prefix="impressmem-demo-") as folder:
        yield Path(folder)


def _silent(*_: Any, **__: Any) -> None:
    pass


def _replay(store: ImpressionStore, session: Session, model: Any, settings: Settings | None, say: Any) -> list[Report]:
    """Hand the history to maintenance after every finished answer, as an assistant would."""
    memory = store.scoped(user=session.user)
    say(f"{session.user}, session {session.name}")
    reports = []
    history: list[Message] = []
    for message in session.messages:
        history.append(message)
        if message["role"] != "assistant" or message.get("tool_calls"):
            continue
        report = memory.maintain(history, model=model, thread_id=session.name, settings=settings)
        reports.append(report)
        say(f"  turn {len(reports)}: {_in_words(report)}")
    if history and history[-1]["role"] != "assistant":
        reports.append(memory.maintain(history, model=model, thread_id=session.name, settings=settings))
        say(f"  turn {len(reports)}: {_in_words(reports[-1])}")
    return reports


def _in_words(report: Report) -> str:
    parts = [
        f"{word} {', '.join(clues)}" for word, clues in (("saved", report.saved), ("changed", report.changed)) if clues
    ]
    parts += [f"merged {', '.join(merge.sources)} into {merge.target}" for merge in report.merged]
    parts += [f"refused {refusal.what}: {refusal.reason}" for refusal in report.refused]
    words = "; ".join(parts) or f"{report.status.replace('_', ' ')}: {report.reason}"
    return f"{words} ({report.seconds:.0f} s)" if report.seconds >= 1 else words


def _print_memory(store: ImpressionStore, users: Sequence[str]) -> None:
    for user in users:
        memory = store.scoped(user=user)
        print(f"\n--- What is remembered about {user}")
        for item in memory.impressions():
            print(one_line(item))
        question, _ = _QUESTIONS.get(user, ("What do you know about me?", ""))
        print(f"\n--- Recall for {user}: {question}")
        print(memory.recall(question, budget_units=300).text or "nothing found")
        print(f"\n--- Context of {user}'s next session")
        print(memory.context().text or "nothing is remembered")


def _failed(reports: Sequence[Report]) -> list[str]:
    bad = [report for report in reports if report.status in ("model_failed", "store_unavailable", "cut_off")]
    if bad and len(bad) == len(reports):
        return [f"no turn could be distilled: {bad[0].reason}"]
    return []


def _second_process(url: str, users: Sequence[str], model: str | None) -> list[str]:
    """Read the store from another process and compare. `model`: whose expectations hold; None for a user's own talk."""
    problems = []
    texts = {}
    for user in users:
        command = [sys.executable, "-m", "impressmem_integrations", "show", "--json", "--limit", "1000"]
        run = subprocess.run(
            [*command, "--url", url, "--bot", BOT, "--user", user], capture_output=True, text=True, check=False
        )
        if run.returncode:
            problems.append(f"the second process failed: {run.stderr.strip()}")
        texts[user] = run.stdout
    if model is None or problems:
        return problems
    text = (resources.files("impressmem_integrations") / "demo" / "expectations.json").read_text(encoding="utf-8")
    for user, wanted in json.loads(text).items():
        held = texts.get(user, "")
        pinned = " ".join(item["content"] for item in json.loads(held) if item["pin"]) if held else ""
        checks = [
            *(
                (phrase not in held, f"{user}: {phrase!r} is not remembered")
                for phrase in wanted["kept"]
                if model == RULES
            ),
            *(
                (phrase not in pinned, f"{user}: {phrase!r} is not pinned")
                for phrase in wanted["pinned"]
                if model == RULES
            ),
            *(
                (phrase in held, f"{user}: {phrase!r} was corrected but is still there")
                for phrase in wanted["gone"]
                if model == RULES
            ),
            *((phrase in held, f"{user}: a secret was kept") for phrase in wanted["secrets"]),
            *((phrase in held, f"{user}: {phrase!r} belongs to somebody else") for phrase in wanted["not_of_others"]),
            *((phrase in held, f"{user}: {phrase!r} is no fact") for phrase in wanted["never"] if model == RULES),
        ]
        problems += [message for wrong, message in checks if wrong]
    return problems


def _print_summary(reports: Sequence[Report], problems: Sequence[str], model: str, own: bool) -> None:
    counts = {status: sum(report.status == status for report in reports) for status in {r.status for r in reports}}
    print(f"\n--- Report\nModel: {model}")
    print(
        f"{len(reports)} turns: " + ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in sorted(counts.items()))
    )
    calls = sum(report.usage.calls for report in reports)
    tokens = sum(report.usage.input_tokens + report.usage.output_tokens for report in reports)
    print(f"{calls} model calls, {tokens} tokens, {sum(report.seconds for report in reports):.2f} s in all")
    for problem in problems:
        print(f"FAILED: {problem}")
    if problems:
        return
    if model == RULES or own:
        print("Checked from a second process: all is as it should be.")
    else:
        print("Checked from a second process: no secret was kept, and neither user holds what belongs to the other.")
        print("What the model chose to keep and how it worded that is not checked.")
