"""Maintenance that dies at any counted effect and is run again: each turn is distilled once, in every way of asking.

Kill points are counted, never listed: whatever a flow does, it may die before and after it. Each run ends by comparing
everything the scope holds with a run that nobody interrupted.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT
from tests.maintenance.killing import (
    ROOMY,
    SCENARIOS,
    SPENT,
    TALK,
    TIGHT,
    fresh,
    run_killed,
    state,
    tightly_bounded,
    usage,
)
from tests.scripted import Scripted
from tests.servers import RunningServer

EFFECTS_AT_LEAST = {"collected_and_applied": 8, "collected_and_rejected": 7, "json_repaired": 8, "bounded": 10}
ONE_CALL = sum(SPENT.values())
WHEN = pytest.mark.parametrize("when", ["before", "after"])


@WHEN
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_killed_at_every_counted_point_and_run_again(client, when, scenario):
    run = SCENARIOS[scenario]
    whole = fresh(client, "uninterrupted")
    points = run_killed(whole, run)
    assert points >= EFFECTS_AT_LEAST.get(scenario, 4)
    for at in range(1, points + 1):
        store = fresh(client, f"killed-{at}")
        run_killed(store, run, at, after=when == "after")
        run_killed(store, run)
        assert state(store) == state(whole), f"killed at effect {at}"
        assert store.plans() == []
        history = TALK if scenario in ("three_turns", "turn_by_turn") else TALK[:2]
        assert store.maintain(history, Scripted()).status == "already_done"


def process(server: RunningServer, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.maintenance.killing", server.url, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)


@WHEN
@pytest.mark.parametrize("scenario", ["one_turn", "collected_and_applied", "bounded"])
def test_killed_processes_at_every_counted_point(valkey_server, when, scenario):
    """`bounded` asks in JSON with its repair round, under a bound of the day."""
    run = SCENARIOS[scenario]
    with valkey_server.client() as client:
        whole = fresh(client, "uninterrupted")
        points = run_killed(whole, run)
        for at in range(1, points + 1):
            store = fresh(client, f"killed-{at}")
            died = process(valkey_server, f"killed-{at}", scenario, at, when)
            assert died.returncode == 9, died.stderr
            if at in (1, points):  # the next one is a process as well; for the others this one is
                second = process(valkey_server, f"killed-{at}", scenario, 0, when)
                assert second.returncode == 0, second.stderr
            else:
                run_killed(store, run)
            assert state(store) == state(whole), f"killed at effect {at}"
            assert store.plans() == []


@WHEN
def test_what_a_killed_run_reserved_counts_for_the_day_and_what_it_spent_is_never_lost(client, when):
    run = SCENARIOS["bounded"]
    whole = fresh(client, "uninterrupted")
    points = run_killed(whole, run)
    assert usage(whole) == {
        "tokens": 2 * ONE_CALL,
        "reserved": 0,
        "input": 2 * SPENT["prompt_tokens"],
        "output": 2 * SPENT["completion_tokens"],
        "calls": 2,
    }
    leaked = []
    for at in range(1, points + 1):
        store = fresh(client, f"killed-{at}")
        run_killed(store, run, at, after=when == "after")
        run_killed(store, run)
        held = usage(store)
        # A question is asked again where its answer was not applied; what it took is counted, or still reserved.
        assert held["tokens"] == held["calls"] * ONE_CALL
        assert held["tokens"] + held["reserved"] <= ROOMY
        leaked.append(held["reserved"])
    assert leaked[0] == leaked[-1] == 0
    assert max(leaked) > ONE_CALL


@WHEN
def test_under_a_bound_for_one_question_a_killed_run_never_passes_it_and_its_turn_waits(client, when):
    whole = fresh(client, "uninterrupted")
    points = run_killed(whole, tightly_bounded)
    waited = 0
    for at in range(1, points + 1):
        store = fresh(client, f"killed-{at}")
        run_killed(store, tightly_bounded, at, after=when == "after")
        run_killed(store, tightly_bounded)
        held = usage(store)
        assert held.get("tokens", 0) + held.get("reserved", 0) <= TIGHT
        waited += state(store) != state(whole)
        run_killed(store, SCENARIOS["one_turn"])  # the next day, or without a bound
        assert state(store) == state(whole), f"killed at effect {at}"
    assert waited
