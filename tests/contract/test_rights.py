"""Server users with rights of their own: those that the README gives are enough, on both servers, and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import redis

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import StoreError
from tests.docs.markdown import page
from tests.scripted import said
from tests.servers import RunningServer

RULES = dict(re.findall(r"^ACL SETUSER (\w+) (.*)$", page("README.md"), re.MULTILINE))


@pytest.fixture
def stores(server: RunningServer) -> Iterator[dict[str, ImpressionStore]]:
    """One memory, seen by each of the README's users; nothing but its rights tells them apart."""
    made, clients = {}, []
    try:
        for name, rules in RULES.items():
            server.admin.execute_command("ACL", "SETUSER", name, *rules.split())
            clients.append(server.client(username=name, password="secret"))
            made[name] = ImpressionStore(client=clients[-1], user="alice")
        yield made
    finally:
        for client in clients:
            client.close()
        server.admin.execute_command("ACL", "DELUSER", *RULES)


@pytest.fixture
def filled(stores: dict[str, ImpressionStore]) -> dict[str, ImpressionStore]:
    stores["writer"].save("A", "likes green tea", category="Food", labels=["Drink"])
    stores["writer"].save("B", "has a teapot", category="Home", labels=["Kitchen", "Drink"], pin=True)
    assert stores["writer"].remember_turns(said("My tea was cold today")) == 1
    return stores


def test_a_reader_sees_all_and_writes_nothing(filled, server, tmp_path):
    reader, writer = filled["reader"], filled["writer"]
    before = {key: server.admin.dump(key) for key in server.admin.keys("*")}
    assert reader.get("A").content == "likes green tea"
    assert {item.kind for item in reader.recall("tea", fill=True)} == {"impression", "turn"}
    assert len(reader.recall(labels=["Drink"])) == 2
    assert [item.clue for item in reader.impressions()] == ["B", "A"]
    assert list(reader.categories()) == ["Home", "Food"]
    assert len(reader.history("A")) == 1
    assert len(reader.journal()) == 2
    assert [scope.user for scope in reader.scopes()] == ["alice"]
    assert reader.stats().impressions == 2
    assert reader.check() == []
    assert reader.export_jsonl(tmp_path / "memory.jsonl") == 2
    made = reader.context("tea")
    assert set(made.included) == {"A", "B"}
    for change in (
        lambda: reader.save("C", "x", category="C", labels=["l"]),
        lambda: reader.forget("A"),
        lambda: reader.remember_turns(said("I like tea")),
        reader.forget_everything,
    ):
        with pytest.raises(StoreError, match="user lacks a permission"):
            change()
    assert {key: server.admin.dump(key) for key in server.admin.keys("*")} == before
    assert made == writer.context("tea") == reader.context("tea")


def test_a_writer_does_everything(filled, tmp_path):
    writer = filled["writer"]
    assert writer.context("tea").included
    writer.merge_clues(["A"], "B", "likes green tea and has a teapot")
    writer.unpin("B")
    writer.confirm(["B"])
    assert writer.repair() == []
    assert writer.export_jsonl(tmp_path / "memory.jsonl") == 1
    assert writer.forget_everything().clues == 1
    assert writer.import_jsonl(tmp_path / "memory.jsonl").created == 1
    assert writer.forget("B").clues == 1
    assert writer.check() == []


@pytest.mark.parametrize("name", ["reader", "writer"])
def test_neither_reaches_other_keys_or_the_server(filled, server, name):
    with server.client(username=name, password="secret") as client:
        for command in (("GET", "other"), ("FLUSHALL",), ("KEYS", "*"), ("CONFIG", "GET", "*"), ("SHUTDOWN",)):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)
