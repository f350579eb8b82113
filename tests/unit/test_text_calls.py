"""Calls as the whole text of an answer: nothing else is one."""

from __future__ import annotations

import json

import pytest

from impressmem_integrations.tools.json_repair import UnreadableJson
from impressmem_integrations.tools.text_calls import read_text_calls

ARGUMENTS = {"impressions": [{"clue": "A", "content": "x"}]}
CALL = {"name": "save_impressions", "arguments": ARGUMENTS}
MERGE = {"level": "label", "from_items": ["a"], "to_item": "b"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"calls": [CALL]}),
        json.dumps([CALL]),
        json.dumps(CALL),
        json.dumps(ARGUMENTS),
        json.dumps({"tool_calls": [{"function": {"name": "save_impressions", "arguments": json.dumps(ARGUMENTS)}}]}),
        "```json\n" + json.dumps([CALL], indent=2) + "\n```",
        "  \n```\n" + json.dumps(CALL) + "\n```\n",
        "<tool_call>\n" + json.dumps(CALL) + "\n</tool_call>",
    ],
)
def test_tc14_a_call_written_as_the_whole_text(text):
    (call,) = read_text_calls(text)
    assert (call.name, call.arguments, call.error) == ("save_impressions", ARGUMENTS, None)


def test_several_calls_in_order():
    calls = read_text_calls(json.dumps([CALL, {"name": "organize_impressions", "arguments": MERGE}, MERGE]))
    assert [call.name for call in calls] == ["save_impressions", "organize_impressions", "organize_impressions"]


@pytest.mark.parametrize("text", ['{"calls": []}', "[]", "{}", "```json\n[]\n```"])
def test_an_empty_list_is_nothing_to_do(text):
    assert read_text_calls(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I like {braces} and [1, 2].",
        "Sure: " + json.dumps(CALL),
        json.dumps(CALL) + " and that is it",
        json.dumps(CALL) + json.dumps(CALL),
        "```json\n" + json.dumps(CALL) + "\n```\nDone.",
        "> " + json.dumps(CALL),
        '{"weather": "sunny"}',
        '[{"a": 1}]',
        '["save_impressions"]',
        "{'name': 'save_impressions'}",
        '{"name": "save_impressions", "name": "organize_impressions", "arguments": {}}',
        "[" * 5_000,
    ],
)
def test_anything_else_is_an_error_for_the_model(text):
    with pytest.raises(UnreadableJson):
        read_text_calls(text)


def test_a_cut_text_is_told_apart():
    with pytest.raises(UnreadableJson) as caught:
        read_text_calls(json.dumps([CALL])[:-1])
    assert caught.value.cut_off
