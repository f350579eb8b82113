"""Cutting histories into turns."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.turns import canonical_history, cut_turns, is_finished, slice_new_turn_messages


def calling(*ids: str, content: str = "") -> dict[str, Any]:
    calls = [{"id": key, "type": "function", "function": {"name": "look", "arguments": "{}"}} for key in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(key: str, content: str = "found") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": content}


def talk(*lines: str) -> list[dict[str, Any]]:
    """`u1`, `a1`, `s` ... as messages whose text is the line."""
    roles = {"u": "user", "a": "assistant", "s": "system"}
    return [{"role": roles[line[0]], "content": line} for line in lines]


@pytest.mark.parametrize(
    ("history", "newest"),
    [
        ([], []),
        (["s"], []),
        (["a0"], []),
        (["u1"], ["u1"]),
        (["u1", "u2"], ["u1", "u2"]),
        (["u1", "u2", "u3"], ["u1", "u2", "u3"]),
        (["u1", "a1"], ["u1", "a1"]),
        (["s", "u1", "a1"], ["u1", "a1"]),
        (["a0", "u1", "a1"], ["a0", "u1", "a1"]),
        (["u1", "a1", "u2", "a2"], ["a1", "u2", "a2"]),
        (["u1", "a1", "u2", "a2", "u3"], ["a2", "u3"]),
        (["u1", "a1", "u2", "u3", "a2"], ["a1", "u2", "u3", "a2"]),
        (["u1", "a1", "s", "u2", "s", "a2"], ["a1", "u2", "a2"]),
        (["u1", "a1", "a1b", "u2"], ["a1b", "u2"]),
    ],
)
def test_im48_the_newest_turn_with_the_previous_answer_in_front(history: list[str], newest: list[str]) -> None:
    messages = talk(*history)
    before = copy.deepcopy(messages)
    found = slice_new_turn_messages(messages)
    assert [message["content"] for message in found] == newest
    assert all(any(message is given for given in messages) for message in found)
    assert messages == before


def test_a_turn_keeps_its_users_message_and_whole_tool_exchanges() -> None:
    history = [
        *talk("u1", "a1", "u2"), calling("c1", "c2"), result("c2"), result("c1"), *talk("u2b"), calling("c3"),
        result("c3"), *talk("a2"),
    ]  # fmt: skip
    assert slice_new_turn_messages(history) == history[1:]
    assert [len(turn.messages) for turn in cut_turns(history)] == [2, 8]


def test_lc13_the_same_cut_in_the_type_given() -> None:
    pairs = [
        ("user", "u1"),
        ("assistant", "a1"),
        ("user", "u2"),
        ("assistant", "a2"),
        ("user", "u3"),
        ("assistant", "a3"),
    ]
    dicts = [{"role": role, "content": text} for role, text in pairs]
    chain = [HumanMessage(text) if role == "user" else AIMessage(text) for role, text in pairs]
    assert slice_new_turn_messages(pairs) == pairs[3:]
    assert slice_new_turn_messages(dicts) == dicts[3:]
    assert slice_new_turn_messages(chain) == chain[3:]
    assert cut_turns(pairs) == cut_turns(dicts) == cut_turns(chain)


@pytest.mark.parametrize(
    ("history", "kept"),
    [
        ([result("x"), *talk("a1", "u2", "a2")], ["a1", "u2", "a2"]),
        ([*talk("a1"), result("unknown"), *talk("u2", "a2")], ["a1", "u2", "a2"]),
        ([calling("x"), result("x"), *talk("u2", "a2")], ["u2", "a2"]),
        ([calling("x"), *talk("u2", "a2")], ["u2", "a2"]),
    ],
)
def test_tc02_a_history_that_starts_inside_a_tool_exchange(history: list[dict[str, Any]], kept: list[str]) -> None:
    assert [message["content"] for message in slice_new_turn_messages(history)] == kept
    (turn,) = cut_turns(history)
    assert [message["content"] for message in turn.messages] == ["u2", "a2"]


@pytest.mark.parametrize(
    "history",
    [
        [*talk("u: my dog is Rex"), calling("a", "b"), result("a")],
        [*talk("u: my dog is Rex"), calling("a")],
        [*talk("u: my dog is Rex"), calling("a", "b"), result("b"), result("a")],
        [*talk("u: my dog is Rex"), calling("a"), result("a"), calling("a"), result("a")],
    ],
)
def test_tc03_a_call_without_its_answer_does_not_finish_the_turn(history: list[dict[str, Any]]) -> None:
    (turn,) = cut_turns(history)
    assert turn.messages == tuple(canonical_history(history))
    assert not is_finished(turn)
    (longer,) = cut_turns([*history, *talk("u: and a cat", "a: fine")])
    assert [message["content"] for message in longer.messages if message["role"] == "user"] == [
        "u: my dog is Rex",
        "u: and a cat",
    ]
    assert is_finished(longer)


def test_a_call_that_langchain_put_aside_does_not_finish_a_turn_either() -> None:
    broken = AIMessage("", invalid_tool_calls=[{"name": "f", "args": "{", "id": "c", "error": None}])
    history = [HumanMessage("u1"), broken, ToolMessage("error", tool_call_id="c"), HumanMessage("u2"), AIMessage("a")]
    assert len(cut_turns(history)) == 1


def test_a_summary_in_front_belongs_to_no_turn() -> None:
    summary = HumanMessage("Summary", additional_kwargs={"lc_source": "summarization"})
    tail = [HumanMessage("u2"), AIMessage("a2")]
    assert cut_turns([summary, SystemMessage("rules"), *tail]) == cut_turns(tail)
    assert slice_new_turn_messages([summary, *tail]) == tail


def test_anthropic_results_in_user_messages_start_no_turn() -> None:
    history = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "found"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "sunny"}]},
    ]
    (turn,) = cut_turns(history)
    in_openai_form = [{"role": "user", "content": "weather?"}, calling("other"), result("other"), *talk("a")]
    in_openai_form[-1]["content"] = "sunny"
    assert turn.digest == cut_turns(in_openai_form)[0].digest


def test_background_is_the_previous_answer_with_text() -> None:
    turns = cut_turns([*talk("a0", "u1", "a1", "u2"), {"role": "assistant", "content": ""}, *talk("u3")])
    assert [[message["content"] for message in turn.background] for turn in turns] == [["a0"], ["a1"], ["a1"]]


def test_equal_turns_get_different_ids_and_equal_digests() -> None:
    one, two, other = cut_turns(talk("u", "a", "u", "a", "u", "a2"))
    assert one.digest == two.digest != other.digest
    assert (one.id, two.id, other.id) == (f"{one.digest}-1", f"{one.digest}-2", f"{other.digest}-1")


def test_a_digest_is_about_what_was_said() -> None:
    base = cut_turns([("user", "u"), ("assistant", "a")])[0].digest
    same = [
        [HumanMessage("u"), AIMessage("a", name="agent", id="7")],
        [{"role": "user", "content": [{"type": "text", "text": "u"}]}, ("ai", " a\n")],
    ]
    different = [
        [("user", "U"), ("assistant", "a")],
        [{"role": "user", "content": "u", "name": "Ann"}, ("assistant", "a")],
        [("user", "u")],
        [("user", "u"), calling("c"), result("c"), ("assistant", "a")],
        [("user", "u"), ("user", "a")],
    ]
    assert {cut_turns(history)[0].digest for history in same} == {base}
    assert len({base, *(cut_turns(history)[0].digest for history in different)}) == 6


def test_a_digest_does_not_depend_on_the_spelling_of_arguments() -> None:
    def asked(arguments: Any) -> str:
        call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
        return cut_turns([("user", "u"), {"role": "assistant", "content": None, "tool_calls": [call]}])[0].digest

    assert asked({"b": "é", "a": 1}) == asked('{"a":1,"b":"\\u00e9"}')
    assert asked({"a": 1}) != asked({"a": 2})
    assert asked("{broken") != asked("{brokem")


def test_half_surrogates_do_not_stop_a_digest() -> None:
    assert len(cut_turns([("user", "\ud83d")])[0].digest) == 32


NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("message", "time"),
    [
        ({"timestamp": "2024-05-01T12:00:00Z"}, NOON),
        ({"timestamp": "2024-05-01T14:00:00+02:00"}, NOON),
        ({"timestamp": "2024-05-01 12:00"}, NOON),
        ({"created_at": NOON.timestamp()}, NOON),
        ({"timestamp": NOON.timestamp() * 1000}, NOON),
        ({"timestamp": NOON}, NOON),
        ({"additional_kwargs": {"timestamp": NOON.isoformat()}}, NOON),
        ({"metadata": {"created_at": NOON.isoformat()}}, NOON),
        ({"timestamp": "yesterday"}, None),
        ({"timestamp": float("nan")}, None),
        ({"timestamp": 1e300}, None),
        ({"timestamp": True}, None),
        ({}, None),
    ],
)
def test_times_that_messages_carry(message: dict[str, Any], time: datetime | None) -> None:
    given = datetime(2020, 1, 1, tzinfo=timezone(timedelta(hours=8)))
    history = [{"role": "user", "content": "u", **message}]
    assert cut_turns(history)[0].at == time
    assert cut_turns(history, at=given)[0].at == (time or given)


def test_langchain_times_and_naive_times() -> None:
    assert cut_turns([HumanMessage("u", additional_kwargs={"timestamp": "2024-05-01T12:00:00Z"})])[0].at == NOON
    with pytest.raises(InvalidInput, match="time zone"):
        cut_turns([("user", "u")], at=datetime(2024, 5, 1))  # noqa: DTZ001 - the point of the test


lines = st.sampled_from(
    [("user", "x"), ("user", "y"), ("assistant", "x"), ("assistant", ""), ("system", "s"), calling("c"), result("c")]
)


@given(st.lists(lines, max_size=20))
def test_turns_hold_what_was_said_from_the_first_user_message_on(history: list[Any]) -> None:
    said = [message for message in canonical_history(history) if message["role"] != "system"]
    first = next((place for place, message in enumerate(said) if message["role"] == "user"), len(said))
    turns = cut_turns(history)
    assert [message for turn in turns for message in turn.messages] == said[first:]
    assert all(is_finished(turn) or any(m["role"] == "tool" for m in turn.messages[-1:]) for turn in turns[:-1])
    assert all(turn.messages[0]["role"] == "user" for turn in turns)
    assert len({turn.id for turn in turns}) == len(turns)
    newest = slice_new_turn_messages(history)
    assert len(newest) == (len(turns[-1].messages) + len(turns[-1].background) if turns else 0)
