"""The passive scene: the chat model has no memory tools; after each turn a second request distils what to keep.

    OPENAI_API_KEY=... python examples/passive_example.py          # asyncio, each step of the recipe visible
    OPENAI_API_KEY=... python examples/passive_example.py --sync   # blocking, the recipe as one call

Settings: OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_MEMORY_MODEL (a cheaper model will do) for the models, IMPRESSMEM_URL
for the store (a server of its own by default).
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import openai

from impressmem_integrations import ImpressionStore, ImpressMemConfig, ImpressMemManager, slice_new_turn_messages

BOT = "PassiveExample"
URL = os.environ.get("IMPRESSMEM_URL", "embedded")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
MEMORY_MODEL = os.environ.get("OPENAI_MEMORY_MODEL", MODEL)
TURNS = ("My daughter Mia starts school in August.", "Thanks! What should be in her bag?")


async def with_asyncio() -> None:
    manager = ImpressMemManager(ImpressMemConfig(bot_name=BOT, redis_config={"url": URL}))
    history: list[Any] = []
    async with openai.AsyncOpenAI() as client:
        for text in TURNS:
            history.append({"role": "user", "content": text})
            memory: Any = {"role": "system", "content": await manager.build_memory_context()}
            answer = await client.chat.completions.create(model=MODEL, messages=[memory, *history])
            reply = answer.choices[0].message.content
            print(f"user: {text}\nassistant: {reply}")
            history.append({"role": "assistant", "content": reply})
            new = slice_new_turn_messages(history)
            request: list[Any] = [memory, *new, {"role": "user", "content": manager.get_maintain_prompt()}]
            tools: list[Any] = manager.get_maintain_tool_definitions()
            distilled = await client.chat.completions.create(model=MEMORY_MODEL, messages=request, tools=tools)
            report = await manager.execute_maintain_tool_calls(distilled.choices[0].message.tool_calls)
            print(f"  [memory] {report.status}: {', '.join((*report.saved, *report.changed)) or report.reason}")
    print(await manager.build_memory_context())
    await manager.close()


def blocking() -> None:
    history: list[Any] = []
    with ImpressionStore.from_url(URL, bot=BOT) as store, openai.OpenAI() as client:

        def memory_model(messages: Any, tools: Any) -> Any:
            return client.chat.completions.create(model=MEMORY_MODEL, messages=messages, tools=tools or openai.omit)

        for text in TURNS:
            history.append({"role": "user", "content": text})
            memory = store.context().text
            system: list[Any] = [{"role": "system", "content": memory}] if memory else []
            answer = client.chat.completions.create(model=MODEL, messages=[*system, *history])
            history.append({"role": "assistant", "content": answer.choices[0].message.content})
            print(f"user: {text}\nassistant: {history[-1]['content']}")
            report = store.maintain(history, memory_model)
            print(f"  [memory] {report.status}: {', '.join((*report.saved, *report.changed)) or report.reason}")
        print(store.context().text)


if __name__ == "__main__":
    if "--sync" in sys.argv[1:]:
        blocking()
    else:
        asyncio.run(with_asyncio())
