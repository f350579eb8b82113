"""The Python blocks of the README of ImpressMem 0.3.0 (MIT, Weichuan Chen), with only their import lines changed.

The statements stand as in that document; its comments are left out, but for the statements that it shows commented out:
these are run as well.
"""

QUICK_START = """
import asyncio
from impressmem_integrations import ImpressMemConfig, ImpressMemManager

async def main():
    config = ImpressMemConfig(
        bot_name="MyAssistant",
        redis_config={"host": "localhost", "port": 6379, "db": 0},
    )
    manager = ImpressMemManager(config)

    memory_context = await manager.build_memory_context()
    print(memory_context)

    await manager.close()

asyncio.run(main())
"""

ACTIVE = """
import json
from impressmem_integrations import (
    ImpressMemConfig, ImpressMemManager,
    SaveImpressionTool, RecallImpressionsTool, OrganizeImpressionsTool
)

config = ImpressMemConfig(bot_name="MyAssistant", redis_config={"host": "localhost"})
manager = ImpressMemManager(config)

save_tool = SaveImpressionTool(manager)
recall_tool = RecallImpressionsTool(manager)
organize_tool = OrganizeImpressionsTool(manager)

tools = [
    save_tool.get_definition(),
    recall_tool.get_definition(),
    organize_tool.get_definition(),
]

response = await openai.chat.completions.create(
    model="gpt-4",
    messages=messages,
    tools=tools,
)

full_result, summary = await save_tool.execute(json.dumps({
    "clue": "USER-PREFERENCE-COLOR",
    "content": "用户喜欢紫色主题",
    "category": "UserPreference",
    "labels": ["Color", "UI"],
}))
"""

PASSIVE = """
from impressmem_integrations import slice_new_turn_messages

new_turn = slice_new_turn_messages(full_message_history)

maintain_prompt = manager.get_maintain_prompt()

maintain_tools = manager.get_maintain_tool_definitions()

messages_for_llm = [
    {"role": "system", "content": await manager.build_memory_context()},
    *new_turn,
    {"role": "user", "content": maintain_prompt},
]
response = await openai.chat.completions.create(
    model="doubao-seed-2.0-lite",
    messages=messages_for_llm,
    tools=maintain_tools,
)

await manager.execute_maintain_tool_calls(response.choices[0].message.tool_calls)
"""

CONFIGURATION = """
ImpressMemConfig(
    bot_name: str,
    redis_config: Dict[str, Any],
    categories_per_set: int = 500,
    labels_per_set: int = 1500,
    clues_per_set: int = 500,
    impression_text_units_per_set: int = 15000,
    unpinned_emoji: str = "⚪",
    pinned_emoji: str = "📌",
)
"""
"""A signature and no statement: the names, their order and their defaults are what it says."""

CORE_API = """
manager = ImpressMemManager(config)

memory_context = await manager.build_memory_context()

await manager.close()
"""

SLICING = """
from impressmem_integrations import slice_new_turn_messages

sliced = slice_new_turn_messages(messages)
"""
