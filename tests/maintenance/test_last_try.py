"""A turn whose answers are of no use goes to the fallback before it is given up."""

from __future__ import annotations

import pytest

from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.settings import Settings
from tests.scripted import Scripted, call, calls, impression, said, save

TURN = said("I live in Porto")
CUT = calls(call("save_impressions", '{"impressions": [{"clue": "HO'), finish_reason="length")
BROKEN = calls(call("save_impressions", "{broken"))
USELESS = {"cut_off": CUT, "rejected": BROKEN}


@pytest.mark.parametrize("status", USELESS)
def test_the_fallback_is_asked_at_the_last_try(alice, status):
    settings = Settings(fallback=RuleDistiller())
    model = Scripted(*[USELESS[status]] * 3)
    reports = [alice.maintain(TURN, model, settings=settings) for _ in range(3)]
    assert [report.status for report in reports] == [status, status, "stored"]
    last = reports[2]
    assert (last.saved, last.given_up, last.usage.calls) == (("USER-HOME",), (), 1)
    assert [warning for warning in last.warnings if "fallback" in warning] == [
        f"the fallback was asked: {reports[0].reason}"
    ]
    assert alice.maintain(TURN, model, settings=settings).status == "already_done"


def test_where_there_is_one_try_it_is_the_last(alice):
    settings = Settings(fallback=RuleDistiller(), max_tries=1)
    assert alice.maintain(TURN, Scripted(CUT), settings=settings).saved == ("USER-HOME",)


def test_tries_of_another_turn_do_not_count(alice):
    settings = Settings(fallback=RuleDistiller(), max_tries=2)
    model = Scripted(CUT, save(impression("A", "a")), CUT)
    alice.maintain(TURN, model, settings=settings)
    alice.maintain(TURN, model, settings=settings)
    assert alice.maintain([*TURN, *said("I like tea")], model, settings=settings).status == "cut_off"


def test_a_fallback_that_is_of_no_use_either_gives_the_turn_up(alice):
    fallback = Scripted(CUT)
    settings = Settings(fallback=fallback, max_tries=2)
    reports = [alice.maintain(TURN, Scripted(CUT), settings=settings) for _ in range(2)]
    assert len(fallback.requests) == 1
    assert (reports[1].status, len(reports[1].given_up)) == ("cut_off", 1)
    assert "given up after 2 tries" in reports[1].reason
