"""A chat model that answers from a list and records each request, which is held against all providers' rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from tests.request_rules import CHECKERS

Reply = str | dict[str, Any] | BaseException | Callable[[list[dict[str, Any]]], Any]


class Scripted:
    """The fixed callable form of a model. When the list is used up, it answers IGNORE."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[list[dict[str, Any]]] = []
        self.tools: list[list[dict[str, Any]] | None] = []

    def __call__(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> Any:
        found = [f"{name}: {fault}" for name, check in CHECKERS.items() for fault in check(messages, tools)]
        assert not found, found
        self.requests.append(messages)
        self.tools.append(tools)
        reply = self.replies.pop(0) if self.replies else "IGNORE"
        if isinstance(reply, BaseException):
            raise reply
        return reply(messages) if callable(reply) else reply

    @property
    def asked(self) -> str:
        """The user text of the newest request."""
        return str(self.requests[-1][-1]["content"])


def call(name: str, arguments: dict[str, Any] | str, call_id: str = "c1") -> dict[str, Any]:
    """One tool call in OpenAI form."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*made: dict[str, Any], content: str | None = None, **fields: Any) -> dict[str, Any]:
    """An assistant message with tool calls."""
    return {"role": "assistant", "content": content, "tool_calls": list(made), **fields}


def impression(clue: str, content: str, **fields: Any) -> dict[str, Any]:
    """Arguments for one impression."""
    return {"clue": clue, "content": content, "category": "General", "labels": ["Note"], "pin": False, **fields}


def save(*items: dict[str, Any]) -> dict[str, Any]:
    """An answer with one save call."""
    return calls(call("save_impressions", {"impressions": list(items)}))


def merge(level: str, sources: Iterable[str], target: str, **fields: Any) -> dict[str, Any]:
    """An organize call that is confirmed."""
    arguments = {
        "level": level,
        "from_items": list(sources),
        "to_item": target,
        "reason": "the same",
        "check": "nothing is lost",
        "is_redundant": True,
        "is_confirm": True,
    }
    return call("organize_impressions", {**arguments, **fields})


def said(user: str, assistant: str = "I see.") -> list[dict[str, Any]]:
    """One finished turn."""
    return [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
