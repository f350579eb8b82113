"""Memory beside other middleware, and in runs that stop, pause or break off."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from impressmem_integrations import ImpressionStore
from impressmem_integrations.model import Context
from tests.langchain.chat import ScriptedChat, note, saving, use
from tests.langchain.conftest import remember
from tests.langchain.test_agent import run_as, said, weather
from tests.request_rules import anthropic, openai
from tests.scripted import Scripted, impression, save

THREAD = run_as("alice", "t")


def reviewed() -> HumanInTheLoopMiddleware:
    return HumanInTheLoopMiddleware(interrupt_on={"save_impressions": True})


async def go(agent: Any, way: str, given: Any, config: Any = THREAD, **options: Any) -> dict[str, Any]:
    if way == "invoke":
        return await asyncio.to_thread(lambda: agent.invoke(given, config, **options))
    return await agent.ainvoke(given, config, **options)


@pytest.mark.parametrize("first", ["summary", "memory"])
@pytest.mark.parametrize("keep", [4, 2])
def test_lc_06_next_to_the_summarisation_middleware(store, memory, first, keep):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    replies: list[Any] = []
    for number in range(12):
        if number % 3 == 0:
            replies += [use("weather", f"c{number}-{n}", city=f"City{number}") for n in range(3)]
        replies.append(f"answer {number}")
    model, writer, keeper = ScriptedChat(replies=replies), ScriptedChat(fallback="SUMMARY"), Scripted()
    kept = memory(model=keeper)
    summary = SummarizationMiddleware(model=writer, trigger=("messages", 6), keep=("messages", keep))
    agent = create_agent(
        model,
        tools=[weather],
        middleware=[summary, kept] if first == "summary" else [kept, summary],
        checkpointer=InMemorySaver(),
    )
    for number in range(12):
        agent.invoke(said(f"I tell you story number {number}."), THREAD)
    assert kept.flush() == []
    assert writer.requests
    assert all(text.count("Oslo") == 1 for text in model.systems)
    for request, tools in zip(model.requests, model.tools, strict=True):
        assert openai(request, tools) == []
    # Each turn was distilled once, with the user's own words, and no summary was.
    assert len(keeper.requests) == 12
    for number, request in enumerate(keeper.requests):
        assert anthropic(request) == []
        turns = request[-1]["content"].split("<turn>")
        assert len(turns) == 2
        assert f"story number {number}." in turns[1]
        assert f"answer {number}" in turns[1]
        assert "SUMMARY" not in request[-1]["content"]


def test_lc_06_the_question_stays_the_question_when_a_summary_took_the_words(memory, monkeypatch):
    asked: list[Any] = []

    def context(self, query=None, budget_units=None):
        asked.append(query)
        return Context("CORE", relevant=f"RELEVANT to {query}")

    monkeypatch.setattr(ImpressionStore, "context", context)
    model = ScriptedChat(replies=[use("weather", f"c{n}", city=f"City{n}") for n in range(4)])
    summary = SummarizationMiddleware(
        model=ScriptedChat(fallback="SUMMARY"), trigger=("messages", 4), keep=("messages", 2)
    )
    agent = create_agent(model, tools=[weather], middleware=[summary, memory(maintenance="off")])
    agent.invoke(said("What about my trip?"), THREAD)
    assert asked == ["What about my trip?"] * 5
    assert '"content": "What about my trip?' not in model.texts[-1]  # the summary took the words
    assert [text.count("RELEVANT to What about my trip?") for text in model.texts] == [1] * 5


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("decision", ["approve", "reject"])
async def test_a_reviewed_save_resumes_without_a_context(store, memory, way, decision):
    model, keeper = ScriptedChat(replies=[saving(note("TEA", "Drinks tea.")), "done"]), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[reviewed(), kept], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    paused = await go(agent, way, said("I drink tea"), thread, context={"user_id": "alice"})
    assert paused["__interrupt__"]
    assert kept.flush() == []
    assert keeper.requests == []
    result = await go(agent, way, Command(resume={"decisions": [{"type": decision}]}), thread)
    assert result["messages"][-1].content == "done"
    assert kept.flush() == []
    assert len(keeper.requests) == 1
    assert [item.clue for item in store.scoped(user="alice").impressions()] == (
        ["TEA"] if decision == "approve" else []
    )
    if decision == "approve":
        assert "Drinks tea" in model.systems[1]


def test_an_abandoned_review_is_learned_with_the_next_turn(memory):
    model, keeper = ScriptedChat(replies=[saving(note("TEA", "x")), "fine"]), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[reviewed(), kept], checkpointer=InMemorySaver())
    agent.invoke(said("I drink tea"), THREAD)
    agent.invoke(said("Never mind, I drink coffee"), THREAD)
    assert kept.flush() == []
    assert len(keeper.requests) == 1
    asked = keeper.requests[0][-1]["content"]
    assert "I drink tea" in asked
    assert "I drink coffee" in asked


def test_a_call_limit_ends_the_turn_and_it_is_still_maintained(memory):
    model = ScriptedChat(replies=[use("weather", f"c{n}", city="Rome") for n in range(9)])
    keeper = Scripted()
    kept = memory(model=keeper)
    limit = ModelCallLimitMiddleware(run_limit=2, exit_behavior="end")
    create_agent(model, tools=[weather], middleware=[limit, kept]).invoke(said("I plan a trip to Rome"), THREAD)
    assert kept.flush() == []
    assert len(model.requests) == 2
    assert len(keeper.requests) == 1


def test_a_retry_shows_the_memory_again(store, memory):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model = ScriptedChat(replies=[RuntimeError("overloaded"), "ok"])
    retry = ModelRetryMiddleware(max_retries=1, initial_delay=0.0, jitter=False)
    create_agent(model, middleware=[retry, memory(maintenance="off")]).invoke(said("hi"), THREAD)
    assert [text.count("Oslo") for text in model.texts] == [1, 1]


@tool(return_direct=True)
def lookup(what: str) -> str:
    """Looks something up and gives it to the user as it is."""
    return f"found {what}"


def test_a_tool_that_answers_directly(memory):
    keeper = Scripted()
    kept = memory(model=keeper)
    model = ScriptedChat(replies=[use("lookup", what="my bike")])
    create_agent(model, tools=[lookup], middleware=[kept]).invoke(said("I look for my bike"), THREAD)
    assert kept.flush() == []
    assert len(keeper.requests) == 1


def test_a_model_that_fails_leaves_the_turn_for_the_next_one(memory):
    model, keeper = ScriptedChat(replies=[RuntimeError("no"), "fine"]), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[kept], checkpointer=InMemorySaver())
    with pytest.raises(RuntimeError, match="no"):
        agent.invoke(said("I drink tea"), THREAD)
    agent.invoke(said("I live in Oslo"), THREAD)
    assert kept.flush() == []
    assert "I drink tea" in keeper.requests[0][-1]["content"]
    assert len(keeper.requests) == 1


def test_a_maintenance_that_fails_is_tried_again_with_the_next_turns(store, memory):
    keeper = Scripted(RuntimeError("down"), lambda messages: save(impression("TEA", "Drinks tea.")))
    reports: list[Any] = []
    kept = memory(model=keeper, on_report=reports.append)
    agent = create_agent(ScriptedChat(), middleware=[kept], checkpointer=InMemorySaver())
    agent.invoke(said("I drink tea"), THREAD)
    failed = kept.flush()
    assert [type(error.__cause__).__name__ for error in failed] == ["ModelError"]
    assert reports[0].status == "model_failed"
    agent.invoke(said("I like it hot"), THREAD)
    assert kept.flush() == []
    assert "I drink tea" in keeper.requests[1][-1]["content"]
    assert [item.clue for item in store.scoped(user="alice").impressions()] == ["TEA"]


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_stream_that_is_closed_early_is_learned_with_the_next_turn(memory, way):
    model, keeper = ScriptedChat(replies=["one two three", "fine"]), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[kept], checkpointer=InMemorySaver())
    if way == "stream":

        def first() -> None:
            stream = agent.stream(said("I drink tea"), THREAD, stream_mode="messages")
            next(stream)
            stream.close()

        await asyncio.to_thread(first)
    else:
        stream = agent.astream(said("I drink tea"), THREAD, stream_mode="messages")
        await anext(stream)
        await stream.aclose()
    assert kept.flush() == []
    assert keeper.requests == []
    await agent.ainvoke(said("I live in Oslo"), THREAD)
    assert kept.flush() == []
    assert len(keeper.requests) == 1
    asked = keeper.requests[0][-1]["content"]
    assert "I drink tea" in asked
    assert "I live in Oslo" in asked


async def test_a_cancelled_run_harms_neither_memory_nor_the_next_turn(store, memory):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    started, kept, model = asyncio.Event(), memory(model=Scripted()), ScriptedChat()

    @tool
    async def wait_for_ever(city: str) -> str:
        """Waits."""
        started.set()
        await asyncio.Event().wait()
        return city

    model.replies[:] = [use("wait_for_ever", city="Rome")]
    agent = create_agent(model, tools=[wait_for_ever], middleware=[kept], checkpointer=InMemorySaver())
    running = asyncio.create_task(agent.ainvoke(said("I go to Rome"), THREAD))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    result = await agent.ainvoke(said("I stay here"), THREAD)
    assert isinstance(result["messages"][-1], AIMessage)
    assert await kept.aflush() == []
    assert "Oslo" in model.systems[-1]


def test_a_history_that_the_application_sends_each_time_is_learned_turn_by_turn(memory):
    keeper = Scripted()
    kept = memory(model=keeper)
    agent = create_agent(ScriptedChat(), middleware=[kept])
    history: list[Any] = []
    for number in range(4):
        history.append(("user", f"I tell story {number}"))
        history = agent.invoke({"messages": history}, run_as("alice"))["messages"]
    assert kept.flush() == []
    assert len(keeper.requests) == 4
    for number, request in enumerate(keeper.requests):
        assert request[-1]["content"].count("I tell story") == 1
        assert f"I tell story {number}" in request[-1]["content"]


def test_two_conversations_without_a_thread_are_both_learned(memory):
    keeper = Scripted()
    kept = memory(model=keeper)
    agent = create_agent(ScriptedChat(), middleware=[kept])
    talks: list[list[Any]] = [[], []]
    for number in range(3):
        for at, talk in enumerate(talks):
            talks[at] = agent.invoke({"messages": [*talk, ("user", f"I tell {at} story {number}")]}, run_as("a"))[
                "messages"
            ]
    assert kept.flush() == []
    assert len(keeper.requests) == 6
