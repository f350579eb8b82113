"""Each rule checker catches its fault and passes what is right."""

from __future__ import annotations

from typing import Any

import pytest

from tests.request_rules import CHECKERS, anthropic, bedrock, gemini, openai, schema_violations, strict_template

SYSTEM = {"role": "system", "content": "rules"}
USER = {"role": "user", "content": "hi"}
ASSISTANT = {"role": "assistant", "content": "hello"}
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]


def calling(*ids: str, content: str | None = None) -> dict[str, Any]:
    calls = [{"id": key, "type": "function", "function": {"name": "f", "arguments": "{}"}} for key in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(key: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": "ok"}


@pytest.mark.parametrize("name", CHECKERS)
def test_a_good_request_passes(name: str) -> None:
    request = [SYSTEM, USER, calling("a", "b"), result("b"), result("a"), ASSISTANT, USER]
    assert CHECKERS[name](request, TOOLS) == []


@pytest.mark.parametrize(
    "request_",
    [
        [USER, result("a")],
        [USER, calling("a"), result("b"), result("a")],
        [USER, calling("a", "b"), result("a"), USER],
        [USER, calling("a")],
        [USER, calling("a"), USER, result("a")],
        [USER, calling("a"), result("a"), result("a")],
    ],
)
def test_openai_and_anthropic_catch_calls_and_results_that_do_not_meet(request_: list[dict[str, Any]]) -> None:
    assert openai(request_)
    assert anthropic(request_)


@pytest.mark.parametrize(
    "request_",
    [
        [SYSTEM],
        [ASSISTANT, USER],
        [USER, SYSTEM, USER],
        [USER, {"role": "assistant", "content": " \n"}],
        [{"role": "user", "content": ""}],
        [{"role": "user", "content": [{"type": "text", "text": ""}]}],
    ],
)
def test_anthropic_catches_order_and_blank_text(request_: list[dict[str, Any]]) -> None:
    assert anthropic(request_)
    assert bedrock(request_, TOOLS)


def test_empty_text_beside_calls_is_no_text_block() -> None:
    assert anthropic([USER, calling("a", content=""), result("a")]) == []


def test_bedrock_wants_tools_declared() -> None:
    request = [USER, calling("a"), result("a")]
    assert anthropic(request) == []
    assert bedrock(request, None) == ["tool parts without declared tools"]
    assert bedrock(request, TOOLS) == []


def test_gemini_catches_order_and_schema() -> None:
    assert gemini([ASSISTANT, USER])
    assert gemini([USER, SYSTEM])
    broken = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "default": {}}}}]
    assert gemini([USER], broken) == ["f: default"]


def test_strict_template_catches_a_second_system_message() -> None:
    assert strict_template([SYSTEM, SYSTEM, USER])
    assert strict_template([USER, SYSTEM])
    assert strict_template([SYSTEM, USER]) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"type": "string"}], "type": "string"},
        {"type": ["string", "null"]},
        {"type": "array"},
        {},
        {"type": "integer", "enum": [1]},
        {"type": "object", "properties": {"a": {"$ref": "#/x", "type": "string"}}},
        {"type": "object", "additionalProperties": False},
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number", "exclusiveMinimum": 0}}}},
        {"type": "object", "properties": {}, "required": ["a"]},
    ],
)
def test_schema_violations_are_found_at_any_depth(schema: dict[str, Any]) -> None:
    assert len(schema_violations(schema)) == 1
