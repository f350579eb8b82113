"""A server for LlamaIndex' examples: chat and maintenance are answered by one function each.

Requests of both come in any order, since maintenance runs in the background.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from tests.openai_server import Message, OpenAIServer
from tests.request_rules import CHECKERS

Answer = Callable[[list[Message]], str | Message]


class Loopback(OpenAIServer):
    """Runs for the time of a `with` block.

    Args:
        chat: Answers the application's requests, from the messages.
        keeper: Answers maintenance, from the quoted turns; by default there is nothing to keep.

    Attributes:
        chats: The messages of the application's requests, in order.
        kept: The quoted turns that maintenance was asked about, in order.
        faults: What providers would have refused.
    """

    def __init__(self, chat: Answer, keeper: Callable[[str], str | Message] = lambda quoted: "IGNORE") -> None:
        super().__init__()
        self._chat, self._keeper = chat, keeper
        self.chats: list[list[Message]] = []
        self.kept: list[str] = []
        self.faults: list[str] = []
        self._lock = threading.Lock()

    @property
    def environment(self) -> dict[str, str]:
        """What sends an example here."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "any", "NO_PROXY": "127.0.0.1"}

    def answer(self, body: Message) -> Message | str:
        """Record a request and answer it."""
        messages = body["messages"]
        with self._lock:
            for name, check in CHECKERS.items():
                # LlamaIndex' OpenAI client adds `additionalProperties` to schemas, which is right for OpenAI.
                self.faults += check(messages, None if name == "GEMINI" else body.get("tools"))
            last = str(messages[-1]["content"])
            if "<turn>" in last:
                self.kept.append(last)
                return self._keeper(last)
            self.chats.append(messages)
            return self._chat(messages)
