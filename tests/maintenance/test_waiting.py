"""Turns that wait for a batch, or for a turn that says something: none of them goes without a word."""

from __future__ import annotations

import logging

import pytest

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.settings import Settings
from tests.scripted import Scripted, said


def test_a_batch_larger_than_what_may_wait_is_refused():
    assert Settings(batch_turns=100).batch_turns == 100
    with pytest.raises(ConfigurationError, match="batch_turns must be at most 100, not 101"):
        Settings(batch_turns=101)


def test_the_largest_batch_is_asked_about_and_no_turn_is_let_go(alice):
    settings = Settings(batch_turns=100, request_budget_units=1_000_000)
    model = Scripted()
    history = [message for n in range(99) for message in said(f"fact number {n}")]
    waiting = alice.maintain(history, model, settings=settings)
    assert (waiting.status, waiting.reason, model.requests) == ("skipped", "99 of 100 turns wait for a batch", [])
    full = alice.maintain([*history, *said("fact number 99")], model, settings=settings)
    assert (len(full.turns), full.warnings, len(model.requests)) == (100, (), 1)


def test_a_batch_that_greetings_keep_from_filling_is_asked_about_before_any_of_it_is_let_go(alice):
    settings = Settings(batch_turns=60, request_budget_units=1_000_000)
    model = Scripted()
    history = []
    for n in range(51):
        history += [*said("ok"), *said(f"fact number {n}")]
    report = alice.maintain(history, model, settings=settings)
    assert (len(report.turns), report.warnings) == (102, ())
    assert "fact number 0" in model.asked
    assert "fact number 50" in model.asked


@pytest.mark.parametrize(
    ("count", "words"),
    [(101, "the oldest turn that waited was let go"), (103, "the 3 oldest turns that waited were let go")],
)
def test_turns_that_say_nothing_are_named_when_they_are_let_go(alice, caplog, count, words):
    history = [message for _ in range(count) for message in said("ok")]
    with caplog.at_level(logging.WARNING, "impressmem_integrations.maintenance.flow"):
        report = alice.maintain(history, Scripted())
    assert report.status == "skipped"
    assert [words in warning for warning in report.warnings] == [True]
    assert words in caplog.text
    assert alice.maintain(history, Scripted()).warnings == ()  # 100 wait, and go on waiting


def test_flush_does_not_ask_about_turns_that_say_nothing(alice):
    model = Scripted()
    assert alice.maintain(said("ok"), model, flush=True).reason == "no turn says anything to keep"
    assert model.requests == []
