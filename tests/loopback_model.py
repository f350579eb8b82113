"""A server in OpenAI's wire form that answers from a list and records what it was asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.openai_server import OpenAIServer


def tool_call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    """One tool call in OpenAI form."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def says(text: str) -> dict[str, Any]:
    """An assistant message with a text."""
    return {"role": "assistant", "content": text}


def calls(*made: dict[str, Any]) -> dict[str, Any]:
    """An assistant message with tool calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


class LoopbackModel(OpenAIServer):
    """Runs for the time of a `with` block. When its answers are used up, it says IGNORE.

    Attributes:
        requests: The bodies of all requests, in order.
    """

    def __init__(self, *answers: dict[str, Any]) -> None:
        super().__init__()
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    @property
    def asked(self) -> Sequence[dict[str, Any]]:
        """The messages of the newest request."""
        return self.requests[-1]["messages"]

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Record a request and take the next answer."""
        self.requests.append(body)
        return self.answers.pop(0) if self.answers else says("IGNORE")
