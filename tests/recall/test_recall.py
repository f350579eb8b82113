"""Recall: by question without vectors, by category and labels, with receipts, within a budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.flows import recall as recalls
from impressmem_integrations.errors import InvalidInput
from tests.scripted import Scripted, impression, said, save


@pytest.fixture
def alice(client):
    return ImpressionStore(client=client, user="alice")


def note(store: ImpressionStore, clue: str, content: str, category: str = "General", *labels: str, **more) -> None:
    store.save(clue, content, category=category, labels=list(labels) or ["Note"], **more)


@pytest.fixture
def kitchen(alice):
    note(alice, "USER-DIET", "vegetarian since 2024, never eats fish", "Food", "Diet")
    note(alice, "USER-OVEN", "the oven in her kitchen is broken", "Home", "Kitchen")
    note(alice, "USER-JOB", "works as a landscape architect", "Work", "Job")
    note(alice, "USER-DOG", "has a dog called Waffle", "Pets", "Dog")
    for n in range(40):
        note(alice, f"FILLER-{n}", f"bought item number {n} at the market", "Shopping", "Market")
    return alice


def test_a_question_finds_what_answers_it_and_says_why(kitchen):
    found = kitchen.recall("Is there any fish dish she eats?")
    assert found.items[0].clue == "USER-DIET"
    assert found.items[0].kind == "impression"
    assert found.items[0].impression.category == "Food"
    assert found.items[0].receipt == {"notes": 1}
    assert "never eats fish" in found.text
    assert found.units <= 1_000


def test_a_question_without_evidence_finds_nothing_and_fill_fills_the_budget_with_the_newest(kitchen):
    assert kitchen.recall("quantum chromodynamics").items == ()
    filled = kitchen.recall("quantum chromodynamics", fill=True, budget_units=300)
    assert filled.units >= 0.85 * 300
    assert filled.items[0].clue == "FILLER-39"


def test_recall_stops_where_evidence_stops(kitchen):
    found = kitchen.recall("What is the dog called?", budget_units=4_000)
    assert [item.clue for item in found.items][:1] == ["USER-DOG"]
    assert len(found.items) < 10


def test_category_and_labels_narrow_a_question(kitchen):
    found = kitchen.recall("market item", category="Food")
    assert [item.clue for item in found.items] == ["USER-DIET"]
    by_labels = kitchen.recall(labels=["Dog", "Job"])
    assert {item.clue for item in by_labels.items} == {"USER-DOG", "USER-JOB"}


def test_those_under_most_of_the_asked_names_come_first(alice):
    note(alice, "ONE", "one", "A", "x")
    note(alice, "BOTH", "both", "A", "x", "y")
    note(alice, "NEWEST", "newest", "A", "z")
    found = alice.recall(category="A", labels=["x", "y"])
    assert [item.clue for item in found.items] == ["BOTH", "ONE", "NEWEST"]
    assert set(found.labels) == {"x", "y", "z"}


def test_mq_22_a_near_miss_names_what_is_close(alice):
    assert alice.recall(category="Preferences").near == ()
    note(alice, "A", "likes tea", "UserPreference", "Drink")
    near = alice.recall(category="Preferences")
    assert near.items == ()
    assert near.near == ("UserPreference",)
    assert alice.recall(labels=["drink"]).near == ("Drink",)


def test_what_does_not_fit_is_counted_with_the_budget_it_needs(alice):
    for n in range(30):
        note(alice, f"N-{n}", f"teapot number {n} " + "x" * 200, "Tea", "Pot")
    found = alice.recall("teapot", budget_units=400)
    (left,) = found.omitted
    assert left.what == "impressions"
    assert left.count >= 20
    assert left.units > 400
    assert found.units <= 400
    filed = alice.recall(category="Tea", budget_units=400)
    assert filed.omitted[0].count == 30 - len(filed.items)


@pytest.mark.parametrize(
    ("question", "content", "other"),
    [
        ("我能吃什么水果？", "对芒果和菠萝这类水果过敏", "在上海做物理老师"),
        ("どこに住んでいますか", "京都に住んでいます", "犬を飼っている"),
        ("Welche Allergien hat sie?", "hat eine Allergie gegen Haselnüsse", "arbeitet als Gärtnerin in Köln"),
        ("Какие у неё кошки?", "две кошки, Муся и Бася", "работает врачом в Казани"),
        ("ما هي القهوة التي تحبها؟", "تحب القهوة التركية بدون سكر", "تعيش في عمان"),
        ("What does she drink?", "drinks oolong tea every morning", "lives in Ghent"),
    ],
)
def test_a_question_finds_notes_in_its_language(alice, question, content, other):
    note(alice, "OTHER", other)
    note(alice, "WANTED", content)
    note(alice, "MORE", "something unrelated entirely 12345")
    assert alice.recall(question).items[0].clue == "WANTED"


def test_mq_07_times_are_shown_as_instants_in_one_zone(alice):
    midnight = datetime(2025, 1, 1, 0, 30, tzinfo=UTC)
    tokyo = midnight.astimezone(__import__("zoneinfo").ZoneInfo("Asia/Tokyo"))
    note(alice, "A", "first flat in Osaka", said_at=tokyo)
    autumn = datetime(2025, 11, 2, 5, 30, tzinfo=UTC)  # the hour that New York has twice
    new_york = __import__("zoneinfo").ZoneInfo("America/New_York")
    note(alice, "B", "second flat in Kobe", said_at=(autumn + timedelta(hours=1)).astimezone(new_york))
    note(alice, "C", "third flat in Nara", said_at=autumn.astimezone(new_york))
    assert alice.get("A").said_at == midnight
    text = alice.recall("flat").text
    assert "2025-01-01:\n- first flat" in text
    assert text.index("third flat") < text.index("second flat")


def test_the_same_store_and_question_give_the_same_bytes(kitchen):
    assert len({kitchen.recall("item at the market", budget_units=200).text for _ in range(5)}) == 1


def test_replaced_merged_and_forgotten_notes_are_not_found_by_their_old_words(alice):
    note(alice, "A", "collects porcelain elephants")
    note(alice, "A", "collects stamps")
    note(alice, "B", "owns a gramophone")
    note(alice, "C", "plays the zither")
    alice.merge_clues(["B"], "A", "collects stamps and records")
    alice.forget("C")
    for gone in ("porcelain elephants", "gramophone", "zither"):
        assert alice.recall(gone).items == ()
    assert alice.recall("stamps").items[0].clue == "A"


def test_turns_are_kept_as_evidence_and_found(alice):
    talk = [*said("My grandmother grew saffron in Navelli", "How lovely."), *said("And I sell it in Rome")]
    assert alice.remember_turns(talk) == 2
    assert alice.remember_turns(talk) == 0
    found = alice.recall("Who grew saffron?")
    (first, *_) = found.items
    assert (first.kind, first.content, first.speaker) == ("turn", "My grandmother grew saffron in Navelli", "user")
    assert "- user: My grandmother grew saffron in Navelli" in found.text


def test_maintenance_keeps_the_turn_and_links_it(alice):
    alice.maintain(said("We moved to Leuven in May"), Scripted(save(impression("HOME", "lives in Leuven"))))
    found = alice.recall("Leuven")
    assert {item.kind for item in found.items} == {"impression", "turn"}
    alice.forget("HOME")
    assert alice.recall("Leuven").items == ()


def test_turns_can_be_switched_off(client):
    store = ImpressionStore(client=client, user="alice", limits=Limits(keep_turns=False))
    store.maintain(said("We moved to Leuven in May"), Scripted(save(impression("HOME", "lives in Leuven"))))
    assert [item.kind for item in store.recall("Leuven").items] == ["impression"]
    with pytest.raises(InvalidInput, match="keep_turns"):
        store.remember_turns(said("x"))


@pytest.mark.parametrize("limits", [Limits(max_turns=20), Limits(max_turn_bytes=1_500)], ids=["by count", "by bytes"])
def test_turns_are_bounded_and_the_oldest_leave(client, limits):
    store = ImpressionStore(client=client, user="alice", limits=limits)
    for n in range(40):
        store.remember_turns(said(f"The unusual word{n} was said", f"answer{n}"), thread_id=str(n))
    assert store.recall("word39").items[0].content == "The unusual word39 was said"
    assert store.recall("word1").items == ()
    assert 0 < client.hlen(next(client.scan_iter("*:turns"))) <= 40


def test_secrets_in_turns_are_masked(alice):
    alice.remember_turns(said("my api key is sk-abc123def456ghi789jkl, keep it", "ok, password: hunter2!"))
    text = alice.recall("api key password", fill=True).text
    assert "sk-abc123" not in text
    assert "hunter2" not in text
    assert "[secret]" in text


def test_erasing_everything_takes_turns_and_terms(alice, client):
    note(alice, "A", "collects stamps")
    alice.remember_turns(said("I collect stamps"))
    alice.forget_everything()
    assert alice.recall("stamps").items == ()
    left = {key.decode().rsplit(":", 1)[-1] for key in client.scan_iter("*")}
    assert left == {"meta"}


def test_a_context_carries_what_is_relevant_beside_it(alice):
    for n in range(200):
        note(alice, f"N-{n}", f"note number {n} about {'tulips' if n == 3 else 'bricks'} " + "x" * 60)
    made = alice.context("any tulips?", budget_units=1_000)
    assert "tulips" not in made.text
    assert "about tulips" in made.relevant
    shown = alice.context("note number 199", budget_units=1_000)
    assert "note number 199 about" in shown.text
    assert "note number 199 about" not in shown.relevant
    assert alice.context(budget_units=1_000).text == made.text


@pytest.mark.parametrize("wrong", [{"budget_units": 0}, {"labels": "Diet"}, {"query": 7}, {"category": ""}])
def test_wrong_arguments_are_refused(alice, wrong):
    with pytest.raises(InvalidInput):
        alice.recall(**wrong)


@pytest.mark.parametrize("query", ["", "   ", "?!", "🙂", "\x00", "the of and", "x" * 5_000, "'; FLUSHALL --"])
def test_odd_questions_are_harmless(kitchen, query):
    assert kitchen.recall(query, budget_units=300).units <= 300


def test_sp15_a_flood_of_a_question_is_answered_by_its_beginning(kitchen, monkeypatch):
    seen = []
    tokenise = recalls.tokenise_question
    monkeypatch.setattr(recalls, "tokenise_question", lambda text: seen.append(len(text)) or tokenise(text))
    flood = " \n" * 10_000 + "oven " + " ".join(f"w{n}" for n in range(150_000))
    assert [item.clue for item in kitchen.recall(flood).items] == [item.clue for item in kitchen.recall("oven").items]
    kitchen.context(flood)
    assert max(seen) <= 8_000


def test_a_context_refuses_a_question_that_is_no_text(alice):
    with pytest.raises(InvalidInput, match="query must be text"):
        alice.context(7)


def test_forgetting_takes_the_evidence_of_all_turns_a_note_came_from(alice):
    first = said("I am allergic to walnuts, badly")
    alice.maintain(first, Scripted(save(impression("ALLERGY", "allergic to walnuts"))))
    talk = [*first, *said("Planning a trip to Lisbon"), *said("And walnuts are in everything there")]
    answer = save(impression("ALLERGY", "allergic to walnuts and pecans"), impression("TRIP", "trip to Lisbon"))
    alice.maintain(talk, Scripted(answer))
    assert len(alice.get("ALLERGY").source.split(", ")) == 2
    alice.forget("ALLERGY")
    assert [item.content for item in alice.recall("walnuts").items] == []


def test_messages_of_one_moment_stand_in_the_order_they_were_said(alice):
    at = datetime(2025, 3, 1, tzinfo=UTC)
    alice.remember_turns(said("lighthouse one", "lighthouse two"), at=at)
    alice.remember_turns(said("lighthouse three"), at=at)
    text = alice.recall("lighthouse").text
    assert text.index("one") < text.index("two") < text.index("three")
    assert alice.recall("lighthouse") == alice.recall("lighthouse")


# --- names and the label graph ----------------------------------------------------------------------------------------


@pytest.fixture
def filed(alice):
    for n in range(30):
        note(alice, f"N{n}", f"sentence number {n}", "Talk", "Small talk")
    note(alice, "A", "eats no meat", "Health", "Diet", "Allergies")
    note(alice, "B", "peanuts make her ill", "Health", "Allergies")
    return alice


def test_the_words_of_a_label_find_what_is_filed_under_it(filed):
    found = filed.recall("Anything about dietary habits or a diet?")
    assert found.items[0].clue == "A"
    assert found.items[0].receipt["names"] == 1
    assert "notes" not in found.items[0].receipt
    assert filed.recall("health").items[0].receipt == {"names": 1}


def test_a_label_leads_to_the_labels_it_occurs_with(filed):
    found = {item.clue: item for item in filed.recall("diet").items}
    assert found["B"].receipt["links"] >= 1
    assert found["A"].score > found["B"].score
    assert "N1" not in found


def test_a_renamed_label_is_found_by_its_new_name_alone(filed):
    note(filed, "C", "likes long books", "Leisure", "Reading")
    assert filed.recall("nutrition").items == ()
    note(filed, "D", "drinks oat milk", "Health", "Nutrition")
    filed.merge_labels(["Diet"], "Nutrition")
    assert {item.clue for item in filed.recall("nutrition").items if "names" in item.receipt} == {"A", "D"}
    assert filed.recall("diet").items == ()
    assert filed.check() == []


def test_a_name_that_is_said_in_part_counts_less_than_one_said_whole(filed):
    note(filed, "WHOLE", "walks a lot", "Sport", "Weekend")
    note(filed, "PART", "swims a lot", "Sport", "Weekend trips by bus")
    found = {item.clue: item.score for item in filed.recall("weekend").items}
    assert found["WHOLE"] > found["PART"] > 0


def test_a_name_goes_with_its_last_impression_and_with_an_erasure(filed, client):
    filed.forget("A")
    assert filed.recall("diet").items == ()
    filed.forget_everything()
    assert filed.recall("allergies").items == ()
    assert not [key for key in client.scan_iter("*") if b"name-" in key]


def test_a_word_of_the_clue_tells_more_than_one_of_the_content(alice):
    note(alice, "NOTE-1", "the violin lesson moved to noon today", "Music", "Lesson")
    note(alice, "VIOLIN", "a lesson moved to noon today, maybe", "Music", "Lesson")
    assert [item.clue for item in alice.recall("violin").items][:1] == ["VIOLIN"]


# --- dates -----------------------------------------------------------------------------------------------------------


def test_what_was_said_on_the_day_a_question_names_comes_first(alice):
    for month in (4, 5, 6):
        said_at = datetime(2023, month, 7, 12, tzinfo=UTC)
        note(alice, f"M{month}", f"painted picture {month} of the sea", "Art", "Painting", said_at=said_at)
        alice.remember_turns(said(f"I painted a boat, number {month}"), thread_id=f"t{month}", at=said_at)
    found = alice.recall("What was painted in May 2023?")
    best = {item.kind: item.said_at.month for item in reversed(found.items)}
    assert best == {"impression": 5, "turn": 5}
    assert {item.said_at.month for item in found.items} == {4, 5, 6}  # held back, not left out


# --- what a newcomer found --------------------------------------------------------------------------------------------


def test_one_kept_turn_does_not_hide_the_notes(alice):
    """A name that every note says tells little, also where it is rare among the few turns."""
    for n, text in enumerate(
        ["works as an engineer", "has two children", "sings alto", "swims", "was born in Braga"] * 2
    ):
        note(alice, f"M{n}", f"Maria {text} {n}", "Person")
    alice.remember_turns(said("Maria will be late today.", "Fine."))
    found = alice.recall("What do you know about Maria?", budget_units=8_000)
    assert {item.clue for item in found.items if item.kind == "impression"} == {f"M{n}" for n in range(10)}


def test_of_a_long_text_the_part_that_answers_is_shown(alice):
    note(
        alice,
        "RECIPE",
        "Grandmother's cooking. " + "Add and stir. " * 300 + "The secret of the goulash is chocolate.",
        "Food",
    )
    alice.remember_turns(
        said("Here is my contract. " + "Lorem ipsum dolor. " * 500 + "The deposit is 900 euros.", "Thanks.")
    )
    found = alice.recall("What is the secret of her goulash?", budget_units=300)
    assert found.items[0].clue == "RECIPE"
    assert found.items[0].content.startswith("Grandmother's")  # whole for code, a part in the text
    assert "... " in found.text
    assert "secret of the goulash is chocolate" in found.text
    assert found.units <= 300
    assert "deposit is 900 euros" in alice.recall("How much is the deposit?").text


def test_a_note_that_a_context_shows_shortened_can_still_be_relevant(alice):
    note(
        alice,
        "R",
        "Grandmother's cooking. " + "Add and stir. " * 100 + "The secret of the goulash is chocolate.",
        "Food",
    )
    made = alice.context("What is the secret of her goulash?", budget_units=300)
    assert "R" not in made.included
    assert "secret of the goulash is chocolate" in made.relevant
    assert [omission.count for omission in made.omitted if omission.what == "impressions"] == [1]


def test_what_stands_beside_a_hit_is_called_so(alice):
    for n, text in enumerate(["likes jazz", "owns a boat", "hates turnips", "is left handed", "was in Peru"]):
        note(alice, f"N{n}", text, f"C{n}", f"l{n}")
    receipts = {item.clue: dict(item.receipt) for item in alice.recall("turnips?").items}
    assert receipts.pop("N2") == {"notes": 1}
    assert all(set(receipt) == {"beside"} for receipt in receipts.values())


def test_a_question_within_a_category_says_which_lanes_found_what(alice):
    for n in range(6):
        note(alice, f"C{n}", f"saw animals, number {n}", "Zoo", "Trip")
    note(alice, "Z", "saw two zebras", "Zoo", "Trip")
    note(alice, "LAST", "saw the gift shop", "Zoo", "Trip")
    first = alice.recall("zebras", category="Zoo").items[0]
    assert (first.clue, dict(first.receipt)) == ("Z", {"filed": 2, "notes": 1})


def test_a_note_gets_no_credit_for_labels_of_its_own(alice):
    note(alice, "ONE", "hums", "A", "Music")
    note(alice, "TWO", "whistles", "A", "Music", "Zebra")
    assert all("links" not in item.receipt for item in alice.recall("any music?").items)


def test_an_omission_says_whether_a_larger_budget_helps(kitchen):
    note(kitchen, "STRONG", "zucchini zucchini zucchini from the zucchini garden", "Food", "Diet")
    for n in range(30):
        note(kitchen, f"LONG-{n}", f"the zucchini was cooked in pan {n}", "Food", "Cooking")
    found = kitchen.recall("zucchini", budget_units=150)
    reasons = {(omission.what, omission.why): omission for omission in found.omitted}
    missing = reasons["impressions", "budget"]
    more = kitchen.recall("zucchini", budget_units=found.units + missing.units + 20)
    assert set(missing.clues) <= {item.clue for item in more.items}


def test_what_was_not_read_counts_with_the_units_it_takes(alice):
    alice.save_many(
        {"clue": f"N{n}", "content": f"note {n} about a long walk by the river", "category": "B", "labels": ["l"]}
        for n in range(800)
    )
    (left,) = alice.recall(category="B", budget_units=200).omitted
    assert left.count > 700
    assert left.units == pytest.approx(left.count * 13, rel=0.2)


def test_a_question_without_a_word_finds_nothing(kitchen):
    for question in ("???", "🎸", "-----"):
        assert kitchen.recall(question).items == ()
    assert len(kitchen.recall("???", fill=True, budget_units=200).items) > 3
    assert len(kitchen.recall("").items) > 3  # no question: the newest
