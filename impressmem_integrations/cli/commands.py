"""What each subcommand does: open the store, call one operation, print it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from impressmem_integrations.cli.models import chosen_model
from impressmem_integrations.core.render import SHORT_HEADING, fenced
from impressmem_integrations.core.text import units
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Impression, Message, Omission
from impressmem_integrations.store import ImpressionStore


def open_store(chosen: argparse.Namespace) -> ImpressionStore:
    """The store and scope that the arguments name."""
    return ImpressionStore.from_url(chosen.url, bot=chosen.bot, user=chosen.user)


def as_json(value: Any) -> str:
    """Any result as one JSON document; times as ISO 8601."""

    def plain(item: Any) -> Any:
        if dataclasses.is_dataclass(item) and not isinstance(item, type):
            return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
        if isinstance(item, datetime):
            return item.isoformat()
        return str(item)

    return json.dumps(value, ensure_ascii=False, indent=2, default=plain)


def one_line(item: Impression) -> str:
    """An impression for people."""
    mark = "*" if item.pin else " "
    filing = f"{'/'.join((item.category, *item.also))}: {', '.join(item.labels)}"
    said = item.shown_at
    return f"{mark} {said:%Y-%m-%d %H:%MZ}  {item.clue}  [{filing}]  {' '.join(item.content.split())}"


def show(chosen: argparse.Namespace) -> int:
    """List impressions, one with its history, or the scopes."""
    with closing(open_store(chosen)) as store:
        if chosen.scopes:
            scopes = [{"bot": scope.bot, "user": scope.user} for scope in store.scopes()]
            scopes.sort(key=lambda scope: (scope["bot"] or "", scope["user"] or ""))
            print(as_json(scopes) if chosen.json else "\n".join(f"{s['bot']}  {s['user'] or '-'}" for s in scopes))
            return 0
        if chosen.clue:
            return _show_one(store, chosen)
        found = list(store.impressions(category=chosen.category, label=chosen.label, limit=chosen.limit))
        print(as_json(found) if chosen.json else "\n".join(map(one_line, found)) or "nothing is remembered")
    return 0


def _show_one(store: ImpressionStore, chosen: argparse.Namespace) -> int:
    item = store.get(chosen.clue)
    history = store.history(chosen.clue)
    if chosen.json:
        print(as_json({"impression": item, "history": history}))
    elif item is None and not history:
        print(f"impressmem: there is no impression {chosen.clue!r}", file=sys.stderr)
    else:
        print(one_line(item) if item else f"{chosen.clue} is no longer there")
        for entry in islice(history, chosen.limit):
            before = entry.before[entry.clues.index(chosen.clue)] if chosen.clue in entry.clues else None
            print(f"  {entry.at:%Y-%m-%d %H:%MZ} {entry.operation}; before: {before.content if before else 'nothing'}")
    return 0 if item or history else 1


def recall(chosen: argparse.Namespace) -> int:
    """Show a recall."""
    with closing(open_store(chosen)) as store:
        found = store.recall(
            chosen.query,
            category=chosen.category,
            labels=chosen.label,
            budget_units=chosen.budget,
            fill=chosen.fill,
        )
    if chosen.json:
        print(as_json(found))
        return 0
    missing = [left for left in found.omitted if left.why == "budget"]
    if found.text:
        print(found.text)
    elif missing:
        print(f"nothing fits in {chosen.budget} units")
    else:
        print("nothing found" + (f"; close names: {', '.join(found.near)}" if found.near else ""))
    if missing:
        left = " and ".join(f"{left.count} {left.what}" for left in missing)
        print(f"({left} left out; --budget {_enough(missing, chosen.budget)} would bring them in)")
    return 0


def _enough(missing: Sequence[Omission], budget: int) -> int:
    """A budget that holds what a recall left out as well; each item may bring a line with its day."""
    return max(budget, units(fenced([], SHORT_HEADING)) + 1) + sum(
        left.units + left.count * units("2026-01-01:\n") for left in missing
    )


def context(chosen: argparse.Namespace) -> int:
    """Show a context."""
    with closing(open_store(chosen)) as store:
        made = store.context(chosen.query, chosen.budget)
    if chosen.json:
        print(as_json(made))
    else:
        print(made.text or "nothing is remembered")
        for left in made.omitted:
            print(f"({left.count} {left.what} left out; {left.units} more units would bring them in)")
    return 0


def read_transcript(path: str) -> list[Message]:
    """Messages of a JSON Lines file, `-` for standard input.

    Raises:
        InvalidInput: The file cannot be read or a line is no message; the message names the line.
    """
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"the transcript {path} cannot be read: {error}") from error
    messages = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"line {number} of the transcript is not JSON: {error}") from error
        if not isinstance(message, dict) or "role" not in message:
            raise InvalidInput(
                f'line {number} of the transcript is no message: {{"role": ..., "content": ...}} is needed'
            )
        messages.append(message)
    if not messages:
        raise InvalidInput("the transcript holds no messages")
    return messages


def on_stderr(line: str) -> None:
    """Say something that is no result."""
    print(line, file=sys.stderr, flush=True)


def maintain(chosen: argparse.Namespace) -> int:
    """Distil a transcript; exit code 1 where the model or the store failed."""
    messages = read_transcript(chosen.transcript)
    with (
        chosen_model(chosen.model, chosen.base_url, on_stderr) as (model, name, settings),
        closing(open_store(chosen)) as store,
    ):
        report = store.maintain(messages, model=model, thread_id=chosen.thread, settings=settings)
    if chosen.json:
        print(as_json(report))
    else:
        print(f"model: {name}")
        print(f"{report.status}{f' ({report.reason})' if report.reason else ''} in {report.seconds:.2f} s")
        _print_list("saved", report.saved)
        _print_list("changed", report.changed)
        _print_list("merged", [f"{', '.join(m.sources)} into {m.target}" for m in report.merged])
        _print_list("refused", [f"{refusal.what}: {refusal.reason}" for refusal in report.refused])
    return 1 if report.status in ("model_failed", "cut_off", "store_unavailable", "rejected") else 0


def _print_list(title: str, items: Iterable[str]) -> None:
    for item in items:
        print(f"  {title}: {item}")


def check(chosen: argparse.Namespace) -> int:
    """Check a scope."""
    with closing(open_store(chosen)) as store:
        problems = store.check()
    if chosen.json:
        print(as_json(problems))
    else:
        for problem in problems:
            print(f"{problem.key} {problem.member}: {problem.message}")
        print(f"{len(problems)} problems" if problems else "every record and index agree")
    return 1 if problems else 0


def stats(chosen: argparse.Namespace) -> int:
    """Show counts."""
    with closing(open_store(chosen)) as store:
        counts = store.stats()
    if chosen.json:
        print(as_json(counts))
    else:
        for field in dataclasses.fields(counts):
            print(f"{field.name.replace('_', ' '):18} {getattr(counts, field.name):,}")
    return 0
