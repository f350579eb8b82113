"""An OpenAI-compatible chat server on 127.0.0.1 that answers from a list and records what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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


class LoopbackModel:
    """Runs for the time of a `with` block. When its answers are used up, it says IGNORE.

    Attributes:
        requests: The bodies of all requests, in order.
    """

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                answer = json.dumps(model.answer(self.path, body)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def base_url(self) -> str:
        """What the `openai` package takes as `base_url` or `OPENAI_BASE_URL`."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def asked(self) -> Sequence[dict[str, Any]]:
        """The messages of the newest request."""
        return self.requests[-1]["messages"]

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert path == "/v1/chat/completions"
        self.requests.append(body)
        message = self.answers.pop(0) if self.answers else says("IGNORE")
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }

    def __enter__(self) -> LoopbackModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
