"""The active scene: the model has the memory's tools and decides itself when to save, recall and organize.

    OPENAI_API_KEY=... python examples/tools_example.py          # asyncio
    OPENAI_API_KEY=... python examples/tools_example.py --sync   # the blocking client

Settings: OPENAI_BASE_URL and OPENAI_MODEL for the model, IMPRESSMEM_URL for the store (a server of its own by default).
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import openai

from impressmem_integrations import (
    ImpressMemConfig,
    ImpressMemManager,
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionTool,
)

BOT = "ToolsExample"
URL = os.environ.get("IMPRESSMEM_URL", "embedded")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
TURNS = ("I moved to Bergen last week, and I am a vegetarian.", "Where do I live, and what do I eat?")
MOST_ROUNDS = 5
"""Requests for one turn at the most: a model that calls tools again and again is stopped."""


class Agent:
    """A conversation with the memory's three tools; who sends the requests is left to the caller."""

    def __init__(self) -> None:
        self.manager = ImpressMemManager(ImpressMemConfig(bot_name=BOT, redis_config={"url": URL}))
        made = [kind(self.manager) for kind in (SaveImpressionTool, RecallImpressionsTool, OrganizeImpressionsTool)]
        self.tools = {tool.get_name(): tool for tool in made}
        self.definitions: list[Any] = [tool.get_definition() for tool in made]
        self.messages: list[Any] = []

    async def begin(self) -> None:
        """Put what is remembered in front of the conversation."""
        self.messages.append({"role": "system", "content": await self.manager.build_memory_context()})

    async def finished(self, message: Any) -> bool:
        """Take in the model's message and carry out its calls; whether it was the answer of this turn."""
        self.messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            tool = self.tools.get(call.function.name)
            if tool:
                full, summary = await tool.execute(call.function.arguments)
            else:
                full = summary = f"There is no tool {call.function.name}."
            print(f"  [{call.function.name}] {summary}")
            self.messages.append({"role": "tool", "tool_call_id": call.id, "content": full})
        if not message.tool_calls:
            print(f"assistant: {message.content}")
        return not message.tool_calls


async def with_asyncio() -> None:
    agent = Agent()
    await agent.begin()
    async with openai.AsyncOpenAI() as client:
        for text in TURNS:
            print(f"user: {text}")
            agent.messages.append({"role": "user", "content": text})
            for _ in range(MOST_ROUNDS):
                answer = await client.chat.completions.create(
                    model=MODEL, messages=agent.messages, tools=agent.definitions
                )
                if await agent.finished(answer.choices[0].message):
                    break
    await agent.manager.close()


def blocking() -> None:
    """With the blocking client; the tools' coroutines run one by one in between."""
    agent = Agent()
    with asyncio.Runner() as runner, openai.OpenAI() as client:
        runner.run(agent.begin())
        for text in TURNS:
            print(f"user: {text}")
            agent.messages.append({"role": "user", "content": text})
            for _ in range(MOST_ROUNDS):
                answer = client.chat.completions.create(model=MODEL, messages=agent.messages, tools=agent.definitions)
                if runner.run(agent.finished(answer.choices[0].message)):
                    break
        runner.run(agent.manager.close())


if __name__ == "__main__":
    if "--sync" in sys.argv[1:]:
        blocking()
    else:
        asyncio.run(with_asyncio())
