"""Which messages a run hands to maintenance."""

from __future__ import annotations

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from impressmem_integrations.langchain.window import (
    MARKS,
    earlier,
    mark_before,
    marks_after,
    newest_words,
    noted,
    plain,
    to_distil,
)


def human(name, **fields):
    return HumanMessage(f"says {name}", id=name, **fields)


def ai(name, *calls):
    return AIMessage(f"answers {name}", id=name, tool_calls=[{"name": "t", "args": {}, "id": call} for call in calls])


def result(name):
    return ToolMessage("found", tool_call_id=name, id=f"r-{name}")


def summary(name="s"):
    return HumanMessage("what was said", id=name, additional_kwargs={"lc_source": "summarization"})


def ids(messages):
    return [message.id for message in messages]


H1, A1, H2, A2, H3, A3 = human("h1"), ai("a1"), human("h2"), ai("a2"), human("h3"), ai("a3")


def test_the_words_of_a_turn_are_the_user_messages_at_the_end():
    assert ids(newest_words([H1, A1, H2, H3])) == ["h2", "h3"]
    assert newest_words([H1, A1]) == newest_words([]) == []
    assert ids(newest_words([summary(), H1])) == ["h1"]


def said(messages, marks, words):
    """The ids of the messages to distil, as their texts tell them."""
    return [part["content"].split()[-1] for part in to_distil(messages, marks, noted(words))]


def test_without_a_mark_it_is_the_newest_turn_alone():
    assert said([H1, A1, H2, H3, A3], [], [H2, H3]) == ["h2", "h3", "a3"]
    assert said([H1, A1, H2, H3, A3], [], []) == ["h2", "h3", "a3"]
    assert said([A1], [], []) == []


def test_it_begins_at_the_oldest_mark_that_is_there():
    history = [H1, A1, H2, A2, H3, A3]
    assert said(history, ["gone", "a1", "a2"], [H3]) == ["a1", "h2", "a2", "h3", "a3"]
    assert said(history, ["gone"], [H3]) == ["h3", "a3"]


def test_words_that_a_summary_took_come_back():
    turn = [summary(), ai("b", "c"), result("c"), A3]
    assert said(turn, ["a2"], [H3]) == ["h3", "b", "found", "a3"]
    assert said(turn, [], [H3]) == ["h3", "b", "found", "a3"]
    assert said([summary(), H3, A3], ["a2"], [H2, H3]) == ["h2", "h3", "a3"]


def test_half_a_turn_that_a_summary_left_is_not_taken_for_a_turn():
    assert said([summary(), H2, A2, H3, A3], ["a2"], [H3]) == ["a2", "h3", "a3"]


def test_the_state_keeps_words_without_what_is_large_in_them():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + 10_000 * "A"}}
    [kept] = noted([HumanMessage([{"type": "text", "text": "my cat"}, picture], id="h")])
    assert kept["id"] == "h"
    assert "my cat" in kept["said"][0]["content"]
    assert len(repr(kept)) < 300


def test_the_history_before_a_first_run_and_none_before_later_ones():
    history = [H1, A1, H2, A2, H3]
    assert [part["content"] for part in earlier(history, ["a1"])] == ["says h1", "answers a1"]
    assert earlier(history, ["a1", "a2"]) == earlier(history, [""]) == earlier(history, []) == []


def test_marks_are_few_and_stand_for_whole_turns():
    marks: list[str] = []
    for number in range(9):
        marks = marks_after(marks, [ai(f"a{number}")])
    assert marks == [f"a{number}" for number in range(9 - MARKS, 9)]
    assert marks_after(marks, [ai("a8")]) == marks
    assert marks_after(["x"], []) == ["x"]
    assert mark_before([H1, A1, H2], [H2]) == ["a1"]


def test_a_thread_that_begins_with_the_words_is_taken_from_its_beginning():
    start = mark_before([H1], [H1])
    assert said([H1, A1, H2, A2], start, [H2]) == ["h1", "a1", "h2", "a2"]
    assert said([summary(), H2, A2, H3, A3], start, [H3]) == ["h3", "a3"]
    assert marks_after(start, [H1, A1]) == [*start, "a1"]


def test_messages_become_plain_and_keep_their_time():
    said = human("h", additional_kwargs={"timestamp": "2026-05-24T10:00:00+02:00"})
    assert plain([said, ai("a")]) == [
        {"role": "user", "content": "says h", "timestamp": "2026-05-24T10:00:00+02:00"},
        {"role": "assistant", "content": "answers a"},
    ]
