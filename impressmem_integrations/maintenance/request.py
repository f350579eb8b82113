"""Fits turns into a request: whole messages, tool exchanges kept or dropped together, the user's words last to go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from impressmem_integrations.maintenance.prompt import turn_text
from impressmem_integrations.model import Message, Turn


def user_texts(turn: Turn) -> list[str]:
    """What the user said in a turn, without blanks around and without empty messages."""
    texts = (message.get("content") for message in turn.messages if message["role"] == "user")
    return [text.strip() for text in texts if isinstance(text, str) and text.strip()]


def fitted(
    turn: Turn, at: datetime, budget_units: int, count: Callable[[str], int], *, tool_results: bool
) -> tuple[str, list[str]]:
    """The quoted text of a turn within a budget, and in words what was left out.

    Whole messages go, in this order, until the rest fits: the background; tool exchanges, oldest first (a call and its
    results together); assistant texts, oldest first; user messages, oldest first.
    """
    kept = turn
    dropped = {"background": 0, "tool exchange": 0, "assistant message": 0, "user message": 0}
    text = turn_text(kept, at, tool_results=tool_results)
    while count(text) > budget_units:
        kept, what = _smaller(kept)
        dropped[what] += 1
        text = turn_text(kept, at, tool_results=tool_results) if kept.messages else ""
    return text, [f"{n} {what}{'s' if n > 1 else ''} left out: too long" for what, n in dropped.items() if n]


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
