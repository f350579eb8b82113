"""A store that is down or slow: the chat goes on, and the model is told that memory is unavailable."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.chat_engine import SimpleChatEngine

from impressmem_integrations import ImpressionStore
from impressmem_integrations.availability import availability_of
from impressmem_integrations.errors import ConfigurationError, JobError, StoreUnavailable
from impressmem_integrations.llama_index import (
    ImpressionMemory,
    ImpressionMemoryBlock,
    ImpressionRetriever,
    ImpressionToolSpec,
)
from impressmem_integrations.maintenance.runner import Runner
from tests.llama_index.chat import Chat
from tests.llama_index.stock import stock
from tests.llama_index.test_memory import NUTS, PAINT, assistant, times, user
from tests.polling import wait_until
from tests.scripted import Scripted, impression, save
from tests.servers import AT_ONCE, RunningServer, valkey_binary

DOWN = "redis://127.0.0.1:1/0"
Make = Callable[..., ImpressionMemory]


@pytest.fixture
def own_server() -> Iterator[RunningServer]:
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary) as running:
        yield running


def told(chat: Chat, place: int = -1) -> bool:
    return "unavailable, not empty" in "".join(message["content"] for message in chat.requests[place])


@pytest.mark.parametrize("style", ["chat", "achat", "stream_chat"])
def test_rd12_a_chat_with_no_server(chat: Chat, keeper: Scripted, memory_of: Make, style: str) -> None:
    memory = memory_of(DOWN, user="alice")
    talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)
    if style == "chat":
        answer = str(talk.chat(NUTS))
    elif style == "achat":
        answer = str(asyncio.run(talk.achat(NUTS)))
    else:
        answer = "".join(talk.stream_chat(NUTS).response_gen)
    assert answer == "ok"
    assert told(chat)
    assert chat.faults == []
    assert [message.content for message in memory.get_all()] == [NUTS, "ok"]
    errors = memory.flush()
    assert errors
    assert all(isinstance(error, JobError) and isinstance(error.__cause__, StoreUnavailable) for error in errors)
    assert keeper.requests == []


class RateLimitError(Exception):
    """What providers call it."""


def test_a_rate_limit_of_the_maintenance_model_passes_unnoticed(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    limit, reports = RateLimitError("slow down"), []
    keeper.replies = [limit, limit, save(impression("USER-NUTS", "must not eat nuts"))]
    memory = memory_of(alice, on_report=reports.append)
    SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory).chat(NUTS)
    assert memory.flush() == []
    assert [report.status for report in reports] == ["stored"]
    assert [item.clue for item in alice.impressions()] == ["USER-NUTS"]
    assert times(keeper, NUTS) == 3


def test_a_stock_memory_with_no_server(chat: Chat, runner: Runner, keeper: Scripted) -> None:
    block = ImpressionMemoryBlock(DOWN, user="alice", model=keeper, runner=runner)
    memory = stock(block)
    assert str(SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory).chat(NUTS)) == "ok"
    assert told(chat)
    assert len(memory.get_all()) == 2
    assert block.end_session(memory).status == "store_unavailable"


def test_tools_with_no_server() -> None:
    tools = {tool.metadata.name: tool for tool in ImpressionToolSpec(DOWN, user="alice").to_tool_list()}
    assert "cannot be reached" in tools["recall_impressions"].call(query="x").content


@pytest.mark.parametrize("awaited", [False, True])
def test_a_retriever_with_no_server_finds_nothing_or_raises(awaited: bool, caplog: Any) -> None:
    def ask(retriever: ImpressionRetriever) -> list[Any]:
        return asyncio.run(retriever.aretrieve("nuts")) if awaited else retriever.retrieve("nuts")

    assert ask(ImpressionRetriever(DOWN, user="alice")) == []
    assert "memory is not shown" in caplog.text
    assert "nuts" not in caplog.text
    with pytest.raises(StoreUnavailable):
        ask(ImpressionRetriever(DOWN, user="alice", on_error="raise"))


def test_a_password_that_is_changed_meanwhile_breaks_no_chat(chat: Chat, memory_of: Make) -> None:
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary, tcp=True, password="hidden") as server:
        url = f"{server.url}/0"
        wrong = memory_of(url.replace("hidden", "other"), user="alice")
        with pytest.raises(ConfigurationError, match="password"):  # it never worked: that is for the developer to see
            wrong.get(input="x")
        memory = memory_of(url, user="alice")
        assert memory.get(input="x") == []
        server.admin.config_set("requirepass", "changed")
        server.admin.client_kill_filter(_type="normal", skipme=True)
        talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)
        assert str(talk.chat(NUTS)) == "ok"
        assert told(chat)
        with pytest.raises(ConfigurationError):
            ImpressionRetriever(url, user="alice", on_error="raise").retrieve("x")
        memory.flush()


def test_a_silent_server_is_not_waited_for_again(
    own_server: RunningServer, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    with own_server.client(retry=AT_ONCE, socket_timeout=1) as client:
        alice = ImpressionStore(client=client, user="alice")
        alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
        memory = memory_of(alice, limit_seconds=0.3)
        talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)
        own_server.pause()
        try:
            talk.chat(NUTS)
            assert availability_of(alice).away
            assert availability_of(memory_of(alice.scoped(user="bob"))._attachment.memory()).away  # of the same store
            talk.chat(NUTS)
            assert told(chat, 0)
            assert told(chat, 1)
        finally:
            own_server.resume()
        wait_until(lambda: "lives in Lisbon" in str(memory.get()), "the memory is shown again")
        memory.flush()


@pytest.mark.parametrize("form", ["memory", "block"])
async def test_li05_the_loop_goes_on_while_memory_is_read(
    own_server: RunningServer, memory_of: Make, form: str
) -> None:
    with own_server.client(retry=AT_ONCE) as client:
        alice = ImpressionStore(client=client, user="alice")
        alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
        reads: Any = memory_of(alice) if form == "memory" else ImpressionMemoryBlock(alice, model=Scripted())
        reads.limit_seconds = 30
        own_server.pause()
        try:
            reading = asyncio.create_task(reads.aget("Where?" if form == "memory" else [user("Where?")]))
            for _ in range(100):
                await asyncio.sleep(0.001)  # the loop turns while the server is silent
            assert not reading.done()
        finally:
            own_server.resume()
        assert "lives in Lisbon" in str(await reading)


def test_a_turn_said_during_an_outage_is_learnt_afterwards(
    own_server: RunningServer, keeper: Scripted, memory_of: Make
) -> None:
    with own_server.client(retry=AT_ONCE) as client:
        memory = memory_of(ImpressionStore(client=client, user="alice"))
        own_server.stop()
        memory.put_messages([user(NUTS), assistant()])
        assert memory.flush()
        own_server.start()
        memory.put_messages([user(PAINT), assistant()])
        assert memory.flush() == []
        assert (times(keeper, NUTS), times(keeper, PAINT)) == (1, 1)


def test_logs_hold_no_contents(keeper: Scripted, memory_of: Make, caplog: Any) -> None:
    memory = memory_of(DOWN, user="alice")
    memory.put(user(NUTS))
    memory.get()
    memory.put(assistant())
    memory.flush()
    assert caplog.records
    assert "nuts" not in caplog.text
