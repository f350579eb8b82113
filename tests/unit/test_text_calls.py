"""Calls as the whole text of an answer: nothing else is one."""

from __future__ import annotations

import json

import pytest

from impressmem_integrations.tools.json_repair import UnreadableJson
from impressmem_integrations.tools.text_calls import attempts_calls, read_text_calls

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


WRITTEN = json.dumps(CALL)


@pytest.mark.parametrize(
    "text",
    [
        WRITTEN,
        json.dumps(ARGUMENTS),
        json.dumps({"name": "delete_everything", "arguments": {}}),
        f"<function=save_impressions>{json.dumps(ARGUMENTS)}</function>",
        "<|python_tag|>" + json.dumps({"name": "save_impressions", "parameters": ARGUMENTS}),
        "<｜tool▁calls▁begin｜>function<｜tool▁sep｜>save_impressions",
        f"[TOOL_CALLS][{WRITTEN}]",
        f"<tool_call>{WRITTEN}</tool_call>\n<tool_call>{WRITTEN}</tool_call>",
        f"<tool_call>\n{WRITTEN}",
        "<tool_call>\n<function=organize_impressions>\n<parameter=level>\nlabel\n</parameter>\n</function>\n</tool_call>",
        'save_impressions(impressions=[{"clue": "A"}])',
        'default_api.save_impression(clue="A")',
        '[save_impressions(impressions=[{"clue": "A"}])]',
        '```python\nsave_impressions(impressions=[{"clue": "A"}])\n```',
        '{"name":"save_impressions","arguments":{"impressions": [{"clue": "HOME", "cont',
        '{"impressions": [{"clue": "HOME", "cont',
    ],
)
def test_tc14_what_begins_as_a_call_and_names_a_tool_is_meant_as_one(text):
    assert attempts_calls(f"  \n{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "IGNORE",
        '{"calls": []}',
        "[]",
        '{"weather": "sunny"}',
        "[Nothing new here.]",
        f"You could call {WRITTEN} here.",
        f"Sure: {WRITTEN}",
        f"> {WRITTEN}",
        "save_impressions is not needed here.",
    ],
)
def test_tc14_talk_about_a_call_is_words(text):
    assert not attempts_calls(text)


@pytest.mark.parametrize("text", ['{"calls": [{"name": "a\nb"}]}', '{"calls": [{"name": "a'])
def test_what_is_wrong_is_said_with_its_place(text):
    with pytest.raises(UnreadableJson, match=r"(?<! at) at character \d+\)$"):
        read_text_calls(text)
