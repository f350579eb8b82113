"""Each turn is distilled exactly once: over replays, windows and two writers; crashes are in test_killed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from impressmem_integrations.maintenance.settings import Settings
from tests.maintenance.killing import TALK
from tests.scripted import Scripted, impression, said, save

SAVES = [save(impression(f"FACT-{n}", f"the fact {n}")) for n in range(6)]


def test_a_replay_is_not_asked_about(alice):
    model = Scripted(save(impression("HOME", "lives in Oslo")))
    assert alice.maintain(TALK[:2], model).status == "stored"
    again = alice.maintain(TALK[:2], model)
    assert (again.status, again.saved, len(model.requests)) == ("already_done", (), 1)


def test_only_the_new_turn_is_asked_about_and_the_previous_answer_is_background(alice):
    model = Scripted(save(impression("HOME", "lives in Oslo")), save(impression("CAT", "has a cat called Tom")))
    alice.maintain(TALK[:2], model)
    report = alice.maintain(TALK[:4], model)
    assert report.saved == ("CAT",)
    assert "Tom" in model.asked
    assert "Oslo" not in model.asked
    assert "| I see." in model.asked


def test_a_trimmed_history_meets_what_was_distilled(alice):
    model = Scripted()
    alice.maintain(TALK[:4], model)
    alice.maintain(TALK[2:], model)
    assert len(model.requests) == 2
    assert "Acme" in model.asked
    assert "Tom" not in model.asked


def test_threads_are_counted_apart(alice):
    model = Scripted()
    alice.maintain(TALK[:2], model, thread_id="a")
    assert alice.maintain(TALK[:2], model, thread_id="a").status == "already_done"
    assert alice.maintain(TALK[:2], model, thread_id="b").status == "nothing_to_store"


def test_the_same_words_again_are_a_new_turn(alice):
    model = Scripted()
    history = said("I am tired today", "Rest well.")
    alice.maintain(history, model)
    twice = [*history, *said("Something else happened"), *history]
    report = alice.maintain(twice, model)
    assert len(report.turns) == 2
    assert len(set(report.turns)) == 2


async def test_lc_14_one_run_over_a_turn_with_many_model_calls(alice):
    def tool(n: int) -> list[dict[str, Any]]:
        made = {"id": f"t{n}", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": f"t{n}", "content": f"result {n}"},
        ]

    history = [{"role": "user", "content": "Find me a flat in Oslo"}, *tool(1), *tool(2), *tool(3)]
    history.append({"role": "assistant", "content": "Three flats found."})
    model = Scripted()
    await alice.amaintain(history, model)
    assert len(model.requests) == 1
    assert "Find me a flat in Oslo" in model.asked
    assert "Three flats found." in model.asked
    assert "result 1" not in model.asked


def together(count: int, run: Callable[[int], None]) -> None:
    """Run in threads at the same time."""
    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)


@pytest.mark.parametrize("review", [None, "collect", lambda plan: plan])
def test_writers_of_one_thread_do_not_ask_again_where_only_turns_of_others_were_noted(alice, review):
    """Two web workers without a checkpointer: every conversation of a user is the thread `default`."""
    writers = 6
    barrier = threading.Barrier(writers)
    reports, models = {}, [Scripted(lambda _, n=n: (barrier.wait(30), SAVES[n])[1]) for n in range(writers)]

    def run(n: int) -> None:
        reports[n] = alice.maintain(said(f"fact number {n} of my life"), models[n], review=review)

    together(writers, run)
    assert [len(model.requests) for model in models] == [1] * writers
    assert len({turn for report in reports.values() for turn in report.turns}) == writers
    if review == "collect":
        assert len(alice.plans()) == writers
    else:
        assert {report.status for report in reports.values()} == {"stored"}
        assert {clue for report in reports.values() for clue in report.saved} == {f"FACT-{n}" for n in range(writers)}
    for n in range(writers):
        assert alice.maintain(said(f"fact number {n} of my life"), Scripted()).status == "already_done"


def test_a_failure_is_counted_where_others_noted_turns_meanwhile(alice):
    def overtaken(_: Any) -> Any:
        alice.maintain(said("somebody else speaks"), Scripted())
        raise RuntimeError("no such model")

    report = alice.maintain(TALK[:2], Scripted(overtaken), settings=Settings(max_tries=1))
    assert (report.status, len(report.given_up)) == ("model_failed", 1)
    assert alice.maintain(TALK[:2], Scripted()).status == "already_done"


def test_what_others_distil_takes_nothing_off_the_tries_of_a_failing_turn(alice):
    broken = Settings(max_tries=3)
    for number in range(3):
        report = alice.maintain(TALK[:2], Scripted(RuntimeError("no such model")), settings=broken)
        assert (report.status, len(report.given_up)) == ("model_failed", int(number == 2))
        alice.maintain(said(f"somebody else says {number}"), Scripted())
    assert alice.maintain(TALK[:2], Scripted()).status == "already_done"


def test_two_writers_distil_a_turn_once(alice):
    barrier = threading.Barrier(2)

    def slow(_: Any) -> Any:
        barrier.wait(10)
        return save(impression("HOME", "lives in Oslo"))

    reports = []

    def run(_: int) -> None:
        reports.append(alice.maintain(TALK[:2], Scripted(slow)))

    together(2, run)
    assert sorted(report.status for report in reports) == ["already_done", "stored"]
    assert alice.get("HOME").revision == 1
