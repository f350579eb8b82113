"""Any message shape to canonical messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from impressmem_integrations.core.shapes import (
    MISSING,
    RawCall,
    content_of,
    identifier,
    is_list,
    one_line,
    raw_call,
    raw_calls,
    read,
    text_of,
    tool_results,
    without_data_urls,
    without_reasoning,
    word,
)
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Message

_ROLES = {
    "user": "user",
    "human": "user",
    "humanmessagechunk": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "system": "system",
    "systemmessagechunk": "system",
    "developer": "system",
    "tool": "tool",
    "toolmessagechunk": "tool",
    "function": "tool",
    "functionmessagechunk": "tool",
}
# Items of the Responses API that no one said: reasoning, references and the traces of tools that the provider ran.
_SILENT_ITEMS = frozenset({"remove", "reasoning", "item_reference", "compaction", "mcp_list_tools"})


def canonical(message: Any) -> Message | None:
    """Return one message in canonical form, or None for something that is not a message (a removal, reasoning).

    Args:
        message: A LangChain or LlamaIndex message, an OpenAI, Anthropic or Gemini dict or SDK object, an item of the
            Responses API, a `(role, text)` pair, or a text (the user's). It is not changed.

    Returns:
        A new dict: `role` is `user`, `assistant`, `system` or `tool`; `content` is text, never None; `name`,
        `tool_calls` and `tool_call_id` where they are known. Reasoning is dropped, media become a marker such as
        `[image]`. A summary that LangChain's middleware wrote counts as `system`. A message that holds several tool
        results, or results and text, is joined here; `canonical_history` keeps its parts apart.

    Raises:
        InvalidInput: It is of no known shape or role.
    """
    parts = expand(message)
    if len(parts) < 2:
        return parts[0] if parts else None
    return {**parts[0], "content": "\n".join(part["content"] for part in parts if part["content"])}


def canonical_history(messages: Iterable[Any]) -> list[Message]:
    """Return a history in canonical form, in order; see `canonical`.

    Raises:
        InvalidInput: It is no list of messages, or a message cannot be read; the error names its index and type.
    """
    return [part for _, parts in expanded(messages) for part in parts]


def expanded(messages: Iterable[Any]) -> list[tuple[Any, list[Message]]]:
    """Return each message with its canonical parts (none, one, or several where it holds tool results).

    Raises:
        InvalidInput: See `canonical_history`.
    """
    if isinstance(messages, str | bytes | Mapping) or read(messages, "role", "type") is not None:
        raise InvalidInput(f"messages must be a list of messages, not one {type(messages).__name__}")
    try:
        listed = list(messages)
    except TypeError:
        raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}") from None
    entries = []
    for index, message in enumerate(listed):
        try:
            entries.append((message, expand(message)))
        except InvalidInput as error:
            raise InvalidInput(f"message {index}: {error}") from None
    return entries


def is_summary(message: Any) -> bool:
    """Whether LangChain's summarisation middleware wrote this message in place of older ones."""
    return bool(read(read(message, "additional_kwargs"), "lc_source") == "summarization")


def expand(message: Any) -> list[Message]:
    """Return the canonical parts of one message: [] for none, several where tool results stand inside it.

    Raises:
        InvalidInput: It is of no known shape or role.
    """
    message = _unwrapped(message)
    name = word(read(message, "type"))
    role = _role(message, name)
    if role is None:
        return _item(message, name)
    if role == "system" or is_summary(message):
        return [{"role": "system", "content": text_of(content_of(message))}]
    if role == "tool":
        return [_tool(message)]
    content = content_of(message)
    results = [_result(key, tool, text) for key, tool, text in tool_results(content)]
    text = text_of(content) or _refusal(message)
    made: Message = {"role": role, "content": without_reasoning(text) if role == "assistant" else text}
    speaker = identifier(read(message, "name"))
    if speaker is not None and (speaker := one_line(speaker)):
        made["name"] = speaker
    if role == "assistant":
        calls = [_call(raw) for raw in raw_calls(message)]
        if calls:
            made["tool_calls"] = calls
    if results and not made["content"] and "tool_calls" not in made:
        return results
    return [*results, made]


def _unwrapped(message: Any) -> Any:
    """A text, a pair and LangChain's two serialised forms, as the message they stand for."""
    if isinstance(message, str):
        return {"role": "user", "content": message}
    if isinstance(message, tuple | list):
        if len(message) == 2 and isinstance(message[0], str):
            return {"role": message[0], "content": message[1]}
        raise InvalidInput(f"a {type(message).__name__} is not a message; a pair must be (role, content)")
    if isinstance(message, Mapping) and "role" not in message:
        for key in ("data", "kwargs"):
            inner = message.get(key)
            if isinstance(inner, Mapping) and "content" in inner:
                return {"type": message.get("type"), **inner}
    return message


def _role(message: Any, name: str) -> str | None:
    """The canonical role; None where `type` says that it is an item without one."""
    said = word(read(message, "role"))
    if said:
        if said not in _ROLES:
            raise InvalidInput(
                f"{type(message).__name__} with the unknown role {said[:40]!r}; "
                "use user, assistant, system, developer, tool or function"
            )
        return _ROLES[said]
    if name in _ROLES:
        return _ROLES[name]
    if not name:
        raise InvalidInput(f"a {type(message).__name__} is not a message: it has neither a role nor a type")
    return None


def _item(message: Any, name: str) -> list[Message]:
    """An item without a role: the Responses API's tool traffic, or LangChain's removal."""
    if name in {"function_call", "custom_tool_call"}:
        return [{"role": "assistant", "content": "", "tool_calls": [_call(raw_call(message))]}]
    if name in {"function_call_output", "custom_tool_call_output"}:
        return [_result(identifier(read(message, "call_id")), None, text_of(read(message, "output")))]
    if name in _SILENT_ITEMS or name.endswith(("_call", "_call_output", "_approval_request", "_approval_response")):
        return []
    raise InvalidInput(f"{type(message).__name__} of the unknown type {name[:40]!r} is not a message")


def _refusal(message: Any) -> str:
    refusal = read(message, "refusal")
    return refusal if isinstance(refusal, str) else ""


def _tool(message: Any) -> Message:
    extra = read(message, "additional_kwargs")
    content = content_of(message)
    inside = tool_results(content)
    key = identifier(read(message, "tool_call_id") or read(extra, "tool_call_id"))
    text = text_of(content)
    if inside:
        key = key or inside[0][0]
        text = "\n".join(filter(None, [*(result for _, _, result in inside), text]))
    return _result(key, identifier(read(message, "name") or read(extra, "name")), text)


def _result(key: str | None, name: str | None, text: str) -> Message:
    made: Message = {"role": "tool", "content": text}
    if name is not None and (name := one_line(name)):
        made["name"] = name
    if key is not None:
        made["tool_call_id"] = key
    return made


def _call(raw: RawCall) -> dict[str, Any]:
    return {
        "id": raw.id,
        "type": "function",
        "function": {"name": one_line(raw.name), "arguments": without_data_urls(_argument_text(raw.arguments))},
    }


def _argument_text(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    if arguments is None or arguments is MISSING:
        return ""
    plain = dict(arguments) if isinstance(arguments, Mapping) else list(arguments) if is_list(arguments) else arguments
    try:
        # `default=str`: a framework may have put dates or ids into decoded arguments.
        return json.dumps(plain, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):  # circular, odd keys, too deep: a history must not fail on it
        return ""
