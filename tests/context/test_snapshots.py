"""What is kept of a context on the server, and what is sent for it."""

from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.effects import Command, drive
from impressmem_integrations.core.flows.contexts import context
from impressmem_integrations.core.unstored import State, Units, Unstored
from impressmem_integrations.settings import Scope
from tests.context.test_context import fill
from tests.polling import wait_until

LONG = "something new " + "y" * 400
"""Too much of a small budget to be left unstored."""


@pytest.fixture
def alice(client):
    return ImpressionStore(client=client, user="alice")


def shown(store: ImpressionStore, budget: int = 2_000, before_keeping=lambda: None):
    """A context, and the calls it took."""
    commands: list[Command] = []

    def answer(effect):
        commands.append(effect)
        if effect.script == "keep_snapshot":
            before_keeping()
        return store._connection.send(effect)

    return drive(context(store._bound, None, budget), answer), commands


def size(command: Command) -> int:
    return sum(len(str(argument).encode()) for argument in command.args)


def snapshot(client) -> tuple[bytes, dict[bytes, bytes]]:
    (key,) = client.scan_iter("*:snapshot:*")
    return key, client.hgetall(key)


CHANGES = {
    "a new note": lambda s: s.save("NEW", "something new", category="C", labels=["L"]),
    "a shown note": lambda s: s.save("NOTE-9", "something else", category="C", labels=["L"]),
    "the same again": lambda s: s.save("NOTE-9", s.get("NOTE-9").content, category="C2", labels=["L9"]),
    "a pin": lambda s: s.pin("NOTE-9"),
    "no pin any more": lambda s: s.unpin("PINNED"),
    "a pinned note": lambda s: s.save("PINNED", "another content", category="C", labels=["L"], pin=True),
    "a merge": lambda s: s.merge_clues(["NOTE-8"], "NOTE-9", "both of it"),
    "a forgotten note": lambda s: s.forget("NOTE-9"),
    "many notes": lambda s: fill(s, 60, start=1_000),
}


@pytest.mark.parametrize("budget", [1_000, 1_450, 10_000])
@pytest.mark.parametrize("held", [10, 400])
@pytest.mark.parametrize("change", CHANGES)
def test_a_context_takes_at_most_two_calls_after_a_change_and_soon_one(alice, change, held, budget):
    fill(alice, held)
    alice.save("PINNED", "always there", category="C", labels=["L"], pin=True)
    alice.context(budget_units=budget)
    CHANGES[change](alice)
    made, commands = shown(alice, budget)
    again, more = shown(alice, budget)
    assert [one.script for one in (*commands, *more) if one.script != "context"] == ["keep_snapshot"]
    assert len(commands) + len(more) == 3
    last, commands = shown(alice, budget)
    assert [command.script for command in commands] == ["context"]
    assert made == again == last


def test_what_differs_little_is_stored_when_it_is_read_again(alice, client):
    fill(alice, 400)
    alice.context()
    stored = snapshot(client)
    alice.save("NEW", "something new", category="C", labels=["L"])
    made, commands = shown(alice, 10_000)
    assert [command.script for command in commands] == ["context"]
    assert "something new" in made.text
    assert snapshot(client) == stored
    alice.context()
    assert snapshot(client) != stored


def test_many_small_changes_are_stored_now_and_then_and_keep_their_prefix(alice, client):
    fill(alice, 400)
    before, writes, shares = alice.context(), 0, []
    elsewhere = ImpressionStore(client=client, user="alice")
    for n in range(60):
        alice.save(f"NOTE-{n % 20}", f"changed {n} " + "y" * 40, category="C", labels=["L"])
        made, commands = shown(alice, 10_000)
        writes += len(commands) - 1
        assert elsewhere.context() == made  # the same bytes for every process, stored or not
        if commands[-1].script == "context":  # nothing was cut for it either
            assert made.stable_prefix(before) >= 0.95
        shares.append(made.stable_prefix(before))
        assert f"changed {n} " in made.text
        before = made
    assert 1 <= writes <= 20
    assert sum(shares) / len(shares) >= 0.95


def test_units_of_what_was_not_stored_are_counted_with_what_is(alice):
    fill(alice, 400)
    alice.context()
    before, units = alice.stats(), 0
    for n in range(5):
        alice.save(f"NEW-{n}", "something new", category="C", labels=["L"])
        units += alice.context().units
    assert alice.stats().reused_units == before.reused_units
    alice.context()
    after = alice.stats()
    reused, fresh = after.reused_units - before.reused_units, after.fresh_units - before.fresh_units
    assert reused + fresh == units
    assert fresh <= 0.025 * units


def test_what_a_process_remembers_of_contexts_is_bounded():
    unstored = Unstored()
    for n in range(5_000):
        assert unstored.show(Scope("bot", n), "p", State(0, 1), Units(3, 1))
        assert not unstored.show(Scope("bot", n), "p", State(0, 1), Units(3, 1))
    assert unstored.take(Scope("bot", 0), "p") == (0, 0)
    assert unstored.take(Scope("bot", 4_999), "p") == (3, 1)
    assert unstored.take(Scope("bot", 4_999), "p") == (0, 0)


def test_after_a_save_only_what_follows_the_core_is_sent(alice):
    fill(alice, 400)
    before, first = shown(alice, 10_000)
    assert size(first[-1]) > len(before.text)
    alice.save("NEW", LONG, category="C", labels=["L"])
    made, commands = shown(alice, 10_000)
    assert made.epoch == before.epoch
    assert size(commands[-1]) < len(made.text) / 4


def test_text_beyond_ascii_is_put_together_where_it_was_cut(alice):
    for n in range(120):
        alice.save(f"ノート-{n}", f"緑茶が好き 🍵 と {n} 回言った、窓の席も", category="好み", labels=["飲み物"])
        made = alice.context(budget_units=900)
        assert alice.context(budget_units=900) == made
        assert made.text.endswith("\n</memory>")
    assert made.omitted


def test_changes_of_another_core_are_not_stored(alice, client):
    """The counter alone does not tell cores apart: notes expire without moving it."""
    fill(alice, 400)
    alice.context(budget_units=2_000)
    alice.save("NEW", LONG, category="C", labels=["L"])
    kept = []

    def new_epoch():
        client.hset(snapshot(client)[0], "epoch", 77)
        kept.append(snapshot(client))

    made, _ = shown(alice, before_keeping=new_epoch)
    assert "something new" in made.text
    assert snapshot(client) == kept[0]


def test_who_is_slower_shows_what_is_stored(alice):
    fill(alice, 400)
    alice.context(budget_units=2_000)
    alice.save("NEW", LONG, category="C", labels=["L"])
    faster = []

    def overtake():
        alice.save("NEWER", "something newer " + LONG, category="C", labels=["L"])
        faster.append(alice.context(budget_units=2_000))

    made, _ = shown(alice, before_keeping=overtake)
    assert "something newer" in made.text
    assert [made] == faster


def test_changes_are_not_stored_where_their_core_is_gone(alice, client):
    fill(alice, 400)
    alice.context(budget_units=2_000)
    alice.save("NEW", LONG, category="C", labels=["L"])
    made, _ = shown(alice, before_keeping=lambda: client.delete(snapshot(client)[0]))
    assert "something new" in made.text
    assert not list(client.scan_iter("*:snapshot:*"))
    assert "something new" in alice.context(budget_units=2_000).text


def test_what_expired_is_said_and_stored_once(alice):
    fill(alice, 400)
    alice.save_many(
        [{"clue": "SOON", "content": "over soon", "category": "C", "labels": ["L"], "ttl_seconds": 2}],
    )
    assert "over soon" in alice.context(budget_units=2_000).text
    wait_until(lambda: alice.get("SOON") is None, "the note is gone")
    made, _ = shown(alice)
    assert "SOON is no longer kept" in made.text
    writes = []
    for _ in range(4):
        again, commands = shown(alice)
        assert again == made
        writes += [command for command in commands if command.script != "context"]
    assert len(writes) == 1


@pytest.mark.parametrize("stored", [True, False])
def test_what_expired_is_not_counted_as_left_out(alice, stored):
    fill(alice, 100)
    if stored:
        alice.context(budget_units=1_000)
    alice.save_many(
        {"clue": f"SOON-{n}", "content": "over soon", "category": "C", "labels": ["L"], "ttl_seconds": 0.05}
        for n in range(30)
    )
    wait_until(lambda: alice.stats().impressions == 100, "all of them are gone")
    made = alice.context(budget_units=1_000)
    (left,) = (omission.count for omission in made.omitted if omission.what == "impressions")
    assert left == 100 - len(made.included)
