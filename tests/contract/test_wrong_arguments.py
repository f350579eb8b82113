"""A wrong argument is an `InvalidInput` or `ConfigurationError` that says which one, never an error from inside."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from impressmem_integrations import ImpressionStore, Limits, Tokenizer
from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.model import Context, Plan, PlanStep, Usage, common_prefix
from tests.scripted import Scripted, impression, said, save

NOT_A_LIST = [None, 5, "text", {"clue": "A"}]


@pytest.fixture
def alice(client):
    store = ImpressionStore(client=client, user="alice")
    store.save("A", "likes tea", category="C", labels=["l"])
    return store


def test_no_labels_may_be_none(alice):
    assert alice.recall("tea", labels=None) == alice.recall("tea")


@pytest.mark.parametrize("wrong", [5, "l", b"l", [None], [["l"]]])
def test_labels_must_be_a_list_of_texts(alice, wrong):
    with pytest.raises(InvalidInput, match="label"):
        alice.recall(labels=wrong)


def test_labels_count_once_and_at_most_a_thousand_different_ones_are_asked(alice):
    assert alice.recall(labels=["l"] * 10_000) == alice.recall(labels=["l"])
    assert alice.recall(labels=["l", *map(str, range(999))])
    with pytest.raises(InvalidInput, match="1,001 different labels"):
        alice.recall(labels=["l", *map(str, range(1_000))])


@pytest.mark.parametrize("wrong", ["no", 1, None])
def test_switches_are_true_or_false(alice, wrong):
    with pytest.raises(InvalidInput, match="fill must be True or False"):
        alice.recall("tea", fill=wrong)
    with pytest.raises(InvalidInput, match="strict must be True or False"):
        alice.context(strict=wrong)
    with pytest.raises(InvalidInput, match="flush must be True or False"):
        alice.maintain(said("x"), Scripted(), flush=wrong)


@pytest.mark.parametrize("wrong", NOT_A_LIST)
def test_items_must_be_a_list(alice, wrong):
    with pytest.raises(InvalidInput, match="items must be a list of mappings"):
        alice.save_many(wrong)


@pytest.mark.parametrize("given", [5, "5"])
def test_a_thread_may_be_a_number(alice, given):
    assert alice.remember_turns(said("I keep bees"), thread_id=5) == 1
    assert alice.remember_turns(said("I keep bees"), thread_id=given) == 0
    model = Scripted(save(impression("BEES", "keeps bees")))
    assert alice.maintain(said("I keep bees"), model, thread_id=5).status == "stored"
    assert alice.maintain(said("I keep bees"), model, thread_id=given).status == "already_done"


@pytest.mark.parametrize("wrong", [True, 1.5, b"t", ["t"]])
def test_a_thread_of_another_type_is_refused(alice, wrong):
    with pytest.raises(InvalidInput, match="thread_id"):
        alice.remember_turns(said("x"), thread_id=wrong)
    with pytest.raises(InvalidInput, match="thread_id"):
        alice.maintain(said("x"), Scripted(), thread_id=wrong)


@pytest.mark.parametrize("wrong", ["2023-01-01", 5, datetime(2023, 1, 1)])  # noqa: DTZ001 - no zone, on purpose
def test_a_time_must_be_a_datetime_with_its_zone(alice, wrong):
    with pytest.raises(InvalidInput, match="at "):
        alice.remember_turns(said("x"), at=wrong)
    with pytest.raises(InvalidInput, match="at "):
        alice.maintain(said("x"), Scripted(), at=wrong)
    assert alice.remember_turns(said("x"), at=datetime(2023, 1, 1, tzinfo=UTC)) == 1


def test_no_previous_context_shares_nothing(alice):
    made = alice.context()
    assert (made.stable_prefix(None), made.stable_prefix(made)) == (0.0, 1.0)
    assert Context("").stable_prefix(None) == 0.0


@pytest.mark.parametrize("wrong", ["text", 5, [Context("a")]])
def test_a_previous_context_is_one(wrong):
    with pytest.raises(InvalidInput, match=r"previous must be a Context .* not " + type(wrong).__name__):
        Context("a").stable_prefix(wrong)
    with pytest.raises(InvalidInput, match="two texts"):
        common_prefix("a", Context("a"))


def test_usage_adds_to_usage_alone():
    with pytest.raises(TypeError, match="'Usage' and 'int'"):
        Usage(1) + 1


@pytest.mark.parametrize("wrong", [5, True, ["x"], b"x"])
def test_sources_and_reasons_are_texts(alice, wrong):
    alice.save("B", "likes tea", category="D", labels=["m"])
    for field in ("source", "reason"):
        with pytest.raises(InvalidInput, match=f"{field} must be text"):
            alice.merge_clues(["A"], "B", "likes tea", **{field: wrong})
    with pytest.raises(InvalidInput, match="reason must be text"):
        alice.merge_labels(["l"], "m", reason=wrong)
    with pytest.raises(InvalidInput, match="reason must be text"):
        alice.merge_categories("C", "D", reason=wrong)
    assert alice.merge_labels(["l"], "m", reason=None).target == "m"
    assert alice.journal(1)[0].reason is None


@pytest.mark.parametrize("wrong", [None, 5, b"x", ["x"], "", ".", "/", "a\0b", "\ud800"])
def test_a_file_has_a_name(alice, wrong):
    for move in (alice.export_jsonl, alice.import_jsonl):
        with pytest.raises(InvalidInput, match="path "):
            move(wrong)


@pytest.mark.parametrize("most", [sys.maxsize, 10**400])
def test_a_number_beyond_all_counting_is_no_bound(alice, most):
    assert alice.context(budget_units=most).text == alice.context().text
    assert alice.recall("tea", budget_units=most, fill=True).items == alice.recall("tea", fill=True).items
    assert len(alice.journal(most)) == 1
    assert len(list(alice.impressions(limit=most))) == 1


STEP = PlanStep("add", "NEW", "likes tea", "C", ("l",))
PLAN = Plan("id", "thread", ("turn",), (STEP,), 0)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        (replace(PLAN, id=None), "id"),
        (replace(PLAN, thread=5), "thread"),
        (replace(PLAN, turns="turn"), "turns"),
        (replace(PLAN, turns=(5,)), "turns"),
        (replace(PLAN, steps=None), "steps"),
        (replace(PLAN, steps=STEP), "steps"),
        (replace(PLAN, steps=({"kind": "add"},)), "steps"),
        (replace(PLAN, generation=None), "generation"),
        (replace(PLAN, said_at="2023-05-07"), "said_at"),
        (replace(PLAN, steps=(replace(STEP, kind="save"),)), "kind of a step"),
        (replace(PLAN, steps=(replace(STEP, kind="merge", level="note"),)), "level of a step"),
        (replace(PLAN, steps=(replace(STEP, kind="merge", sources="A"),)), "sources of a step"),
        (replace(PLAN, steps=(replace(STEP, base=("A",)),)), "base of a step"),
        (replace(PLAN, steps=(replace(STEP, base=(("A", None),)),)), "base of a step"),
        (replace(PLAN, steps=(replace(STEP, base=((5, (0, 0)),)),)), "base of a step"),
    ],
)
def test_a_plan_that_code_put_together_is_checked(alice, wrong, field):
    for decide in (alice.apply, alice.reject):
        with pytest.raises(InvalidInput, match=f"^{field} in a plan must be "):
            decide(wrong)
    model = Scripted(save(impression("BEES", "keeps bees")))
    with pytest.raises(ConfigurationError, match=f"the review returned .* {field} in a plan must be "):
        alice.maintain(said("I keep bees"), model, review=lambda _: wrong)


def test_a_plan_of_lists_will_do(alice):
    model = Scripted(save(impression("BEES", "keeps bees")))
    alice.maintain(said("I keep bees"), model, review="collect")
    (plan,) = alice.plans()
    assert alice.apply(replace(plan, steps=list(plan.steps), turns=list(plan.turns))).saved == ("BEES",)


def _fails(text: str) -> int:
    raise KeyError(text)


@pytest.mark.parametrize(
    "count",
    [lambda text: None, lambda text: "5", lambda text: -1, lambda text: len(text) / 4],
    ids=["none", "text", "negative", "fraction"],
)
def test_a_tokenizer_that_does_not_count_is_named(client, alice, count):
    wrong = ImpressionStore(client=client, user="alice", tokenizer=("my words", count))
    for ask in (wrong.context, lambda: wrong.recall("tea"), lambda: wrong.recall(labels=["l"])):
        with pytest.raises(ConfigurationError, match="the tokenizer 'my words'"):
            ask()


def test_what_a_tokenizer_raises_passes_through_with_its_name(client, alice):
    class Encoder:
        name = "broken"
        encode = staticmethod(_fails)

    for tokenizer in (Encoder(), ("broken", _fails)):
        with pytest.raises(KeyError) as caught:
            ImpressionStore(client=client, user="alice", tokenizer=tokenizer).context()
        assert caught.value.__notes__ == ["raised by the tokenizer 'broken'"]
    with pytest.raises(ConfigurationError, match="tokenizer must be"):
        Tokenizer.of(("", len))


@pytest.mark.parametrize(
    "wrong", [("", len), (5, len), (b"words", len), (["words"], len), ("words", 5), ("words", None)]
)
def test_a_tokenizer_has_a_name_and_counts(wrong):
    with pytest.raises(ConfigurationError, match="a Tokenizer needs a name"):
        Tokenizer(*wrong)


@pytest.mark.parametrize("several", [["A", "C"], ("A",), {"A"}])
def test_categories_are_merged_one_by_one(alice, several):
    with pytest.raises(InvalidInput, match=r"one category .* once for each"):
        alice.merge_categories(several, "C")


def test_a_recall_is_indexed_as_its_items_are(alice):
    found = alice.recall("tea")
    assert found[0] is found.items[0]
    assert found[-1:] == found.items[-1:]
    with pytest.raises(IndexError):
        found[len(found)]


@pytest.mark.parametrize("wrong", ["no", 0, None])
def test_whether_turns_are_kept_is_never_guessed(wrong):
    with pytest.raises(ConfigurationError, match="keep_turns must be True or False"):
        Limits(keep_turns=wrong)
