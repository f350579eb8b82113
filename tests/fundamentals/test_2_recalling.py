"""Chapter 2: a recall finds impressions by category and labels, or by the words of a question, within a budget."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest


@pytest.fixture
def alice(alice):
    """Alice, of whom four things are known."""
    alice.save("ALICE-DIET", "vegetarian since 2024", category="Health", labels=["Diet"])
    alice.save("ALICE-KNEE", "had a knee operation, avoids running", category="Health", labels=["Injury", "Sport"])
    alice.save("ALICE-BIKE", "cycles to work every day", category="Sport", labels=["Bike", "Sport"])
    alice.save("ALICE-STOVE", "cooks on a camping stove", category="Home", labels=["Kitchen"])
    return alice


def clues(found):
    return [item.clue for item in found]


def test_by_category(alice):
    assert clues(alice.recall(category="Health")) == ["ALICE-KNEE", "ALICE-DIET"]


def test_by_labels_those_with_more_of_them_first(alice):
    assert clues(alice.recall(labels=["Sport", "Bike"])) == ["ALICE-BIKE", "ALICE-KNEE"]


def test_a_recall_names_the_labels_around_it(alice):
    assert "Injury" in alice.recall(labels=["Sport"]).labels


def test_a_name_that_does_not_exist_brings_close_ones(alice):
    found = alice.recall(labels=["Bikes"])
    assert (clues(found), found.near) == ([], ("Bike",))


def test_by_a_question_in_other_forms_of_the_words(alice):
    assert clues(alice.recall("Who is cycling?"))[0] == "ALICE-BIKE"
    assert clues(alice.recall("Any operations on her knees?"))[0] == "ALICE-KNEE"


def test_a_question_that_shares_no_word_finds_nothing(alice):
    found = alice.recall("quantum chromodynamics")
    assert (found.items, found.text) == ((), "")


def test_a_receipt_says_how_an_item_was_found(alice):
    assert alice.recall("Who is cycling?").items[0].receipt == {"notes": 1}
    assert alice.recall(category="Home").items[0].receipt == {"filed": 1}


def test_the_text_keeps_the_budget_and_names_what_did_not_fit(alice):
    found = alice.recall(category="Health", budget_units=60)
    assert clues(found) == ["ALICE-KNEE"]
    assert found.units <= 60
    (left,) = found.omitted
    assert (left.count, left.clues) == (1, ("ALICE-DIET",))


def test_what_was_really_said_can_be_kept_as_evidence(alice):
    talk = [
        {"role": "user", "content": "My bicycle was stolen at the station."},
        {"role": "assistant", "content": "Did you report it?"},
    ]
    assert alice.remember_turns(talk, at=datetime(2026, 5, 18, tzinfo=UTC)) == 1

    best = alice.recall("Where was the bicycle stolen?").items[0]
    assert (best.kind, best.speaker, best.content) == ("turn", "user", "My bicycle was stolen at the station.")
