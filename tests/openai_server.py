"""A chat server on 127.0.0.1 in OpenAI's wire form, streamed or not. What it answers is up to its kinds."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Message = dict[str, Any]

_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


class OpenAIServer:
    """Runs for the time of a `with` block. A kind says in `answer` what is said to the body of a request."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"answers": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def answer(self, body: Message) -> Message | str:
        """An assistant message, or its text; called by several threads."""
        raise NotImplementedError

    @property
    def base_url(self) -> str:
        """What the `openai` package takes as `base_url` or `OPENAI_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    answers: OpenAIServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path != "/v1/chat/completions":
            self.send_error(404)
            return
        given = self.answers.answer(body)
        message = {"role": "assistant", **({"content": given} if isinstance(given, str) else given)}
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if body.get("stream"):
            self._send("text/event-stream", "".join(_events(message, reason)))
        else:
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._send("application/json", json.dumps(_completion("chat.completion", choice) | {"usage": _USAGE}))

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

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _completion(kind: str, choice: Message) -> Message:
    return {"id": "c", "object": kind, "created": 1, "model": "scripted", "choices": [choice]}


def _events(message: Message, reason: str) -> Iterator[str]:
    deltas: list[Message] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\s*\S+\s*", message.get("content") or "")]
    deltas += [{"tool_calls": [{**call, "index": at}]} for at, call in enumerate(message.get("tool_calls") or ())]
    for delta in deltas:
        yield f"data: {json.dumps(_completion('chat.completion.chunk', {'index': 0, 'delta': delta}))}\n\n"
    last = {"index": 0, "delta": {}, "finish_reason": reason}
    yield f"data: {json.dumps(_completion('chat.completion.chunk', last))}\n\ndata: [DONE]\n\n"
