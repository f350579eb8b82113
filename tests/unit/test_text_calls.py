"""Calls that a model wrote into its text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from impressmem_integrations.model import ToolCall
from impressmem_integrations.tools.text_calls import read_text_calls

SAVE = {"impressions": [{"clue": "A", "content": "x"}]}
CALL = json.dumps({"name": "save_impressions", "arguments": SAVE})
READ = ToolCall("save_impressions", SAVE)
RECORDED = json.loads((Path(__file__).parents[1] / "data" / "model_answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>\n{CALL}}}\n</tool_call>",
        f"```json\n{CALL}\n```",
        f"Sure, I will {{happily}} save [1] that:\n{CALL}\nDone.",
        f"[{CALL}]",
        json.dumps({"tool_calls": [{"name": "save_impressions", "arguments": SAVE}]}),
        json.dumps({"tool_calls": [{"function": {"name": "save_impressions", "arguments": json.dumps(SAVE)}}]}),
        json.dumps({"name": "functions.save_impressions", "parameters": SAVE}),
        json.dumps(SAVE),
        str({"name": "save_impressions", "arguments": SAVE}),
    ],
)
def test_tc14_a_call_written_as_text(text: str) -> None:
    assert read_text_calls(text) == (READ,)


def test_several_calls_in_order() -> None:
    merge = {"level": "label", "from_items": ["A"], "to_item": "B"}
    found = read_text_calls(f"<tool_call>{CALL}</tool_call>\n<tool_call>{json.dumps(merge)}</tool_call> {CALL}")
    assert found == (READ, ToolCall("organize_impressions", merge), READ)
    assert read_text_calls(json.dumps(SAVE["impressions"][0]))[0].name == "save_impression"


@pytest.mark.parametrize("text", ["", "IGNORE", "I like {braces} and [1, 2].", '{"weather": "sunny"}', '[{"a": 1}]'])
def test_prose_and_other_json_hold_no_call(text: str) -> None:
    assert read_text_calls(text) == ()


def test_a_cut_call_is_an_error_and_the_whole_ones_before_it_count() -> None:
    first, last = read_text_calls(f"{CALL}\n{CALL[:-12]}", cut_off=True)
    assert first == READ
    assert last.arguments is None
    assert "cut off" in (last.error or "")


@pytest.mark.parametrize(
    ("shape", "name"),
    [
        ("call_as_text", "save_impressions"),
        ("extra_closing_brace", "organize_impressions"),
        ("unknown_tool", "merge_categories_foods_foodies"),
    ],
)
def test_recorded_calls_in_text_are_read(shape: str, name: str) -> None:
    (call,) = read_text_calls(RECORDED[shape]["message"]["content"])
    assert call.name == name
    assert call.arguments == json.loads(RECORDED[shape]["derived_tool_call"]["arguments"])


@pytest.mark.parametrize(
    "shape",
    [
        "call_as_text_truncated", "invalid_escape", "missing_bracket", "outer_brace_missing", "mismatched_brackets",
        "fields_outside_the_object", "backticks_for_quotes", "duplicate_keys", "organize_arguments_under_save",
        "flat_impression", "arguments_is_a_list",
    ],
)  # fmt: skip
def test_recorded_broken_calls_in_text_are_refused(shape: str) -> None:
    found = RECORDED[shape]
    (call,) = read_text_calls(found["message"]["content"], cut_off=found["finish_reason"] == "length")
    assert call.arguments is None
    assert call.error
