"""What providers accept, as checkers over a recorded request in OpenAI form: `(messages, tools) -> violations`.

Each returns sentences, [] for a request that passes. They know the rules that real requests broke, not a provider's
whole manual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Request = Sequence[Mapping[str, Any]]
Tools = Sequence[Mapping[str, Any]] | None
Checker = Callable[[Request, Tools], list[str]]

_SYSTEM = {"system", "developer"}
_GEMINI_REFUSES = {
    "anyOf", "oneOf", "allOf", "not", "$ref", "$defs", "definitions", "default", "additionalProperties",
    "patternProperties", "propertyNames", "exclusiveMinimum", "exclusiveMaximum", "const", "strict",
}  # fmt: skip


def openai(messages: Request, tools: Tools = None) -> list[str]:
    """Each tool message answers a call of the assistant message before its group; no call stays unanswered."""
    found = []
    open_ids: set[str] = set()
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_ids:
                found.append(f"message {place}: a tool result without its call just before")
            open_ids.discard(message.get("tool_call_id", ""))
            continue
        if open_ids:
            found.append(f"message {place}: calls before it stay unanswered")
        open_ids = set(_call_ids(message))
    if open_ids:
        found.append("the last calls stay unanswered")
    return found


def anthropic(messages: Request, tools: Tools = None) -> list[str]:
    """System only in front, then the user; calls answered in the very next message; no blank text.

    In OpenAI form the results of one assistant message are a run of tool messages, which becomes one user message: so
    "the next message" is the run that follows.
    """
    found = [*_system_in_front(messages), *_user_first(messages), *openai(messages, tools)]
    for place, message in enumerate(messages):
        for text in _texts(message):
            if not text.strip():
                found.append(f"message {place}: blank text")
    return found


def bedrock(messages: Request, tools: Tools = None) -> list[str]:
    """Anthropic's rules, and tools must be declared where any message holds tool parts."""
    found = anthropic(messages, tools)
    if not tools and any(message["role"] == "tool" or message.get("tool_calls") for message in messages):
        found.append("tool parts without declared tools")
    return found


def gemini(messages: Request, tools: Tools = None) -> list[str]:
    """System only in front, then the user; tool schemas within the subset."""
    found = [*_system_in_front(messages), *_user_first(messages)]
    for tool in tools or ():
        function = tool["function"]
        found.extend(schema_violations(function.get("parameters", {}), function["name"]))
    return found


def strict_template(messages: Request, tools: Tools = None) -> list[str]:
    """At most one system message, at index 0."""
    return [f"message {place}: a system message behind the first" for place, message in enumerate(messages)
            if place and message["role"] in _SYSTEM]  # fmt: skip


CHECKERS: dict[str, Checker] = {
    "OPENAI": openai,
    "ANTHROPIC": anthropic,
    "BEDROCK": bedrock,
    "GEMINI": gemini,
    "STRICT-TEMPLATE": strict_template,
}


def schema_violations(schema: Any, path: str = "schema") -> list[str]:
    """What in a JSON schema lies outside the subset that every provider takes."""
    return list(_schema_violations(schema, path))


def _schema_violations(schema: Any, path: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        yield f"{path}: not a schema object"
        return
    for word in sorted(_GEMINI_REFUSES & set(schema)):
        yield f"{path}: {word}"
    kind = schema.get("type")
    if not isinstance(kind, str):
        yield f"{path}: no single type"
    if kind == "array" and "items" not in schema:
        yield f"{path}: array without items"
    if not all(isinstance(value, str) for value in schema.get("enum", ())):
        yield f"{path}: an enum value that is not text"
    if "items" in schema:
        yield from _schema_violations(schema["items"], f"{path}[]")
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in properties:
            yield f"{path}: requires {name}, which it does not have"
    for name, value in properties.items():
        yield from _schema_violations(value, f"{path}.{name}")


def _call_ids(message: Mapping[str, Any]) -> list[str]:
    return [call["id"] for call in message.get("tool_calls") or ()]


def _texts(message: Mapping[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if content is None or (content == "" and message.get("tool_calls")):
        return  # only calls: no text block is made
    if isinstance(content, str):
        yield content
        return
    for part in content:
        if part.get("type") == "text":
            yield part["text"]


def _system_in_front(messages: Request) -> list[str]:
    front = True
    found = []
    for place, message in enumerate(messages):
        if message["role"] not in _SYSTEM:
            front = False
        elif not front:
            found.append(f"message {place}: system text behind the front")
    return found


def _user_first(messages: Request) -> list[str]:
    first = next((message["role"] for message in messages if message["role"] not in _SYSTEM), None)
    return [] if first == "user" else [f"the first message is from {first}, not from the user"]
