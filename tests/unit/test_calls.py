"""Tool calls and answers of any shape."""

from __future__ import annotations

import contextlib
import enum
import json
from pathlib import Path
from types import SimpleNamespace as Thing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, message_chunk_to_message

from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import ToolCall, Usage
from impressmem_integrations.tools.calls import read_answer, read_calls
from impressmem_integrations.tools.definitions import tool_named
from impressmem_integrations.turns import canonical_history, cut_turns

ARGUMENTS = {"impressions": [{"clue": "A", "content": "x, }y", "category": "C", "labels": ["L"], "pin": False}]}
TEXT = json.dumps(ARGUMENTS)
NAME = "save_impressions"
CALL = {"id": "c1", "type": "function", "function": {"name": NAME, "arguments": TEXT}}
CUT = '{"impressions": [{"clue": "A", "content": "half of the sent'
RECORDED = json.loads((Path(__file__).parents[1] / "data" / "model_answers.json").read_text(encoding="utf-8"))
"""Answers of real small models, and calls cut out of their text."""


class FinishReason(enum.Enum):
    MAX_TOKENS = 2


def recorded(shape: str) -> dict[str, Any]:
    found = RECORDED[shape]
    return {"choices": [{"message": found["message"], "finish_reason": found["finish_reason"]}]}


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (CALL, "c1"),
        ({"function": {"name": NAME, "arguments": ARGUMENTS}}, None),
        (Thing(id="c1", type="function", function=Thing(name=NAME, arguments=TEXT)), "c1"),
        ({"name": NAME, "args": ARGUMENTS, "id": "c1", "type": "tool_call"}, "c1"),
        ({"name": NAME, "args": TEXT, "id": "c1", "error": None, "type": "invalid_tool_call"}, "c1"),
        ({"type": "tool_use", "id": "c1", "name": NAME, "input": ARGUMENTS}, "c1"),
        ({"name": NAME, "args": ARGUMENTS}, None),
        ({"function_call": {"name": NAME, "args": ARGUMENTS}}, None),
        ({"functionCall": {"name": NAME, "args": ARGUMENTS, "id": "c1"}}, "c1"),
        ({"toolUse": {"toolUseId": "c1", "name": NAME, "input": ARGUMENTS}}, "c1"),
        ({"name": NAME, "arguments": TEXT}, None),
        (Thing(type="function_call", name=NAME, arguments=TEXT, call_id="c1", id="fc_9"), "c1"),
        (Thing(tool_id="c1", tool_name=NAME, tool_kwargs=ARGUMENTS), "c1"),
        (Thing(block_type="tool_call", tool_name=NAME, tool_kwargs=TEXT, tool_call_id="c1"), "c1"),
        ({"role": "assistant", "content": None, "function_call": {"name": NAME, "arguments": TEXT}}, None),
    ],
)
def test_tc07_one_call_in_many_shapes(call: Any, key: str | None) -> None:
    meant = (ToolCall(NAME, ARGUMENTS, key),)
    assert read_calls(call) == meant
    if "role" not in (call if isinstance(call, dict) else {}):
        assert read_calls([call]) == meant


@pytest.mark.parametrize("arguments", [None, "", "  "])
def test_tc07_empty_arguments_give_one_error(arguments: Any) -> None:
    (call,) = read_calls({"id": "c", "function": {"name": NAME, "arguments": arguments}})
    assert call.arguments is None
    assert "no arguments" in (call.error or "")
    assert read_calls({"name": NAME})[0].error == call.error


@pytest.mark.parametrize("arguments", [[1], "[1]", 7, "7", "prose", CUT])
def test_arguments_that_are_no_object_give_one_error(arguments: Any) -> None:
    (call,) = read_calls({"id": "c", "name": NAME, "arguments": arguments})
    assert (call.name, call.arguments, call.id) == (NAME, None, "c")
    assert "half" not in (call.error or "half")


def test_a_call_without_a_name_gives_one_error() -> None:
    assert read_calls([{"arguments": TEXT}])[0].error == "The call names no tool."


@pytest.mark.parametrize(
    "nothing", [None, [], "IGNORE", {"role": "assistant", "content": "IGNORE", "tool_calls": None}]
)
def test_no_calls(nothing: Any) -> None:
    assert read_calls(nothing) == ()


def test_one_broken_call_does_not_stop_the_others() -> None:
    broken = {"id": "c2", "function": {"name": NAME, "arguments": '{"a": 1}, "b": 2}'}}
    calls = read_calls([CALL, broken, {**CALL, "id": "c3"}])
    assert [(call.id, call.error is None) for call in calls] == [("c1", True), ("c2", False), ("c3", True)]


def test_tc11_calls_that_langchain_put_aside() -> None:
    aside = {"name": NAME, "args": TEXT[:-1] + ",}", "id": "c", "error": "bad", "type": "invalid_tool_call"}
    assert read_answer(AIMessage("", invalid_tool_calls=[aside])).calls == (ToolCall(NAME, ARGUMENTS, "c"),)
    empty = AIMessage("", tool_calls=[{"name": NAME, "args": {}, "id": "c"}])
    assert read_answer(empty).calls == (ToolCall(NAME, {}, "c"),), "read as a call, refused by its argument check"


@pytest.mark.parametrize("prefix", ["functions.", "tools.", "default_api.", "default_api:"])
def test_tc12_prefixes(prefix: str) -> None:
    assert read_calls({"name": prefix + NAME, "arguments": TEXT}) == (ToolCall(NAME, ARGUMENTS),)


def test_tc12_the_parallel_wrapper_holds_real_calls() -> None:
    uses = [
        {"recipient_name": "functions.save_impressions", "parameters": ARGUMENTS},
        {"recipient_name": "functions.organize_impressions", "parameters": {"level": "label"}},
    ]
    wrapper = {"id": "c", "name": "multi_tool_use.parallel", "arguments": json.dumps({"tool_uses": uses})}
    assert read_calls([wrapper, CALL]) == (
        ToolCall(NAME, ARGUMENTS, "c-0"),
        ToolCall("organize_impressions", {"level": "label"}, "c-1"),
        ToolCall(NAME, ARGUMENTS, "c1"),
    )
    assert read_calls({"name": "multi_tool_use.parallel", "arguments": "{}"})[0].error


def test_tc12_names_stay_as_the_model_wrote_them() -> None:
    calls = read_calls([{"name": name, "arguments": "{}"} for name in ("Save_Impressions", "delete_everything")])
    assert [call.name for call in calls] == ["Save_Impressions", "delete_everything"]
    assert tool_named(calls[0].name).name == NAME


def test_free_text_tools_of_a_provider_are_left_out() -> None:
    custom = Thing(id="x", type="custom", custom=Thing(name="sql", input="select 1"))
    assert read_calls([custom, CALL]) == (ToolCall(NAME, ARGUMENTS, "c1"),)


@pytest.mark.parametrize(
    ("source", "reason", "usage"),
    [
        ("Noted.", None, (0, 0)),
        ({"content": "Noted."}, None, (0, 0)),
        ({"content": "Noted.", "finish_reason": "STOP"}, "stop", (0, 0)),
        (Thing(content="Noted.", tool_calls=None), None, (0, 0)),
        (
            {
                "choices": [{"message": {"role": "assistant", "content": "Noted."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 4},
            },
            "stop",
            (3, 4),
        ),
        (
            AIMessage(
                "Noted.",
                response_metadata={"stop_reason": "end_turn"},
                usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
            ),
            "end_turn",
            (3, 4),
        ),
        (
            AIMessage("Noted.", response_metadata={"token_usage": {"prompt_tokens": 3, "completion_tokens": 4}}),
            None,
            (3, 4),
        ),
        (
            Thing(
                message=Thing(role="assistant", blocks=[Thing(block_type="text", text="Noted.")]),
                raw=Thing(choices=[Thing(finish_reason="stop")], usage=Thing(prompt_tokens=3, completion_tokens=4)),
            ),
            "stop",
            (3, 4),
        ),
        (
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "plan"}, {"type": "text", "text": "Noted."}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            },
            "end_turn",
            (3, 4),
        ),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": []},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
                ],
                "status": "completed",
                "usage": {"input_tokens": 3, "output_tokens": 4},
            },
            "completed",
            (3, 4),
        ),
        (
            Thing(
                candidates=[
                    Thing(content=Thing(parts=[Thing(text="Noted.")]), finish_reason=FinishReason.MAX_TOKENS)
                ],
                usage_metadata=Thing(prompt_token_count=3, candidates_token_count=4),
            ),
            "max_tokens",
            (3, 4),
        ),
        (
            {
                "message": {"role": "assistant", "content": "Noted."},
                "done_reason": "stop",
                "prompt_eval_count": 3,
                "eval_count": 4,
            },
            "stop",
            (3, 4),
        ),
        (
            {
                "output": {"message": {"role": "assistant", "content": [{"text": "Noted."}]}},
                "stopReason": "end_turn",
                "usage": {"inputTokens": 3, "outputTokens": 4},
            },
            "end_turn",
            (3, 4),
        ),
        ("<think>plan</think>Noted.", None, (0, 0)),
    ],
)  # fmt: skip
def test_answers_in_every_form(source: Any, reason: str | None, usage: tuple[int, int]) -> None:
    answer = read_answer(source)
    assert (answer.text, answer.calls, answer.finish_reason) == ("Noted.", (), reason)
    assert answer.usage == Usage(*usage, calls=1)


def test_what_llama_index_leaves_out_is_read_from_the_response_it_keeps() -> None:
    refusal = {"choices": [{"message": {"role": "assistant", "content": None, "refusal": "I cannot do that."}}]}
    legacy = {"choices": [{"message": {"content": None, "function_call": {"name": NAME, "arguments": TEXT}}}]}
    message = {"role": "assistant", "content": None}
    assert read_answer({"message": message, "raw": refusal}).text == "I cannot do that."
    assert read_answer({"message": message, "raw": legacy}).calls == (ToolCall(NAME, ARGUMENTS),)
    said = {"role": "assistant", "content": "IGNORE"}
    assert read_answer({"message": said, "raw": legacy}).calls == ()


@pytest.mark.parametrize("nothing", [None, "", {}, {"choices": []}, 42, Thing(content=None)])
def test_an_empty_answer_is_an_answer(nothing: Any) -> None:
    assert (read_answer(nothing).text, read_answer(nothing).calls) == ("", ())


@pytest.mark.parametrize(
    "fields",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"done_reason": "length"},
        {"finishReason": "MAX_TOKENS"},
        {"incomplete_details": {"reason": "max_output_tokens"}, "status": "incomplete"},
        {"stop_reason": "model_context_window_exceeded"},
    ],
)
def test_a_cut_answer_in_the_words_of_each_provider(fields: dict[str, Any]) -> None:
    assert read_answer({"content": "", **fields}).cut_off


def test_a_cut_call_that_langchain_completed_is_refused() -> None:
    chunk = AIMessageChunk(
        "",
        tool_call_chunks=[
            {"name": NAME, "args": TEXT, "id": "c1", "index": 0},
            {"name": NAME, "args": CUT, "id": "c2", "index": 1},
        ],
        response_metadata={"finish_reason": "length"},
    )
    assert chunk.tool_calls[1]["args"]["impressions"][0]["content"] == "half of the sent", "LangChain completes it"
    message = message_chunk_to_message(chunk)
    for source in (chunk, message):
        first, last = read_answer(source).calls
        assert first == ToolCall(NAME, ARGUMENTS, "c1")
        assert last.arguments is None
        assert "cut off" in (last.error or "")
        assert read_calls(source) == (first, last)


def test_a_chunk_is_read_strictly_even_without_a_finish_reason() -> None:
    chunk = AIMessageChunk("", tool_call_chunks=[{"name": NAME, "args": CUT, "id": "c", "index": 0}])
    assert read_answer(chunk).calls[0].arguments is None


def test_the_last_decoded_call_of_a_cut_answer_is_suspect_beside_invalid_ones() -> None:
    message = AIMessage(
        "",
        tool_calls=[{"name": NAME, "args": ARGUMENTS, "id": "c1"}],
        invalid_tool_calls=[{"name": NAME, "args": "{broken", "id": "c2", "error": None}],
        response_metadata={"finish_reason": "length"},
    )
    assert [call.arguments for call in read_answer(message).calls] == [None, None]


def test_a_cut_answer_whose_last_call_is_whole_keeps_it_and_mends_nothing() -> None:
    def last(arguments: str) -> ToolCall:
        call = {"id": "c", "function": {"name": NAME, "arguments": arguments}}
        return read_answer({"content": "", "tool_calls": [call], "finish_reason": "length"}).calls[0]

    assert last(TEXT).arguments == ARGUMENTS
    assert last(TEXT[:-1] + ",}").arguments is None


def test_recorded_good_answers_are_read() -> None:
    (call,) = read_answer(recorded("ok_save")).calls
    assert call.arguments is not None
    assert call.arguments["impressions"][0]["content"] == "I am allergic to peanuts"
    assert read_answer(recorded("ok_ignore_text")).text == "IGNORE"
    (odd,) = read_answer(recorded("names_with_comma_quote_backslash")).calls
    assert odd.arguments is not None
    assert odd.arguments["to_item"] == 'C:", ', "quotes and commas inside texts stay"


def test_recorded_cut_answers_keep_only_what_is_whole() -> None:
    assert [call.arguments for call in read_answer(recorded("truncated_arguments")).calls] == [None]
    first, last = read_answer(recorded("parallel_calls_last_truncated")).calls
    assert first.arguments is not None
    assert last.arguments is None


@pytest.mark.parametrize("shape", [shape for shape, found in RECORDED.items() if "derived_tool_call" in found])
def test_tc08_recorded_broken_calls_are_read_as_json_reads_them_or_refused(shape: str) -> None:
    """None of these has a slip with one reading only, so whatever is accepted must be JSON, unchanged."""
    raw = RECORDED[shape]["derived_tool_call"]
    (call,) = read_calls(raw)
    if shape in {
        "call_as_text_truncated", "invalid_escape", "missing_bracket", "mismatched_brackets",
        "fields_outside_the_object", "backticks_for_quotes", "duplicate_keys", "flat_impression", "arguments_is_a_list",
    }:  # fmt: skip
        assert call.arguments is None
        assert call.error
    else:
        assert call.arguments == json.loads(raw["arguments"])


plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from([TEXT, CUT, "assistant", "tool_use"])
)
names = (
    "role type content text tool_calls function function_call name arguments args input id choices message output "
    "candidates parts usage raw additional_kwargs finish_reason custom"
)
fields = st.sampled_from(names.split())
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=5), max_leaves=15
)


@given(anything)
def test_no_shape_makes_reading_fail(source: Any) -> None:
    """A model's answer is outside our control: reading it gives calls or errors in calls, never an exception."""
    for call in (*read_calls(source), *read_answer(source).calls):
        assert (call.arguments is None) == (call.error is not None)
    with contextlib.suppress(InvalidInput):
        json.dumps(canonical_history([source]))


def test_deep_nesting_does_not_make_reading_fail() -> None:
    nested: Any = {}
    for _ in range(2000):
        nested = {"function": nested, "content": [nested], "name": "f", "arguments": {"a": nested}}
    message = {"role": "assistant", "tool_calls": [nested]}
    assert len(read_answer(message).calls) == 1
    assert len(cut_turns([("user", "u"), message])) == 1
    uses = '{"tool_uses": [' + '{"function": ' * 900 + "{}" + "}" * 900 + "]}"
    assert read_calls({"name": "multi_tool_use.parallel", "arguments": uses})[0].error


@pytest.mark.parametrize(
    "source",
    [
        "<think>hmm let me think",
        {"content": "<think>hmm let me think", "finish_reason": "stop"},
        {"content": "\n<thinking>hmm, so </think", "finish_reason": None},
        Thing(
            message=Thing(content="<think>hmm", blocks=[]), raw={"choices": [{"message": {"content": "<think>hmm"}}]}
        ),
    ],
)
def test_tc18_reasoning_that_never_ends_was_cut_off(source):
    answer = read_answer(source)
    assert (answer.text, answer.cut_off) == ("", True)


def test_reasoning_without_an_end_beside_calls_or_closed_is_not_cut_off():
    assert not read_answer({"content": "<think>plan", "tool_calls": [CALL]}).cut_off
    assert not read_answer("<think>plan</think>").cut_off
