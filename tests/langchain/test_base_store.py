"""`ImpressionBaseStore`: the same answers as LangGraph's own store in memory, and what it adds to it."""

from __future__ import annotations

import asyncio
import random
import string
import warnings
from dataclasses import replace
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.tools import ToolRuntime, tool
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.effects import drive
from impressmem_integrations.core.keys import meta_key
from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.langchain import ImpressionBaseStore
from impressmem_integrations.langchain.batch import Batch
from impressmem_integrations.langchain.items import LIMITS
from tests.langchain.chat import ScriptedChat, use
from tests.polling import wait_until

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # LangMem's own imports
    from langmem import create_manage_memory_tool, create_memory_store_manager, create_search_memory_tool

MEMORIES = ("users", "alice", "memories")


@pytest.fixture
def values(store) -> ImpressionBaseStore:
    return ImpressionBaseStore(store, shared=True)


class Oracle(InMemoryStore):
    """LangGraph's store; a namespace without items is none (there a mere look makes one, and it stays)."""

    def batch(self, ops):
        names = {
            at: super(Oracle, self).batch([op])[0] for at, op in enumerate(ops) if isinstance(op, ListNamespacesOp)
        }
        results = super().batch(ops)
        for namespace in [name for name, items in self._data.items() if not items]:
            del self._data[namespace]
        return [names.get(at, result) for at, result in enumerate(results)]


# --- the same as LangGraph's own store -------------------------------------------------------------------------------

LABELS = ("users", "alice", "bob", "a", "b", "ab", "A", "*", "%", "a/b", "a?b", "日本", "é", "é", " x", "x\n", "#")
KEYS = ("k", "K", "k ", "", "键", "a/b", "a?b", "#", "0", "ﬁ", "fi")


def some_value(chance: random.Random) -> dict[str, Any]:
    leaf = [
        1,
        2,
        2.5,
        "1",
        "text",
        True,
        False,
        None,
        [],
        {},
        [1, "ü"],
        {"in": {"deep": [None, 1e300]}},
        "\x00\n",
        "",
        "\u3164",
    ]
    names = chance.sample(["n", "kind", "content", "$odd", "名"], chance.randint(0, 3))
    return {name: chance.choice([1, 2, 3]) if name == "n" else chance.choice(leaf) for name in names}


def some_filter(chance: random.Random) -> dict[str, Any] | None:
    operator = chance.choice(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"])
    return chance.choice(
        [None, None, {"kind": "text"}, {"content": [1, "ü"]}, {"content": {"in": {"deep": [None, 1e300]}}}, {"kind": 1}]
        + [{"n": {"$eq": 2}}, {"n": {"$ne": chance.choice([1, None])}}, {"kind": None}]
        + ([{"content": {operator: 1}}] if operator in ("$eq", "$ne") else [])
    )


def namespace(chance: random.Random, least: int = 1) -> tuple[str, ...]:
    rest = tuple(chance.choice(LABELS) for _ in range(chance.randint(least, 3)))
    return ("users", chance.choice(["alice", "日本"]), *rest[1:]) if chance.random() < 0.5 and rest else rest


def some_batch(chance: random.Random) -> list[Any]:
    ops: list[Any] = []
    for _ in range(chance.randint(1, 6)):
        kind = chance.random()
        if kind < 0.5:
            value = None if chance.random() < 0.25 else some_value(chance)
            ops.append(PutOp(namespace(chance), chance.choice(KEYS), value))
        elif kind < 0.7:
            ops.append(GetOp(namespace(chance), chance.choice(KEYS)))
        elif kind < 0.85:
            ops.append(SearchOp(namespace(chance, 0), some_filter(chance), 1_000, 0))
        else:
            conditions = [
                MatchCondition(
                    chance.choice(["prefix", "suffix"]), tuple(chance.choices(LABELS, k=chance.randint(1, 2)))
                )
                for _ in range(chance.randint(0, 2))
            ]
            depth = chance.choice([None, 1, 2, 3])
            ops.append(ListNamespacesOp(conditions or None, depth, chance.choice([2, 100]), chance.choice([0, 1])))
    return ops


def plain(result: Any) -> Any:
    """What can be compared: the times differ, and so does the order of a search, which LangGraph does not fix."""
    if result is None:
        return None
    if isinstance(result, list):
        rows = [plain(one) for one in result]
        return sorted(rows, key=repr) if result and isinstance(result[0], SearchItem) else rows
    return result if isinstance(result, tuple) else (result.namespace, result.key, result.value)


@pytest.mark.parametrize("seed", range(8))
def test_it_answers_as_the_store_in_memory_does(values, seed):
    chance, oracle = random.Random(seed), Oracle()
    for _ in range(50):
        ops = some_batch(chance)
        assert list(map(plain, values.batch(ops))) == list(map(plain, oracle.batch(ops))), ops
    (everything,) = oracle.batch([SearchOp((), None, 10_000, 0)])
    assert plain(values.search((), limit=10_000)) == plain(everything)
    assert len(everything) > 20


async def test_it_answers_in_asyncio_code_as_the_store_in_memory_does(values):
    chance, oracle = random.Random(99), Oracle()
    for _ in range(30):
        ops = some_batch(chance)
        assert list(map(plain, await values.abatch(ops))) == list(map(plain, oracle.batch(ops))), ops


def test_pages_of_a_search_hold_each_item_once_newest_first(values):
    for at in range(25):
        values.put(("users", "alice", "日" if at % 2 else "b"), f"k{at}", {"at": at, "odd": at % 2})
    pages = [values.search(("users", "alice"), limit=7, offset=offset) for offset in range(0, 28, 7)]
    assert [item.value["at"] for page in pages for item in page] == list(range(24, -1, -1))
    odd = [values.search(("users",), filter={"odd": 1}, limit=5, offset=offset) for offset in (0, 5, 10, 15)]
    assert [item.value["at"] for page in odd for item in page] == list(range(23, 0, -2))


def test_namespaces_and_users_are_merged_newest_first(values):
    for at in range(20):
        values.put(("users", ("alice", "bob")[at % 2], "notes", str(at % 3)), f"k{at}", {"at": at})
    everybodys = [item.updated_at for item in values.search(("users",), limit=50)]
    assert (len(everybodys), everybodys) == (20, sorted(everybodys, reverse=True))
    alices = [item.value["at"] for item in values.search(("users", "alice", "notes"), limit=50)]
    assert alices == list(range(18, -1, -2))
    assert [item.value["at"] for item in values.search(("users", "alice", "notes"), limit=2, offset=3)] == [12, 10]


def test_bounds_of_a_search(values):
    values.put(MEMORIES, "k", {"n": 1})
    assert values.search(MEMORIES, limit=0) == []
    assert values.search(MEMORIES, offset=1) == []
    for bounds in ({"limit": -1}, {"offset": -1}):
        with pytest.raises(InvalidInput, match="at least 0"):
            values.search(MEMORIES, **bounds)
    with pytest.raises(InvalidInput, match=r"\$like"):
        values.search(MEMORIES, filter={"n": {"$like": 1}})
    assert (
        values.search(MEMORIES, filter={"n": {"$gt": "x"}}) == values.search(MEMORIES, filter={"x": {"$lt": 1}}) == []
    )
    assert [item.value for item in values.search(MEMORIES, filter={"n": {"$gte": 1, "$lt": 2}})] == [{"n": 1}]


def test_segments_are_never_cut(values):
    values.put(("a", "bc"), "k", {"n": 1})
    values.put(("a", "b"), "k", {"n": 2})
    assert [item.namespace for item in values.search(("a", "b"))] == [("a", "b")]
    assert values.list_namespaces(prefix=("a", "b")) == [("a", "b")]


def test_names_too_long_to_be_written_out_are_told_apart(values):
    long = "日" * 400
    values.put(("a", long + "1"), long + "1", {"n": 1})
    values.put(("a", long + "2"), long + "2", {"n": 2})
    assert values.get(("a", long + "1"), long + "1").value == {"n": 1}
    assert values.list_namespaces() == [("a", long + "1"), ("a", long + "2")]
    assert [item.value for item in values.search(("a", long + "2"))] == [{"n": 2}]


# --- one batch ----------------------------------------------------------------------------------------------------


def test_results_come_in_order_reads_see_the_state_before_and_the_last_put_wins(values):
    values.put(MEMORIES, "k", {"n": 0})
    ops = [PutOp(MEMORIES, "k", {"n": 1}), GetOp(MEMORIES, "k"), PutOp(MEMORIES, "k", {"n": 2}), SearchOp(MEMORIES)]
    first, got, second, found = values.batch(ops)
    assert (first, second) == (None, None)
    assert got.value == {"n": 0}
    assert [item.value for item in found] == [{"n": 0}]
    assert values.get(MEMORIES, "k").value == {"n": 2}


def test_a_wrong_operation_stops_the_whole_batch(values):
    for wrong in (
        PutOp(MEMORIES, "b", {"n": float("nan")}),
        PutOp(MEMORIES, "b", {"n": {1, 2}}),
        PutOp(MEMORIES, 1, {}),
    ):
        with pytest.raises(InvalidInput):
            values.batch([PutOp(MEMORIES, "a", {"n": 1}), wrong])
    assert values.search(("users",)) == []


def test_the_puts_of_a_batch_are_one_transaction_of_their_scope(values):
    values.batch([PutOp(MEMORIES, f"k{at}", {"n": at}) for at in range(30)])
    (entry,) = values.memory_of(MEMORIES).journal()
    assert len(entry.clues) == 30


def test_capacity_and_label_limits_are_off(valkey_server):
    narrow = ImpressionStore.from_url(valkey_server.url, limits=Limits(max_impressions=3, max_content_bytes=100))
    values = ImpressionBaseStore(narrow)
    big = {"text": "word " * 300_000}
    values.put(MEMORIES, "big", big)
    for at in range(20):
        values.put(MEMORIES, f"k{at}", {"n": at})
    assert len(values.search(MEMORIES, limit=100)) == 21
    assert values.get(MEMORIES, "big").value == big
    narrow.close()


# --- whose memory -------------------------------------------------------------------------------------------------


def test_the_first_segments_name_the_scope(store, values):
    values.put(MEMORIES, "k", {"content": "alice's"})
    values.put(("users", "bob"), "k", {"content": "bob's"})
    values.put(("docs",), "k", {"content": "everybody's"})
    users = {scope.user for scope in store.scopes() if scope.bot == "assistant:values"}
    assert users == {"alice", "bob", None}
    values.memory_of(MEMORIES).forget_everything()
    assert values.list_namespaces() == [("docs",), ("users", "bob")]


def test_a_namespace_that_names_nobody_is_refused_unless_shared(store):
    values = ImpressionBaseStore(store)
    for act in (lambda: values.put(("docs",), "k", {}), lambda: values.get(("users",), "k")):
        with pytest.raises(InvalidInput, match="whose memory"):
            act()
    assert values.search(("docs",)) == []
    assert values.list_namespaces() == []


def test_other_templates(store):
    langmem = ImpressionBaseStore(store, template=("{user}", "memories"))
    langmem.put(("alice", "memories", "x"), "k", {"n": 1})
    assert langmem.list_namespaces(suffix=("x",)) == [("alice", "memories", "x")]
    assert langmem.memory_of(("alice", "memories")).scope.user == "alice"
    everything = ImpressionBaseStore(store.scoped(user="carol"))
    everything.put(("any", "thing"), "k", {"n": 1})
    assert everything.memory_of(("x",)).scope.user == "carol"
    for wrong in (("users",), ("users", "{name}"), ("{user}", "{user}"), "users"):
        with pytest.raises(ConfigurationError):
            ImpressionBaseStore(store, template=wrong)
    with pytest.raises(ConfigurationError, match="a store that has none"):
        ImpressionBaseStore(store.scoped(user="carol"), template=("users", "{user}"))


def test_a_request_that_names_its_user_reads_no_registry(store, values):
    values.put(MEMORIES, "k", {"content": "tea"})
    sent = []

    def answer(effect):
        sent.append((effect.script, effect.keys))
        return store._connection.send(effect)

    def keys_of(ops):
        drive(Batch(values._memory.perform(_itself), values._layout, 0.0).run(ops), answer)

    condition = MatchCondition("prefix", ("users", "alice", "*"))
    keys_of(
        [SearchOp(MEMORIES), SearchOp(MEMORIES[:2], query="tea"), GetOp(MEMORIES, "k"), ListNamespacesOp((condition,))]
    )
    assert {script for script, _ in sent} <= {"get", "list_records", "list_names", "search"}
    (only,) = {keys for _, keys in sent}
    assert only == (meta_key(values.memory_of(MEMORIES).scope),)


def _itself(bound):
    return bound
    yield


def test_rd03_nothing_is_opened_at_construction():
    values = ImpressionBaseStore(ImpressionStore.from_url("redis://127.0.0.1:1/0"))
    assert "users" in repr(values)


def test_langgraphs_own_checks_hold(values):
    for wrong in ((), ("a.b",), ("langgraph", "x"), ("",)):
        with pytest.raises(InvalidNamespaceError):
            values.put(wrong, "k", {})


# --- a query ------------------------------------------------------------------------------------------------------


def test_a_query_is_answered_by_recall_with_scores_and_filled_up(values):
    values.put(MEMORIES, "food", {"content": "Loves sourdough bread"})
    values.put(MEMORIES, "pet", {"content": "Has a cat called Miso"})
    values.put(MEMORIES, "secret", {"content": "bread too"}, index=False)
    values.put((*MEMORIES, "in"), "deep", {"text": "ignored bread", "title": "boat"}, index=["title"])
    first, *others = values.search(("users", "alice"), query="Which bread does she love?")
    assert (first.key, first.score > 0) == ("food", True)
    assert [(item.key, item.score) for item in others] == [("deep", None), ("secret", None), ("pet", None)]
    assert [item.key for item in values.search(MEMORIES, query="boat", limit=1)] == ["deep"]
    assert [item.key for item in values.search(MEMORIES, query="memories", limit=1)] == ["deep"]  # no word of its items
    assert [item.key for item in values.search(MEMORIES, query="bread", limit=2, offset=1)] == ["deep", "secret"]
    assert [item.key for item in values.search(MEMORIES, query="cat", filter={"title": "boat"})] == ["deep"]


# --- lifetimes ----------------------------------------------------------------------------------------------------


def expiry(values, key="k"):
    return next(item for item in values.memory_of(MEMORIES).impressions() if item.clue.endswith(f"?{key}")).expires_at


def read_at(values, op, now_ms):
    """Read at another time."""
    values._memory.perform(lambda bound: Batch(replace(bound, limits=LIMITS), values._layout, now_ms).run([op]))


def prolonged(values, op, minutes):
    """The expiry after reading at a time that lies so many minutes ahead."""
    read_at(values, op, expiry(values).timestamp() * 1000 + (minutes - 10) * 60_000)
    return expiry(values)


def test_a_lifetime_is_in_minutes_and_begins_anew_when_read(values):
    values.put(MEMORIES, "k", {"n": 1}, ttl=10)
    written = values.memory_of(MEMORIES).get("/memories?k")
    assert (written.expires_at - written.updated_at).total_seconds() == 600
    assert prolonged(values, GetOp(MEMORIES, "k", refresh_ttl=False), 5) == written.expires_at
    for at, op in enumerate([GetOp(MEMORIES, "k"), SearchOp(MEMORIES), SearchOp(MEMORIES, query="n")], start=1):
        before = expiry(values)
        assert (prolonged(values, op, 5) - before).total_seconds() == 300, at
    after = values.memory_of(MEMORIES).get("/memories?k")
    assert (after.updated_at, after.value, after.content) == (written.updated_at, written.value, written.content)
    assert values.get(MEMORIES, "k").value == {"n": 1}
    assert prolonged(values, GetOp(MEMORIES, "k"), 0.05) == after.expires_at  # too soon to be worth a write


def test_an_item_that_shall_not_be_found_is_not_found_when_its_lifetime_began_anew(values):
    values.put(MEMORIES, "k", {"text": "an umbrella"}, index=["text"], ttl=10)
    values.put(MEMORIES, "umbrella", {"text": "an umbrella"}, index=False, ttl=10)
    for key in ("k", "umbrella"):
        before = expiry(values, key)
        read_at(values, GetOp(MEMORIES, key), before.timestamp() * 1000)
        assert expiry(values, key) > before
    assert [(item.key, item.score is None) for item in values.search(MEMORIES, query="umbrella")] == [
        ("k", False),
        ("umbrella", True),
    ]


def test_what_is_written_while_a_lifetime_begins_anew_stays(values, store):
    values.put(MEMORIES, "k", {"n": 1}, ttl=10)
    ahead = expiry(values).timestamp() * 1000
    met = []

    def answer(effect):
        if effect.script == "transact" and not met:
            met.append(effect)
            values.put(MEMORIES, "k", {"n": 2})
        return store._connection.send(effect)

    bound = replace(values._memory.perform(_itself), limits=LIMITS)
    (read,) = drive(Batch(bound, values._layout, ahead).run([GetOp(MEMORIES, "k")]), answer)
    assert (len(met), read.value) == (1, {"n": 1})
    assert values.get(MEMORIES, "k").value == {"n": 2}
    assert expiry(values) is None


def test_what_is_over_is_gone_and_a_put_without_a_lifetime_lasts(values):
    values.put(MEMORIES, "k", {"n": 1}, ttl=1e-5)
    values.put(MEMORIES, "stays", {"n": 1}, ttl=10)
    values.put(MEMORIES, "stays", {"n": 2})
    wait_until(lambda: values.get(MEMORIES, "k", refresh_ttl=False) is None, "the item is over")
    assert [item.key for item in values.search(MEMORIES)] == ["stays"]
    assert expiry(values, "stays") is None


def test_a_namespace_whose_items_are_over_is_not_listed(values):
    deep = ("x" * 400, "y" * 400, "z" * 400)  # too long to be written out as a name
    for place in (MEMORIES, (*MEMORIES, "a/b?c"), (*MEMORIES, *deep)):
        values.put(place, "k", {"n": 1}, ttl=1e-5)
        wait_until(lambda place=place: values.get(place, "k", refresh_ttl=False) is None, "the item is over")
        assert values.list_namespaces() == []
    values.put(MEMORIES, "stays", {"n": 1})
    values.put((*MEMORIES, "b"), "over", {"n": 1}, ttl=1e-5)
    values.put((*MEMORIES, "c"), "later", {"n": 1}, ttl=60)
    wait_until(lambda: values.get((*MEMORIES, "b"), "over", refresh_ttl=False) is None, "the item is over")
    assert values.list_namespaces() == [MEMORIES, (*MEMORIES, "c")]


@pytest.mark.parametrize("ttl", [0, -1, 1e300, float("nan"), "5", True], ids=repr)
def test_a_lifetime_that_cannot_be_is_named_as_it_was_given(values, ttl):
    with pytest.raises(InvalidInput, match="ttl must be a number of minutes"):
        values.batch([PutOp(MEMORIES, "k", {"n": 1}, ttl=ttl)])
    assert values.get(MEMORIES, "k") is None


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("query", SearchOp(MEMORIES, query=5)),
        ("filter", SearchOp(MEMORIES, filter="day")),
        ("limit", SearchOp(MEMORIES, limit="3")),
        ("offset", SearchOp(MEMORIES, offset=-1)),
        ("namespace", SearchOp("users")),
        ("limit", ListNamespacesOp(limit=None)),
        ("max_depth", ListNamespacesOp(max_depth="1")),
        ("namespace", PutOp("users", "k", {"n": 1})),
        ("namespace", GetOp("users", "k")),
    ],
    ids=repr,
)
def test_an_argument_of_a_wrong_type_stops_its_batch(values, name, op):
    with pytest.raises(InvalidInput, match=name):
        values.batch([PutOp(MEMORIES, "k", {"n": 1}), op])
    assert values.get(MEMORIES, "k") is None


def test_default_lifetimes(store):
    values = ImpressionBaseStore(store, ttl={"default_ttl": 5, "refresh_on_read": False})
    values.put(MEMORIES, "k", {"n": 1})
    before = expiry(values)
    values.get(MEMORIES, "k")
    assert expiry(values) == before is not None
    values.put(MEMORIES, "k", {"n": 1}, ttl=None)
    assert expiry(values) is None
    with pytest.raises(InvalidInput, match="ttl"):
        values.put(MEMORIES, "k", {"n": 1}, ttl=-1)


# --- in use -------------------------------------------------------------------------------------------------------


@tool
def note(text: str, runtime: ToolRuntime) -> str:
    """Keep a note."""
    assert runtime.store is not None
    runtime.store.put(("users", "alice", "notes"), "last", {"content": text})
    return f"{len(runtime.store.search(('users', 'alice')))} kept"


@tool
async def anote(text: str, runtime: ToolRuntime) -> str:
    """Keep a note."""
    assert runtime.store is not None
    await runtime.store.aput(("users", "alice", "notes"), "last", {"content": text})
    return f"{len(await runtime.store.asearch(('users', 'alice')))} kept"


def test_an_agents_tools_reach_it_by_the_runtime(values):
    agent = create_agent(ScriptedChat(replies=[use("note", text="buy milk")]), tools=[note], store=values)
    said = agent.invoke({"messages": [("user", "note it")]})["messages"]
    assert said[-2].content == "1 kept"
    assert values.get(("users", "alice", "notes"), "last").value == {"content": "buy milk"}


async def test_an_agents_async_tools_reach_it_by_the_runtime(values):
    agent = create_agent(ScriptedChat(replies=[use("anote", text="buy milk")]), tools=[anote], store=values)
    said = (await agent.ainvoke({"messages": [("user", "note it")]}))["messages"]
    assert said[-2].content == "1 kept"


def langmem_tools(values):
    inside = ("users", "{langgraph_user_id}", "memories")
    return [
        create_manage_memory_tool(inside, store=values),
        create_search_memory_tool(inside, store=values),
    ]


def config(user):
    return {"configurable": {"langgraph_user_id": user}}


def test_langmems_tools_work_over_it(values):
    manage, search = langmem_tools(values)
    made = manage.invoke({"content": "Alice drinks oat milk", "action": "create"}, config("alice"))
    manage.invoke({"content": "Bob drinks rum", "action": "create"}, config("bob"))
    assert "oat milk" in search.invoke({"query": "what does she drink?"}, config("alice"))
    assert "rum" not in search.invoke({"query": "drinks"}, config("alice"))
    memory_id = made.split()[-1]
    manage.invoke({"content": "Alice drinks tea", "action": "update", "id": memory_id}, config("alice"))
    assert [item.value for item in values.search(MEMORIES)] == [{"content": "Alice drinks tea"}]
    manage.invoke({"action": "delete", "id": memory_id}, config("alice"))
    assert values.search(MEMORIES) == []


async def test_langmems_tools_work_over_it_in_asyncio_code(values):
    manage, search = langmem_tools(values)
    await asyncio.gather(
        *(manage.ainvoke({"content": f"fact {at}", "action": "create"}, config("alice")) for at in string.digits)
    )
    assert "fact 7" in await search.ainvoke({"query": "fact 7", "limit": 3}, config("alice"))
    assert len(await values.asearch(MEMORIES, limit=20)) == 10


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_langmems_manager_works_over_it(values, way):
    values.put(MEMORIES, "old", {"kind": "Memory", "content": {"content": "Alice drinks cow milk"}})
    chat = ScriptedChat(replies=[use("Memory", content="Alice drinks oat milk")])
    manager = create_memory_store_manager(chat, namespace=("users", "{langgraph_user_id}", "memories"), store=values)
    given = {"messages": [{"role": "user", "content": "I drink oat milk"}]}
    _ = manager.invoke(given, config("alice")) if way == "invoke" else await manager.ainvoke(given, config("alice"))
    assert "cow milk" in chat.texts[0]  # it looked up what is known
    found = {item.value["content"]["content"] for item in values.search(MEMORIES, query="oat milk")}
    assert found == {"Alice drinks oat milk", "Alice drinks cow milk"}
