"""A server that answers from a list and keeps the body of each request."""

from __future__ import annotations

import threading

from tests.openai_server import Message, OpenAIServer


class Loopback(OpenAIServer):
    """A server for the time of a `with` block.

    Attributes:
        replies: Messages (or texts) still to give; "ok" when they are used up.
        bodies: What it received, as decoded JSON, in order.
    """

    def __init__(self, *replies: Message | str) -> None:
        super().__init__()
        self.replies = list(replies)
        self.bodies: list[Message] = []
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return self.base_url

    def answer(self, body: Message) -> Message | str:
        """Record a request and take the next reply."""
        with self._lock:
            self.bodies.append(body)
            return self.replies.pop(0) if self.replies else "ok"
