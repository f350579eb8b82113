"""`impressmem recall` says why it shows little, and what would show more."""

from __future__ import annotations

import json
import re

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.cli.main import main


@pytest.fixture
def alice(client):
    store = ImpressionStore(client=client, user="alice")
    for n in range(6):
        store.save(f"TEA-{n}", f"drinks tea number {n} " + "x" * 60, category="Food", labels=["Drink"])
    for n in range(10):  # what stands beside a hit is found with it
        store.save(f"BRICK-{n}", "laid bricks", category="Work", labels=["Wall"])
    store.save("BIKE", "rides a red bicycle", category="Sport", labels=["Bike"])
    return store


@pytest.fixture
def recall(alice, server, capsys):
    def run(*arguments: str) -> str:
        assert main(["recall", "--url", server.url, "--user", "alice", *arguments]) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("budget", ["1", "40", "100"])
@pytest.mark.parametrize("question", [["--label", "Drink"], ["tea number"]], ids=["label", "question"])
def test_a_budget_that_is_too_small_is_said_and_a_larger_one_named(recall, question, budget):
    shown = recall(*question, "--budget", budget)
    assert "nothing found" not in shown
    assert ("<memory>" in shown) != (f"nothing fits in {budget} units" in shown)
    (count, enough) = re.search(r"\((\d+) impressions left out; --budget (\d+) ", shown).groups()
    assert int(count) + shown.count("drinks tea") >= 6
    whole = recall(*question, "--budget", enough)
    assert whole.count("drinks tea") == 6
    assert "left out" not in whole or question[0] != "--label"  # a question may also leave weak neighbours aside


def test_nothing_found_is_for_what_is_not_there(recall):
    assert recall("--label", "Drinks") == "nothing found; close names: Drink\n"
    assert recall("chromodynamics") == "nothing found\n"


def test_fill_uses_the_budget_up(recall):
    assert "bicycle" not in recall("tea number", "--budget", "2000")
    assert "bicycle" in recall("tea number", "--budget", "2000", "--fill")
    assert len(json.loads(recall("tea number", "--fill", "--json"))["items"]) == 17
