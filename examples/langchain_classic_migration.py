"""From a classic chain to an agent, over the same memory: nothing that was learned is lost on the way.

    pip install 'impressmem-integrations[langchain,langchain-classic]' langchain-openai
    export OPENAI_API_KEY=...                        # or OPENAI_BASE_URL=http://localhost:8000/v1 for a server of yours
    python examples/langchain_classic_migration.py

`before` is a `ConversationChain` with a classic memory object; `after` is the same assistant as a `create_agent` agent
with middleware. Keywords that stay the same: `store`, `user`, `model`, `budget_units`, `on_error`, `on_report`,
`settings`, `runner`. What goes: `memory_key` and `return_messages` (memory is put into the system prompt for the call),
`input_key` and `output_key` (an agent has messages).
"""

from __future__ import annotations

import os
import warnings

from langchain.agents import create_agent
from langchain_core._api import LangChainDeprecationWarning
from langchain_openai import ChatOpenAI

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMemory, ImpressionMiddleware

MODEL = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))


def before(store: ImpressionStore, question: str) -> str:
    """The classic chain: its memory belongs to one user."""
    warnings.simplefilter("ignore", LangChainDeprecationWarning)  # the chain's own, the reason to move on
    from langchain_classic.chains import ConversationChain

    memory = ImpressionMemory(store=store, user="mara", model=MODEL)
    chain = ConversationChain(llm=MODEL, memory=memory)
    answer = chain.invoke({"input": question})["response"]
    memory.close()  # waits for what is kept of the turn
    return str(answer)


def after(store: ImpressionStore, question: str) -> str:
    """The agent: one for all users, each run says whose memory it may touch."""
    with ImpressionMiddleware(store, model=MODEL) as memory:
        agent = create_agent(MODEL, middleware=[memory])
        answer = agent.invoke({"messages": [("user", question)]}, context={"user_id": "mara"})
        return str(answer["messages"][-1].text)


if __name__ == "__main__":
    with ImpressionStore.from_env() as memories:
        print("classic chain:", before(memories, "I'm Mara and I have been vegan since May."))
        print("agent:", after(memories, "What could I cook tonight?"))
