"""The passive scene: after a turn, a model is asked what of it is worth keeping, with the real `openai` package.

Run it:  OPENAI_API_KEY=... python examples/passive_example.py         (asyncio)
         OPENAI_API_KEY=... python examples/passive_example.py --sync  (blocking client)
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset.
"""

import asyncio
import os
import sys
from typing import Any

from openai import AsyncOpenAI, OpenAI

from impressmem_integrations import ImpressMemConfig, ImpressMemManager, slice_new_turn_messages

MODEL = os.environ.get("OPENAI_MODEL", "gpt-4.1-mini")
HISTORY = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hi!"},
    {"role": "assistant", "content": "Hello! What can I do for you?"},
    {"role": "user", "content": "Remind me to water the ficus. My sister Lena gave it to me, I don't want to lose it."},
    {"role": "assistant", "content": "I will. Once a week is enough for a ficus."},
]


def memory() -> ImpressMemManager:
    url = os.environ.get("IMPRESSMEM_URL", "embedded")
    return ImpressMemManager(ImpressMemConfig(bot_name="passive-example", redis_config={"url": url}))


def request(manager: ImpressMemManager, context: str) -> dict[str, Any]:
    """What to ask the model after the turn."""
    messages = [
        {"role": "system", "content": context},
        *slice_new_turn_messages(HISTORY),
        {"role": "user", "content": manager.get_maintain_prompt()},
    ]
    return {"model": MODEL, "messages": messages, "tools": manager.get_maintain_tool_definitions()}


async def with_asyncio() -> None:
    async with AsyncOpenAI() as client, memory() as manager:
        response = await client.chat.completions.create(**request(manager, await manager.build_memory_context()))
        report = await manager.execute_maintain_tool_calls(response.choices[0].message.tool_calls)
        print(f"{report.status}: {', '.join((*report.saved, *report.changed))}")
        print(await manager.build_memory_context())


def with_a_blocking_client() -> None:
    """The same with the blocking client: the manager works in any event loop, so each call may have its own."""
    manager = memory()
    with OpenAI() as client, manager.store:
        context = asyncio.run(manager.build_memory_context())
        response = client.chat.completions.create(**request(manager, context))
        report = asyncio.run(manager.execute_maintain_tool_calls(response.choices[0].message.tool_calls))
        print(f"{report.status}: {', '.join((*report.saved, *report.changed))}")
        print(asyncio.run(manager.build_memory_context()))


if "--sync" in sys.argv[1:]:
    with_a_blocking_client()
else:
    asyncio.run(with_asyncio())
