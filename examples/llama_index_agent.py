"""A LlamaIndex agent that is shown its user's memory, has the memory tools, and learns from each turn.

Run it:  OPENAI_API_KEY=... python examples/llama_index_agent.py
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset.

Needs: pip install 'impressmem-integrations[llama-index]' llama-index-llms-openai-like
"""

import asyncio
import os

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.llms.openai_like import OpenAILike

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionToolSpec
from impressmem_integrations.llama_index.events import MemoryUpdatedEvent

TALK = ("I moved to Lisbon in May, into a flat with a small garden.", "Where do I live, and what do you know about it?")


class Announce(BaseEventHandler):
    """Prints what the background learnt."""

    def handle(self, event: object, **kwargs: object) -> None:
        """Take every event of LlamaIndex."""
        if isinstance(event, MemoryUpdatedEvent):
            print(f"  [memory updated: {', '.join(event.saved + event.changed)}]")


async def main() -> None:
    llm = OpenAILike(
        model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
        api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
    )
    get_dispatcher().add_event_handler(Announce())
    with ImpressionStore.from_env(user="alice") as store:
        agent = FunctionAgent(tools=ImpressionToolSpec(store).to_tool_list(), llm=llm, system_prompt="You are helpful.")
        memory = ImpressionMemory(store, model=llm)
        for text in TALK:
            print(f"> {text}")
            run = agent.run(text, memory=memory)
            async for event in run.stream_events():
                if isinstance(event, ToolCallResult):
                    print(f"  [{event.tool_name}: {event.tool_output.raw_output.summary}]")
            print(await run)
            await memory.aflush()  # only so that the announcement comes in time; a chat need not wait


if __name__ == "__main__":
    asyncio.run(main())
