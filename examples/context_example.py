"""A new conversation that starts with what earlier ones left: the memory's text goes into the system prompt.

    OPENAI_API_KEY=... python examples/context_example.py          # asyncio
    OPENAI_API_KEY=... python examples/context_example.py --sync   # blocking

Settings: OPENAI_BASE_URL and OPENAI_MODEL for the model, IMPRESSMEM_URL for the store (a server of its own by default).
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import openai

from impressmem_integrations import ImpressionStore, ImpressMemConfig, ImpressMemManager

BOT = "ContextExample"
URL = os.environ.get("IMPRESSMEM_URL", "embedded")
MODEL = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
QUESTION = "What could I cook tonight?"


def conversation(memory: str) -> list[Any]:
    return [
        {"role": "system", "content": f"You are a kitchen assistant.\n\n{memory}"},
        {"role": "user", "content": QUESTION},
    ]


async def with_asyncio() -> None:
    """The manager: the described system's own API."""
    manager = ImpressMemManager(ImpressMemConfig(bot_name=BOT, redis_config={"url": URL}))
    await manager.save_impression("USER-ALLERGY", "allergic to peanuts", "Health", ["Allergy", "Food"], pin=True)
    await manager.save_impression("USER-DISH", "loves mushroom risotto", "Food", ["Taste"])
    memory = await manager.build_memory_context()
    print(memory)
    async with openai.AsyncOpenAI() as client:
        answer = await client.chat.completions.create(model=MODEL, messages=conversation(memory))
    print(f"\nuser: {QUESTION}\nassistant: {answer.choices[0].message.content}")
    await manager.close()


def blocking() -> None:
    """The store: the same memory without asyncio."""
    with ImpressionStore.from_url(URL, bot=BOT) as store, openai.OpenAI() as client:
        store.save("USER-ALLERGY", "allergic to peanuts", category="Health", labels=["Allergy", "Food"], pin=True)
        store.save("USER-DISH", "loves mushroom risotto", category="Food", labels=["Taste"])
        memory = store.context().text
        print(memory)
        answer = client.chat.completions.create(model=MODEL, messages=conversation(memory))
        print(f"\nuser: {QUESTION}\nassistant: {answer.choices[0].message.content}")


if __name__ == "__main__":
    if "--sync" in sys.argv[1:]:
        blocking()
    else:
        asyncio.run(with_asyncio())
