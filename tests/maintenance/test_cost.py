"""What maintenance costs: the account of calls, tokens and time, the bound of a day, and the ladder behind it."""

from __future__ import annotations

import json
import threading

import pytest

from impressmem_integrations.core.commands import write
from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.maintenance.account import reservation
from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Usage
from tests.scripted import Scripted, impression, said, save

TURN = said("I live in Oslo")
HOME = impression("HOME", "lives in Oslo", category="Home", labels=["City"])
WRITTEN = json.dumps({"calls": [{"name": "save_impressions", "arguments": {"impressions": [HOME]}}]})


def used(reply, sent, got):
    """A reply that tells what it took."""
    reply = {"content": reply} if isinstance(reply, str) else reply
    return {**reply, "usage": {"prompt_tokens": sent, "completion_tokens": got}}


def reserved_for(alice, mode, answer_tokens=1_024):
    """What maintenance of `TURN` reserves for its first question."""
    model = Scripted()
    alice.scoped(user="measure").maintain(TURN, model, mode=mode)
    return reservation(AskModel(model.requests[0], model.tools[0]), answer_tokens)


def test_the_tokens_of_a_day_are_bounded_and_the_fallback_takes_over(alice):
    reply = {**save(HOME), "usage": {"prompt_tokens": 900, "completion_tokens": 50}}
    settings = Settings(max_tokens_per_day=10_000)
    history, statuses = [], []
    for n in range(20):
        history += said(f"fact {n}")
        statuses.append(alice.maintain(history, Scripted(reply), settings=settings).status)
    assert statuses[0] == "stored"
    assert statuses[-1] == "skipped"
    later = alice.maintain(history, Scripted(reply), settings=Settings(max_tokens_per_day=1, fallback=RuleDistiller()))
    assert later.status == "nothing_to_store"
    assert "fallback" in later.warnings[0]


def test_a_failing_model_falls_back_as_well(alice):
    settings = Settings(fallback=RuleDistiller())
    report = alice.maintain(said("I'm vegetarian"), Scripted(RuntimeError("down")), settings=settings)
    assert report.saved == ("USER-DIET",)
    assert "down" in report.warnings[0]


def test_the_account_of_calls_tokens_and_time_is_in_the_report_and_in_stats(alice):
    reply = {**save(HOME), "usage": {"prompt_tokens": 900, "completion_tokens": 50}}
    report = alice.maintain(TURN, Scripted(reply))
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.calls) == (900, 50, 1)
    alice.maintain(said("and I got a boat"), Scripted(reply))
    stats = alice.stats()
    assert (stats.model_calls, stats.input_tokens, stats.output_tokens, stats.tokens_today) == (2, 1800, 100, 1900)
    assert stats.turns == 4
    assert stats.turn_bytes > 0


def test_the_report_counts_calls_that_were_in_vain(alice):
    used = {"usage": {"prompt_tokens": 50, "completion_tokens": 5}}
    answers = [{"content": "Sure", **used}, {"content": "No!", **used}]
    report = alice.maintain(TURN, Scripted(*answers), mode="json")
    assert (report.status, report.usage.calls, report.usage.input_tokens) == ("model_failed", 2, 100)
    settings = Settings(fallback=RuleDistiller())
    saved = alice.maintain(said("I'm vegetarian"), Scripted(*answers), mode="json", settings=settings, thread_id="b")
    assert (saved.saved, saved.usage.calls, saved.usage.input_tokens) == (("USER-DIET",), 2, 100)


def test_a_fallback_without_tools_is_asked_in_json(alice):
    def small(_, tools):
        if tools:
            raise RuntimeError("this model does not support tools")
        return {"content": '{"impressions": [{"clue": "HOME", "content": "Oslo", "category": "C", "labels": ["x"]}]}'}

    report = alice.maintain(TURN, Scripted(RuntimeError("down")), settings=Settings(fallback=small))
    assert report.saved == ("HOME",)


def test_what_an_answer_is_longer_than_reserved_is_charged_in_full_and_keeps_later_calls_back(alice):
    settings = Settings(max_tokens_per_day=reserved_for(alice, "tools") + 100)
    assert alice.maintain(TURN, Scripted(used("IGNORE", 900, 50_000)), settings=settings).status == "nothing_to_store"
    assert alice.stats().tokens_today == 50_900
    model = Scripted()
    later = alice.maintain(said("and I got a boat"), model, settings=settings)
    assert (later.status, model.requests) == ("skipped", [])
    assert later.reason == "the tokens of the day are spent; the turn is asked about later"


def test_a_model_that_tells_of_no_tokens_is_charged_with_what_was_reserved(alice):
    settings = Settings(max_tokens_per_day=2 * reserved_for(alice, "tools") + 100)
    model = Scripted()
    reports = [alice.maintain(said(f"fact {n}"), model, thread_id=str(n), settings=settings) for n in range(4)]
    assert [report.status for report in reports] == ["nothing_to_store", "nothing_to_store", "skipped", "skipped"]
    assert len(model.requests) == 2


def test_a_call_that_failed_gives_back_what_was_reserved(alice):
    settings = Settings(max_tokens_per_day=reserved_for(alice, "tools") + 100)
    model = Scripted(RuntimeError("down"), RuntimeError("down"), used(save(HOME), 900, 50))
    reports = [alice.maintain(TURN, model, settings=settings) for _ in range(3)]
    assert [report.status for report in reports] == ["model_failed", "model_failed", "stored"]


def test_the_repair_round_is_reserved_for_like_any_question(alice):
    settings = Settings(max_tokens_per_day=reserved_for(alice, "json") + 100)
    model = Scripted(used("Sure!", 1_500, 500), used(WRITTEN, 1_500, 500))
    report = alice.maintain(TURN, model, mode="json", settings=settings)
    assert (report.status, report.turns, len(model.requests)) == ("skipped", (), 1)
    assert report.usage.calls == 1
    assert alice.stats().tokens_today == 2_000
    assert alice.maintain(TURN, model, mode="json").saved == ("HOME",)


def test_what_a_fallback_tells_of_is_in_the_report_and_in_stats(alice):
    settings = Settings(max_tokens_per_day=1, fallback=Scripted(used(save(HOME), 300, 20)))
    report = alice.maintain(TURN, Scripted(), settings=settings)
    assert (report.usage.calls, report.usage.input_tokens, report.usage.output_tokens) == (1, 300, 20)
    stats = alice.stats()
    assert (stats.model_calls, stats.input_tokens, stats.output_tokens, stats.tokens_today) == (1, 300, 20, 320)


def test_a_fallback_that_repairs_its_answer_is_counted_twice_and_the_model_before_it_as_well(alice):
    model = Scripted(used("Sure!", 100, 1), used("No!", 100, 1))
    fallback = Scripted(RuntimeError("this model does not support tools"), used("Hm", 10, 2), used(WRITTEN, 10, 2))
    report = alice.maintain(TURN, model, mode="json", settings=Settings(fallback=fallback))
    assert (report.saved, report.usage.calls, report.usage.input_tokens) == (("HOME",), 4, 220)
    assert alice.stats().tokens_today == 226


def test_a_fallback_that_costs_nothing_is_no_call(alice):
    report = alice.maintain(
        said("I'm vegetarian"), Scripted(), settings=Settings(max_tokens_per_day=0, fallback=RuleDistiller())
    )
    assert (report.saved, report.usage.calls) == (("USER-DIET",), 0)
    assert alice.stats().model_calls == 0


@pytest.mark.parametrize("mode", ["tools", "json"])
def test_the_tokens_of_a_day_are_never_passed_by_twenty_writers_at_once(alice, mode):
    """In JSON each writer asks twice: the first answer is prose."""
    settings = Settings(max_tokens_per_day=40_000)
    reports = []

    def run(n: int) -> None:
        for m in range(3):
            replies = [save(HOME)] if mode == "tools" else ["Sure!", WRITTEN]
            model = Scripted(*(used(reply, 1_900, 1_000) for reply in replies))
            reports.append(
                alice.maintain(said(f"fact {n} {m}"), model, mode=mode, thread_id=f"{n} {m}", settings=settings)
            )

    threads = [threading.Thread(target=run, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    spent = sum(report.usage.input_tokens + report.usage.output_tokens for report in reports)
    assert len(reports) == 60
    # An answer without a word of its tokens, as to a writer that has to ask again, is charged with what was reserved.
    assert 0 < spent <= alice.stats().tokens_today <= 40_000
    assert any("tokens of the day" in report.reason for report in reports)


def test_what_is_settled_after_midnight_leaves_the_new_day_as_it_is(alice):
    def account(day, **amounts):
        return alice._answer(write.account(alice._bound, day, **amounts))

    assert account("2026-05-24", reserve=700, most=1_000)
    assert account("2026-05-25", reserve=600, most=1_000)  # another process, after midnight
    assert account("2026-05-24", release=700, usage=Usage(500, 90, 1))
    assert alice.stats().input_tokens == 500
    assert not account("2026-05-25", reserve=500, most=1_000)
    assert account("2026-05-25", reserve=400, most=1_000)
    assert not account("2026-05-24", reserve=1, most=1_000)  # a clock that is behind opens no day again
