"""What is decided about collected plans."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impressmem_integrations.errors import InvalidInput, NotFound, StalePlan
from tests.scripted import Scripted, calls, impression, merge, said, save

TURN = said("I live in Oslo")


def collected(alice, *items, turn=TURN):
    return alice.maintain(turn, Scripted(save(*items)), review="collect").plan


def test_the_id_in_the_report_names_the_plan(alice):
    first = collected(alice, impression("HOME", "lives in Oslo"))
    second = collected(alice, impression("CAT", "has a cat"), turn=[*TURN, *said("I have a cat")])
    assert {plan.id for plan in alice.plans()} == {first, second}
    assert alice.apply(first).saved == ("HOME",)
    alice.reject(second)
    assert (alice.plans(), alice.get("CAT")) == ([], None)
    for decide in (alice.apply, alice.reject):
        with pytest.raises(NotFound, match=f"no plan '{first}'"):
            decide(first)


async def test_an_id_is_taken_by_the_awaited_forms_as_well(alice):
    first = collected(alice, impression("HOME", "lives in Oslo"))
    assert (await alice.aapply(first)).saved == ("HOME",)


@pytest.mark.parametrize("wrong", [None, 7, ["x"]])
def test_what_is_no_plan_is_refused(alice, wrong):
    for decide in (alice.apply, alice.reject):
        with pytest.raises(InvalidInput, match=r"plan must be one of plans\(\), or its id"):
            decide(wrong)


def test_a_review_that_leaves_no_step_is_the_reason(alice):
    model = Scripted(save(impression("HOME", "lives in Oslo")))
    report = alice.maintain(TURN, model, review=lambda plan: replace(plan, steps=()))
    assert (report.status, report.reason) == ("nothing_to_store", "the review left no step of the plan")


def test_turns_of_a_plan_were_dealt_with_not_distilled(alice):
    plan = collected(alice, impression("HOME", "lives in Oslo"))
    waiting = alice.maintain(TURN, Scripted())
    alice.reject(plan)
    rejected = alice.maintain(TURN, Scripted())
    assert {report.reason for report in (waiting, rejected)} == {"every turn was dealt with before"}


@pytest.mark.parametrize("clue", ["HOME", "generation", "thread"])
def test_a_stale_plan_says_what_changed(alice, clue):
    collected(alice, impression(clue, "lives in Oslo"))
    (plan,) = alice.plans()
    alice.save(clue, "lives in Rome", category="Home", labels=["City"])
    with pytest.raises(StalePlan, match=f"'{clue}' changed since the plan was made") as changed:
        alice.apply(plan)
    assert changed.value.clues == (clue,)
    alice.forget_everything()
    with pytest.raises(StalePlan, match="the memory was erased since the plan was made") as erased:
        alice.apply(plan)
    assert erased.value.clues == ()


def test_of_two_plans_with_one_clue_the_second_is_rejected_or_applied_without_it(alice):
    first = collected(alice, impression("HOME", "lives in Oslo"))
    history = [*TURN, *said("I have a cat, in Oslo")]
    collected(alice, impression("HOME", "lives in Oslo with a cat"), impression("CAT", "has a cat"), turn=history)
    (second,) = (plan for plan in alice.plans() if plan.id != first)
    alice.apply(first)
    with pytest.raises(StalePlan, match="'HOME' changed"):
        alice.apply(second)
    assert alice.plans() == [second]
    assert alice.maintain(history, Scripted()).status == "already_done"
    rest = replace(second, steps=tuple(step for step in second.steps if step.clue != "HOME"))
    assert alice.apply(rest).saved == ("CAT",)
    assert (alice.plans(), alice.get("HOME").content) == ([], "lives in Oslo")


def test_a_collected_merge_of_labels_moves_what_is_filed_there_when_it_is_applied(alice):
    alice.save("A", "a", category="C", labels=["old"])
    alice.save("B", "b", category="C", labels=["new"])
    alice.maintain(TURN, Scripted(calls(merge("label", ["old"], "new"))), review="collect")
    (plan,) = alice.plans()
    assert plan.steps[0].base == ()
    alice.save("LATER", "c", category="C", labels=["old"])
    (merged,) = alice.apply(plan).merged
    assert set(merged.moved) == {"A", "LATER"}
