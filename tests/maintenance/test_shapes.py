"""Answers in every shape that frameworks and servers hand over, carried out: TC-07, TC-08, TC-11, TC-12."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage

from tests.scripted import Scripted, call, calls, impression, said, save

TURN = said("I live in Oslo")
HOME = impression("HOME", "lives in Oslo")
GIVEN = {"impressions": [HOME]}
TEXT = json.dumps(GIVEN)
NAME = "save_impressions"


def function(**fields):
    return {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": NAME, **fields}}]}


def as_object(arguments):
    made = SimpleNamespace(id="c1", type="function", function=SimpleNamespace(name=NAME, arguments=arguments))
    return SimpleNamespace(role="assistant", content=None, tool_calls=[made])


WHOLE = {
    "JSON text": calls(call(NAME, TEXT)),
    "dict": function(arguments=GIVEN),
    "no id and no type": function(arguments=TEXT),
    "LangChain": AIMessage("", tool_calls=[{"name": NAME, "args": GIVEN, "id": "c1"}]),
    "attributes": as_object(TEXT),
    "Anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": NAME, "input": GIVEN}]},
    "Gemini": {"candidates": [{"content": {"parts": [{"functionCall": {"name": NAME, "args": GIVEN}}]}}]},
    "legacy": {"role": "assistant", "content": None, "function_call": {"name": NAME, "arguments": TEXT}},
}  # fmt: skip
EMPTY = {
    "missing": function(),
    "None": function(arguments=None),
    "blank": function(arguments=""),
    "missing, attributes": as_object(None),
    "legacy, blank": {"role": "assistant", "content": None, "function_call": {"name": NAME, "arguments": ""}},
}


@pytest.mark.parametrize("shape", WHOLE)
def test_tc_07_shapes_that_carry_arguments_store_the_same(alice, shape):
    report = alice.maintain(TURN, lambda *_: WHOLE[shape])
    assert (report.status, report.saved, report.refused) == ("stored", ("HOME",), ())
    item = alice.get("HOME")
    assert (item.content, item.category, item.labels, item.pin) == ("lives in Oslo", "General", ("Note",), False)


@pytest.mark.parametrize("shape", EMPTY)
def test_tc_07_empty_ones_are_one_error_each(alice, shape):
    report = alice.maintain(TURN, lambda *_: EMPTY[shape])
    assert (report.status, report.turns) == ("rejected", ())
    assert [(refusal.what, refusal.reason) for refusal in report.refused] == [
        (NAME, "The call has no arguments. Send them as one JSON object.")
    ]


NEARLY = {
    "trailing comma": TEXT[:-1] + ",}",
    "stray quotes behind": TEXT + '""',
    "prose behind": TEXT + " That is all.",
    "a second object behind": TEXT + ' {"impressions": []}',
    "line ends written out": TEXT.replace("{", "{\\n", 1),
    "a fence": f"```json\n{TEXT}\n```",
    "single quotes": TEXT.replace('"', "'").replace("false", "False"),
    "a raw line break": TEXT.replace("lives in", "lives\nin"),
    "a comma and a brace inside": TEXT.replace("lives in Oslo", "lives in Oslo,} he said"),
}


@pytest.mark.parametrize("slip", NEARLY)
def test_tc_08_nearly_right_json_with_one_reading_is_carried_out_and_texts_stay(alice, slip):
    report = alice.maintain(TURN, Scripted(calls(call(NAME, NEARLY[slip]))))
    assert report.saved == ("HOME",)
    content = {"a raw line break": "lives\nin Oslo", "a comma and a brace inside": "lives in Oslo,} he said"}
    assert alice.get("HOME").content == content.get(slip, "lives in Oslo")


@pytest.mark.parametrize("broken", [TEXT[:-3], "{" + TEXT, TEXT.replace(", ", " ", 1), "no JSON at all"])
def test_tc_08_anything_else_fails_with_a_message_and_the_other_calls_run(alice, broken):
    other = call(NAME, {"impressions": [impression("CAT", "has a cat")]}, "c2")
    report = alice.maintain(TURN, Scripted(calls(call(NAME, broken), other)))
    assert report.saved == ("CAT",)
    (refusal,) = report.refused
    assert refusal.what == NAME
    assert "cannot be read" in refusal.reason


def test_tc_11_a_call_that_was_put_aside_is_repaired_and_run(alice):
    aside = {"name": NAME, "args": TEXT[:-1] + ",}", "id": "c1", "error": "not JSON", "type": "invalid_tool_call"}
    report = alice.maintain(TURN, lambda *_: AIMessage("", invalid_tool_calls=[aside]))
    assert (report.status, report.saved) == ("stored", ("HOME",))


def test_tc_11_a_valid_call_without_arguments_is_an_error_and_not_nothing_to_save(alice):
    report = alice.maintain(TURN, lambda *_: AIMessage("", tool_calls=[{"name": NAME, "args": {}, "id": "c1"}]))
    assert (report.status, report.turns) == ("rejected", ())
    (refusal,) = report.refused
    assert "impressions is missing" in refusal.reason


def test_a_save_of_an_empty_list_is_nothing_to_do_and_the_other_calls_run(alice):
    empty = call(NAME, {"impressions": []})
    report = alice.maintain(TURN, Scripted(calls(empty)))
    assert (report.status, report.refused, len(report.turns)) == ("nothing_to_store", (), 1)
    report = alice.maintain(said("I like tea"), Scripted(calls(empty, call(NAME, TEXT, "c2"))))
    assert (report.saved, report.refused) == (("HOME",), ())
    stray = Scripted(calls(call("delete_everything", {"impressions": []})))
    assert alice.maintain(said("I like milk"), stray).status == "rejected"


@pytest.mark.parametrize("name", ["functions.save_impressions", "save_impression", "Save_Impressions"])
def test_tc_12_names_that_are_nearly_right(alice, name):
    assert alice.maintain(TURN, Scripted(calls(call(name, GIVEN)))).saved == ("HOME",)


def test_tc_12_the_parallel_wrapper_and_a_made_up_name_between_two_good_ones(alice):
    uses = [
        {"recipient_name": f"functions.{NAME}", "parameters": GIVEN},
        {"recipient_name": f"functions.{NAME}", "parameters": {"impressions": [impression("CAT", "has a cat")]}},
    ]
    report = alice.maintain(TURN, Scripted(calls(call("multi_tool_use.parallel", {"tool_uses": uses}))))
    assert report.saved == ("HOME", "CAT")
    good = save(impression("A", "one"))["tool_calls"][0], save(impression("B", "two"))["tool_calls"][0]
    answer = calls(good[0], call("delete_everything", {}, "c2"), good[1])
    report = alice.maintain(said("I like tea"), Scripted(answer))
    assert report.saved == ("A", "B")
    (refusal,) = report.refused
    assert refusal.what == "delete_everything"
    assert "save_impressions, organize_impressions" in refusal.reason
