"""What tells of changes: the newest of them for contexts, and a version of each record for plans."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core import keys
from impressmem_integrations.errors import StalePlan
from tests.scripted import Scripted, said, save


@pytest.fixture
def ann(client):
    return ImpressionStore(client=client, user="ann")


def note(number: int, content: str = "", **more):
    fields = {"clue": f"n{number}", "content": content or f"text {number}", "category": "C", "labels": ["l"]}
    return {**fields, **more}


def key(store: ImpressionStore, name: str) -> str:
    return f"{keys.scope_prefix(store.scope)}0:{name}"


def compact(client, name: str) -> bool:
    return client.object("encoding", name) in (b"listpack", b"ziplist")


def test_only_the_newest_changes_are_kept_and_they_stay_compact(client, ann):
    for number in range(150):
        ann.save(**note(number))
    ann.save_many(note(number, "anew") for number in range(100, 300))
    for number in range(100):
        ann.save(**note(number % 10, f"again {number}"))
    assert 100 <= client.zcard(key(ann, "changed")) <= 128
    assert compact(client, key(ann, "changed"))
    assert ann.check() == []


def test_what_left_is_kept_as_far_as_it_is_compact(client):
    store = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=20))
    for start in range(0, 300, 15):
        store.save_many(note(number) for number in range(start, start + 15))
    assert 100 <= client.zcard(key(store, "withdrawn")) <= 128
    assert compact(client, key(store, "withdrawn"))
    assert store.check() == []


@pytest.mark.parametrize("count", [1, 127, 128, 129, 400])
def test_a_context_is_true_however_much_changed_since_it_was_kept(ann, count):
    ann.save_many(note(number) for number in range(400))
    ann.context(budget_units=20_000)
    ann.save_many(note(number, f"anew {number}") for number in range(count))
    text = ann.context(budget_units=20_000).text
    assert all(f"anew {number}\n" in text or f"anew {number} " in text for number in range(count))
    assert ann.check() == []


def test_a_context_names_none_of_many_that_left_since_it_was_kept(client):
    store = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=200))
    store.save_many(note(number) for number in range(200))
    assert "text 7\n" in store.context(budget_units=20_000).text
    store.save_many(note(number) for number in range(200, 400))
    assert "text 7\n" not in store.context(budget_units=20_000).text


def test_a_repaired_scope_has_contexts_made_anew(client, ann):
    ann.save_many(note(number) for number in range(3))
    ann.context()
    client.hset(key(ann, "facts"), "n9", "x")
    client.zrem(key(ann, "changed"), "n1")
    epoch = ann.context().epoch
    assert ann.repair()
    assert ann.context().epoch > epoch


CHANGES = {
    "a save": lambda s, file: s.save(**note(1, "anew")),
    "another filing": lambda s, file: s.save(**note(1, category="D")),
    "a value": lambda s, file: s.save(**note(1, value=[1])),
    "a pin": lambda s, file: s.pin("n1"),
    "a merge of labels": lambda s, file: s.merge_labels(["l"], "m"),
    "a merge of clues": lambda s, file: s.merge_clues(["n2"], "n1", "text 1"),
    "a loss": lambda s, file: s.forget("n1"),
    "a loss and a return": lambda s, file: (s.forget("n1"), s.save(**note(1))),
    "an import": lambda s, file: imported(s, file, content="from elsewhere"),
    "an import of an older revision": lambda s, file: imported(s, file, content="from elsewhere", revision=1),
    "an import of a pin": lambda s, file: imported(s, file, pin=True, pinned_at=1_796_000_000_000),
}


def imported(store: ImpressionStore, file: Path, **fields):
    """Import n1 as it was exported, but for some fields."""
    header, *lines = file.read_bytes().splitlines(keepends=True)
    changed = [json.dumps({**item, **fields}) for item in map(json.loads, lines) if item["clue"] == "n1"]
    count = {**json.loads(header), "count": len(changed)}
    other = file.with_suffix(".other")
    other.write_text("\n".join([json.dumps(count), *changed, ""]))
    return store.import_jsonl(other)


@pytest.fixture
def file(ann, tmp_path):
    ann.save_many([note(1, "before"), note(2), note(3, labels=["m"])])
    ann.save(**note(1))
    path = tmp_path / "memory.jsonl"
    ann.export_jsonl(path)
    return path


OF_A_PLAN = {"clue": "n1", "content": "of a plan", "category": "C", "labels": ["l"], "pin": False}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_record_makes_a_plan_stale(ann, file, change):
    version = ann.get("n1").version
    ann.maintain(said("n1 is of a plan"), Scripted(save(OF_A_PLAN)), review="collect")
    (plan,) = ann.plans()
    assert plan.steps[0].base == (("n1", version),)
    CHANGES[change](ann, file)
    held = ann.get("n1")
    assert held is None or held.version != version
    with pytest.raises(StalePlan):
        ann.apply(plan)


def test_use_and_a_touch_leave_a_plan_as_it_is(ann, file):
    ann.maintain(said("n1 is of a plan"), Scripted(save(OF_A_PLAN)), review="collect")
    ann.confirm(["n1"])
    assert ann.save(**note(1)).status == "unchanged"
    ann.save(**note(2, "anew"))
    (plan,) = ann.plans()
    assert ann.apply(plan).changed == ("n1",)


def test_an_import_over_a_newer_revision_is_one_change_and_then_none(ann, file):
    ann.save(**note(1, "changed here"))
    before = ann.get("n1")
    later = {"updated_at": 4_000_000_000_000, "revision": 1}
    assert imported(ann, file, **later).changed == 1
    held = ann.get("n1")
    assert (held.content, held.version) == ("text 1", (before.seq, before.revision + 1))
    assert imported(ann, file, **later).unchanged == 1
    assert ann.get("n1") == held
