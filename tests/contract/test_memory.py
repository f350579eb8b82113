"""What a memory does, however it is called."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import ConfigurationError, InvalidInput, NotFound
from tests.cases import CONTENTS, LOOKALIKES, NAMES, REPLACED, SPELLINGS
from tests.contract.memory import Memory


async def keep(memory, clue="A", content="tea", category="Food", labels=("Drink",), **more):
    return await memory.save(clue, content, category=category, labels=list(labels), **more)


async def test_a_saved_impression_is_read_back(memory):
    done = await keep(memory, source="turn-1", value={"empty": []})
    assert (done.status, done.revision) == ("created", 1)
    item = await memory.get("A")
    assert (item.content, item.category, item.labels, item.pin) == ("tea", "Food", ("Drink",), False)
    assert (item.source, item.value, item.revision) == ("turn-1", {"empty": []}, 1)
    assert await memory.get("B") is None


async def test_saving_again_replaces_and_moves(memory):
    await keep(memory)
    done = await keep(memory, content="coffee", category="Habits", labels=["Morning"])
    assert (done.status, done.revision) == ("changed", 2)
    assert await memory.list("categories") == ["Habits"]
    assert await memory.list("labels") == ["Morning"]
    assert len((await memory.recall(category="Food")).items) == 0
    assert (await keep(memory, content="coffee", category="Habits", labels=["Morning"])).status == "unchanged"


async def test_many_are_saved_and_a_bad_one_stops_no_other(memory):
    items = [{"clue": f"c{n}", "content": "x", "category": "C", "labels": ["l"]} for n in range(5)]
    items[2] = {"clue": "bad", "content": "", "category": "C", "labels": ["l"]}
    results = await memory.save_many(items)
    assert [result.status for result in results] == ["created", "created", "refused", "created", "created"]
    assert [item.clue for item in await memory.list("impressions")] == ["c4", "c3", "c1", "c0"]
    assert len(await memory.list("impressions", limit=2)) == 2


async def test_pins_confirmations_and_forgetting(memory):
    await keep(memory)
    assert (await memory.pin("A")).changed
    assert (await memory.get("A")).pin
    assert (await memory.unpin("A")).changed
    assert await memory.confirm(["A"]) == (1,)
    assert (await memory.forget("A")).clues == 1
    assert await memory.get("A") is None
    assert (await memory.forget("A")).clues == 0
    with pytest.raises(NotFound):
        await memory.pin("A")


async def test_history_and_journal_hold_what_was_before(memory):
    await keep(memory)
    await keep(memory, content="coffee")
    entries = await memory.history("A")
    assert [entry.before[0] and entry.before[0].content for entry in entries] == ["tea", None]
    assert len(await memory.journal()) == 2


async def test_mq10_hostile_names_come_back_unchanged(memory):
    for name in NAMES.values():
        await keep(memory, clue=name, category=name, labels=[name, "other"])
        item = await memory.get(name)
        assert (item.clue, item.category, item.labels) == (name, name, (name, "other"))
        assert [found.clue for found in (await memory.recall(category=name)).items] == [name]
        assert [found.clue for found in (await memory.recall(labels=[name])).items] == [name]
        assert set(await memory.list("labels")) == {name, "other"}
        assert (await memory.merge_labels([name], "other")).moved == (name,)
        assert (await memory.forget(name)).clues == 1


@pytest.mark.parametrize("case", SPELLINGS)
async def test_mq11_one_name_in_two_spellings_is_shown_as_written_first(memory, case):
    first, second = SPELLINGS[case]
    await keep(memory, clue=first, category=first, labels=[first])
    assert (await keep(memory, clue=second, category=second, labels=[second])).status == "unchanged"
    items = await memory.list("impressions")
    assert [(item.clue, item.category, item.labels) for item in items] == [(first, first, (first,))]


async def test_mq11_lookalikes_are_offered_and_not_joined(memory):
    first, *others = LOOKALIKES
    await keep(memory, category=first)
    for at, other in enumerate(others):
        assert first in (await keep(memory, clue=f"B{at}", category=other)).similar
    assert set(await memory.list("categories")) == set(LOOKALIKES)


async def test_mq14_a_merge_of_clues_keeps_what_belonged_to_the_parts(memory):
    await keep(memory, clue="A", category="C1", labels=["x", "y"], pin=True)
    await keep(memory, clue="B", category="C2", labels=["z"])
    newer = [{"clue": f"n{n}", "content": "n", "category": f"N{n}", "labels": ["n"]} for n in range(50)]
    await memory.save_many(newer)
    assert (await memory.merge_clues(["A"], "B", "both")).sources == ("A",)
    item = await memory.get("B")
    assert (item.content, item.pin, set(item.labels)) == ("both", True, {"x", "y", "z"})
    for asked in ({"category": "C1"}, {"category": "C2"}, {"labels": ["x"]}, {"labels": ["z"]}):
        assert [found.clue for found in (await memory.recall(**asked)).items] == ["B"]
    assert await memory.get("A") is None


async def test_mq14_a_merge_of_names_moves_their_impressions(memory):
    await keep(memory, clue="A", category="C1", labels=["x", "y"])
    await keep(memory, clue="B", category="C2", labels=["z"])
    assert (await memory.merge_categories("C1", "C2")).moved == ("A",)
    assert (await memory.merge_labels(["x", "y"], "z")).moved == ("A",)
    item = await memory.get("A")
    assert (item.category, item.labels) == ("C2", ("z",))
    assert await memory.list("categories") == ["C2"]
    assert await memory.list("labels") == ["z"]


async def test_mq15_merges_that_make_no_sense_change_nothing(memory):
    await keep(memory, clue="A", category="C1", labels=["x"])
    await keep(memory, clue="B", category="C2", labels=["y"])
    before = await memory.list("impressions")
    for refused, attempt in (
        (NotFound, lambda: memory.merge_categories("nobody", "C1")),
        (NotFound, lambda: memory.merge_categories("C1", "nobody")),
        (InvalidInput, lambda: memory.merge_categories("C1", "C1")),
        (NotFound, lambda: memory.merge_labels(["x", "nobody"], "y")),
        (InvalidInput, lambda: memory.merge_labels([], "y")),
        (NotFound, lambda: memory.merge_clues(["A"], "nobody", "text")),
        (InvalidInput, lambda: memory.merge_clues(["A"], "A", "text")),
        (InvalidInput, lambda: memory.merge_clues(["A"], "B", " ")),
    ):
        with pytest.raises(refused, match=r"[a-z]{3}"):
            await attempt()
    assert await memory.list("impressions") == before
    await memory.merge_categories("C1", "C2")
    with pytest.raises(NotFound):
        await memory.merge_categories("C2", "C1")  # the way back of a ring
    assert await memory.list("categories") == ["C2"]


async def test_sp01_nothing_of_one_user_reaches_another(memory):
    bob = memory.of(user="bob")
    await keep(memory, clue="SECRET", content="code 4417", category="Home", labels=["Door"])
    await keep(bob, clue="B", category="Food")
    assert await bob.get("SECRET") is None
    assert not (await bob.recall(category="Home", labels=["Door"])).items
    assert "4417" not in (await bob.context()).text
    assert await bob.history("SECRET") == []
    for attempt in (lambda: bob.merge_clues(["SECRET"], "B", "x"), lambda: bob.pin("SECRET")):
        with pytest.raises(NotFound) as refusal:
            await attempt()
        assert "4417" not in str(refusal.value)
    assert (await bob.forget("SECRET")).clues == 0
    assert (await bob.stats()).impressions == 1
    assert "4417" not in repr(await bob.journal()) + repr(await bob.list("impressions"))
    await bob.forget_everything()
    assert (await memory.get("SECRET")).content == "code 4417"


async def test_forgetting_everything_leaves_nothing_to_read(memory):
    await keep(memory, pin=True)
    assert (await memory.forget_everything()).clues == 1
    assert (await memory.forget_everything()).clues == 0
    assert await memory.list("impressions") == []
    assert (await memory.context()).text == ""
    assert await memory.check() == []
    assert (await keep(memory)).status == "created"


async def test_repair_finds_nothing_in_a_sound_memory(memory):
    await keep(memory)
    assert await memory.check() == []
    assert await memory.repair() == []
    assert (await memory.get("A")).content == "tea"


@pytest.mark.parametrize("way", ["blocking", "threads"])
@pytest.mark.parametrize("case", CONTENTS)
async def test_mq10_hostile_contents_come_back_unchanged(client, way, case):
    memory = Memory(ImpressionStore(client=client), way)
    await keep(memory, content=CONTENTS[case])
    assert (await memory.get("A")).content == CONTENTS[case]
    assert [item.content for item in await memory.list("impressions")] == [CONTENTS[case]]


@pytest.mark.parametrize("case", REPLACED)
def test_mq10_half_a_surrogate_pair_is_replaced(client, case):
    given, stored = REPLACED[case]
    store = ImpressionStore(client=client)
    assert store.save("A" + given, given, category="C", labels=["l"]).ok
    assert store.get("A" + stored).content == stored


def test_mq08_order_does_not_depend_on_clocks(client, server):
    """The clock of a scope may be ahead of the server's: later saves are newer all the same, and visible at once."""
    store = ImpressionStore(client=client, user="mq08")
    store.save("A", "old", category="C", labels=["l"])
    ahead = int(server.admin.time()[0]) * 1000 + 600_000
    server.admin.hset("impressmem:1:{assistant/mq08}:meta", "clock", ahead)
    for number in range(20):
        store.save(f"n{number}", "x", category="C", labels=["l"])
    store.save("A", "new", category="C", labels=["l"])
    assert [item.clue for item in store.impressions()] == ["A", *(f"n{number}" for number in reversed(range(20)))]
    assert store.get("A").content == "new"
    assert "new" in store.context().text


def test_mq12_pins_come_first_and_what_is_left_out_is_stated(client):
    store = ImpressionStore(client=client)
    text = "word " * 60
    store.save_many(
        {"clue": f"p{n}", "content": text, "category": "C", "labels": ["l"], "pin": True} for n in range(35)
    )
    store.save_many({"clue": f"n{n:03}", "content": text, "category": "C", "labels": ["l"]} for n in range(500))
    context = store.context(budget_units=10_000)
    assert context.pins_complete
    assert context.units <= 10_000
    shown = set(context.included)
    assert {f"p{n}" for n in range(35)} <= shown
    plain = sorted(shown - {f"p{n}" for n in range(35)})
    assert plain == [f"n{n:03}" for n in range(500 - len(plain), 500)]
    assert sum(left.count for left in context.omitted if left.what == "impressions") == 535 - len(shown)


def test_lc07_ids_of_other_types(client):
    store = ImpressionStore(client=client)
    store.scoped(user=1).save("A", "x", category="C", labels=["l"])
    assert store.scoped(user="1").get("A") is not None
    key = UUID("12345678-1234-5678-1234-567812345678")
    store.scoped(user=key).save("A", "y", category="C", labels=["l"])
    assert store.scoped(user=str(key)).get("A").content == "y"
    for wrong in ("", None, True, 1.5, b"1"):
        with pytest.raises(ConfigurationError):
            store.scoped(user=wrong)
    assert store.get("A") is None


def test_sp15_floods_are_refused_with_a_clear_message(client):
    store = ImpressionStore(client=client, limits=Limits(max_impressions=20_000))
    for clue, content in (("A", "x" * 5_000_000), ("c" * 100_000, "x")):
        with pytest.raises(InvalidInput, match="UTF-8 bytes"):
            store.save(clue, content, category="C", labels=["l"])
    assert store.stats().impressions == 0
    items = ({"clue": f"c{n}", "content": f"note {n}", "category": "C", "labels": ["l"]} for n in range(10_000))
    assert {result.status for result in store.save_many(items)} == {"created"}
    assert store.stats().impressions == 10_000


def test_stats_count_what_readers_see(client):
    store = ImpressionStore(client=client)
    assert store.stats().content_bytes == 0
    for clue, content, more in (
        ("A", "likes tea", {}),
        ("OVER", "x" * 5_000, {"ttl_seconds": 60}),
        ("LATER", "likes figs", {"ttl_seconds": 60}),
        ("PINNED", "likes rye", {"ttl_seconds": 60, "pin": True}),
    ):
        store.save(clue, content, category="C", labels=["l"], **more)
    client.zadd(next(client.scan_iter("*:expiry")), {"OVER": 1})
    counts = store.stats()
    assert counts.impressions == len(list(store.impressions())) == 3
    assert counts.content_bytes < 100
    store.confirm(["A"])  # a write lets what has expired go
    assert store.stats().impressions == 3
    client.zadd(next(client.scan_iter("*:expiry")), {"LATER": 1})
    store.forget("A")
    store.forget("PINNED")
    assert (store.stats().impressions, store.stats().content_bytes) == (0, 0)


def _nested(levels: int) -> list[object]:
    value: list[object] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("wrong", "word"),
    [({"value": _nested(5_000)}, "nested"), ({"said_at": "2020-01-01"}, "datetime"), ({"said_at": 5}, "datetime")],
    ids=["deep value", "time as text", "time as number"],
)
def test_a_wrong_field_is_refused_and_stops_no_other(client, wrong, word):
    store = ImpressionStore(client=client)
    fields = {"content": "x", "category": "C", "labels": ["l"]}
    with pytest.raises(InvalidInput, match=word):
        store.save("A", **fields, **wrong)
    results = store.save_many([{"clue": "A", **fields, **wrong}, {"clue": "B", **fields}])
    assert [result.status for result in results] == ["refused", "created"]


async def test_many_awaited_at_once_all_arrive(memory):
    await asyncio.gather(*(keep(memory, clue=f"c{n}") for n in range(40)))
    assert (await memory.stats()).impressions == 40
