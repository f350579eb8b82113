"""Which messages of a thread one run hands to maintenance. Pure.

When a thread is first seen, the message before the user's words is kept as a mark, after each turn its last message. A
window runs from the oldest of the last few marks to the end: it holds turns whose run broke off, and those that
failed before; the store knows which ones it has distilled. Without a checkpointer nothing is kept, every run is the
first, and the window is the newest turn alone.

What of this stands in the state between hooks is ids, and for the time of a run the texts of the turn's user messages:
a summary within the turn may take the messages themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from langchain_core.messages import AnyMessage, HumanMessage

from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Message
from impressmem_integrations.turns import canonical_history, is_summary

MARKS = 3
"""How many turns back a window begins: as often as maintenance tries a turn that fails."""

_START = ""
"""The mark of a thread that begins with the words; it holds as long as nothing was summarised."""


class Words(TypedDict):
    """One user message as the state keeps it: its id, and what it says in canonical form, without images and files."""

    id: str | None
    said: list[Message]


def newest_words(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """The user messages at the end of a history: what the user said to begin this turn."""
    start = len(messages)
    while start and _said(messages[start - 1]):
        start -= 1
    return list(messages[start:])


def noted(words: Sequence[AnyMessage]) -> list[Words]:
    """User messages as the state keeps them."""
    return [{"id": word.id, "said": plain([word])} for word in words]


def as_messages(words: Sequence[Words]) -> list[AnyMessage]:
    """The texts of noted words as messages again."""
    return [HumanMessage(part["content"]) for word in words for part in word["said"]]


def _said(message: AnyMessage) -> bool:
    return isinstance(message, HumanMessage) and not is_summary(message)


def mark_before(messages: Sequence[AnyMessage], words: Sequence[AnyMessage]) -> list[str]:
    """The mark that leaves out everything said before these words."""
    earlier = messages[: len(messages) - len(words)]
    if not earlier:
        return [_START]
    return [earlier[-1].id] if earlier[-1].id else []


def marks_after(marks: Sequence[str], messages: Sequence[AnyMessage]) -> list[str]:
    """The marks with one for the turn that ends here."""
    last = messages[-1].id if messages else None
    return [*marks, last][-MARKS:] if last and last not in marks else list(marks)


def window(messages: Sequence[AnyMessage], marks: Sequence[str], words: Sequence[Words]) -> list[AnyMessage]:
    """The messages of a thread to distil.

    Args:
        messages: The whole thread at the end of the run, maybe summarised meanwhile.
        marks: Ids of the last messages of earlier turns, oldest first.
        words: This turn's user messages as they were at its beginning.
    """
    kept = [message for message in messages if not is_summary(message)]
    places = {message.id: at for at, message in enumerate(kept)}
    if len(kept) == len(messages):
        places[_START] = 0
    start = next((places[mark] for mark in marks if mark in places), None)
    if start is None:
        # A summary takes what is oldest: what it left after the lost words belongs to this turn.
        known = [places[word["id"]] for word in words if word["id"] in places]
        start = min(known) if known else 0 if words else _last_words(kept)
    return kept[start:]


def to_distil(messages: Sequence[AnyMessage], marks: Sequence[str], words: Sequence[Words]) -> list[Message]:
    """The window in canonical form, with the words that a summary took.

    Raises:
        InvalidInput: A message cannot be read.
    """
    found = window(messages, marks, words)
    there = {message.id for message in found}
    return [*(part for word in words if word["id"] not in there for part in word["said"]), *plain(found)]


def earlier(messages: Sequence[AnyMessage], marks: Sequence[str]) -> list[Message]:
    """What the history of a thread's first run holds before its window; [] in later runs, whose marks say it."""
    at = next((at for at, message in enumerate(messages) if len(marks) == 1 and message.id == marks[0]), None)
    try:
        return [] if at is None else plain(messages[: at + 1])
    except InvalidInput:
        return []  # it only tells equal turns apart


def _last_words(messages: Sequence[AnyMessage]) -> int:
    ends = [at for at, message in enumerate(messages) if _said(message)]
    if not ends:
        return len(messages)
    return ends[-1] - len(newest_words(messages[: ends[-1] + 1])) + 1


def plain(messages: Sequence[AnyMessage]) -> list[Message]:
    """The messages in canonical form, as a background job may keep them; the time that one carries stays with it.

    Raises:
        InvalidInput: A message cannot be read.
    """
    parts: list[Message] = []
    for message in messages:
        extra = message.additional_kwargs
        time = extra.get("timestamp") or extra.get("created_at")
        parts += [{**part, "timestamp": time} if time else part for part in canonical_history([message])]
    return parts
