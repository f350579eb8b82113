"""Chapter 4: merging what means the same, forgetting what must go, and keeping people apart."""

from __future__ import annotations

import pytest

from impressmem_integrations.errors import ConfigurationError, NotFound


@pytest.fixture
def alice(alice):
    """Alice, noted with some redundancy."""
    alice.save("ALICE-TEA", "likes green tea", category="Food", labels=["Drink"], pin=True)
    alice.save("ALICE-SENCHA", "loves sencha", category="Drinks", labels=["Beverage"])
    return alice


def test_a_save_hints_at_names_that_look_alike(alice):
    assert alice.save("alice-tea", "green tea", category="food", labels=["Drink"]).similar == ("ALICE-TEA", "Food")


def test_a_save_hints_at_another_clue_of_the_same_content(alice):
    assert alice.save("ALICE-CUP", "likes green tea", category="Food", labels=["Drink"]).twin == "ALICE-TEA"


def test_merging_categories_moves_their_impressions(alice):
    result = alice.merge_categories("Drinks", "Food")
    assert result.moved == ("ALICE-SENCHA",)
    assert list(alice.categories()) == ["Food"]


def test_merging_labels_replaces_them_wherever_they_stand(alice):
    alice.merge_labels(["Beverage"], "Drink")
    assert list(alice.labels()) == ["Drink"]
    assert {item.clue for item in alice.impressions(label="Drink")} == {"ALICE-TEA", "ALICE-SENCHA"}


def test_merging_clues_makes_one_impression_that_keeps_what_belonged_to_both(alice):
    alice.merge_clues(["ALICE-SENCHA"], "ALICE-TEA", "likes green tea, sencha most of all")

    tea = alice.get("ALICE-TEA")
    assert tea.content == "likes green tea, sencha most of all"
    assert tea.pin
    assert tea.labels == ("Drink", "Beverage")
    assert (tea.category, tea.also) == ("Food", ("Drinks",))
    assert alice.get("ALICE-SENCHA") is None


def test_what_does_not_exist_is_not_merged(alice):
    with pytest.raises(NotFound, match="ALICE-COFFEE"):
        alice.merge_clues(["ALICE-COFFEE"], "ALICE-TEA", "likes hot drinks")
    assert alice.get("ALICE-TEA").content == "likes green tea"


def test_forgetting_one_leaves_no_trace_in_memory(alice):
    certificate = alice.forget("ALICE-TEA")

    assert certificate.clues == 1
    assert certificate.not_covered
    assert alice.get("ALICE-TEA") is None
    assert "green" not in alice.context().text
    assert alice.recall("green tea").items == ()
    assert list(alice.impressions(category="Food")) == []
    assert all(image is None for entry in alice.history("ALICE-TEA") for image in entry.before)


def test_forgetting_everything(alice, store):
    assert alice.forget_everything().clues == 2
    assert list(alice.impressions()) == []
    assert [scope.user for scope in store.scopes()] == []


def test_scopes_never_see_each_other(alice, store):
    bob = store.scoped(user="bob")
    bob.save("BOB-TEA", "hates tea", category="Food", labels=["Drink"])

    assert [item.clue for item in bob.recall("tea")] == ["BOB-TEA"]
    assert "BOB" not in alice.context().text
    assert alice.get("BOB-TEA") is None
    assert store.scoped(user="Alice").get("ALICE-TEA") is None
    assert {(scope.bot, scope.user) for scope in store.scopes()} == {("guide", "alice"), ("guide", "bob")}


def test_without_a_user_it_is_the_bots_own_memory(alice, store):
    store.save("HOUSE-RULE", "answers in English", category="Rules", labels=["Language"])
    assert store.scope.user is None
    assert alice.get("HOUSE-RULE") is None


def test_nobody_is_no_user(store):
    with pytest.raises(ConfigurationError, match="empty"):
        store.scoped(user="")


def test_numbers_and_their_texts_are_the_same_user(store):
    store.scoped(user=1).save("PLAN", "goes to Rome", category="Plans", labels=["Travel"])
    assert store.scoped(user="1").get("PLAN").content == "goes to Rome"
