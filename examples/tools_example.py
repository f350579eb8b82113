"""The active scene: the agent saves and recalls by itself, with the real `openai` package.

Run it:  OPENAI_API_KEY=... python examples/tools_example.py         (asyncio)
         OPENAI_API_KEY=... python examples/tools_example.py --sync  (blocking client)
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset.
"""

import asyncio
import os
import sys
from typing import Any

from openai import AsyncOpenAI, OpenAI

from impressmem_integrations import (
    ImpressMemConfig,
    ImpressMemManager,
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionsTool,
)

MODEL = os.environ.get("OPENAI_MODEL", "gpt-4.1-mini")
QUESTIONS = ["I'm Mara and I have been vegan since May. Please remember that.", "What could I cook tonight?"]
MOST_ROUNDS = 5


def memory() -> tuple[ImpressMemManager, dict[str, Any]]:
    """The manager, and its tools by name."""
    url = os.environ.get("IMPRESSMEM_URL", "embedded")
    manager = ImpressMemManager(ImpressMemConfig(bot_name="tools-example", redis_config={"url": url}))
    tools = [SaveImpressionsTool(manager), RecallImpressionsTool(manager), OrganizeImpressionsTool(manager)]
    return manager, {tool.get_name(): tool for tool in tools}


async def with_asyncio() -> None:
    manager, tools = memory()
    definitions = [tool.get_definition() for tool in tools.values()]
    async with AsyncOpenAI() as client, manager:
        messages: list[Any] = [{"role": "system", "content": await manager.build_memory_context()}]
        for question in QUESTIONS:
            messages.append({"role": "user", "content": question})
            for _ in range(MOST_ROUNDS):
                response = await client.chat.completions.create(model=MODEL, messages=messages, tools=definitions)
                message = response.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                for call in message.tool_calls or []:
                    full, summary = await tools[call.function.name].execute(call.function.arguments)
                    print(f"  [{summary}]")
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": full})
                if not message.tool_calls:
                    print(f"> {question}\n{message.content}")
                    break


def with_a_blocking_client() -> None:
    """The same with the blocking client: the tools work in any event loop, so each call may have its own."""
    manager, tools = memory()
    definitions = [tool.get_definition() for tool in tools.values()]
    with OpenAI() as client, manager.store:
        messages: list[Any] = [{"role": "system", "content": asyncio.run(manager.build_memory_context())}]
        for question in QUESTIONS:
            messages.append({"role": "user", "content": question})
            for _ in range(MOST_ROUNDS):
                response = client.chat.completions.create(model=MODEL, messages=messages, tools=definitions)
                message = response.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                for call in message.tool_calls or []:
                    full, summary = asyncio.run(tools[call.function.name].execute(call.function.arguments))
                    print(f"  [{summary}]")
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": full})
                if not message.tool_calls:
                    print(f"> {question}\n{message.content}")
                    break


if "--sync" in sys.argv[1:]:
    with_a_blocking_client()
else:
    asyncio.run(with_asyncio())
