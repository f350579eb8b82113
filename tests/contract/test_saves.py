"""What the save script promises: all or nothing on broken keys, hints that only name what lives, room in steps."""

from __future__ import annotations

import pytest
import redis

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core import keys
from impressmem_integrations.errors import CorruptStore


@pytest.fixture
def ann(client):
    return ImpressionStore(client=client, user="ann")


def contents(client: redis.Redis) -> dict[bytes, bytes]:
    return {key: client.dump(key) for key in client.scan_iter()}


def note(clue: str, content: str = "tea with milk", category: str = "Food", labels=("Diet", "Drink"), **more):
    return {"clue": clue, "content": content, "category": category, "labels": list(labels), **more}


WRONG = {"string": lambda client, key: client.set(key, "x"), "set": lambda client, key: client.sadd(key, "x")}
SAVES = {
    "over": lambda s: s.save(**note("one", "coffee instead")),
    "filed anew": lambda s: s.save(**note("one", "coffee", "Habits", ["Morning"])),
    "new": lambda s: s.save(**note("three", "rice and beans", pin=True)),
    "many": lambda s: s.save_many([note("one", "rice"), note("four", "beans", "Habits")]),
    "forget": lambda s: s.forget("one"),
    "pin": lambda s: s.pin("one"),
}


@pytest.mark.broken_store("every key is replaced by one of another type in turn")
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("operation", SAVES)
def test_a_key_of_another_type_fails_the_whole_change_or_is_not_touched(client, ann, operation, wrong):
    """Each key that the change writes is looked at before the first write."""
    ann.save_many([note("one", ttl_seconds=1000), note("two", "tea with honey", labels=["Diet"])])
    ann.save(**note("two", "tea with sugar", labels=["Diet"]))
    before = {key: client.dump(key) for key in client.scan_iter(f"{keys.scope_prefix(ann.scope)}*")}
    failed = 0
    for broken in before:
        client.delete(broken)
        WRONG[wrong](client, broken)
        held = contents(client)
        try:
            SAVES[operation](ann)
        except CorruptStore:
            failed += 1
            assert contents(client) == held, broken
        else:
            assert client.dump(broken) == held[broken]
        client.flushall()
        for key, value in before.items():
            client.restore(key, 0, value)
    assert failed >= 8


def test_a_name_that_leaves_hands_its_hint_to_the_new_one_that_looks_alike(ann):
    ann.save(**note("one", category="Work-place"))
    assert ann.save(**note("one", category="workplace")).similar == ()  # Work-place is gone by then
    assert ann.save(**note("two", "x", category="Work Place")).similar == ("workplace",)


def test_a_twin_is_a_note_that_still_says_it(ann):
    ann.save(**note("one", "tea"))
    first, second = ann.save_many([note("two", "tea"), note("one", "coffee")])
    assert (first.twin, second.status) == (None, "changed")
    assert ann.save(**note("three", "tea")).twin == "two"


def test_new_names_that_look_alike_in_one_batch_hint_at_the_same_one(ann):
    results = ann.save_many([note("a", "1", "Food"), note("b", "2", "food"), note("c", "3", "FOOD")])
    assert [result.similar for result in results] == [("FOOD",), ("FOOD",), ()]


def test_a_lowered_limit_makes_room_in_steps_and_stops_nothing_else(client, ann):
    ann.save_many(note(f"n{n}", f"note {n}") for n in range(2_500))
    small = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=100))
    small.pin("n7")
    small.forget("n8")
    counts = []
    for n in range(4):
        small.save(**note(f"new{n}", f"text {n}"))
        counts.append(small.stats().impressions)
    assert counts == [1_500, 501, 100, 100]
    assert small.get("n7").pin


def test_a_batch_that_says_a_clue_twice_keeps_the_last(ann):
    results = ann.save_many([note("one", "tea"), note("one", "coffee"), note("two", "milk")])
    assert [(r.status, r.revision) for r in results] == [("created", 1), ("changed", 2), ("created", 1)]
    assert ann.get("one").content == "coffee"
    assert ann.stats().journal_entries == 1


def hint(client, ann, key: str) -> tuple[bytes, bytes]:
    """The only hint of a key: its field and its value."""
    ((field, value),) = client.hgetall(keys.scope_prefix(ann.scope) + "0:" + key).items()
    return field, value


@pytest.mark.broken_store("a hint is moved to where another one would stand, as by two equal beginnings of digests")
def test_hints_that_meet_by_chance_are_not_told(client, ann):
    ann.save(**note("one", "tea", "Food", ["Diet"]))
    prefix = keys.scope_prefix(ann.scope) + "0:"
    other = ImpressionStore(client=client, user="other")
    other.save(**note("two", "rice", "Habits", ["Diet"]))
    for key in ("twins", "alike"):
        field, _ = hint(client, other, key)
        client.hset(prefix + key, field, hint(client, ann, key)[1])
    for field, name in client.hgetall(keys.scope_prefix(other.scope) + "0:alike-names").items():
        if name == b"Habits":
            client.hset(prefix + "alike-names", field, "Food")
    saved = ann.save(**note("two", "rice", "Habits", ["Diet"]))
    assert (saved.twin, saved.similar) == (None, ())
    ann.repair()
    assert ann.check() == []


def test_a_hint_at_a_note_that_is_gone_is_taken_over(client, ann):
    ann.save(**note("one", "tea"))
    client.hset(keys.scope_prefix(ann.scope) + "0:twins", hint(client, ann, "twins")[0], "999")
    client.hset(keys.scope_prefix(ann.scope) + "0:alike", hint(client, ann, "alike")[0], "999")
    saved = ann.save(**note("One", "tea"))
    assert (saved.twin, saved.similar) == (None, ())
    assert ann.save(**note("ONE", "tea")).twin == "One"


def test_a_forgotten_note_that_is_saved_again_is_found_by_the_next_one(ann):
    ann.save(**note("one", "tea"))
    ann.forget("one")
    assert ann.save(**note("one", "tea")).twin is None
    saved = ann.save(**note("One", "Tea"))
    assert (saved.twin, saved.similar) == ("one", ("one",))


def test_the_hints_of_three_hundred_notes_are_compact(client, ann):
    ann.save_many(note(f"Marta note {n}", f"text {n}", f"domain {n % 15}", [f"topic {n % 60}"]) for n in range(300))
    for key in ("twins", "alike", "alike-names"):
        assert client.object("encoding", keys.scope_prefix(ann.scope) + "0:" + key) in (b"listpack", b"ziplist")


def test_a_batch_larger_than_the_scope_keeps_what_came_last(client):
    small = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=3))
    small.save(**note("old"))
    small.save(**note("kept", pin=True))
    results = small.save_many([note(f"n{number}", f"tea {number}") for number in range(10)])
    assert all(result.ok for result in results)
    assert {item.clue for item in small.impressions()} == {"kept", "n8", "n9"}
    small.pin("n8")
    small.pin("n9")
    refused = small.save_many([note("x"), note("y")])
    assert [result.status for result in refused] == ["refused", "refused"]
    assert "unpin" in refused[0].error
