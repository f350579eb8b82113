"""Chapter 1: impressions are saved under a clue, replaced under it, listed, and come back as they were."""

from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import InvalidInput


def test_what_is_saved_can_be_read(alice):
    alice.save("ALICE-DIET", "vegetarian since 2024", category="Health", labels=["Diet", "Habit"])

    diet = alice.get("ALICE-DIET")
    assert diet.content == "vegetarian since 2024"
    assert diet.category == "Health"
    assert diet.labels == ("Diet", "Habit")
    assert diet.revision == 1


def test_an_unknown_clue_is_none(alice):
    assert alice.get("NOBODY-SAVED-THIS") is None


def test_the_same_clue_again_replaces_the_impression(alice):
    first = alice.save("ALICE-HOME", "lives in Porto", category="Home", labels=["City"])
    second = alice.save("ALICE-HOME", "moved to Braga in May", category="Home", labels=["City"])

    assert (first.status, second.status) == ("created", "changed")
    assert alice.get("ALICE-HOME").content == "moved to Braga in May"
    assert alice.get("ALICE-HOME").revision == 2
    assert len(list(alice.impressions())) == 1


def test_saving_the_same_once_more_only_says_that_it_is_still_true(alice):
    alice.save("ALICE-HOME", "lives in Porto", category="Home", labels=["City"])
    assert alice.save("ALICE-HOME", "lives in Porto", category="Home", labels=["City"]).status == "unchanged"


def test_replacing_under_another_category_moves_the_impression(alice):
    alice.save("ALICE-CAT", "has a cat named Miso", category="Home", labels=["Animal"])
    alice.save("ALICE-CAT", "has a cat named Miso", category="Pets", labels=["Cat"])

    assert list(alice.categories()) == ["Pets"]
    assert list(alice.labels()) == ["Cat"]
    assert list(alice.impressions(category="Home")) == []


def test_many_are_saved_in_one_go_and_a_bad_one_stops_no_other(alice):
    results = alice.save_many(
        [
            {"clue": "ALICE-TEA", "content": "likes green tea", "category": "Food", "labels": ["Drink"]},
            {"clue": "ALICE-???", "content": "", "category": "Food", "labels": ["Drink"]},
            {"clue": "ALICE-JOB", "content": "teaches physics", "category": "Work", "labels": ["Job"]},
        ]
    )
    assert [result.status for result in results] == ["created", "refused", "created"]
    assert "content" in results[1].error


def test_listings_are_newest_first(alice):
    for clue in ("FIRST", "SECOND", "THIRD"):
        alice.save(clue, f"the {clue.lower()} note", category="Notes", labels=["Order"])
    alice.save("FIRST", "the first note, changed", category="Notes", labels=["Order"])

    assert [item.clue for item in alice.impressions()] == ["FIRST", "THIRD", "SECOND"]
    assert [item.clue for item in alice.impressions(limit=1)] == ["FIRST"]


def test_a_value_over_a_limit_is_an_error_and_never_cut(server):
    with ImpressionStore.from_url(server.url, user="alice", limits=Limits(max_content_bytes=20)) as small:
        with pytest.raises(InvalidInput, match="20"):
            small.save("LONG", "a content of more than twenty bytes", category="Notes", labels=["Long"])
        assert list(small.impressions()) == []


def test_a_full_memory_lets_the_weakest_go_and_names_it(server):
    with ImpressionStore.from_url(server.url, user="alice", limits=Limits(max_impressions=2)) as small:
        small.save("OLD", "an old note", category="Notes", labels=["Age"])
        small.save("USED", "a note that turned out right", category="Notes", labels=["Age"])
        small.confirm(["USED"])
        assert small.save("NEW", "a new note", category="Notes", labels=["Age"]).evicted == ("OLD",)
        assert small.get("USED").uses == 1


def test_the_journal_tells_what_was_there_before(alice):
    alice.save("ALICE-HOME", "lives in Porto", category="Home", labels=["City"])
    alice.save("ALICE-HOME", "lives in Braga", category="Home", labels=["City"])

    newest, first = alice.history("ALICE-HOME")
    assert newest.before[0].content == "lives in Porto"
    assert first.before == (None,)
