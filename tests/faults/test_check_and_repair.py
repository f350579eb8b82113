"""What goes wrong in a store is found by check(), put right by repair(), and never shown to a reader meanwhile."""

from __future__ import annotations

import threading

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.flows.transfer import export_lines
from impressmem_integrations.errors import ConfigurationError, CorruptStore, InvalidInput
from impressmem_integrations.model import Problem
from tests.servers import RunningServer

PREFIX = "impressmem:1:{assistant/ann}:"
NOW = PREFIX + "0:"


@pytest.fixture
def store(client):
    made = ImpressionStore(client=client, user="ann")
    made.save("A", "tea", category="Food", labels=["Drink", "Hot"], pin=True)
    made.save("B", "bread", category="Food", labels=["Meal"], ttl_seconds=10_000)
    made.save("Ｃ", "cake", category="Sweet", labels=["Meal", "Hot"])
    made.confirm(["C"])
    return made


@pytest.mark.parametrize("part", ["impressions", "filing", "facts"])
def test_rd10_a_ghost_is_skipped_everywhere_and_cleaned_up(server, store, part):
    server.admin.hdel(NOW + part, "B")
    assert store.get("B") is None
    assert [item.clue for item in store.impressions()] == ["Ｃ", "A"]
    assert [item.clue for item in store.recall(category="Food").items] == ["A"]
    assert "bread" not in store.context().text
    assert "B" in {problem.member for problem in store.check()}
    assert store.repair()
    assert store.check() == []
    lived = store.get("B")
    assert (lived is None) == (part == "impressions")
    if lived:  # what the indexes know brings back a filing; a record without its content is gone
        assert (lived.category, lived.labels, lived.content) == ("Food", ("Meal",), "bread")


def test_rd10_merging_a_category_that_only_a_ghost_holds_cleans_it_up(server, store):
    store.save("G", "ghost", category="Old", labels=["l"])
    server.admin.hdel(NOW + "impressions", "G")
    store.merge_categories("Old", "Food")
    assert "Old" not in store.categories()
    store.repair()
    assert store.check() == []


def test_rd10_saving_over_a_ghost_makes_it_whole(server, store):
    server.admin.hdel(NOW + "impressions", "B")
    assert store.save("B", "new", category="Sweet", labels=["Hot"]).status == "created"
    assert store.check() == []


DAMAGES = {
    "index member without a record": lambda a: a.zadd(NOW + "clues", {"ghost": 1}),
    "stray member of a category": lambda a: a.zadd(NOW + "category:Food", {"Ｃ": 1}),
    "stray category": lambda a: a.zadd(NOW + "categories", {"Empty": 1}),
    "category key of nobody": lambda a: a.zadd(NOW + "category:Empty", {"A": 1}),
    "missing from clues": lambda a: a.zrem(NOW + "clues", "A"),
    "missing from a label": lambda a: a.zrem(NOW + "label:Hot", "A"),
    "wrong touch": lambda a: a.zadd(NOW + "clues", {"A": 5}),
    "wrong time of a category": lambda a: a.zadd(NOW + "categories", {"Food": 5}),
    "wrong creation": lambda a: a.zadd(NOW + "created", {"A": 99}),
    "wrong strength": lambda a: a.zincrby(NOW + "strength", 1, "Ｃ"),
    "strength lost": lambda a: a.zrem(NOW + "strength", "Ｃ"),
    "strength of what was never used": lambda a: a.zadd(NOW + "strength", {"B": 1}),
    "the weakest are not looked at": lambda a: a.hset(PREFIX + "meta", "weak_from", 9 * 10**12),
    "pinned and in strength": lambda a: a.zadd(NOW + "strength", {"A": 1}),
    "pin without a record": lambda a: a.zadd(NOW + "pins", {"ghost": 1}),
    "pinned and expiring": lambda a: a.zadd(NOW + "expiry", {"A": 9e12}),
    "expiry without a record": lambda a: a.zadd(NOW + "expiry", {"ghost": 9e12}),
    "wrong link": lambda a: a.zincrby(NOW + "links:Hot", 3, "Drink"),
    "stray link": lambda a: a.zadd(NOW + "links:Old", {"Hot": 1}),
    "missing link": lambda a: a.delete(NOW + "links:Hot"),
    "never changed": lambda a: a.zrem(NOW + "changed", "A"),
    "changes told of from a time to come": lambda a: a.hset(PREFIX + "meta", "delta_floor", 9_999),
    "too many changes": lambda a: [a.zadd(NOW + "withdrawn", {f"gone {n}": n}) for n in range(200)],
    "withdrawn and alive": lambda a: a.zadd(NOW + "withdrawn", {"A": 1}),
    "hint at no name": lambda a: a.hset(NOW + "alike-names", "c01234567", "Empty"),
    "hint at a name that looks otherwise": lambda a: a.hset(NOW + "alike-names", "c01234567", "Food"),
    "hint at no clue": lambda a: a.hset(NOW + "alike", "01234567", "9999"),
    "hint at a clue that looks otherwise": lambda a: a.hset(NOW + "alike", "01234567", "1"),
    "hint at another content": lambda a: a.hset(NOW + "twins", "AAAAAA", "1"),
    "spelling of nothing": lambda a: a.hset(NOW + "spelling", "clue\x1fZ", "Ｚ"),
    "spelling lost": lambda a: a.hdel(NOW + "spelling", "clue\x1fC"),
    "spelling lost the other way": lambda a: a.hdel(NOW + "spelling", "clue\x1eＣ"),
    "terms without a record": lambda a: a.hset(NOW + "terms", "ghost", "2\x1e57\x1ftea"),
    "term of nobody": lambda a: a.hset(NOW + "posting:11", "zebra", b"\1\0\0\0\x39"),
    "term of nobody in a set": lambda a: a.zadd(NOW + "term:zebra", {"A": 1}),
    "postings that are none": lambda a: a.hset(NOW + "postings", "tea", b"\1\0\0\0\x39\0"),
    "postings lost": lambda a: a.delete(*a.keys(NOW + "posting:*")),
    "no such bucket": lambda a: a.rename(a.keys(NOW + "posting:*")[0], NOW + "posting:99"),
    "postings of another form": lambda a: a.hset(NOW + "postings", "zebra", ""),
    "name without words": lambda a: a.hdel(NOW + "name-terms", "label\x1fHot"),
    "words of a name that are none": lambda a: a.hset(NOW + "name-terms", "label\x1fHot", "\x1f"),
    "words of no name": lambda a: a.hset(NOW + "name-terms", "label\x1fCold", "cold"),
    "word of no name": lambda a: a.zadd(NOW + "name-words", {"cold\x1f1\x1flabel\x1fCold": 0}),
    "term lost": lambda a: a.hset(NOW + "terms", "A", "2\x1e57\x1fzebra"),
    "journal bytes": lambda a: a.hincrby(PREFIX + "meta", "journal_bytes", 7),
    "counter behind": lambda a: a.hset(PREFIX + "meta", "seq", 1),
    "clock behind": lambda a: a.hset(PREFIX + "meta", "clock", 1),
    "meta lost": lambda a: a.delete(PREFIX + "meta"),
    "unknown key": lambda a: a.set(NOW + "scratch", "x"),
    "unknown key beside": lambda a: a.set(PREFIX + "scratch", "x"),
    "erased generation": lambda a: a.hset(PREFIX + "7:facts", "A", "x"),
    "thread not listed": lambda a: a.zadd(PREFIX + "seen:t", {"1 digest": 1}),
    "thread without turns": lambda a: a.zadd(PREFIX + "threads", {"t": 1}),
    "another type": lambda a: (a.delete(NOW + "created"), a.set(NOW + "created", "x")),
    "another type of filing": lambda a: (a.delete(NOW + "filing"), a.set(NOW + "filing", "x")),
    "unreadable facts": lambda a: a.hset(NOW + "facts", "A", "x"),
    "bytes that are no text": lambda a: a.zadd(NOW + "clues", {b"\xff\xfe": 1}),
    "filing that is no text": lambda a: a.hset(NOW + "filing", "A", b"\xff\xfe"),
    "filing of names that are no text": lambda a: a.hset(NOW + "filing", "A", b"\xfe\xfd0\x1fL"),
    "filing under a control character": lambda a: a.hset(NOW + "filing", "A", b"\x1e"),
    "filing under no name": lambda a: a.hset(NOW + "filing", "A", b"Food\x1f"),
    "filing under another form of a row": lambda a: a.hset(NOW + "filing", "A", b"Food\x1fL\x1e1\x1ex"),
    "facts with too large a number": lambda a: a.hset(NOW + "facts", "A", "x 99999999999999999999 0 0 1 1"),
    "facts with too large a place": lambda a: a.hset(NOW + "facts", "A", "x 1 0 0 1 4294967296"),
    "facts in another form": lambda a: a.hset(NOW + "facts", "A", "x +1 0 0 1 1"),
    "facts and where they come back from": lambda a: (
        a.hset(NOW + "facts", "A", "x"),
        a.zadd(NOW + "clues", {"A": "inf"}),
        a.zadd(NOW + "created", {"A": 1e300}),
    ),
    "a clue that is no text": lambda a: [a.hset(NOW + key, b"\xff", "\nx") for key in ("impressions", "filing")],
    "category that is no text": lambda a: (
        a.zadd(NOW.encode() + b"category:\xff\xfe", {"A": 1}),
        a.hdel(NOW + "filing", "A"),
    ),
    "pinned for ever": lambda a: a.zadd(NOW + "pins", {"A": "inf"}),
    "pinned in no time": lambda a: a.zadd(NOW + "pins", {"A": 1e300}),
    "expiring in no time": lambda a: a.zadd(NOW + "expiry", {"B": "inf"}),
    "changed for ever": lambda a: a.zadd(NOW + "changed", {"A": "inf"}),
    "changed never": lambda a: a.zadd(NOW + "changed", {"A": "-inf"}),
    "changed in no time": lambda a: a.zadd(NOW + "changed", {"A": 1e300}),
    "withdrawn for ever": lambda a: a.zadd(NOW + "withdrawn", {"gone": "inf"}),
    "touched for ever": lambda a: a.zadd(NOW + "clues", {"A": "inf"}),
    "strength without end": lambda a: a.zadd(NOW + "strength", {"Ｃ": "inf"}),
    "a term that weighs all": lambda a: a.zadd(NOW + "term:tea", {"1": "inf"}),
    "a thread for ever": lambda a: (
        a.zadd(PREFIX + "seen:t", {"1 digest": 1}),
        a.zadd(PREFIX + "threads", {"t": "inf"}),
    ),
    "journal entry": lambda a: a.xadd(NOW + "journal", {"bytes": "1", "before": "xyz"}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_found_and_repaired_without_loss(server, store, damage):
    before = {item.clue: (item.content, item.category, set(item.labels), item.pin) for item in store.impressions()}
    assert store.check() == []
    DAMAGES[damage](server.admin)
    found = store.check()
    assert found
    read(store)
    assert set(found) <= set(store.repair())
    assert store.check() == []
    assert read(store) == []
    after = {item.clue: (item.content, item.category, set(item.labels), item.pin) for item in store.impressions()}
    assert after == before
    assert store.save("New", "works on", category="Food", labels=["Hot"]).status == "created"


RECORDS = [
    b"\n\xff\xfe",
    b"\nbread \xff",
    b'{"t":"x"}\nbread',
    b'{"t":1e300}\nbread',
    b'{"s":1}\nbread',
    b"[]\nbread",
    b"x",
]


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_that_cannot_be_read_is_told_of_and_goes(server, store, record):
    server.admin.hset(NOW + "impressions", "B", record)
    assert "B" in {problem.member for problem in store.check()}
    read(store)
    assert store.repair()
    assert store.check() == []
    assert sorted(item.clue for item in store.impressions()) == ["A", "Ｃ"]
    assert store.get("B") is None
    assert read(store) == []


COUNTERS = ["seq", "clock", "delta_floor", "weak_from", "generation", "half_life", "journal_bytes", "max_impressions"]
COUNTERS += ["turn_first", "turn_next", "turn_bytes", "epoch", "barrier", "reused_units", "fresh_units"]


@pytest.mark.parametrize("value", ["abc", "1.5", "nan", "", "-1", "9" * 20, b"\xff"])
@pytest.mark.parametrize("field", COUNTERS)
def test_a_counter_that_is_no_number_is_mended(server, store, field, value):
    store.remember_turns([{"role": "user", "content": "I had tea with Ann"}])
    store.context()
    before = list(store.impressions())
    server.admin.hset(PREFIX + "meta", field, value)
    assert ("meta", field) in {(problem.key, problem.member) for problem in store.check()}
    read(store)
    assert store.repair()
    assert store.check() == []
    assert list(store.impressions()) == before
    assert read(store) == []
    assert store.save("New", "works on", category="Food", labels=["Hot"]).status == "created"
    assert "works on" in store.context().text
    assert store.check() == []


TURNS = [
    "1",
    "",
    "x\x1fuser\x1ft9\x1fth\x1fUser\x1fhi tea",
    "1\x1fuser\x1ft9\x1fth",
    "9" * 20 + "\x1fuser\x1ft\x1f\x1f\x1ftea",
]


@pytest.mark.parametrize("row", TURNS)
def test_a_message_with_too_few_parts_is_told_of_and_goes(server, store, row):
    store.remember_turns([{"role": "user", "content": "I had tea with Ann"}])
    server.admin.hset(NOW + "turns", "1", row)
    assert "1" in {problem.member for problem in store.check()}
    read(store)
    assert store.repair()
    assert store.check() == []
    assert read(store) == []


SNAPSHOT = ["seq", "epoch", "core", "kept", "rest", "room", "included", "about", "core_about", "delta_about", "pinned"]


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("value", ["abc", "", "5", "[[],[]]", "9" * 20, b"\xff", None])
@pytest.mark.parametrize("field", SNAPSHOT)
def test_a_stored_context_that_cannot_be_read_is_made_anew(server, store, field, value, stale):
    store.save("D", "dates", category="Food", labels=["Meal"])
    store.context()
    store.save("E", "eggs", category="Food", labels=["Meal"])
    whole = store.context()
    (key,) = server.admin.scan_iter(NOW + "snapshot:*")
    if stale:
        store.save("F", "figs", category="Food", labels=["Meal"])
    if value is None:
        server.admin.hdel(key, field)
    else:
        server.admin.hset(key, field, value)
    found = store.check()
    made = store.context()
    assert set(made.included) == {*whole.included, *(["F"] if stale else [])}
    assert all(word in made.text for word in ("tea", "bread", "cake", "dates", "eggs"))
    assert ("figs" in made.text) == stale
    assert found or (field, value) in {("room", "5"), ("seq", "5"), ("epoch", "5")}
    store.repair()
    assert store.check() == []
    assert set(store.context().included) == set(made.included)


READERS = {
    "get": lambda s: s.get("A"),
    "impressions": lambda s: list(s.impressions()),
    "recall by category": lambda s: s.recall(category="Food"),
    "recall": lambda s: s.recall("tea"),
    "recall by date": lambda s: s.recall("what did I say today?"),
    "context": lambda s: s.context(),
    "export": lambda s: s.perform(lambda bound: export_lines(bound, lambda line: None)),
    "categories": lambda s: s.categories(),
    "labels": lambda s: s.labels(),
    "stats": lambda s: s.stats(),
}


def read(store) -> list[str]:
    """Ask every reader; names of those that refuse, which they do in this package's words."""
    refused = []
    for name, ask in READERS.items():
        try:
            answer = ask(store)
        except CorruptStore:
            refused.append(name)
        else:
            assert "\ufffd" not in repr(answer) or store.check()
    return refused


def test_a_problem_names_the_key_without_its_tag_and_no_content(server, store):
    server.admin.zrem(NOW + "label:Hot", "A")
    found = store.check()
    assert Problem("0:label:Hot", "A", "is missing") in found
    assert "tea" not in repr(found)
    assert PREFIX not in repr(found)
    store.repair()


def test_another_half_life_takes_hold_with_repair(client, store):
    other = ImpressionStore(client=client, user="ann", limits=Limits(half_life_days=1))
    strong = client.zscore(NOW + "strength", "Ｃ")
    assert other.repair() == []
    assert client.zscore(NOW + "strength", "Ｃ") > strong * 10
    assert client.hget(PREFIX + "meta", "half_life") == b"86400000"
    assert other.check() == store.check() == []


def test_times_of_any_length_are_read_back_and_sound(client):
    limits = Limits(half_life_days=1e15, ttl_seconds=1e15)
    store = ImpressionStore(client=client, user="ann", limits=limits)
    store.save("A", "tea", category="Food", labels=["Hot"])
    store.save("B", "bread", category="Food", labels=["Hot"], ttl_seconds=1e11)
    assert {item.content for item in store.impressions()} == {"tea", "bread"}
    assert store.check() == store.repair() == []
    with pytest.raises(InvalidInput, match="ttl_seconds"):
        store.save("C", "cake", category="Food", labels=["Hot"], ttl_seconds=9e11)


def test_repair_puts_the_scope_back_into_the_registry(server, store):
    for key in server.admin.scan_iter("impressmem:1:{scopes:*"):
        server.admin.delete(key)
    assert list(store.scopes()) == []
    store.repair()
    assert list(store.scopes()) == [store.scope]


def test_an_erasure_that_was_cut_short_is_found_and_finished(server, store):
    server.admin.hset(PREFIX + "meta", mapping={"generation": 1, "purge": "0", "journal_bytes": 0})
    assert store.check()
    store.repair()
    assert store.check() == []
    assert list(server.admin.scan_iter(PREFIX + "0:*")) == []


@pytest.mark.broken_store("a newer version wrote the scope")
def test_a_scope_of_another_version_is_left_alone(server, store):
    server.admin.hset(PREFIX + "meta", "layout", 2)
    for refused in (store.check, store.repair):
        with pytest.raises(ConfigurationError, match="layout 2"):
            refused()


def test_check_is_not_misled_by_writers(server: RunningServer, store):
    """Others save, move and forget all the time; a sound store has no problems for all that."""
    stop = threading.Event()

    def write(number: int) -> None:
        with server.client() as client:
            own = ImpressionStore(client=client, user="ann")
            turn = 0
            while not stop.is_set():
                turn += 1
                own.save(f"{number}-{turn % 5}", f"x{turn}", category=f"C{turn % 7}", labels=[f"l{turn % 3}", "m"])
                own.forget(f"{number}-{(turn + 2) % 5}")

    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    try:
        assert [store.check() for _ in range(10)] == [[]] * 10
    finally:
        stop.set()
        for writer in writers:
            writer.join()


def test_a_scope_of_many_parts_is_read_whole(client, server):
    """More keys than fit into one call, and more members in one of them."""
    store = ImpressionStore(client=client, user="ann")
    store.save_many(
        {"clue": f"c{n}", "content": f"note {n}", "category": f"C{n % 900}", "labels": ["all"]} for n in range(3_000)
    )
    assert store.check() == []
    server.admin.zrem(NOW + "label:all", "c1234")
    assert store.check() == [Problem("0:label:all", "c1234", "is missing")]
    assert len(store.repair()) == 1
