"""A chat service for many users: one store, one memory for each conversation.

Run it:  OPENAI_API_KEY=... uvicorn examples.llama_index_fastapi:app
         curl -X POST localhost:8000/chat -H 'X-User: alice' -H 'content-type: application/json' \
              -d '{"conversation": "c1", "text": "I am allergic to nuts."}'
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset.

Needs: pip install 'impressmem-integrations[llama-index]' llama-index-llms-openai-like fastapi uvicorn
"""

import os
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import httpx
from fastapi import FastAPI, Header
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionMemory
from impressmem_integrations.maintenance.runner import Runner

MOST_CONVERSATIONS = 1_000

store = ImpressionStore.from_env()  # opens nothing yet
conversations: OrderedDict[tuple[str, str], ImpressionMemory] = OrderedDict()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    # The service has one event loop: one LLM serves it, and maintenance uses the blocking half of it.
    async with httpx.AsyncClient() as http, Runner() as app.state.runner:
        with httpx.Client() as blocking:
            app.state.llm = OpenAILike(
                model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
                api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
                api_key=os.environ["OPENAI_API_KEY"],
                is_chat_model=True,
                is_function_calling_model=True,
                http_client=blocking,
                async_http_client=http,
            )
            yield
            for error in await app.state.runner.aclose():  # what was said before the stop is still learnt from
                print(error)
    await store.aclose()


app = FastAPI(lifespan=lifespan)


class Said(BaseModel):
    """One message of a user."""

    conversation: str
    text: str


def memory_of(user: str, conversation: str) -> ImpressionMemory:
    """The memory of a conversation; those used last are kept, all others start with what is remembered."""
    key = (user, conversation)
    if key not in conversations:
        conversations[key] = ImpressionMemory(
            store,
            user=user,  # from the application's own login, never from a model
            primary=ChatMemoryBuffer.from_defaults(),
            model=app.state.llm,
            thread_id=conversation,
            runner=app.state.runner,
        )
    conversations.move_to_end(key)
    if len(conversations) > MOST_CONVERSATIONS:
        conversations.popitem(last=False)
    return conversations[key]


@app.post("/chat")
async def chat(said: Said, x_user: Annotated[str, Header()]) -> dict[str, str]:
    """Answer one message. A real service takes the user from a session, not from a header."""
    engine = SimpleChatEngine.from_defaults(llm=app.state.llm, memory=memory_of(x_user, said.conversation))
    return {"text": str(await engine.achat(said.text))}


@app.get("/memory")
async def memory(x_user: Annotated[str, Header()]) -> list[dict[str, str]]:
    """What is remembered about the user."""
    found = store.scoped(user=x_user).aimpressions()
    return [{"clue": item.clue, "content": item.content} async for item in found]


@app.delete("/memory")
async def forget(x_user: Annotated[str, Header()]) -> dict[str, int]:
    """Erase all of it."""
    certificate = await store.scoped(user=x_user).aforget_everything()
    return {"erased": certificate.clues}
