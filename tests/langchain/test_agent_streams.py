"""Streams and interrupts, seen by the user and, through ChatOpenAI, by a server that receives real requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain.agents.structured_output import ProviderStrategy
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from impressmem_integrations.maintenance.settings import Settings
from tests.langchain.chat import ScriptedChat, note, saving
from tests.langchain.conftest import remember
from tests.langchain.loopback import Loopback
from tests.langchain.test_agent import City, run_as, said, weather
from tests.langchain.test_agent_neighbours import reviewed
from tests.request_rules import CHECKERS, openai
from tests.scripted import call, impression, save

THREAD = run_as("alice", "t")
MODES = ("values", "updates", "messages", "custom", "debug")
SECRET = "KEEPERSPEAKS"


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def openai_model(loopback) -> Callable[..., ChatOpenAI]:
    def make(**options: Any) -> ChatOpenAI:
        return ChatOpenAI(model="scripted", base_url=loopback.url, api_key="none", max_retries=0, **options)

    return make


def is_upkeep(body: dict[str, Any]) -> bool:
    return "You keep the long-term memory" in json.dumps(body["messages"])


def system_of(body: dict[str, Any]) -> str:
    first = body["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


def split(loopback: Loopback) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The bodies of the agent's requests and those of maintenance; all held against the providers' rules."""
    upkeep = [body for body in loopback.bodies if is_upkeep(body)]
    agent = [body for body in loopback.bodies if not is_upkeep(body)]
    for body in upkeep:
        for name, check in CHECKERS.items():
            assert check(body["messages"], body.get("tools")) == [], name
    for body in agent:
        assert openai(body["messages"], body.get("tools")) == []
        assert sum(message["role"] == "system" for message in body["messages"]) <= 1
    return agent, upkeep


def parts_of(agent: Any, way: str, text: str, **options: Any) -> list[Any]:
    if way == "stream":
        return list(agent.stream(said(text), THREAD, **options))

    async def collect() -> list[Any]:
        return [part async for part in agent.astream(said(text), THREAD, **options)]

    return asyncio.run(collect())


# --- what the user's stream shows -------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize("maintenance", ["background", "inline"])
@pytest.mark.parametrize("mode", [*MODES, list(MODES)], ids=lambda mode: mode if isinstance(mode, str) else "all")
def test_no_word_of_maintenance_in_any_stream(store, memory, way, maintenance, mode):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    keeper = ScriptedChat(replies=[saving(note("CAT", SECRET))], fallback=SECRET)
    kept = memory(model=keeper, maintenance=maintenance)
    agent = create_agent(ScriptedChat(replies=["three short words"]), middleware=[kept])
    parts = parts_of(agent, way, "I have a cat", stream_mode=mode)
    assert kept.flush() == []
    assert SECRET not in repr(parts)
    assert "Oslo" not in repr(parts)
    if mode == "messages":
        assert "".join(part[0].text for part in parts if part[0].type == "AIMessageChunk").split() == [
            "three", "short", "words",
        ]  # fmt: skip
    if mode == "custom":
        assert [part["type"] for part in parts] == (["memory_updated"] if maintenance == "inline" else [])
    assert store.scoped(user="alice").get("CAT").content == SECRET


@pytest.mark.parametrize("maintenance", ["background", "inline"])
async def test_no_event_of_maintenance_in_astream_events(store, memory, maintenance):
    keeper = ScriptedChat(replies=[saving(note("CAT", SECRET))])
    kept = memory(model=keeper, maintenance=maintenance)
    agent = create_agent(ScriptedChat(replies=["three short words"]), middleware=[kept])
    events = [event async for event in agent.astream_events(said("I have a cat"), THREAD, version="v2")]
    assert await kept.aflush() == []
    assert SECRET not in repr(events)
    assert sum(event["event"] == "on_chat_model_start" for event in events) == 1
    assert store.scoped(user="alice").get("CAT")


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_memory_updated_goes_to_the_custom_stream_and_to_on_report(store, memory, way):
    keeper = ScriptedChat(replies=[saving(note("CAT", "Has a cat."))])
    reports: list[Any] = []
    kept = memory(model=keeper, maintenance="inline", on_report=reports.append)
    agent = create_agent(ScriptedChat(), middleware=[kept])
    (event,) = parts_of(agent, way, "I have a cat", stream_mode="custom")
    assert event == {
        "type": "memory_updated",
        "saved": ["CAT"],
        "changed": [],
        "merged": [],
        "transaction": reports[0].transaction,
    }
    assert parts_of(agent, way, "hi", stream_mode="custom") == []
    assert reports[1].status == "skipped"


# --- what a provider receives -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "astream_events"])
@pytest.mark.parametrize("maintenance", ["background", "inline"])
def test_bodies_of_a_plain_turn(store, memory, loopback, openai_model, way, maintenance):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    loopback.replies += ["hello you", save(impression("CAT", "Has a cat."))]
    kept = memory(maintenance=maintenance)  # with the agent's own model
    agent = create_agent(openai_model(), middleware=[kept], system_prompt="RULES", checkpointer=InMemorySaver())

    async def run() -> None:
        if way == "ainvoke":
            await agent.ainvoke(said("I have a cat"), THREAD)
        elif way == "astream":
            assert [part async for part in agent.astream(said("I have a cat"), THREAD, stream_mode="messages")]
        else:
            assert [event async for event in agent.astream_events(said("I have a cat"), THREAD, version="v2")]

    if way == "invoke":
        agent.invoke(said("I have a cat"), THREAD)
    elif way == "stream":
        assert list(agent.stream(said("I have a cat"), THREAD, stream_mode="messages"))
    else:
        asyncio.run(run())
    assert kept.flush() == []
    (asked,), (upkeep,) = split(loopback)
    system, question = asked["messages"]
    assert system["content"].startswith("RULES\n\n<memory>")
    assert system["content"].count("Oslo") == 1
    assert question == {"role": "user", "content": "I have a cat"}
    assert bool(asked.get("stream")) == (way not in ("invoke", "ainvoke"))
    assert [one["function"]["name"] for one in upkeep["tools"]] == ["save_impressions", "organize_impressions"]
    assert store.scoped(user="alice").get("CAT")


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_bodies_of_a_stream_with_tool_calls(store, memory, loopback, openai_model, way):
    loopback.replies += [save(impression("TEA", "Drinks oolong.")), "noted"]
    kept = memory()
    agent = create_agent(openai_model(), middleware=[kept], checkpointer=InMemorySaver())
    parts_of(agent, way, "I drink oolong", stream_mode=["messages", "updates"])
    assert kept.flush() == []
    (first, second), (upkeep,) = split(loopback)
    assert first["tools"][0]["function"]["name"] == "save_impressions"
    assert (system_of(first), "oolong" in system_of(second)) == ("", True)
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool"]
    assert "oolong" in upkeep["messages"][0]["content"]
    assert store.scoped(user="alice").get("TEA")


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_bodies_after_a_stream_that_was_closed_early(memory, loopback, openai_model, way):
    loopback.replies += ["one two three four"]
    kept = memory()
    agent = create_agent(openai_model(), middleware=[kept], checkpointer=InMemorySaver())

    async def leave() -> None:
        stream = agent.astream(said("I drink tea"), THREAD, stream_mode="messages")
        await anext(stream)
        await stream.aclose()

    if way == "stream":
        stream = agent.stream(said("I drink tea"), THREAD, stream_mode="messages")
        next(stream)
        stream.close()
    else:
        asyncio.run(leave())
    assert kept.flush() == []
    agent.invoke(said("I live in Oslo"), THREAD)
    assert kept.flush() == []
    agents, (upkeep,) = split(loopback)
    assert [message["content"] for message in agents[-1]["messages"] if message["role"] == "user"] == [
        "I drink tea", "I live in Oslo",
    ]  # fmt: skip
    quoted = upkeep["messages"][-1]["content"]
    assert "I drink tea" in quoted
    assert "I live in Oslo" in quoted


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_bodies_of_a_reviewed_save(store, memory, loopback, openai_model, way, decision):
    loopback.replies += [save(impression("TEA", "Drinks oolong.")), "done"]
    kept = memory()
    agent = create_agent(openai_model(), middleware=[reviewed(), kept], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}

    def go(given: Any, **options: Any) -> Any:
        if way == "invoke":
            return agent.invoke(given, thread, **options)
        return asyncio.run(agent.ainvoke(given, thread, **options))

    assert go(said("I drink oolong"), context={"user_id": "alice"})["__interrupt__"]
    assert len(loopback.bodies) == 1
    go(Command(resume={"decisions": [{"type": decision}]}))
    assert kept.flush() == []
    (_, resumed), (upkeep,) = split(loopback)
    assert [message["role"] for message in resumed["messages"] if message["role"] != "system"] == [
        "user", "assistant", "tool",
    ]  # fmt: skip
    assert ("oolong" in system_of(resumed)) is (decision == "approve")
    assert "I drink oolong" in upkeep["messages"][-1]["content"]
    assert [item.clue for item in store.scoped(user="alice").impressions()] == (
        ["TEA"] if decision == "approve" else []
    )


def test_bodies_next_to_the_summarisation_middleware(store, memory, loopback, openai_model):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    loopback.replies += [{"content": None, "tool_calls": [call("weather", {"city": "Rome"})]}]
    kept = memory()
    summary = SummarizationMiddleware(
        model=ScriptedChat(fallback="SUMMARY"), trigger=("messages", 5), keep=("messages", 3)
    )
    agent = create_agent(openai_model(), tools=[weather], middleware=[summary, kept], checkpointer=InMemorySaver())
    for number in range(6):
        agent.invoke(said(f"I tell story {number}."), THREAD)
        assert kept.flush() == []
    agents, upkeep = split(loopback)
    assert len(upkeep) == 6
    assert all(str(body["messages"][0]["content"]).count("Oslo") == 1 for body in agents)
    assert any("SUMMARY" in json.dumps(body) for body in agents)
    assert not any("SUMMARY" in body["messages"][-1]["content"] for body in upkeep)


def test_bodies_of_two_turns_share_their_beginning(store, memory, loopback, openai_model):
    """What stays the same stands in front, byte for byte, so that a provider's prompt cache works."""
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    kept = memory(settings=Settings(batch_turns=50))
    agent = create_agent(openai_model(), middleware=[kept], system_prompt="RULES", checkpointer=InMemorySaver())
    for number in range(3):
        agent.invoke(said(f"I tell story {number}"), THREAD)
    assert kept.flush() == []
    agents, upkeep = split(loopback)
    assert upkeep == []
    assert agents[1]["messages"][: len(agents[0]["messages"])] == agents[0]["messages"]
    assert agents[2]["messages"][: len(agents[1]["messages"])] == agents[1]["messages"]


def test_bodies_of_structured_output_by_the_provider(store, memory, loopback, openai_model):
    """OpenAI's strict mode, which LangChain then asks of every tool, takes ours as they are."""
    loopback.replies += [save(impression("CITY", "Lives in Oslo.")), '{"name": "Oslo"}']
    kept = memory(settings=Settings(batch_turns=50))
    agent = create_agent(openai_model(), middleware=[kept], response_format=ProviderStrategy(City))
    assert agent.invoke(said("I live in Oslo"), THREAD)["structured_response"] == City(name="Oslo")
    for body in loopback.bodies:
        assert body["response_format"]["type"] == "json_schema"
        for function in (tool["function"] for tool in body["tools"]):
            assert function["strict"] is True
            assert set(function["parameters"]["required"]) == set(function["parameters"]["properties"])
        items = body["tools"][0]["function"]["parameters"]["properties"]["impressions"]["items"]
        assert items["additionalProperties"] is False
        assert set(items["required"]) == set(items["properties"])
    assert store.scoped(user="alice").get("CITY")


def test_bodies_after_an_abandoned_review(store, memory, loopback, openai_model):
    """The call that nobody decided on stays in the history; maintenance never sees it as a call."""
    loopback.replies += [save(impression("TEA", "Drinks oolong.")), "fine"]
    kept = memory()
    agent = create_agent(openai_model(), middleware=[reviewed(), kept], checkpointer=InMemorySaver())
    agent.invoke(said("I drink oolong"), THREAD)
    agent.invoke(said("Never mind, I drink coffee"), THREAD)
    assert kept.flush() == []
    _, asked, upkeep = loopback.bodies
    assert is_upkeep(upkeep)
    assert not is_upkeep(asked)
    for name, check in CHECKERS.items():
        assert check(upkeep["messages"], upkeep.get("tools")) == [], name
    quoted = upkeep["messages"][-1]["content"]
    assert "I drink oolong" in quoted
    assert "I drink coffee" in quoted
    assert store.scoped(user="alice").get("TEA") is None
