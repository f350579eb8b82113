"""Settings that cannot work are refused when they are made, not by losing turns later."""

from __future__ import annotations

import pytest

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.settings import Settings
from tests.scripted import Scripted, said

WRONG = {
    "instructions": ["", " \n", None, 5],
    "worth_asking": [5, None, "yes"],
    "fallback": ["x", 5, object()],
    "request_budget_units": [1, 39, 0, "many", True],
    "tool_results": [None, "no"],
    "batch_turns": [0, 101, 2.0, None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_named(name, value):
    with pytest.raises(ConfigurationError, match=name):
        Settings(**{name: value})


async def _async_model(messages, tools):
    return "IGNORE"


@pytest.mark.parametrize("fallback", [None, Scripted(), _async_model])
def test_what_can_be_asked_is_a_fallback(fallback):
    assert Settings(fallback=fallback).fallback is fallback


def test_the_least_budget_takes_a_turn(alice):
    model = Scripted()
    report = alice.maintain(said("I am Ann", ""), model, settings=Settings(request_budget_units=40))
    assert (report.status, report.warnings) == ("nothing_to_store", ())
    assert "| I am Ann" in model.asked


@pytest.mark.parametrize("settings", [{"batch_turns": 3}, {}, "x", 0])
def test_what_is_no_settings_is_refused(alice, settings):
    with pytest.raises(ConfigurationError, match=r"settings must be a Settings\(...\), not "):
        alice.maintain(said("I am Ann"), Scripted(), settings=settings)
    with pytest.raises(ConfigurationError):
        alice.maintain([], Scripted(), settings=settings)
