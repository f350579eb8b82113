"""An OpenAI-compatible server on 127.0.0.1 that answers from a list and keeps the body of each request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Message = dict[str, Any]


class Loopback:
    """A server for the time of a `with` block.

    Attributes:
        replies: Messages (or texts) still to give; "ok" when they are used up.
        bodies: What it received, as decoded JSON, in order.
    """

    def __init__(self, *replies: Message | str) -> None:
        self.replies = list(replies)
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Loopback:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"loopback": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def answer(self, body: dict[str, Any]) -> Message:
        """Record a request and take the next reply."""
        with self._lock:
            self.bodies.append(body)
            reply = self.replies.pop(0) if self.replies else "ok"
        return {"role": "assistant", "content": reply} if isinstance(reply, str) else {"role": "assistant", **reply}


class _Handler(BaseHTTPRequestHandler):
    loopback: Loopback

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = self.loopback.answer(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if body.get("stream"):
            self._send("text/event-stream", "".join(_events(message, reason)))
            return
        choice = {"index": 0, "message": message, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        self._send("application/json", json.dumps(_completion("chat.completion", choice) | {"usage": usage}))

    def _send(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("connection", "close")  # a kept connection would outlive the event loop of its client
        self.end_headers()
        try:
            self.wfile.write(data)
        except OSError:  # the client closed its stream early
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


def _completion(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    return {"id": "c", "object": kind, "created": 1, "model": "scripted", "choices": [choice]}


def _events(message: Message, reason: str) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word + " "} for word in (message.get("content") or "").split()]
    deltas += [{"tool_calls": [{**call, "index": at}]} for at, call in enumerate(message.get("tool_calls") or ())]
    for delta in deltas:
        yield f"data: {json.dumps(_completion('chat.completion.chunk', {'index': 0, 'delta': delta}))}\n\n"
    last = {"index": 0, "delta": {}, "finish_reason": reason}
    yield f"data: {json.dumps(_completion('chat.completion.chunk', last))}\n\ndata: [DONE]\n\n"
