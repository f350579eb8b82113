"""A note is not stored a second time under another clue."""

from __future__ import annotations

from tests.scripted import Scripted, call, calls, impression, merge, said, save


def test_a_note_that_stands_under_another_clue_is_refused_and_the_turn_is_done(alice):
    alice.save("TEA", "Drinks green tea.", category="General", labels=["Note"])
    model = Scripted(save(impression("USER-DRINK", "drinks  green tea")))
    report = alice.maintain(said("I drink green tea"), model)
    assert report.status == "nothing_to_store"
    assert [(one.what, "'TEA'" in one.reason) for one in report.refused] == [("USER-DRINK", True)]
    assert [item.clue for item in alice.impressions()] == ["TEA"]
    assert alice.maintain(said("I drink green tea"), model).status == "already_done"


def test_what_stands_beside_a_twin_is_stored(alice):
    alice.save("TEA", "Drinks green tea.", category="General", labels=["Note"])
    model = Scripted(save(impression("DRINK", "Drinks green tea."), impression("CAT", "Has a cat.")))
    report = alice.maintain(said("I drink green tea and have a cat"), model)
    assert (report.status, report.saved) == ("stored", ("CAT",))
    assert {item.clue for item in alice.impressions()} == {"TEA", "CAT"}


def test_two_notes_of_one_answer_are_both_kept_and_may_be_merged_later(alice):
    """What is new in an answer is the model's to name; only what is remembered already is not stored again."""
    model = Scripted(save(impression("A", "Has a cat."), impression("B", "Has a cat.")))
    assert alice.maintain(said("I have a cat"), model).saved == ("A", "B")


def test_a_renaming_goes_through(alice):
    alice.save("OLD", "Has a cat.", category="General", labels=["Note"])
    answer = calls(
        call("save_impressions", {"impressions": [impression("USER-CAT", "Has a cat.")]}),
        merge("clue", ["OLD"], "USER-CAT", new_content="Has a cat."),
    )
    assert alice.maintain(said("Remember my cat as USER-CAT"), Scripted(answer)).status == "stored"
    assert [item.clue for item in alice.impressions()] == ["USER-CAT"]


def test_a_known_clue_may_take_the_words_of_another(alice):
    alice.save("TEA", "Drinks green tea.", category="General", labels=["Note"])
    alice.save("DRINK", "Drinks coffee.", category="General", labels=["Note"])
    report = alice.maintain(said("No coffee, green tea"), Scripted(save(impression("DRINK", "Drinks green tea."))))
    assert report.changed == ("DRINK",)
