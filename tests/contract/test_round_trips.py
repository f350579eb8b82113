"""An operation on up to 1,000 notes is one script call, and no other command comes before or after it.

A recall takes a second where it asks for a time alone, and one more for each part of a budget that is to be filled.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.scripts import script
from tests.architecture.tree import LUA
from tests.servers import RunningServer

ITEMS = [{"clue": f"c{n}", "content": f"note {n}", "category": "A", "labels": ["x", f"l{n % 9}"]} for n in range(1_000)]
OPERATIONS = {
    "save": lambda s: s.save("new", "text", category="A", labels=["x"]),
    "save over": lambda s: s.save("c1", "text", category="B", labels=["y"]),
    "save and evict": lambda s: s.save("more", "text", category="A", labels=["x"]),
    "save a thousand": lambda s: s.save_many(ITEMS),
    "get": lambda s: s.get("c1"),
    "recall": lambda s: s.recall(category="A", labels=["x"]),
    "context": lambda s: s.context(),
    "merge categories of a thousand": lambda s: s.merge_categories("A", "B"),
    "merge labels of a thousand": lambda s: s.merge_labels(["x", "l1"], "l0"),
    "merge clues": lambda s: s.merge_clues([f"c{n}" for n in range(900)], "c900", "all of it"),
    "pin": lambda s: s.pin("c1"),
    "unpin": lambda s: s.unpin("c1"),
    "confirm": lambda s: s.confirm([f"c{n}" for n in range(500)]),
    "forget": lambda s: s.forget("c1"),
    "journal": lambda s: s.journal(),
    "stats": lambda s: s.stats(),
}


def calls(server: RunningServer) -> dict[str, int]:
    """How often clients sent each command, as the server counts it: what a script calls comes with the script."""
    stats = server.admin.info("commandstats")
    return {name.removeprefix("cmdstat_"): stats[name]["calls"] for name in stats}


@pytest.fixture
def store(server, client):
    made = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=1_002))
    made.save_many(ITEMS)
    made.save("other", "x", category="B", labels=["l0"])
    made.save("last", "x", category="B", labels=["l0"])
    made.context()  # a snapshot is kept once, at the first context
    for path in LUA.glob("*.lua"):
        server.admin.script_load(script(path.stem).source)
    server.admin.config_resetstat()
    return made


def commands(server: RunningServer, operation: Callable[[], object]) -> list[str]:
    """What clients send for an operation."""
    seen: list[str] = []
    with server.client() as watching, watching.monitor() as monitor:
        operation()
        server.admin.echo("the end")
        for entry in monitor.listen():
            command = entry["command"]
            if command.startswith("ECHO"):
                break
            if entry["client_type"] != "lua":
                seen.append(command.split(" ")[0].upper())
    return [command for command in seen if command not in ("HELLO", "CLIENT")]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_one_operation_is_one_script_call(server, store, operation):
    assert commands(server, lambda: OPERATIONS[operation](store)) == ["EVALSHA"]


@pytest.mark.parametrize(
    ("question", "fill", "trips"),
    [
        ("note 7?", False, 1),
        ("what did we talk about yesterday?", False, 2),
        ("which note was there yesterday?", False, 1),
        ("note 7?", True, 2),
        ("which note was there yesterday?", True, 3),
    ],
)
def test_a_question_that_asks_for_a_time_and_a_filled_budget_take_a_trip_more(server, store, question, fill, trips):
    assert commands(server, lambda: store.recall(question, fill=fill)) == ["EVALSHA"] * trips


def test_the_servers_statistics_say_the_same(server, store):
    for number in range(10):
        store.save(f"n{number}", "text", category="A", labels=["x"])
        store.get("c1")
    after = calls(server)
    assert after["evalsha"] == 20
    assert {"eval", "sadd", "hello"} & set(after) == set()


def test_the_registry_is_told_once_per_process_and_scope(server, client):
    store = ImpressionStore(client=client, user="ann")
    store.save("A", "x", category="C", labels=["l"])
    server.admin.config_resetstat()
    for number in range(5):
        store.scoped(user="ann").save(f"n{number}", "x", category="C", labels=["l"])
    assert "sadd" not in calls(server)
    store.scoped(user="bob").save("A", "x", category="C", labels=["l"])
    assert calls(server)["sadd"] == 1
