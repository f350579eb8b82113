"""Reading chat messages and tool calls whatever they are: dicts, SDK objects or framework messages, by duck typing.

Both `turns` (history) and `tools` (answers) read the same shapes; what they share is here. Nothing is imported from a
framework and nothing that is read is changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final


class _Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Told apart from None: a call without arguments is not a call with null arguments."""

_PRIMITIVE = (str, bytes, bytearray, int, float, list, tuple, set, frozenset)
_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_content"})
_NO_CONTENT = frozenset({"cache", "cache_point", "cachepoint", "tool_call_chunk"})
_CALLS = frozenset({"tool_use", "tool_call", "function_call", "invalid_tool_call"})
_SERVER_TOOLS = frozenset({"server_tool_use", "server_tool_call", "server_tool_call_chunk", "server_tool_result"})
_RESULTS = frozenset({"tool_result", "function_call_output"})
_MEDIA = {
    "image": "image",
    "image_url": "image",
    "input_image": "image",
    "audio": "audio",
    "input_audio": "audio",
    "video": "video",
    "video_url": "video",
    "file": "file",
    "input_file": "file",
    "document": "file",
    "pdf": "file",
}
_UNTYPED_CALLS = ("function_call", "functionCall", "toolUse")
_UNTYPED_RESULTS = ("function_response", "functionResponse", "toolResult")
_UNTYPED_MEDIA = ("inline_data", "inlineData", "file_data", "fileData", "image", "audio", "video", "document")
# Pictures also travel inside plain text (Markdown, tool results). Short data URLs are left: they may be the topic.
_DATA_URL = re.compile(r"data:([a-z]+)/[\w.+-]+(?:;[\w.+-]+=[\w.+-]+)*;base64,[A-Za-z0-9+/=_%-]{200,}", re.IGNORECASE)
# Servers without a reasoning parser leave it at the front of the text; one that never ends was cut and holds no answer.
_THINK = re.compile(r"\A\s*<(think|thinking)>.*?(?:</\1>\s*|\Z)", re.DOTALL)


def read(source: Any, *names: str, default: Any = None) -> Any:
    """Return the first of these fields that is there and not None: a key of a mapping, an attribute of an object."""
    if source is None or isinstance(source, _PRIMITIVE):
        return default
    for name in names:
        value = source.get(name) if isinstance(source, Mapping) else getattr(source, name, None)
        if value is not None:
            return value
    return default


def has(source: Any, name: str) -> bool:
    """Whether the field is there, None or not."""
    if source is None or isinstance(source, _PRIMITIVE):
        return False
    return name in source if isinstance(source, Mapping) else hasattr(source, name)


def word(value: Any) -> str:
    """Return a text or the value of an enum as lower-case text; "" for anything else."""
    if isinstance(value, Enum):
        value = value.value if isinstance(value.value, str) else value.name
    return value.strip().lower() if isinstance(value, str) else ""


def is_list(value: Any) -> bool:
    """Whether it is a list of things, not a text."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)


def kind(block: Any) -> str:
    """Return what a content block calls itself, lower-case; "" where it has no type (Gemini, Bedrock)."""
    return word(read(block, "type", "block_type"))


def without_data_urls(text: str) -> str:
    """Return the text with every long base64 data URL replaced by a marker such as `[image]`."""
    if "base64," not in text:
        return text
    return _DATA_URL.sub(lambda found: f"[{_media_word(found.group(1))}]", text)


def without_reasoning(text: str) -> str:
    """Return an assistant's text without a leading `<think>` part."""
    return _THINK.sub("", text, count=1)


def thinks_without_end(text: str) -> bool:
    """Whether a text is a `<think>` part that never ends: what was to follow was cut off."""
    found = _THINK.match(text)
    return found is not None and f"</{found[1]}>" not in found[0]


def content_of(message: Any) -> Any:
    """Return a message's content as it carries it: text, blocks or None. LlamaIndex keeps blocks beside the text."""
    blocks = read(message, "blocks", "parts")
    if is_list(blocks):
        return blocks
    content = read(message, "content")
    if content is None and not has(message, "content"):
        text = read(message, "text")  # a property in LangChain 1.x, a method before
        return text() if callable(text) and not isinstance(text, str) else text
    if is_list(read(content, "parts")):  # Gemini
        return content.parts if not isinstance(content, Mapping) else content["parts"]
    return content


def text_of(content: Any) -> str:
    """Return the text of a content: parts joined by line breaks, media as markers, reasoning and tool parts dropped."""
    if content is None:
        return ""
    if isinstance(content, str):
        return without_data_urls(str(content))
    if not is_list(content):
        return _block_text(content)
    return "\n".join(text for text in map(_block_text, content) if text)


def _block_text(block: Any) -> str:
    if isinstance(block, str):
        return without_data_urls(str(block))
    if block is None or isinstance(block, _PRIMITIVE):
        return "" if block is None else "[attachment]"
    name = kind(block)
    if name in _REASONING or name in _NO_CONTENT or name in _SERVER_TOOLS or name in _RESULTS or name in _CALLS:
        return ""
    if name in _MEDIA:
        return _marker(block, _MEDIA[name])
    if not name:
        return _untyped_text(block)
    if name == "citable":  # LlamaIndex: a source with blocks of its own
        return text_of(read(block, "content"))
    text = read(block, "text", "refusal")
    if isinstance(text, str):
        return without_data_urls(text)
    return f"[{re.sub(r'[^a-z0-9_-]', '', name)[:40] or 'attachment'}]"


def _untyped_text(block: Any) -> str:
    if read(block, "thought") is True or read(block, "reasoningContent", "cachePoint"):
        return ""
    if read(block, *_UNTYPED_CALLS, *_UNTYPED_RESULTS) is not None:
        return ""
    text = read(block, "text")
    if isinstance(text, str):
        return without_data_urls(text)
    for name in _UNTYPED_MEDIA:
        media = read(block, name)
        if media is not None:
            mime = word(read(media, "mime_type", "mimeType"))
            return f"[{_media_word(mime.partition('/')[0] if mime else name)}]"
    return "[attachment]"


def _marker(block: Any, name: str) -> str:
    title = read(block, "filename", "title") or read(read(block, "file"), "filename")
    if not isinstance(title, str) or not title.strip():
        return f"[{name}]"
    return f"[{name} {one_line(title)[:80]}]"


def _media_word(name: str) -> str:
    return name.lower() if name.lower() in {"image", "audio", "video"} else "file"


def one_line(text: str) -> str:
    """Return the text with control characters and runs of blanks turned into single spaces."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def identifier(value: Any) -> str | None:
    """Return a name or id as text, or None where there is none."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) and value != "" else None


@dataclass(frozen=True, slots=True)
class RawCall:
    """A tool call as it was found.

    Attributes:
        name: The tool's name as written; "" where there is none.
        arguments: Text, mapping, None, anything else the model sent, or `MISSING`.
        id: The call's id, or None.
        custom: Whether it is a free-text tool of the provider: its argument is not JSON by design.
    """

    name: str
    arguments: Any = MISSING
    id: str | None = None
    custom: bool = False


def raw_call(call: Any) -> RawCall:
    """Read one tool call of any shape; fields that are not there stay empty."""
    key = _call_id(call)
    custom = read(call, "custom")
    if custom is not None or kind(call) == "custom_tool_call":
        source = custom if custom is not None else call
        return RawCall(identifier(read(source, "name")) or "", read(source, "input"), key, custom=True)
    inner = read(call, "function", *_UNTYPED_CALLS)
    if inner is not None and not isinstance(inner, str):
        nested = _flat_call(inner)
        return RawCall(nested.name, nested.arguments, key or nested.id)
    return _flat_call(call)


def _flat_call(call: Any) -> RawCall:
    key = _call_id(call)
    name = identifier(read(call, "name", "tool_name", "recipient_name", "function")) or ""
    for field in ("arguments", "args", "input", "tool_kwargs", "parameters"):
        if has(call, field):
            return RawCall(name, read(call, field), key)
    return RawCall(name, MISSING, key)


def _call_id(call: Any) -> str | None:
    return identifier(read(call, "call_id", "id", "tool_call_id", "tool_id", "toolUseId"))


def raw_calls(message: Any) -> list[RawCall]:
    """Return the tool calls of one message. Shapes that carry the same calls twice are read once.

    Chunks are read before what a framework made of them, and blocks before decoded copies: a framework's parser may
    have completed arguments that were cut off.
    """
    extra = read(message, "additional_kwargs")
    for found in (
        read(message, "tool_call_chunks"),
        [*_items(read(message, "tool_calls")), *_items(read(message, "invalid_tool_calls"))],
        list(_call_blocks(content_of(message))),
        read(extra, "tool_calls"),
    ):
        calls = [raw_call(item) for item in _items(found)]
        if calls:
            return calls
    legacy = read(message, "function_call") or read(extra, "function_call")
    return [raw_call(legacy)] if legacy is not None else []


def _items(value: Any) -> list[Any]:
    return list(value) if is_list(value) else []


def _call_blocks(content: Any) -> Iterator[Any]:
    for block in _items(content):
        name = kind(block)
        if name in _CALLS or (not name and read(block, *_UNTYPED_CALLS) is not None):
            yield block


def tool_results(content: Any) -> list[tuple[str | None, str | None, str]]:
    """Return the tool results that stand as blocks inside a message: (call id, tool name, text)."""
    found = []
    for block in _items(content):
        name = kind(block)
        inner = block if name in _RESULTS else (read(block, *_UNTYPED_RESULTS) if not name else None)
        if inner is None:
            continue
        key = identifier(read(inner, "tool_use_id", "call_id", "toolUseId", "id"))
        output = read(inner, "content", "output", "response")
        data = isinstance(output, Mapping) and not kind(output)  # Gemini answers with an object, not with blocks
        text = json.dumps(dict(output), ensure_ascii=False, default=str) if data else text_of(output)
        found.append((key, identifier(read(inner, "name")), without_data_urls(text)))
    return found
