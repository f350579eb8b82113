"""What is decided about collected plans."""

from __future__ import annotations

import pytest

from impressmem_integrations.errors import InvalidInput, NotFound
from tests.scripted import Scripted, impression, said, save

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
