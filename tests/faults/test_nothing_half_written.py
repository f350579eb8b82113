"""A change that cannot be carried out whole is not carried out at all."""

from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import CapacityError, CorruptStore, StoreError, StoreUnavailable
from tests.dumps import contents
from tests.servers import RunningServer, valkey_binary

PREFIX = "impressmem:1:{assistant/ann}:"


@pytest.fixture
def store(client):
    return ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=4))


def fill(store):
    store.save("A", "tea", category="Food", labels=["Drink", "Hot"], pin=True)
    store.save("ＷＩＤＥ", "wide", category="Ｆ", labels=["ｌ", "Hot"], ttl_seconds=10_000)
    store.save("B", "bread", category="Food", labels=["Meal", "Hot"], ttl_seconds=10_000)
    store.save("C", "cake", category="Sweet", labels=["Meal"])
    store.confirm(["C"])
    store.save("D", "dates", category="Sweet", labels=["Meal"])  # one leaves: withdrawn
    store.forget("D")


CHANGES = {
    "save new": lambda s: s.save("Ｎew", "new tea", category="Ｎ", labels=["Hot", "ｘ"], ttl_seconds=9_000),
    "save over": lambda s: s.save("A", "coffee", category="Sweet", labels=["Meal"]),
    "save and evict": lambda s: s.save_many(
        {"clue": f"n{n}", "content": f"n{n}", "category": "Sweet", "labels": ["Hot"]} for n in range(3)
    ),
    "merge categories": lambda s: s.merge_categories("Sweet", "Food"),
    "merge labels": lambda s: s.merge_labels(["Meal"], "Hot"),
    "merge clues": lambda s: s.merge_clues(["A"], "B", "both"),
    "pin": lambda s: s.pin("B"),
    "unpin": lambda s: s.unpin("A"),
    "confirm": lambda s: s.confirm(["B"]),
    "forget": lambda s: s.forget("B"),
}
TOUCHED = (
    "meta", "forgotten", "0:impressions", "0:filing", "0:facts", "0:terms", "0:name-terms", "0:name-words", "0:twins",
    "0:alike", "0:alike-names", "0:spelling", "0:categories", "0:labels", "0:clues", "0:created", "0:changed",
    "0:withdrawn", "0:pins", "0:strength", "0:expiry", "0:journal", "0:category:*", "0:label:*", "0:links:*",
    "0:posting:*",
)  # fmt: skip
"""Every kind of key that changes write; `test_every_key_written_is_tried` compares it with what stands on a server."""


def kind_of(key: bytes) -> str:
    name = key.decode().removeprefix(PREFIX)
    head, _, rest = name.partition(":")
    family, named, _ = rest.partition(":")
    return f"{head}:{family}:*" if named else name


@pytest.mark.broken_store("keys of another type are put in the way on purpose")
@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_type_at_any_key_leaves_everything_as_it_was(server, client, store, change):
    fill(store)
    sound = {key: server.admin.dump(key) for key in server.admin.scan_iter(PREFIX + "*")}
    CHANGES[change](store)
    written = {key for key in server.admin.scan_iter(PREFIX + "*") if server.admin.dump(key) != sound.get(key)}
    written |= {key for key in sound if not server.admin.exists(key)}
    assert written
    for key in sorted(written):
        server.admin.flushall()
        for name, value in sound.items():
            server.admin.restore(name, 0, value)
        server.admin.delete(key)
        server.admin.set(key, "not ours")
        before = contents(server)
        with pytest.raises(CorruptStore):
            CHANGES[change](ImpressionStore(client=client, user="ann", limits=store.limits))
        after = {name: value for name, value in contents(server).items() if b"scopes" not in name}
        assert after == before, key


def test_every_key_written_is_tried(server, store):
    fill(store)
    for change in ("save new", "merge clues"):
        CHANGES[change](store)
    kinds = {kind_of(key) for key in server.admin.scan_iter(PREFIX + "*")}
    assert kinds == set(TOUCHED)


def test_rd09_out_of_memory_in_mid_save_leaves_no_part_of_it(server, store):
    fill(store)
    before = contents(server)
    used = server.admin.info("memory")["used_memory"]
    server.admin.config_set("maxmemory-policy", "noeviction")
    server.admin.config_set("maxmemory", max(1, used // 2))
    try:
        for change in ("save new", "save over", "save and evict", "merge clues", "pin"):
            with pytest.raises(StoreError, match="out of memory"):
                CHANGES[change](store)
            assert contents(server) == before, change
        assert store.get("B") is not None
        store.forget("B")  # what removes needs no memory
        assert store.get("B") is None
        store.forget_everything()
        assert store.stats().impressions == 0
    finally:
        server.admin.config_set("maxmemory", 0)
    assert store.save("Z", "z", category="Food", labels=["Hot"]).ok


def test_a_full_scope_of_pins_takes_nothing_and_loses_nothing(server, client):
    store = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=2))
    for clue in "AB":
        store.save(clue, clue, category="C", labels=["l"], pin=True)
    before = contents(server)
    with pytest.raises(CapacityError):
        store.save("N", "n", category="C", labels=["l"])
    assert contents(server) == before


def test_a_full_scope_lets_go_when_the_limit_was_lowered(client):
    for clue in "ABCD":
        ImpressionStore(client=client).save(clue, clue, category="C", labels=["l"], pin=True)
    smaller = ImpressionStore(client=client, limits=Limits(max_impressions=2))
    smaller.forget("A")
    smaller.unpin("B")
    assert smaller.get("A") is None


def test_a_flushed_script_cache_is_not_noticed(server, store):
    fill(store)
    server.admin.script_flush()
    assert store.get("A").content == "tea"
    server.admin.script_flush()
    assert store.save("A", "coffee", category="Food", labels=["Hot"]).status == "changed"


def test_a_server_that_died_is_reported_and_one_that_came_back_is_used():
    with RunningServer(valkey_binary(), appendonly=True, options={"appendfsync": "always"}) as running:
        store = ImpressionStore.from_url(running.url, user="ann")
        store.save("A", "tea", category="Food", labels=["Drink"])
        running.kill()
        for attempt in (lambda: store.get("A"), lambda: store.save("B", "b", category="Food", labels=["Drink"])):
            with pytest.raises(StoreUnavailable, match="no server answers"):
                attempt()
        running.start()
        assert store.get("A").content == "tea"
        assert store.save("B", "b", category="Food", labels=["Drink"]).ok
        assert store.check() == []
        store.close()


def test_a_closed_store_says_so(server):
    store = ImpressionStore.from_url(server.url)
    with store:
        store.save("A", "tea", category="Food", labels=["Drink"])
    with pytest.raises(Exception, match="closed"):
        store.get("A")
    store.close()
