"""Merges of labels and categories: many records get another filing, and what else is done in the same transaction."""

from __future__ import annotations

import random

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import merges, write
from impressmem_integrations.core.commands.records import draft
from impressmem_integrations.core.effects import drive
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.settings import Scope


@pytest.fixture
def ann(client):
    return ImpressionStore(client=client, user="ann")


def transact(store: ImpressionStore, *operations: write.Operation) -> write.Transaction:
    bound = Bound(Scope(store.scope.bot, store.scope.user), store.limits)
    return drive(commit(bound, operations), store._answer)


def merge(kind: str, source: str, target: str) -> write.Operation:
    return merges.merge_names_operation(kind, normal_name(target, kind), [normal_name(source, kind)], 1_000)


def saving(store: ImpressionStore, clue: str, content: str, category: str, *labels: str) -> write.Operation:
    fields = {"clue": clue, "content": content, "category": category, "labels": list(labels)}
    return write.save_operation(draft(Bound(store.scope, store.limits), fields))


def single(verb: str, clue: str) -> write.Operation:
    return write.Operation(verb, (write.wire_name(normal_name(clue, "clue")),))


def state(store: ImpressionStore) -> list[tuple]:
    """All that a reader sees but times."""
    return sorted(
        (item.clue, item.content, item.category, item.also, sorted(item.labels), item.pin, item.uses, item.revision)
        for item in store.impressions()
    )


def test_a_label_merge_journals_names_and_members_and_no_contents(ann):
    ann.save_many(
        {"clue": f"n{n}", "content": f"{n} " + "x" * 2_000, "category": "C", "labels": ["old", f"l{n}"]}
        for n in range(100)
    )
    ann.save("kept", "filed already", category="C", labels=["new"])
    before = ann.stats().journal_bytes
    done = ann.merge_labels(["old"], "new")
    assert ann.stats().journal_bytes - before < 100 * 150
    entry = ann.journal(1)[0]
    assert (entry.transaction, entry.clues) == (done.transaction, done.moved)
    assert [item.content for item in entry.before] == [f"{n} " + "x" * 2_000 for n in range(100)]
    assert [item.labels for item in entry.before] == [("old", f"l{n}") for n in range(100)]


def test_the_journal_tells_the_content_of_its_time_whatever_came_later(ann):
    ann.save("a", "first", category="C", labels=["old"])
    ann.save("b", "of b", category="C", labels=["old"])
    ann.save("t", "filed already", category="C", labels=["new"])
    merged = ann.merge_labels(["old"], "new").transaction
    ann.pin("a")
    ann.save("a", "second", category="D", labels=["l"], pin=True)
    ann.unpin("a")
    ann.save("a", "third", category="D", labels=["l"])
    ann.merge_clues(["b"], "a", "fourth")
    told = {entry.transaction: entry for entry in ann.journal(50)}
    assert [item.content for item in told[merged].before] == ["first", "of b"]

    def story(clue: str) -> list[tuple]:
        """Operation, and content and pin before it, newest first."""
        images = [(entry.operation, entry.before[entry.clues.index(clue)]) for entry in ann.history(clue)]
        return [(operation, item.content, item.pin) for operation, item in images if item]

    assert story("a") == [
        ("merge", "third", False),
        ("save", "second", False),
        ("unpin", "second", True),
        ("save", "first", True),
        ("pin", "first", False),
        ("merge", "first", False),
    ]
    assert story("b") == [("merge", "of b", False), ("merge", "of b", False)]


def test_a_history_of_many_pages_finds_the_content_on_a_newer_page(client):
    ann = ImpressionStore(client=client, user="ann", limits=Limits(max_journal_bytes=4_000_000))
    ann.save("a", "first", category="C", labels=["old"])
    ann.save("b", "of b", category="C", labels=["old"])
    ann.save("t", "filed already", category="C", labels=["new"])
    ann.merge_labels(["old"], "new")
    for n in range(450):  # more than two pages
        ann.save("a", f"later {n}", category="C", labels=["new"])
    ann.save("b", "changed", category="C", labels=["new"])  # not an entry of a's history
    (entry,) = (entry for entry in ann.history("a") if entry.operation == "merge")
    assert [item.content for item in entry.before] == ["first", "of b"]


def test_a_content_that_no_entry_tells_is_not_made_up(ann):
    clues = [f"n{n}" for n in range(80)]
    transact(ann, *(saving(ann, clue, "x" * 60_000, "C", "old") for clue in clues))
    ann.save("t", "filed already", category="C", labels=["new"])
    merged = ann.merge_labels(["old"], "new").transaction
    transact(ann, *(saving(ann, clue, "y", "C", "new") for clue in clues))  # over 4 MiB of images: it keeps none
    (entry,) = (entry for entry in ann.journal(50) if entry.transaction == merged)
    assert entry.clues == (*clues,)
    assert entry.before == (None,) * 80


def test_a_content_whose_entry_was_erased_with_another_note_is_not_made_up(ann):
    ann.save("a", "old content", category="C", labels=["old"])
    ann.save("t", "filed already", category="C", labels=["new"])
    ann.save("x", "first", category="C", labels=["new"])
    ann.merge_labels(["old"], "new")
    transact(ann, saving(ann, "a", "new content", "C", "new"), saving(ann, "x", "second", "C", "new"))
    ann.forget("x")  # with every entry that holds something of it
    (merged,) = (entry for entry in ann.history("a") if entry.operation == "merge")
    assert merged.before == (None,)


OPERATIONS = {
    "a save of a moved note": lambda s: [saving(s, "n1", "said anew", "D", "new", "x")],
    "a pin": lambda s: [single("pin", "n1")],
    "no pin": lambda s: [single("unpin", "pinned")],
    "a confirmation": lambda s: [single("confirm", "n1")],
    "a forgotten note": lambda s: [single("forget", "n1")],
    "its category too": lambda s: [merge("category", "C", "D")],
    "another of its labels": lambda s: [merge("label", "x", "new"), merge("label", "l1", "l2")],
    "all of it": lambda s: [
        merge("category", "C", "D"), single("confirm", "n0"), saving(s, "n1", "said anew", "D", "x"),
        single("pin", "n2"), single("forget", "n3"), saving(s, "fresh", "a new one", "D", "new", "x"),
    ],
}  # fmt: skip


@pytest.mark.parametrize("more", OPERATIONS)
def test_a_merge_and_more_in_one_transaction_is_as_one_after_another(client, more):
    """The records that a merge refiles are taken over by whatever writes them after it."""
    stores = [ImpressionStore(client=client, user=user) for user in ("at once", "one by one")]
    for store in stores:
        store.save_many(
            {"clue": f"n{n}", "content": f"content {n}", "category": "C", "labels": ["old", "x", f"l{n}"]}
            for n in range(5)
        )
        store.save("pinned", "always there", category="C", labels=["old", "new"], pin=True)
        store.save("d", "of another domain", category="D", labels=["new"])
    at_once, one_by_one = stores
    operations = [merge("label", "old", "new"), *OPERATIONS[more](at_once)]
    done = transact(at_once, *operations)
    for operation in operations:
        transact(one_by_one, operation)
    assert state(at_once) == state(one_by_one)
    (entry,) = (entry for entry in at_once.journal(5) if entry.transaction == done.id)
    for clue, item in zip(entry.clues, entry.before, strict=True):
        assert clue in ("n3", "n1") or item is None or "old" in item.labels
        assert item is None or item.content == ("always there" if clue == "pinned" else f"content {clue[1:]}")


EARLIER = {
    "a new note": lambda s: [saving(s, "fresh", "a new one", "C", "old"), merge("label", "old", "new")],
    "a note of another label": lambda s: [saving(s, "t", "said anew", "D", "old", "new"), merge("label", "old", "new")],
    "a note that left the label": lambda s: [saving(s, "n1", "said anew", "C", "x"), merge("label", "old", "new")],
    "a new label": lambda s: [saving(s, "fresh", "a new one", "C", "brand"), merge("label", "brand", "new")],
    "into a new label": lambda s: [saving(s, "fresh", "a new one", "C", "brand"), merge("label", "old", "brand")],
    "a new category": lambda s: [saving(s, "fresh", "a new one", "E", "x"), merge("category", "C", "E")],
    "from a new category": lambda s: [saving(s, "fresh", "a new one", "E", "x"), merge("category", "E", "C")],
    "a chain": lambda s: [merge("label", "old", "x"), merge("label", "x", "new")],
    "a longer chain": lambda s: [merge("label", "l1", "l2"), merge("label", "l2", "l3"), merge("label", "l3", "old")],
    "a merge of clues": lambda s: [
        merges.merge_clues_operation(Bound(s.scope, s.limits), name("t"), "both", [name("n1")], None),
        merge("label", "old", "new"),
    ],
}  # fmt: skip


def name(clue: str):
    return normal_name(clue, "clue")


@pytest.mark.parametrize("operations", EARLIER)
def test_a_merge_sees_what_its_own_transaction_filed_before_it(client, operations):
    stores = [ImpressionStore(client=client, user=user) for user in ("at once", "one by one")]
    for store in stores:
        store.save_many(
            {"clue": f"n{n}", "content": f"content {n}", "category": "C", "labels": ["old", "x", f"l{n}"]}
            for n in range(4)
        )
        store.save("t", "filed already", category="D", labels=["new"])
    at_once, one_by_one = stores
    made = EARLIER[operations](at_once)
    transact(at_once, *made)
    for operation in made:
        transact(one_by_one, operation)
    assert state(at_once) == state(one_by_one)
    assert sorted(at_once.labels()) == sorted(one_by_one.labels())
    assert sorted(at_once.categories()) == sorted(one_by_one.categories())


def test_a_full_scope_evicts_nothing_that_the_same_transaction_refiles(client):
    ann = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=6))
    for n in range(6):  # the oldest are the weakest
        ann.save(f"n{n}", f"content {n}", category="C", labels=["old" if n < 3 else "new"])
    done = transact(ann, merge("label", "old", "new"), saving(ann, "fresh", "a new one", "C", "new"))
    assert done.evicted == ("n3",)
    assert {item.clue for item in ann.impressions(label="new")} == {"n0", "n1", "n2", "n4", "n5", "fresh"}


@pytest.mark.parametrize("seed", range(3))
def test_the_label_graph_is_right_after_any_merges(ann, seed):
    """The check after each test compares every link with the records; here it is asked after each merge."""
    chance = random.Random(seed)
    names = [f"l{n}" for n in range(12)]
    ann.save_many(
        {
            "clue": f"n{n}",
            "content": f"content {n}",
            "category": "C",
            "labels": chance.sample(names, chance.randint(1, 4)),
        }
        for n in range(60)
    )
    left = sorted(set(ann.labels()))
    while len(left) > 3:
        *sources, target = chance.sample(left, 3)
        moved = ann.merge_labels(sources, target).moved
        assert set(moved) <= {item.clue for item in ann.impressions(label=target)}
        assert ann.check() == []
        left = sorted(set(ann.labels()))
        assert not {*sources} & {*left}
