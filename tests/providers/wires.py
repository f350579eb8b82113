"""The wire forms of OpenAI (chat, Responses), Anthropic, Gemini and Ollama, as far as a maintenance call uses them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.providers.loopback import Reply

Read = tuple[list[dict[str, Any]], list[dict[str, Any]] | None]


@dataclass(frozen=True)
class Wire:
    """One provider's form.

    Attributes:
        read: A request's messages and tools in OpenAI form.
        write: A reply as content type and body; streamed where the request asked for it.
        error: The body of an error.
        rules: The name of the provider's rules in `tests.request_rules`.
        choice: The tool choice a request names, in OpenAI's words; None where it names none.
        streams: Whether a request asks for a stream.
    """

    read: Callable[[dict[str, Any]], Read]
    write: Callable[..., tuple[str, str]]
    error: Callable[[int, str], dict[str, Any]]
    choice: Callable[[dict[str, Any]], Any]
    rules: str
    streams: Callable[[str, dict[str, Any]], bool] = lambda path, body: bool(body.get("stream"))


JSON = "application/json"
EVENTS = "text/event-stream"
LINES = "application/x-ndjson"


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _object(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def _events(events: Iterable[Any]) -> str:
    return "".join(f"data: {json.dumps(data)}\n\n" for data in events)


# --- OpenAI chat completions ------------------------------------------------------------------------------------------

_OPENAI_USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def openai_message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
            for at, (name, arguments) in enumerate(reply.calls)
        ]
    return message


def openai_body(message: dict[str, Any], finish: str | None) -> dict[str, Any]:
    """A whole chat completion around a message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": _OPENAI_USAGE,
    }


def _openai_write(reply: Reply, *, streamed: bool) -> tuple[str, str]:
    message = openai_message(reply)
    finish = "length" if reply.cut else "tool_calls" if reply.calls else "stop"
    if not streamed:
        return JSON, json.dumps(openai_body(message, finish))
    for at, call in enumerate(message.get("tool_calls", ())):
        call["index"] = at
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        {**frame, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**frame, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**frame, "choices": [], "usage": _OPENAI_USAGE},
    ]
    return EVENTS, _events(chunks) + "data: [DONE]\n\n"


def _openai_error(status: int, text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "invalid_request_error", "code": None, "param": None}}


OPENAI = Wire(
    lambda body: (body["messages"], body.get("tools")),
    _openai_write,
    _openai_error,
    lambda body: body.get("tool_choice"),
    "OPENAI",
)


# --- OpenAI Responses -------------------------------------------------------------------------------------------------


def _responses_read(body: dict[str, Any]) -> Read:
    tools = [
        {"type": "function", "function": {key: value for key, value in tool.items() if key in ("name", "parameters")}}
        for tool in body.get("tools") or ()
    ]
    system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    return [*system, *body["input"]], tools or None


def _responses_write(reply: Reply, *, streamed: bool) -> tuple[str, str]:
    assert not streamed, "maintenance never streams"
    status = "incomplete" if reply.cut else "completed"
    output: list[dict[str, Any]] = [
        {"type": "function_call", "id": f"fc_{at}", "call_id": f"call_{at}", "name": name, "arguments": _text(given),
         "status": status}
        for at, (name, given) in enumerate(reply.calls)
    ]  # fmt: skip
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        output.append({"type": "message", "id": "m", "role": "assistant", "status": status, "content": [part]})
    usage = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
             "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output,
            "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": usage, "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if reply.cut else None}  # fmt: skip
    return JSON, json.dumps(body)


RESPONSES = Wire(_responses_read, _responses_write, _openai_error, lambda body: body.get("tool_choice"), "OPENAI")


# --- Anthropic messages -----------------------------------------------------------------------------------------------


def _anthropic_read(body: dict[str, Any]) -> Read:
    system = body.get("system")
    messages = [{"role": "system", "content": system}] if system else []
    tools = [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool["input_schema"]}}
        for tool in body.get("tools") or ()
    ]
    return [*messages, *body["messages"]], tools or None


def _anthropic_write(reply: Reply, *, streamed: bool) -> tuple[str, str]:
    assert not streamed, "maintenance never streams"
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": _object(arguments)}
        for at, (name, arguments) in enumerate(reply.calls)
    ]
    stop = "max_tokens" if reply.cut else "tool_use" if reply.calls else "end_turn"
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 11, "output_tokens": 7}}  # fmt: skip
    return JSON, json.dumps(body)


ANTHROPIC = Wire(
    _anthropic_read,
    _anthropic_write,
    lambda status, text: {"type": "error", "error": {"type": "invalid_request_error", "message": text}},
    lambda body: (body.get("tool_choice") or {}).get("type"),
    "ANTHROPIC",
)


# --- Gemini generateContent -------------------------------------------------------------------------------------------


def _lowered(schema: Any) -> Any:
    """A schema with the type words in lower case, which Gemini's own form has in upper case."""
    if isinstance(schema, dict):
        return {key: value.lower() if key == "type" and isinstance(value, str) else _lowered(value)
                for key, value in schema.items()}  # fmt: skip
    return [_lowered(part) for part in schema] if isinstance(schema, list) else schema


def _gemini_read(body: dict[str, Any]) -> Read:
    def text(content: dict[str, Any]) -> str:
        return "".join(part["text"] for part in content["parts"])

    messages = []
    if body.get("systemInstruction"):
        messages.append({"role": "system", "content": text(body["systemInstruction"])})
    roles = {"model": "assistant"}
    messages += [
        {"role": roles.get(content["role"], content["role"]), "content": text(content)} for content in body["contents"]
    ]
    tools = []
    for group in body.get("tools") or ():
        for declared in group["functionDeclarations"]:
            parameters = declared.get("parameters", declared.get("parametersJsonSchema"))
            tools.append(
                {"type": "function", "function": {"name": declared["name"], "parameters": _lowered(parameters)}}
            )
    return messages, tools or None


def _gemini_write(reply: Reply, *, streamed: bool) -> tuple[str, str]:
    assert not streamed, "maintenance never streams"
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    parts += [{"functionCall": {"name": name, "args": _object(arguments)}} for name, arguments in reply.calls]
    body = {
        "candidates": [
            {
                "content": {"role": "model", "parts": parts},
                "finishReason": "MAX_TOKENS" if reply.cut else "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
        "modelVersion": "m",
    }
    return JSON, json.dumps(body)


GEMINI = Wire(
    _gemini_read,
    _gemini_write,
    lambda status, text: {"error": {"code": status, "message": text, "status": "INVALID_ARGUMENT"}},
    lambda body: (
        (((body.get("toolConfig") or {}).get("functionCallingConfig") or {}).get("mode") or "").lower() or None
    ),
    "GEMINI",
    lambda path, body: "streamGenerateContent" in path,
)


# --- Ollama chat ------------------------------------------------------------------------------------------------------


def _ollama_write(reply: Reply, *, streamed: bool) -> tuple[str, str]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {"function": {"name": name, "arguments": _object(arguments)}} for name, arguments in reply.calls
        ]
    frame = {"model": "m", "created_at": "2026-05-24T10:00:00Z"}
    done = {"done": True, "done_reason": "length" if reply.cut else "stop", "prompt_eval_count": 11, "eval_count": 7}
    if not streamed:
        return JSON, json.dumps({**frame, "message": message, **done})
    pieces = [
        {**frame, "message": message, "done": False},
        {**frame, "message": {"role": "assistant", "content": ""}, **done},
    ]
    return LINES, "".join(f"{json.dumps(piece)}\n" for piece in pieces)


OLLAMA = Wire(
    lambda body: (body["messages"], body.get("tools") or None),
    _ollama_write,
    lambda status, text: {"error": text},
    lambda body: body.get("tool_choice"),
    "STRICT-TEMPLATE",
)

WIRES = {
    "/chat/completions": OPENAI,
    "/responses": RESPONSES,
    "/v1/messages": ANTHROPIC,
    "GenerateContent": GEMINI,
    "generateContent": GEMINI,
    "/api/chat": OLLAMA,
}
"""Part of a path -> the wire spoken there."""
