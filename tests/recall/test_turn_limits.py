"""One turn that is over a limit alone: refused, or skipped by maintenance with a word; nothing else leaves for it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import InvalidInput
from tests.scripted import Scripted, impression, said, save

LARGE = said("elephant " * 200)
MANY = [{"role": "user", "content": f"elephant {n}"} for n in range(20)]


@pytest.fixture(params=["max_turn_bytes", "max_turns"])
def limited(request, client):
    """A store that holds one small turn, the limit's name, and a history whose last turn is over the limit."""
    limits, history = {
        "max_turn_bytes": (Limits(max_turn_bytes=1_500), LARGE),
        "max_turns": (Limits(max_turns=10), MANY),
    }[request.param]
    store = ImpressionStore(client=client, user="alice", limits=limits)
    assert store.remember_turns(said("I keep a lighthouse")) == 1
    return store, request.param, history


def test_a_turn_over_a_limit_is_refused_and_nothing_is_written(limited):
    store, name, history = limited
    with pytest.raises(InvalidInput, match=f"Limits.{name}"):
        store.remember_turns([*said("I own a boat"), *history])
    assert store.stats().turns == 2
    assert store.recall("lighthouse").items
    assert not store.recall("boat elephant").items


def test_maintenance_distils_a_turn_over_a_limit_and_warns_that_it_is_not_kept(limited):
    store, name, history = limited
    model = Scripted(save(impression("ZOO", "works with elephants")))
    report = store.maintain(history, model)
    assert (report.status, report.saved) == ("stored", ("ZOO",))
    (warning,) = [warning for warning in report.warnings if "evidence" in warning]
    assert f"Limits.{name}" in warning
    assert [item.kind for item in store.recall("elephant").items] == ["impression"]
    assert store.recall("lighthouse").items
    assert store.maintain(history, model).status == "already_done"


def test_a_turn_of_just_the_limit_is_kept(client):
    history = said("elephant " * 50)
    store = ImpressionStore(client=client, user="alice")
    store.remember_turns(history)
    size = store.stats().turn_bytes
    exact = ImpressionStore(client=client, user="bob", limits=Limits(max_turn_bytes=size))
    assert exact.remember_turns(history) == 1
    assert exact.stats().turns == 2
    tight = ImpressionStore(client=client, user="carol", limits=Limits(max_turn_bytes=size - 1))
    with pytest.raises(InvalidInput, match=f"{size:,} bytes"):
        tight.remember_turns(history)


def test_a_turn_from_before_1970_is_refused(client):
    store = ImpressionStore(client=client, user="alice")
    with pytest.raises(InvalidInput, match="before 1970"):
        store.remember_turns(said("I keep a lighthouse"), at=datetime(1969, 5, 7, tzinfo=UTC))
    assert store.stats().turns == 0
