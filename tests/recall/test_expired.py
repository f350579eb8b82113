"""Impressions whose time is over wait for a write to remove them: meanwhile they hide nothing that lives."""

from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore, Limits
from tests.polling import wait_until


@pytest.fixture(params=[40, 1_500])
def alice(request, client):
    """One note that lives, older than very many that do not and say and are filed under the same."""
    store = ImpressionStore(client=client, user="alice", limits=Limits(ttl_seconds=0.5))
    store.save("ALLERGY", "allergic to peanut butter", category="Health", labels=["Food"], pin=True)
    store.save_many(
        {"clue": f"SOON-{n}", "content": f"peanut {n}", "category": "Health", "labels": ["Food"]}
        for n in range(request.param)
    )
    wait_until(lambda: store.stats().impressions == 1, "the others are over")
    return store


QUESTIONS = {
    "by a word": {"query": "peanut"},
    "with a large budget": {"query": "peanut", "budget_units": 10_000},
    "by the name of a label": {"query": "any food?"},
    "by a label": {"labels": ["Food"]},
    "by a category": {"category": "Health"},
    "by a label and words": {"query": "peanut", "labels": ["Food"]},
    "whatever there is": {"query": "zzz", "fill": True},
    "by its day": {"query": "What did I tell you today?"},
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_lives_is_found_among_many_that_do_not(alice, asked):
    found = alice.recall(**QUESTIONS[asked])
    assert [item.clue for item in found.items] == ["ALLERGY"]
    assert found.omitted == ()


def test_listings_go_past_what_does_not_live(alice):
    assert [item.clue for item in alice.impressions(limit=5)] == ["ALLERGY"]
    assert [item.clue for item in alice.impressions(label="Food", limit=5)] == ["ALLERGY"]


def test_a_scope_that_was_read_past_its_dead_is_sound(alice):
    alice.save("NEW", "something else", category="Other", labels=["x"], pin=True)
    assert {item.clue for item in alice.impressions()} == {"ALLERGY", "NEW"}
    assert alice.recall("peanut").items[0].clue == "ALLERGY"


def test_more_than_is_read_of_a_label_is_told(client):
    store = ImpressionStore(client=client, user="alice")
    store.save_many({"clue": f"n{n}", "content": "x", "category": "C", "labels": ["L"]} for n in range(1_200))
    for budget in (100, 100_000):
        found = store.recall(labels=["L"], budget_units=budget)
        assert sum(omission.count for omission in found.omitted) == 1_200 - len(found.items)
