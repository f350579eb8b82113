"""Cutting a history into turns.

A turn starts with the first user message after a finished assistant answer and runs to the next such start. An
assistant message with tool calls does not finish a turn; neither do system messages, which belong to no turn, nor tool
results. What stands before the first user message (a greeting, the tail of a turn that was trimmed away) is no turn:
nobody's question is in it; its last answer is the background of the first turn.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from impressmem_integrations.core.shapes import read
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Message, Turn
from impressmem_integrations.turns.messages import expanded

_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138, as milliseconds 1973


@dataclass(slots=True)
class _Part:
    """One message of the history that is part of the talk: as given, and in canonical form."""

    original: Any
    messages: list[Message]

    @property
    def asks(self) -> bool:
        return any(message["role"] == "user" for message in self.messages)

    @property
    def answers(self) -> bool:
        last = self.messages[-1]
        return last["role"] == "assistant" and "tool_calls" not in last


@dataclass(slots=True)
class _Cut:
    """One turn while it is being cut."""

    parts: list[_Part] = field(default_factory=list)
    background: _Part | None = None


def slice_new_turn_messages(history: Iterable[Any]) -> list[Any]:
    """Return the newest turn with the previous answer in front, to distil it.

    The turn comes whole: all its user messages and tool exchanges. `[u1, a1, u2, a2]` gives `[a1, u2, a2]`.

    Args:
        history: Messages of any shape (see `canonical`), oldest first. Neither it nor its messages are changed.

    Returns:
        The messages as given (the same objects), in order, without system messages; [] where no user speaks.

    Raises:
        InvalidInput: A message cannot be read; the error names its index and type.
    """
    cuts = _cut(history)
    if not cuts:
        return []
    newest = cuts[-1]
    before = [newest.background] if newest.background else []
    return [part.original for part in [*before, *newest.parts]]


def cut_turns(messages: Iterable[Any], *, at: datetime | None = None) -> list[Turn]:
    """Cut a history into its turns, oldest first; only the last may be unfinished (see `is_finished`).

    Args:
        messages: Messages of any shape (see `canonical`), oldest first; they are not changed.
        at: When turns were said whose messages carry no time; with a time zone.

    Returns:
        Turns in canonical form. `digest` depends on what was said only: roles, the users' names, texts, names and
        arguments of tool calls, whatever shape the messages had. `id` is `<digest>-<ordinal>`, the ordinal counting
        equal turns of this history from 1; for a history that is a window of a longer thread see `align` and
        `next_ids`. `at` is the first time that a message of the turn carries (`timestamp` or `created_at`, in the
        message, its `additional_kwargs` or its `metadata`), read as ISO 8601 or as seconds since 1970; without a zone
        it counts as UTC.

    Raises:
        InvalidInput: A message cannot be read, or `at` is no datetime with a time zone.
    """
    if at is not None and not isinstance(at, datetime):
        raise InvalidInput(f"at must be a datetime with its time zone, not {type(at).__name__}")
    if at is not None and at.tzinfo is None:
        raise InvalidInput("at needs a time zone, e.g. datetime.now(timezone.utc)")
    seen: Counter[str] = Counter()
    turns = []
    for cut in _cut(messages):
        said = tuple(message for part in cut.parts for message in part.messages)
        digest = turn_digest(said)
        seen[digest] += 1
        turns.append(
            Turn(
                id=f"{digest}-{seen[digest]}",
                messages=said,
                background=(cut.background.messages[-1],) if cut.background else (),
                at=next((time for part in cut.parts if (time := _time(part.original)) is not None), at),
                digest=digest,
            )
        )
    return turns


def is_finished(turn: Turn) -> bool:
    """Whether the turn ends with an assistant answer. The digest of an unfinished turn changes as it goes on."""
    return _Part(None, list(turn.messages)).answers


def turn_digest(messages: Iterable[Message]) -> str:
    """Return 32 hex digits for a turn's canonical messages.

    Call ids, the names of assistants and tools, and the spelling of JSON arguments are left out: frameworks make them
    up or write them in their own way, and one thread may be read through two of them.
    """
    said = []
    for message in messages:
        calls = [
            [call["function"]["name"], _plain_arguments(call["function"]["arguments"])]
            for call in message.get("tool_calls", ())
        ]
        speaker = message.get("name", "") if message["role"] == "user" else ""
        said.append([message["role"], speaker, message["content"].strip(), calls])
    # ASCII output keeps half surrogates, which some clients send, as escapes: they have no UTF-8 form.
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


def _plain_arguments(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments or "{}"), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _cut(history: Iterable[Any]) -> list[_Cut]:
    cuts: list[_Cut] = []
    answer: _Part | None = None
    finished = True
    for original, messages in expanded(history):
        spoken = [message for message in messages if message["role"] != "system"]
        if not spoken:
            continue
        part = _Part(original, spoken)
        if part.asks and (finished or not cuts):
            cuts.append(_Cut(background=answer))
        if cuts:
            cuts[-1].parts.append(part)
        if part.answers:
            finished = True
            if part.messages[-1]["content"].strip():
                answer = part
        elif spoken[-1]["role"] != "tool":
            finished = False
    return cuts


def _time(message: Any) -> datetime | None:
    for place in (message, read(message, "additional_kwargs"), read(message, "metadata")):
        time = _parsed_time(read(place, "timestamp", "created_at", "at"))
        if time is not None:
            return time
    return None


def _parsed_time(value: Any) -> datetime | None:
    """A time that a message carries; None where it cannot be read: a turn is worth more than its date."""
    try:
        if isinstance(value, str):
            value = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool):
            value = datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    if not isinstance(value, datetime):
        return None
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value
