"""Fits turns into a request: long words of the user shortened, other messages whole or not at all, the user's last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from impressmem_integrations.maintenance.prompt import turn_text
from impressmem_integrations.maintenance.transcript import shortened, text_of
from impressmem_integrations.model import Message, Turn

_FOR_THE_USER = 0.9
"""The share of a request that the user's own words may take, so that a short answer to them still fits."""
_LEAST_CHARACTERS = 100
"""What is left of a message that is shortened; less would say nothing."""


def user_texts(turn: Turn) -> list[str]:
    """What the user said in a turn, without blanks around and without empty messages."""
    texts = (message.get("content") for message in turn.messages if message["role"] == "user")
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


def fitted(
    turn: Turn, at: datetime, budget_units: int, count: Callable[[str], int], *, tool_results: bool
) -> tuple[str, list[str]]:
    """The quoted text of a turn within a budget, and in words what was left out.

    User messages that would not fit by themselves are shortened in the middle, the longest ones first; where they are
    too many for that, the oldest go. Then whole messages go, in this order, until the rest fits: the background; tool
    exchanges, oldest first (a call and its results together); assistant texts, oldest first; user messages, oldest
    first.
    """

    def size(part: Turn) -> int:
        return count(turn_text(part, at, tool_results=tool_results))

    kept = turn
    missing: list[str] = []
    if size(turn) > budget_units:
        kept, missing = _with_short_user_messages(turn, lambda part: size(part) <= _FOR_THE_USER * budget_units)
    dropped = {"background": 0, "tool exchange": 0, "assistant message": 0, "user message": 0}
    while kept.messages and size(kept) > budget_units:
        kept, what = _smaller(kept)
        dropped[what] += 1
    text = turn_text(kept, at, tool_results=tool_results) if kept.messages else ""
    return text, missing + [_note(n, what, "left out: too long") for what, n in dropped.items() if n]


def _note(count: int, what: str, fate: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''} {fate}"


def _with_short_user_messages(turn: Turn, fits: Callable[[Turn], bool]) -> tuple[Turn, list[str]]:
    """The turn with user messages that fit by themselves, and in words what was done for that."""
    said = [message for message in turn.messages if message["role"] == "user"]
    alone = replace(turn, background=(), messages=tuple(said))
    most = _most_characters(alone, fits)
    while most < _LEAST_CHARACTERS and len(alone.messages) > 1:
        alone = replace(alone, messages=alone.messages[1:])
        most = _most_characters(alone, fits)
    if most < _LEAST_CHARACTERS:
        return turn, []
    gone = said[: len(said) - len(alone.messages)]
    messages = [
        shortened(message, most) if message["role"] == "user" else message
        for message in turn.messages
        if not any(message is one for one in gone)
    ]
    cut = [message["left_out"] for message in messages if "left_out" in message]
    notes = [_note(len(gone), "user message", "left out: too long")] if gone else []
    if cut:
        notes.append(_note(len(cut), "user message", f"shortened: {sum(cut):,} characters left out"))
    return replace(turn, messages=tuple(messages)), notes


def _most_characters(turn: Turn, fits: Callable[[Turn], bool]) -> int:
    """How many characters of each message may stay so that the turn fits; the length of the longest where all may."""
    low, high = 0, max(len(text_of(message)) for message in turn.messages)
    if fits(turn):
        return max(high, _LEAST_CHARACTERS)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(replace(turn, messages=tuple(shortened(message, middle) for message in turn.messages))):
            low = middle
        else:
            high = middle - 1
    return low


def _smaller(turn: Turn) -> tuple[Turn, str]:
    if turn.background:
        return replace(turn, background=()), "background"
    messages = list(turn.messages)
    for at, message in enumerate(messages):
        if message.get("tool_calls") or message["role"] == "tool":
            return replace(turn, messages=tuple(_without_exchange(messages, at))), "tool exchange"
    for role in ("assistant", "user"):
        for at, message in enumerate(messages):
            if message["role"] == role:
                return replace(turn, messages=(*messages[:at], *messages[at + 1 :])), f"{role} message"
    return replace(turn, messages=()), "user message"


def _without_exchange(messages: Sequence[Message], at: int) -> list[Message]:
    """Without the message there and, if it calls tools, without their results."""
    ids = {call.get("id") for call in messages[at].get("tool_calls") or ()}
    return [
        message
        for place, message in enumerate(messages)
        if place != at and not (message["role"] == "tool" and message.get("tool_call_id") in ids)
    ]
