"""Many users behind FastAPI, with one agent.

    pip install 'impressmem-integrations[langchain]' langchain-openai fastapi uvicorn
    export OPENAI_API_KEY=...
    uvicorn --app-dir examples fastapi_many_users:app
    curl localhost:8000/chat -H 'X-User: alice' --json '{"thread": "1", "text": "I am vegetarian."}'

The user comes from the request's own credentials (here, for brevity, a header), never from the text and never from the
model. One compiled agent serves all of them at once.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import FastAPI, Header
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware

# Nothing here opens a connection: that waits for the first request.
store = ImpressionStore.from_env()
memory = ImpressionMiddleware(store)
agent = create_agent(
    ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), api_key=os.environ.get("OPENAI_API_KEY", "none")),
    middleware=[memory],
    checkpointer=InMemorySaver(),
)


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    """Finish what is being kept before the service ends."""
    yield
    await memory.aclose()
    await store.aclose()


app = FastAPI(lifespan=lifespan)


class Question(BaseModel):
    """What a user says in one of their threads."""

    thread: str
    text: str


@app.post("/chat")
async def chat(question: Question, x_user: Annotated[str, Header()]) -> dict[str, str]:
    """Answer one question."""
    answer = await agent.ainvoke(
        {"messages": [("user", question.text)]},
        # Thread ids of different users never meet.
        {"configurable": {"thread_id": f"{x_user}/{question.thread}"}},
        context={"user_id": x_user},
    )
    return {"answer": answer["messages"][-1].text}


@app.get("/memory")
async def remembered(x_user: Annotated[str, Header()]) -> list[dict[str, str]]:
    """What is remembered of the user who asks."""
    items = store.scoped(user=x_user).impressions()
    return [{"clue": item.clue, "content": item.content} async for item in items]


@app.delete("/memory")
async def forget(x_user: Annotated[str, Header()]) -> dict[str, int]:
    """Erase everything that is remembered of the user who asks."""
    certificate = await store.scoped(user=x_user).aforget_everything()
    return {"erased": certificate.clues}
