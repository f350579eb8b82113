"""An OpenAI-compatible server on 127.0.0.1 that also streams: chat and maintenance are answered by one function each.

Requests of both come in any order, since maintenance runs in the background.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.request_rules import CHECKERS

Message = dict[str, Any]
Answer = Callable[[list[Message]], str | Message]


class Loopback:
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
        self._chat, self._keeper = chat, keeper
        self.chats: list[list[Message]] = []
        self.kept: list[str] = []
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"loopback": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def environment(self) -> dict[str, str]:
        """What sends an example here."""
        url = f"http://127.0.0.1:{self._server.server_port}/v1"
        return {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "any", "NO_PROXY": "127.0.0.1"}

    def answer(self, body: Message) -> Message:
        """Record a request and answer it."""
        messages = body["messages"]
        with self._lock:
            for name, check in CHECKERS.items():
                # LlamaIndex' OpenAI client adds `additionalProperties` to schemas, which is right for OpenAI.
                self.faults += check(messages, None if name == "GEMINI" else body.get("tools"))
            last = str(messages[-1]["content"])
            if "<turn>" in last:
                self.kept.append(last)
                given = self._keeper(last)
            else:
                self.chats.append(messages)
                given = self._chat(messages)
        return {"role": "assistant", "content": given} if isinstance(given, str) else {"role": "assistant", **given}


class _Handler(BaseHTTPRequestHandler):
    loopback: Loopback
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = self.loopback.answer(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if body.get("stream"):
            kind, text = "text/event-stream", "".join(_events(message, reason))
        else:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            kind, text = "application/json", json.dumps(_completion("chat.completion", choice))
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _completion(kind: str, choice: dict[str, Any]) -> dict[str, Any]:
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "c", "object": kind, "created": 1, "model": "scripted", "choices": [choice], "usage": usage}


def _events(message: Message, reason: str) -> Iterator[str]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": message.get("content") or ""}]
    deltas += [{"tool_calls": [{**call, "index": at}]} for at, call in enumerate(message.get("tool_calls") or ())]
    for delta in deltas:
        yield f"data: {json.dumps(_completion('chat.completion.chunk', {'index': 0, 'delta': delta}))}\n\n"
    last = {"index": 0, "delta": {}, "finish_reason": reason}
    yield f"data: {json.dumps(_completion('chat.completion.chunk', last))}\n\ndata: [DONE]\n\n"
