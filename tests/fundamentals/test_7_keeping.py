"""Chapter 7: a memory can be checked, counted, and carried elsewhere without loss."""

from __future__ import annotations

import pytest

from impressmem_integrations.errors import InvalidInput


@pytest.fixture
def alice(alice):
    """Alice, of whom two things are known."""
    alice.save("ALICE-DIET", "vegetarian,\nsince 2024", category="Health", labels=["Diet"], pin=True)
    alice.save("ALICE-BIKE", "cycles to work", category="Sport", labels=["Bike", "Sport"])
    return alice


def test_records_and_indexes_agree(alice):
    assert alice.check() == []


def test_repair_has_nothing_to_do_then(alice):
    assert alice.repair() == []


def test_what_a_scope_holds_is_counted(alice):
    counts = alice.stats()
    assert (counts.impressions, counts.categories, counts.labels, counts.pins) == (2, 2, 3, 1)


def test_a_memory_is_exported_and_imported_as_it_was(alice, store, tmp_path):
    file = tmp_path / "alice.jsonl"
    assert alice.export_jsonl(file) == 2

    copy = store.scoped(user="copy of alice")
    assert copy.import_jsonl(file).created == 2
    before, after = alice.get("ALICE-DIET"), copy.get("ALICE-DIET")
    assert (after.content, after.category, after.labels, after.pin) == (
        before.content,
        before.category,
        before.labels,
        before.pin,
    )
    assert (after.created_at, after.updated_at) == (before.created_at, before.updated_at)
    assert [item.clue for item in copy.impressions()] == [item.clue for item in alice.impressions()]


def test_importing_twice_changes_nothing(alice, tmp_path):
    alice.export_jsonl(tmp_path / "alice.jsonl")
    assert alice.import_jsonl(tmp_path / "alice.jsonl").unchanged == 2


def test_an_import_never_brings_back_what_was_forgotten(alice, tmp_path):
    alice.export_jsonl(tmp_path / "alice.jsonl")
    alice.forget("ALICE-DIET")
    assert alice.import_jsonl(tmp_path / "alice.jsonl").forgotten == 1
    assert alice.get("ALICE-DIET") is None


def test_a_damaged_file_changes_nothing(alice, store, tmp_path):
    file = tmp_path / "alice.jsonl"
    alice.export_jsonl(file)
    file.write_text(file.read_text(encoding="utf-8")[:-20], encoding="utf-8")

    with pytest.raises(InvalidInput):
        store.scoped(user="copy of alice").import_jsonl(file)
    assert list(store.scoped(user="copy of alice").impressions()) == []
