"""Every engine in every calling style, run as a program of its own in one situation of event loops.

    python -m tests.llama_index.cells plain | after-run | in-loop

It prints a JSON object: cell name -> what was seen, for `test_matrix.py` to judge.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.chat_engine import CondensePlusContextChatEngine, ContextChatEngine, SimpleChatEngine
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.render import FENCE
from impressmem_integrations.llama_index import ImpressionMemory
from tests.llama_index.chat import Chat, Documents, calling
from tests.scripted import Scripted

SITUATIONS = ("plain", "after-run", "in-loop")
STYLES = ("chat", "stream_chat", "achat", "astream_chat")
PRIMARIES: dict[str, Callable[[], BaseMemory]] = {
    "Memory": lambda: Memory.from_defaults(),
    "ChatMemoryBuffer": lambda: ChatMemoryBuffer.from_defaults(),
}
SAID = ("My name is Ada and I have been vegetarian since 2024.", "I moved to Lisbon in May and started to paint.")


def weather(city: str) -> str:
    """The weather in a city."""
    return f"sunny in {city}"


def simple(chat: Chat, memory: ImpressionMemory) -> Any:
    return SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory, system_prompt="You are kind.")


def context(chat: Chat, memory: ImpressionMemory) -> Any:
    return ContextChatEngine.from_defaults(
        retriever=Documents(), llm=chat.llm, memory=memory, system_prompt="You are kind."
    )


def condense(chat: Chat, memory: ImpressionMemory) -> Any:
    return CondensePlusContextChatEngine.from_defaults(
        retriever=Documents(), llm=chat.llm, memory=memory, system_prompt="You are kind."
    )


def function_agent(chat: Chat, memory: ImpressionMemory) -> Any:
    chat.replies = [calling("weather", {"city": "Lisbon"}), "Fine.", calling("weather", {"city": "Porto"}), "Good."]
    return FunctionAgent(tools=[weather], llm=chat.llm, system_prompt="You are kind.")


def react_agent(chat: Chat, memory: ImpressionMemory) -> Any:
    step = 'Thought: I look.\nAction: weather\nAction Input: {"city": "Lisbon"}'
    end = "Thought: I can answer without using any more tools.\nAnswer: Fine."
    chat.replies = [step, end, step, end]
    return ReActAgent(tools=[weather], llm=chat.llm, system_prompt="You are kind.")


def hand_off(chat: Chat, memory: ImpressionMemory) -> Any:
    chat.replies = [
        calling("handoff", {"to_agent": "second", "reason": "it knows"}),
        calling("weather", {"city": "Lisbon"}),
        "Fine.",
        "Good.",
    ]
    first = FunctionAgent(
        name="first", description="begins", llm=chat.llm, system_prompt="You begin.", can_handoff_to=["second"]
    )
    second = FunctionAgent(name="second", description="ends", llm=chat.llm, system_prompt="You end.", tools=[weather])
    return AgentWorkflow(agents=[first, second], root_agent="first")


ENGINES = {"SimpleChatEngine": simple, "ContextChatEngine": context, "CondensePlusContextChatEngine": condense}
AGENTS = {"FunctionAgent": function_agent, "ReActAgent": react_agent, "AgentWorkflow": hand_off}
ANSWERS = {"FunctionAgent": ["Fine.", "Good."], "ReActAgent": ["Fine.", "Fine."], "AgentWorkflow": ["Fine.", "Good."]}


async def _agent_turn(agent: Any, text: str, memory: ImpressionMemory, streamed: bool) -> str:
    handler = agent.run(text, memory=memory)
    if streamed:
        async for _ in handler.stream_events():
            pass
    return str(await handler)


def _blocking_turn(engine: Any, style: str, text: str) -> str:
    if style == "chat":
        return str(engine.chat(text))
    return "".join(engine.stream_chat(text).response_gen)


async def _awaited_turn(engine: Any, style: str, text: str) -> str:
    if style == "achat":
        return str(await engine.achat(text))
    answer = await engine.astream_chat(text)
    return "".join([piece async for piece in answer.async_response_gen()])


class Cell:
    """One engine, style and primary memory: two turns, and what was seen of them."""

    def __init__(self, store: ImpressionStore, name: str) -> None:
        self.chat = Chat()
        self.keeper = Scripted()
        self.store = store.scoped(user=name)
        self.store.save("USER-DIET", "eats no nuts", category="Health", labels=["Diet"])
        engine, self.style, primary = name.split("/")
        self.memory = ImpressionMemory(self.store, primary=PRIMARIES[primary](), model=self.keeper)
        self.engine = (ENGINES | AGENTS)[engine](self.chat, self.memory)
        self.answers: list[str] = []

    def run(self) -> None:
        for text in SAID:
            self.answers.append(_blocking_turn(self.engine, self.style, text))

    async def arun(self) -> None:
        for text in SAID:
            if self.style in ("run", "run-streamed"):
                self.answers.append(await _agent_turn(self.engine, text, self.memory, self.style == "run-streamed"))
            else:
                self.answers.append(await _awaited_turn(self.engine, self.style, text))

    def seen(self) -> dict[str, Any]:
        errors = [str(error) for error in self.memory.flush(20)]
        asked = [str(request[-1]["content"]) for request in self.keeper.requests]
        stored = [message.content or "" for message in self.memory.get_all()]
        return {
            "answers": self.answers,
            "errors": errors,
            "faults": self.chat.faults,
            "distilled": [sum(text in one for one in asked) for text in SAID],
            "asked": asked,
            "shown": [self.chat.shown(place) for place in range(len(self.chat.requests))],
            "stored": len(stored),
            "memory_stored": sum(f"<{FENCE}>" in text for text in stored),
        }


def names() -> list[str]:
    """Every cell of one situation."""
    chats = [f"{engine}/{style}/{primary}" for engine in ENGINES for style in STYLES for primary in PRIMARIES]
    runs = [f"{agent}/{style}/{primary}" for agent in AGENTS for style in ("run", "run-streamed")
            for primary in PRIMARIES]  # fmt: skip
    return chats + runs


def blocks(name: str) -> bool:
    """Whether the calling style is a blocking one."""
    return name.split("/")[1] in ("chat", "stream_chat")


def _each(store: ImpressionStore, run: Callable[[Cell], None]) -> dict[str, Any]:
    found = {}
    for name in names():
        cell = Cell(store, name)
        run(cell)
        found[name] = cell.seen()
    return found


def plain(store: ImpressionStore) -> dict[str, Any]:
    """A script: blocking styles with no loop ever run before them, awaited ones in an `asyncio.run` of their own."""
    found = {}
    for name in sorted(names(), key=blocks, reverse=True):
        cell = Cell(store, name)
        if blocks(name):
            cell.run()
        else:
            asyncio.run(cell.arun())
        found[name] = cell.seen()
    return found


def after_run(store: ImpressionStore) -> dict[str, Any]:
    """A script in which `asyncio.run` ended before; each awaited turn has a loop of its own."""
    asyncio.run(asyncio.sleep(0))

    def run(cell: Cell) -> None:
        if blocks(f"/{cell.style}/"):
            cell.run()
            return
        first, second = SAID
        for text in (first, second):
            turn: Awaitable[str]
            if cell.style in ("run", "run-streamed"):
                turn = _agent_turn(cell.engine, text, cell.memory, cell.style == "run-streamed")
            else:
                turn = _awaited_turn(cell.engine, cell.style, text)
            cell.answers.append(asyncio.run(_as_coroutine(turn)))

    return _each(store, run)


async def _as_coroutine(turn: Awaitable[str]) -> str:
    return await turn


async def in_loop(store: ImpressionStore) -> dict[str, Any]:
    """One loop runs all the time, also around the blocking styles, as in a notebook."""
    found = {}
    for name in names():
        cell = Cell(store, name)
        if blocks(name):
            cell.run()
        else:
            await cell.arun()
        found[name] = await asyncio.to_thread(cell.seen) if not name.endswith("/Memory") else cell.seen()
    return found


def main(situation: str) -> None:
    """Run one situation."""
    with ImpressionStore.from_url("embedded://:memory:", user="nobody") as store:
        if situation == "in-loop":
            found = asyncio.run(in_loop(store))
        else:
            found = {"plain": plain, "after-run": after_run}[situation](store)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
