"""A small OpenAI-compatible server on 127.0.0.1: it records each request and answers from a list."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Reply = str | int | dict[str, Any] | Callable[[dict[str, Any]], "Reply"]
"""A text, an assistant message, an HTTP status to fail with, or a function of the request's body that gives one."""

KEY = "loopback-key"
"""An API key for clients that insist on one; the server takes any."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in: path, lower-case header names, decoded body."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def tool_names(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or []]


class Loopback:
    """Serves `POST /v1/chat/completions` for the time of a `with` block.

    `replies` are used up in order, whoever asks; after the last one every answer is IGNORE. `requests` holds what was
    asked so far. Streaming is not spoken: a request for it fails with status 400.
    """

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """What `OPENAI_BASE_URL` or `base_url=` takes."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """The variables that send the `openai` package of another process here."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": KEY, "NO_PROXY": "127.0.0.1"}

    def answer(self, request: Request) -> tuple[int, dict[str, Any]]:
        """The status and the body for a request, which is recorded."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            reply: Reply = self.replies.pop(0) if self.replies else "IGNORE"
        if request.body.get("stream"):
            return 400, _error("the loopback server does not stream")
        while callable(reply):
            reply = reply(request.body)
        if isinstance(reply, int):
            return reply, _error("scripted failure")
        message = {"role": "assistant", "content": reply} if isinstance(reply, str) else reply
        return 200, _completion(number, str(request.body.get("model")), message)


def _completion(number: int, model: str, message: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _error(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "loopback", "code": None}}


def _handler(loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path == "/v1/chat/completions":
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, body = loopback.answer(Request(self.path, headers, json.loads(raw)))
            else:
                status, body = 404, _error(f"nothing is served at {self.path}")
            encoded = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep the test output clean."""

    return Handler
