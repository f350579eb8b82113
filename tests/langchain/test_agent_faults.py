"""A store or a maintenance model that fails never costs the user the answer, unless somebody asks for that."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver

from impressmem_integrations import ImpressionStore
from impressmem_integrations.availability import availability_of
from impressmem_integrations.connect.connection import executor
from impressmem_integrations.errors import (
    ConfigurationError,
    ModelError,
    StoreTimeout,
    StoreUnavailable,
)
from impressmem_integrations.langchain import ImpressionMiddleware
from impressmem_integrations.langchain.injection import UNAVAILABLE
from impressmem_integrations.maintenance.runner import Runner
from tests.architecture.tree import ROOT
from tests.langchain.chat import ScriptedChat
from tests.langchain.conftest import remember
from tests.langchain.test_agent import run_as, said, turn
from tests.polling import wait_until
from tests.scripted import Scripted, impression, save
from tests.servers import RunningServer, valkey_binary

ALICE = run_as("alice", "t")
LONGER_THAN_THE_TEST_MAY_TAKE = 600.0
LIMIT = 0.3


@pytest.fixture
def quick() -> Iterator[Runner]:
    """Background work whose retries do not wait."""
    with Runner(retry_seconds=0.0) as runner:
        yield runner


@pytest.fixture
def lonely() -> Iterator[RunningServer]:
    """A server of the test's own, to be stopped and paused."""
    with RunningServer(valkey_binary(), tcp=True) as server:
        yield server


def answers(store: ImpressionStore) -> bool:
    """Whether a read is answered, as a model call would try it."""
    try:
        return availability_of(store).read(store.stats, LIMIT).impressions >= 0
    except StoreUnavailable:
        return False


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_rd_12_a_host_that_never_answers(silent, way, quick):
    with ImpressionStore.from_url(silent) as store:
        model, reports = ScriptedChat(), []
        first = ImpressionMiddleware(
            store, limit_seconds=LIMIT, model=Scripted(), runner=quick, on_report=reports.append
        )
        await turn(create_agent(model, middleware=[first]), way, "I drink tea", ALICE)
        assert availability_of(store).away
        # Nobody waits for the limit again, whoever uses the store.
        later = ImpressionMiddleware(store, limit_seconds=LONGER_THAN_THE_TEST_MAY_TAKE, maintenance="inline")
        agent = create_agent(model, middleware=[later], checkpointer=InMemorySaver())
        for number in range(4):
            await turn(agent, way, f"story {number}", ALICE)
        assert model.systems == [UNAVAILABLE] * 5
        assert [type(error.__cause__) for error in quick.flush()] == [StoreUnavailable]
        assert [report.status for report in reports] == ["store_unavailable"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_rd_12_a_host_that_refuses_and_comes_back(lonely, way, quick):
    with ImpressionStore.from_url(lonely.url) as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        model, reports = ScriptedChat(), []
        keeper = Scripted(save(impression("TEA", "Drinks tea.")))
        kept = ImpressionMiddleware(store, model=keeper, runner=quick, on_report=reports.append)
        agent = create_agent(model, middleware=[kept], checkpointer=InMemorySaver())
        lonely.stop()
        for number in range(2):
            await turn(agent, way, f"I drink tea number {number}", ALICE)
        assert len(quick.flush()) == 2  # writes during the outage are reported
        lonely.start()
        wait_until(lambda: answers(store), "a read ends the outage")
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        for number in range(2, 5):
            await turn(agent, way, f"I drink tea number {number}", ALICE)
        assert kept.flush() == []
        assert model.systems[:2] == [UNAVAILABLE] * 2
        assert all("Oslo" in text for text in model.systems[2:])
        assert [report.status for report in reports[:3]] == ["store_unavailable", "store_unavailable", "stored"]
        # The turns of the outage were not lost.
        assert "number 0" in keeper.requests[0][-1]["content"]
        assert store.scoped(user="alice").get("TEA")


def test_rd_12_a_store_that_hangs_and_goes_on(lonely):
    with ImpressionStore.from_url(lonely.url) as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        model = ScriptedChat()
        kept = ImpressionMiddleware(store, limit_seconds=LIMIT, maintenance="off")
        agent = create_agent(model, middleware=[kept])
        lonely.pause()
        try:
            agent.invoke(said("hi"), ALICE)
            agent.invoke(said("hi"), ALICE)
        finally:
            lonely.resume()
        wait_until(lambda: not availability_of(store).away, "the read that was under way ends the outage")
        agent.invoke(said("hi"), ALICE)
        assert model.systems[:2] == [UNAVAILABLE] * 2
        assert "Oslo" in model.systems[2]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_rd_12_on_error_raise(way):
    with ImpressionStore.from_url("redis://127.0.0.1:1/0") as store:
        model = ScriptedChat()
        strict = ImpressionMiddleware(store, on_error="raise", maintenance="off")
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                await turn(create_agent(model, middleware=[strict]), way, "hi", ALICE)
        assert model.requests == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_on_error_as_a_function_gets_the_error(way):
    with ImpressionStore.from_url("redis://127.0.0.1:1/0") as store:
        model, errors = ScriptedChat(), []
        kept = ImpressionMiddleware(store, on_error=errors.append, maintenance="off")
        await turn(create_agent(model, middleware=[kept]), way, "hi", ALICE)
        assert [type(error) for error in errors] == [StoreUnavailable]
        assert model.systems == [UNAVAILABLE]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("on_error", ["log", "raise"])
async def test_a_maintenance_model_that_fails_inline(memory, way, on_error):
    model, reports = ScriptedChat(), []
    kept = memory(
        model=Scripted(RuntimeError("overloaded")), maintenance="inline", on_error=on_error, on_report=reports.append
    )
    agent = create_agent(model, middleware=[kept])
    if on_error == "raise":
        with pytest.raises(ModelError):
            await turn(agent, way, "I drink tea", ALICE)
    else:
        await turn(agent, way, "I drink tea", ALICE)
    assert [report.status for report in reports] == ["model_failed"]
    assert len(model.requests) == 1


class RateLimitError(Exception):
    """What providers call it."""


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_rate_limit_of_the_maintenance_model_passes_unnoticed(store, memory, way, quick):
    limit, reports = RateLimitError("slow down"), []
    keeper = Scripted(limit, limit, limit, save(impression("TEA", "Drinks tea.")), *[limit] * 5)
    kept = memory(model=keeper, runner=quick, on_report=reports.append)
    agent = create_agent(ScriptedChat(), middleware=[kept], checkpointer=InMemorySaver())
    await turn(agent, way, "I drink tea", ALICE)
    assert kept.flush() == []
    assert [report.status for report in reports] == ["stored"]
    await turn(agent, way, "I like it hot", ALICE)
    assert [type(error.__cause__) for error in kept.flush()] == [ModelError]
    assert [report.status for report in reports] == ["stored", "model_failed"]
    assert store.scoped(user="alice").get("TEA").revision == 1


@pytest.mark.parametrize("flushing", [True, False])
async def test_a_rate_limit_without_a_checkpointer_loses_no_turn(store, memory, quick, flushing):
    limit = RateLimitError("slow down")
    keeper = Scripted(limit, limit, limit, save(impression("TEA", "Drinks tea.")), save(impression("HOT", "Hot.")))
    kept = memory(model=keeper, runner=quick)
    agent = create_agent(ScriptedChat(), middleware=[kept])
    errors = []
    for text in ("I drink tea", "I like it hot"):
        await turn(agent, "ainvoke", text, run_as("alice"))
        errors += kept.flush() if flushing else []
    assert errors + kept.flush() == []
    assert {item.clue for item in store.scoped(user="alice").impressions()} == {"TEA", "HOT"}


def test_a_listener_that_fails_costs_nothing(memory):
    def broken(_: Any) -> None:
        raise RuntimeError("listener")

    kept = memory(model=Scripted(), maintenance="inline", on_report=broken, on_error=broken)
    assert create_agent(ScriptedChat(), middleware=[kept]).invoke(said("I drink tea"), ALICE)["messages"]


def test_a_memory_that_cannot_be_read_is_no_empty_memory(memory, valkey_server):
    def broken(text: str) -> int:
        raise RuntimeError("no such model")

    with ImpressionStore.from_url(valkey_server.url) as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        model, errors = ScriptedChat(), []
        counting = ImpressionStore.from_url(valkey_server.url, tokenizer=("broken", broken))
        kept = memory(store=counting, maintenance="off", on_error=errors.append)
        create_agent(model, middleware=[kept]).invoke(said("hi"), ALICE)
        assert model.systems == [UNAVAILABLE]
        assert [type(error) for error in errors] == [RuntimeError]


def test_a_closed_store_is_a_mistake_that_shows(memory, valkey_server):
    store = ImpressionStore.from_url(valkey_server.url)
    store.close()
    with pytest.raises(ConfigurationError, match="closed"):
        create_agent(ScriptedChat(), middleware=[memory(store=store)]).invoke(said("hi"), ALICE)


def test_logs_hold_no_contents(memory, store, caplog):
    caplog.set_level("DEBUG", "impressmem_integrations")
    kept = memory(model=Scripted(RuntimeError("I drink oolong")), maintenance="inline")
    create_agent(ScriptedChat(), middleware=[kept]).invoke(said("I drink oolong"), ALICE)
    assert caplog.text
    assert "oolong" not in caplog.text


async def test_reading_never_blocks_the_loop(lonely):
    with ImpressionStore.from_url(lonely.url) as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        model = ScriptedChat()
        kept = ImpressionMiddleware(store, limit_seconds=LONGER_THAN_THE_TEST_MAY_TAKE, maintenance="off")
        lonely.pause()
        try:
            running = asyncio.create_task(create_agent(model, middleware=[kept]).ainvoke(said("hi"), ALICE))
            for _ in range(50):  # the loop turns while the store is silent
                await asyncio.sleep(0)
            assert not running.done()
        finally:
            lonely.resume()
        await running
        assert "Oslo" in model.systems[0]


def test_rd_03_nothing_is_opened_at_import_time():
    code = """
import threading
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware, impression_tools
import redis.connection
def refuse(*_, **__):
    raise AssertionError("a connection was opened")
redis.connection.AbstractConnection.connect = refuse
before = threading.active_count()
store = ImpressionStore.from_url("redis://127.0.0.1:1/0")
tools = impression_tools(store)
memory = ImpressionMiddleware(store)
agent = create_agent(GenericFakeChatModel(messages=iter([])), tools=tools[:1], middleware=[memory])
assert threading.active_count() == before
print("built")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "built\n"


def test_what_is_queued_is_done_before_the_interpreter_ends(valkey_server):
    code = f"""
import time
from langchain.agents import create_agent
from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware
from tests.langchain.chat import ScriptedChat
from tests.scripted import impression, save
def slow(messages, tools):
    time.sleep(0.3)
    return save(impression("TEA", "Drinks tea."))
store = ImpressionStore.from_url({valkey_server.url!r})
agent = create_agent(ScriptedChat(), middleware=[ImpressionMiddleware(store, model=slow)])
agent.invoke({{"messages": [("user", "I drink tea")]}}, {{"configurable": {{"user_id": "alice"}}}})
assert store.scoped(user="alice").get("TEA") is None
print("answered")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "answered\n"
    with ImpressionStore.from_url(valkey_server.url, user="alice") as alice:
        assert alice.get("TEA").content == "Drinks tea."


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_starting_the_embedded_server_is_no_outage(tmp_path, way):
    url = f"embedded://{tmp_path}/memory"
    with ImpressionStore.from_url(url) as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    with ImpressionStore.from_url(url) as cold:
        model = ScriptedChat()
        kept = ImpressionMiddleware(cold, limit_seconds=0.0001, maintenance="off")
        await turn(create_agent(model, middleware=[kept]), way, "hi", ALICE)
        assert "Oslo" in model.systems[0]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_lost_embedded_directory_costs_no_answer(tmp_path, way, quick):
    folder = tmp_path / "memory"
    with ImpressionStore.from_url(f"embedded://{folder}") as store:
        remember(store, "alice", "USER-CITY", "Lives in Oslo.")
        model, errors, reports = ScriptedChat(), [], []
        kept = ImpressionMiddleware(
            store, model=Scripted(), runner=quick, on_error=errors.append, on_report=reports.append
        )
        agent = create_agent(model, middleware=[kept])
        await turn(agent, way, "hi", ALICE)
        assert kept.flush() == []
        lost = int((folder / "server.pid").read_text())
        shutil.rmtree(folder)
        os.kill(lost, signal.SIGKILL)
        await turn(agent, way, "I drink tea", ALICE)
        assert "Oslo" in model.systems[0]
        assert model.systems[1] == UNAVAILABLE
        assert [type(error) for error in errors] == [StoreUnavailable]
        assert "put it back" in str(errors[0])
        assert [type(error.__cause__) for error in kept.flush()] == [StoreUnavailable]
        assert reports[-1].status == "store_unavailable"


async def test_a_read_that_only_waits_for_a_thread_is_no_outage(store):
    available = availability_of(store)
    gate, full = threading.Event(), []
    try:
        full += [executor().submit(gate.wait, 60) for _ in range(64)]
        with pytest.raises(StoreTimeout):
            available.read(store.stats, 0.05)
        with pytest.raises(StoreTimeout):
            await available.aread(store.stats, 0.05)
    finally:
        gate.set()
    assert not available.away
    wait(full)
    assert available.read(store.stats, 30.0).impressions == 0


def test_a_view_of_a_store_shares_what_is_known_of_its_server(store):
    assert availability_of(store) is availability_of(store.scoped(user="alice"))
