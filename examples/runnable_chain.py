"""A plain runnable chain with memory: what is known goes into the prompt, and what was said is kept.

    pip install 'impressmem-integrations[langchain]' langchain-openai
    export OPENAI_API_KEY=...                        # or OPENAI_BASE_URL=http://localhost:8000/v1 for a server of yours
    python examples/runnable_chain.py alice "I am vegetarian and allergic to nuts."
    python examples/runnable_chain.py alice "What shall I cook tonight?"

The chain waits for the maintenance step; agents and graphs that must not wait use `ImpressionMiddleware`.
"""

from __future__ import annotations

import os
import sys
from operator import itemgetter
from typing import Any

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import context_chain, maintenance_chain

PROMPT = ChatPromptTemplate.from_messages([("system", "Be brief.\n\n{memory}"), ("human", "{question}")])


def turn(said: dict[str, Any]) -> list[tuple[str, str]]:
    """What the maintenance step gets to read."""
    return [("user", said["question"]), ("assistant", said["answer"])]


def main(user: str, question: str) -> None:
    """Answer one question, and say what was kept of it."""
    model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    with ImpressionStore.from_env() as store:
        # One chain for all users: each run says in its config whose memory it may touch.
        chain = (
            RunnablePassthrough.assign(memory=itemgetter("question") | context_chain(store))
            | RunnablePassthrough.assign(answer=PROMPT | model | StrOutputParser())
            | RunnablePassthrough.assign(report=RunnableLambda(turn) | maintenance_chain(store, model))
        )
        result = chain.invoke({"question": question}, {"configurable": {"user_id": user}})
    print(result["answer"])
    print(f"[memory: {result['report'].status} {' '.join(result['report'].saved)}]")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit('usage: runnable_chain.py USER "QUESTION"')
    main(sys.argv[1], sys.argv[2])
