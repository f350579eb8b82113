"""An agent that remembers a user from one process to the next.

    pip install 'impressmem-integrations[langchain]' langchain-openai
    export OPENAI_API_KEY=...                        # or OPENAI_BASE_URL=http://localhost:8000/v1 for a server of yours
    python examples/langchain_agent.py alice "I am vegetarian and allergic to nuts."
    python examples/langchain_agent.py alice "What shall I cook tonight?"

The second process knows what the first was told. Memory lives in a real Valkey inside the installation; IMPRESSMEM_URL
names another server.
"""

from __future__ import annotations

import os
import sys

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware


def main(user: str, question: str) -> None:
    """Answer one question, and keep what it says about the user."""
    model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    # Leaving the block waits for what is kept of the turn.
    with ImpressionStore.from_env() as store, ImpressionMiddleware(store) as memory:
        agent = create_agent(model, middleware=[memory], system_prompt="You are a helpful assistant. Be brief.")
        answer = agent.invoke({"messages": [("user", question)]}, context={"user_id": user})
        print(answer["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit('usage: langchain_agent.py USER "QUESTION"')
    main(sys.argv[1], sys.argv[2])
