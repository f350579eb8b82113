"""A model that says nothing of a pin takes none off."""

from __future__ import annotations

import pytest

from impressmem_integrations.tools.dispatch import save_flow
from tests.scripted import Scripted, impression, said, save

ALLERGY = {"category": "Health", "labels": ["Allergy"]}
PINS = {"left out": ({}, True), "null": ({"pin": None}, True), "false": ({"pin": False}, False)}


def without_pin(content: str) -> dict:
    return {key: value for key, value in impression("ALLERGY", content, **ALLERGY).items() if key != "pin"}


@pytest.fixture
def pinned(alice):
    alice.save("ALLERGY", "shellfish", pin=True, **ALLERGY)
    return alice


@pytest.mark.parametrize("collected", [False, True])
@pytest.mark.parametrize("said_of_it", PINS)
def test_maintenance_unpins_only_what_the_model_says(pinned, said_of_it, collected):
    fields, stays = PINS[said_of_it]
    model = Scripted(save({**without_pin("shellfish and nuts"), **fields}))
    report = pinned.maintain(said("nuts as well"), model, review="collect" if collected else None)
    if collected:
        (plan,) = pinned.plans()
        report = pinned.apply(plan)
    assert report.changed == ("ALLERGY",)
    assert (pinned.get("ALLERGY").content, pinned.get("ALLERGY").pin) == ("shellfish and nuts", stays)


@pytest.mark.parametrize("said_of_it", PINS)
def test_tools_unpin_only_what_the_model_says(pinned, said_of_it):
    fields, stays = PINS[said_of_it]
    pinned_at = pinned.get("ALLERGY").pinned_at
    arguments = {"impressions": [{**without_pin("nuts"), **fields}]}
    assert pinned.perform(lambda bound: save_flow(bound, arguments)).ok
    held = pinned.get("ALLERGY")
    assert (held.content, held.pin) == ("nuts", stays)
    assert held.pinned_at == (pinned_at if stays else None)


def test_the_same_note_without_a_pin_is_nothing_new(pinned):
    kinds = []
    pinned.maintain(
        said("shellfish"),
        Scripted(save(without_pin("shellfish"))),
        review=lambda plan: kinds.extend(step.kind for step in plan.steps) or True,
    )
    assert kinds == ["nothing"]


def test_a_pin_of_the_same_answer_is_kept_and_a_new_note_has_none(alice):
    alice.maintain(said("no nuts"), Scripted(save({**without_pin("nuts"), "pin": True}, without_pin("all nuts"))))
    assert (alice.get("ALLERGY").content, alice.get("ALLERGY").pin) == ("all nuts", True)
    alice.forget("ALLERGY")
    alice.maintain(said("no nuts, really"), Scripted(save(without_pin("nuts"))))
    assert not alice.get("ALLERGY").pin


def test_save_takes_none_for_as_it_is(pinned):
    pinned.save("ALLERGY", "nuts", pin=None, **ALLERGY)
    assert pinned.get("ALLERGY").pin
    pinned.save("ALLERGY", "nuts", **ALLERGY)
    assert not pinned.get("ALLERGY").pin
