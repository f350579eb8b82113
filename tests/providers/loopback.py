"""A server on 127.0.0.1 that speaks the wire form of five providers and answers from a list.

A reply is said once, provider-free, and each wire writes it in its own form; a request is read back into OpenAI form
and held against all providers' rules at once.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.providers.wires import WIRES
from tests.request_rules import CHECKERS


@dataclass(frozen=True)
class Reply:
    """What a model answers.

    Attributes:
        text: Its words.
        calls: Its tool calls as (name, arguments); arguments as text are sent as they are where the wire has text.
        cut: The output limit ended it.
        status: The HTTP status; with an error `text` is the provider's message.
        body: The whole body as it is sent, instead of all of the above.
    """

    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    cut: bool = False
    status: int = 200
    body: Any = None


NOTHING = Reply("IGNORE")


@dataclass(frozen=True)
class Request:
    """One request as it came.

    Attributes:
        path: Its path.
        body: Its JSON body.
        messages: Its messages in OpenAI form.
        tools: Its tools in OpenAI form, or None.
        choice: What it says about tool choice; None for nothing.
        headers: Its headers; upper and lower case are one.
    """

    path: str
    body: dict[str, Any]
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    choice: Any
    headers: Message


def _faults(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None, *, whose: str) -> list[str]:
    """What the providers would object to. The messages must suit all, the tools the one they were written for."""
    return [
        f"{name}: {fault}"
        for name, check in CHECKERS.items()
        for fault in check(messages, tools if whose == name or name == "BEDROCK" else None)
    ]


class Loopback:
    """The server, for the time of a `with` block. When the list of replies is used up, it answers IGNORE."""

    def __init__(self) -> None:
        self.replies: list[Reply | Callable[[Request], Reply]] = []
        self.requests: list[Request] = []
        self.faults: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._lock = threading.Lock()

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def reset(self) -> None:
        """Forget replies and requests."""
        self.replies.clear()
        self.requests.clear()
        self.faults.clear()

    def answer(self, path: str, body: dict[str, Any], headers: Message) -> tuple[int, str, bytes]:
        """The next reply to a request, in the form of the wire that its path belongs to."""
        wire = next((wire for part, wire in WIRES.items() if part in path), None)
        if wire is None:
            with self._lock:
                self.faults.append(f"no wire has the path {path}")
            return 404, "application/json", b'{"error": {"message": "no such path"}}'
        messages, tools = wire.read(body)
        request = Request(path, body, messages, tools, wire.choice(body), headers)
        with self._lock:
            self.requests.append(request)
            self.faults += _faults(messages, tools, whose=wire.rules)
            if request.choice not in (None, "auto"):
                self.faults.append(f"tool choice is {request.choice!r}")
            reply = self.replies.pop(0) if self.replies else NOTHING
        if callable(reply):
            reply = reply(request)
        if reply.status != 200:
            body_out = reply.body if reply.body is not None else wire.error(reply.status, reply.text)
            return reply.status, "application/json", json.dumps(body_out).encode()
        if reply.body is not None:
            return 200, "application/json", json.dumps(reply.body).encode()
        streamed = wire.streams(path, body)
        kind, text = wire.write(reply, streamed=streamed)
        return 200, kind, text.encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        loopback = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, kind, answer = loopback.answer(self.path, body, self.headers)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                # Most of the classes cannot be closed: a connection they kept would be left open at the end.
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(answer)

            def handle(self) -> None:
                with contextlib.suppress(ConnectionResetError):  # a client that hangs up is none of our business
                    super().handle()

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler
