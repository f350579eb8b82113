"""What a model wrote as arguments, checked item by item."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from impressmem_integrations.errors import InvalidToolCall
from impressmem_integrations.settings import Limits
from impressmem_integrations.tools.arguments import SaveItem, read_organize, read_recall, read_save

DIET = {"clue": "USER-DIET", "content": "vegetarian", "category": "Health", "labels": ["Diet"], "pin": False}
AS_TEXT = '{"clue":"USER-DIET","content":"vegetarian","category":"Health","labels":["Diet"],"pin":false}'
READ = SaveItem(0, "USER-DIET", "vegetarian", "Health", ("Diet",), False)
MERGE = {
    "level": "label",
    "from_items": ["Food"],
    "to_item": "Diet",
    "reason": "same",
    "check": "looked",
    "is_redundant": True,
    "is_confirm": True,
}


def saved(**fields: Any) -> SaveItem:
    """The one item of a call, with these fields in place of the usual ones."""
    found = read_save({"impressions": [{**DIET, **fields}]})
    assert found.errors == ()
    return found.items[0]


def refused(**fields: Any) -> str:
    found = read_save({"impressions": [{**DIET, **fields}]})
    assert found.items == ()
    return found.errors[0].message


@pytest.mark.parametrize(
    "arguments",
    [
        {"impressions": [DIET]},
        {"impressions": DIET},
        {"impressions": f"[{AS_TEXT}]"},
        {"impressions": AS_TEXT},
        {"impressions": [AS_TEXT]},
        DIET,
        {**DIET, "impressions": None},
    ],
)
def test_tc10_impressions_in_every_form(arguments: dict[str, Any]) -> None:
    found = read_save(arguments)
    assert (found.items, found.errors, found.warnings) == ((READ,), (), ())


@pytest.mark.parametrize(
    "labels",
    [
        ["Diet", "Food"], '["Diet","Food"]', "['Diet', 'Food']", "Diet, Food", "Diet，Food", " Diet ;Food,",
        ["Diet", " Food ", "Diet", "", None], ("Diet", "Food"),
    ],
)  # fmt: skip
def test_tc10_labels_that_arrive_as_text(labels: Any) -> None:
    assert saved(labels=labels).labels == ("Diet", "Food")


def test_tc10_one_label_is_not_its_letters_and_a_number_is_a_label() -> None:
    assert saved(labels="Diet").labels == ("Diet",)
    assert saved(labels=2024).labels == ("2024",)
    assert saved(labels=[2024, 1.5]).labels == ("2024", "1.5")


@pytest.mark.parametrize(
    "labels", [None, [], "", "null", [""], {"a": 1}, [["Diet"]], [{"name": "Diet"}], '["Diet"', True]
)
def test_tc10_no_labels_or_unreadable_ones_are_an_error(labels: Any) -> None:
    assert "labels" in refused(labels=labels)


@pytest.mark.parametrize("content", ["[1, 2]", '{"a": 1}', "null", "a, b", "two\nlines", " as it is \n"])
def test_tc10_content_that_looks_like_data_stays_text(content: str) -> None:
    assert saved(content=content).content == content


@pytest.mark.parametrize(
    ("pin", "meant"),
    [(True, True), ("true", True), ("yes", True), (1, True), ("1", True), (False, False),
     ("false", False), ("False", False), ("no", False), (0, False)],
)  # fmt: skip
def test_tc19_pins_in_every_spelling(pin: Any, meant: bool) -> None:
    assert saved(pin=pin).pin is meant


def test_tc16_a_missing_pin_is_none_that_keeps_what_stands() -> None:
    (item,) = read_save({"impressions": [{key: DIET[key] for key in DIET if key != "pin"}]}).items
    assert item == replace(READ, pin=None)


@pytest.mark.parametrize("pin", [None, "", "null", "None"])
def test_tc19_a_pin_of_nothing_is_a_missing_one(pin: Any) -> None:
    assert saved(pin=pin).pin is None


@pytest.mark.parametrize("pin", ["perhaps", 2, [], {}, 0.5])
def test_tc19_other_pins_are_refused(pin: Any) -> None:
    assert "pin must be true or false" in refused(pin=pin)


def test_tc19_five_labels_are_kept_and_the_others_named() -> None:
    found = read_save({"impressions": [{**DIET, "labels": list("ABCDEAFG")}]})
    assert found.items[0].labels == tuple("ABCDE")
    assert found.warnings == ("impressions[0]: only 5 labels are kept; left out: F, G",)
    assert read_save({**DIET, "labels": list("ABC")}, Limits(max_labels=2)).items[0].labels == ("A", "B")


def test_tc19_numbers_become_text_and_objects_do_not() -> None:
    assert saved(content=42).content == "42"
    assert saved(clue=7, category=1.5).category == "1.5"
    for wrong in ({"text": "x"}, ["x"], True):
        assert "content must be a text" in refused(content=wrong)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"clue": "x" * 5000}, "clue is too long: 5000 bytes, at most 1024"),
        ({"category": "é" * 513}, "category is too long: 1026 bytes"),
        ({"labels": ["x" * 1025]}, "labels is too long"),
        ({"content": "x" * 65_537}, "content is too long"),
        ({"clue": " \n"}, "clue is missing"),
        ({"content": None}, "content is missing"),
        ({"category": ""}, "category is missing"),
    ],
)
def test_tc19_what_is_too_long_or_missing_is_an_error_that_says_what_to_change(
    fields: dict[str, Any], word: str
) -> None:
    message = refused(**fields)
    assert word in message
    assert len(message) < 200, "the value itself is not repeated"


@pytest.mark.parametrize(("half", "stored"), [("a\ud83d b", "a\ufffd b"), ("\ud83d\ude00", "\U0001f600")])
def test_mq10_half_a_pair_that_a_model_wrote_is_replaced_and_two_halves_are_joined(half: str, stored: str) -> None:
    item = saved(clue=half, content=half, category=half, labels=[half])
    assert (item.clue, item.content, item.category, item.labels) == (stored, stored, stored, (stored,))


def test_im34_one_item_never_stops_its_neighbours() -> None:
    found = read_save({"impressions": [DIET, {"clue": "BAD"}, 7, {**DIET, "clue": "B"}, "prose", None]})
    assert [item.clue for item in found.items] == ["USER-DIET", "B"]
    assert [item.index for item in found.items] == [0, 3]
    assert [(error.index, error.clue) for error in found.errors] == [(1, "BAD"), (2, ""), (4, ""), (5, "")]
    assert all(f"impressions[{error.index}]" in error.message for error in found.errors)
    assert all(word in found.errors[0].message for word in ("content", "category", "labels"))


@pytest.mark.parametrize(
    "arguments", [{}, {"impressions": []}, {"impressions": "prose"}, {"impressions": 5}, {"clues": ["A"]}]
)
def test_tc11_a_call_without_impressions_is_an_error(arguments: dict[str, Any]) -> None:
    found = read_save(arguments)
    assert found.items == ()
    assert len(found.errors) == 1
    assert "impressions" in found.errors[0].message


def test_sp02_a_made_up_user_changes_nothing_and_is_named() -> None:
    extras = {"user_id": "bob", "tenant": "x", "namespace": "y", "bot_name": "z"}
    found = read_save({"impressions": [{**DIET, "user": "bob"}], **extras})
    assert found.items == (READ,)
    assert found.warnings == (
        "ignored, the tool has no such field: user_id, tenant, namespace, bot_name",
        "impressions[0]: ignored, the tool has no such field: user",
    )
    flat = read_save({**DIET, "user_id": "bob"})
    assert flat.items == (READ,)
    assert "user_id" in flat.warnings[0]
    assert "bob" not in str(found.warnings + flat.warnings)
    assert "user_id" in read_recall({"query": "food", "user_id": "bob"}).warnings[0]
    assert "user_id" in read_organize({**MERGE, "user_id": "bob"}).warnings[0]


def test_recall_takes_any_of_its_fields_or_none() -> None:
    assert (read_recall({}).query, read_recall({}).category, read_recall({}).labels) == (None, None, ())
    found = read_recall({"query": " food? ", "category": None, "labels": "A, B, A, C, D, E, F"})
    assert (found.query, found.category, found.labels) == ("food?", None, ("A", "B", "C", "D", "E"))
    assert found.warnings == ("only 5 labels are kept; left out: F",)
    with pytest.raises(InvalidToolCall, match=r"query must be a text.*labels must be a list"):
        read_recall({"query": {"q": 1}, "labels": {"a": 1}})


def test_organize_reads_a_merge() -> None:
    found = read_organize(
        {**MERGE, "from_items": "Food, Meals", "level": "Label", "new_content": None, "is_confirm": "true"}
    )
    assert (found.level, found.from_items, found.to_item) == ("label", ("Food", "Meals"), "Diet")
    assert found.held_back is None
    assert found.warnings == ()


def test_tc10_one_source_as_text_is_one_name() -> None:
    clue = {**MERGE, "level": "clue", "new_content": "both"}
    assert read_organize({**clue, "from_items": "Rome, then Oslo"}).from_items == ("Rome, then Oslo",)
    assert read_organize({**clue, "from_items": '["A", "B"]'}).from_items == ("A", "B")


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"level": "practice"}, "level must be"),
        ({"level": None}, "level must be"),
        ({"from_items": None}, "from_items is empty"),
        ({"from_items": [["Same", "Same"]]}, "from_items must be a text"),
        ({"to_item": [["Same"]]}, "to_item must be a text"),
        ({"to_item": None}, "to_item is missing"),
        ({"from_items": ["Diet"]}, "same name"),
        ({"level": "category", "from_items": ["A", "B"]}, "exactly one"),
        ({"level": "clue"}, "new_content is needed"),
        ({"is_confirm": "perhaps"}, "is_confirm must be"),
    ],
)
def test_mq15_merges_that_make_no_sense_are_refused(fields: dict[str, Any], word: str) -> None:
    with pytest.raises(InvalidToolCall, match=word):
        read_organize({**MERGE, **fields})


def test_the_target_may_stand_among_several_sources() -> None:
    assert read_organize({**MERGE, "from_items": ["Diet", "Food"]}).from_items == ("Diet", "Food")


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"is_redundant": False}, "is_redundant"),
        ({"is_redundant": None}, "is_redundant"),
        ({"is_confirm": False}, "is_confirm"),
        ({"reason": " "}, "reason"),
        ({"check": None}, "check"),
    ],
)
def test_im41_a_merge_without_reason_check_and_confirmation_is_held_back(fields: dict[str, Any], word: str) -> None:
    held_back = read_organize({**MERGE, **fields}).held_back
    assert held_back is not None
    assert word in held_back


def test_new_content_is_for_clues_only() -> None:
    found = read_organize({**MERGE, "new_content": "text"})
    assert found.new_content is None
    assert "new_content" in found.warnings[0]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
fields = st.sampled_from([*DIET, *MERGE, "query", "impressions", "user_id"])
calls = st.dictionaries(fields, values | st.dictionaries(fields, values, max_size=5), max_size=6)


@settings(suppress_health_check=[HealthCheck.too_slow])  # machines are noisy
@given(calls)
def test_checking_never_fails_in_any_other_way(arguments: dict[str, Any]) -> None:
    found = read_save(arguments)
    assert found.items or found.errors
    assert all(item.clue == item.clue.strip() != "" and item.content.strip() for item in found.items)
    assert all(1 <= len(item.labels) <= 5 for item in found.items)
    for read in (read_recall, read_organize):
        with contextlib.suppress(InvalidToolCall):
            read(arguments)


@given(values, values)
def test_a_good_item_is_saved_whatever_stands_beside_it(before: Any, after: Any) -> None:
    found = read_save({"impressions": [before, DIET, after]})
    assert replace(READ, index=1) in found.items


def test_an_integer_that_python_does_not_write_out_is_an_error() -> None:
    for field in ("clue", "content", "labels", "pin"):
        assert read_save({"impressions": [{**DIET, field: 10**5000}]}).errors
