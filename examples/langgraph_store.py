"""A hand-written LangGraph graph whose nodes keep values in a store that outlives the process.

    pip install 'impressmem-integrations[langchain]' langchain-openai
    export OPENAI_API_KEY=...                        # or OPENAI_BASE_URL=http://localhost:8000/v1 for a server of yours
    python examples/langgraph_store.py alice "My flight to Oslo leaves on Friday at nine."
    python examples/langgraph_store.py alice "When do I have to leave for the airport?"

The second process finds what the first one noted, by its words; bob finds nothing of alice's.
"""

from __future__ import annotations

import os
import sys
import uuid
from typing import Any

from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionBaseStore

MODEL = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))


class Context(TypedDict):
    """What the application says about a run."""

    user_id: str


def answer(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer with the notes that bear on the question."""
    assert runtime.store is not None
    notes = runtime.store.search(
        ("users", runtime.context["user_id"], "notes"), query=state["messages"][-1].text, limit=3
    )
    known = "\n".join(f"- {note.value['content']}" for note in notes)
    return {"messages": MODEL.invoke([("system", f"Be brief. The user's notes:\n{known}"), *state["messages"]])}


def note(state: MessagesState, runtime: Runtime[Context]) -> None:
    """Keep what the user said."""
    assert runtime.store is not None
    said = state["messages"][-2].text
    runtime.store.put(("users", runtime.context["user_id"], "notes"), str(uuid.uuid4()), {"content": said})


def main(user: str, question: str) -> None:
    """Answer one question."""
    with ImpressionStore.from_env() as store:
        graph = StateGraph(MessagesState, context_schema=Context)
        graph.add_node("answer", answer).add_node("note", note)
        graph.add_edge(START, "answer").add_edge("answer", "note")
        # The first segments of a namespace say whose memory it is; ("users", "{user}") is the default.
        app = graph.compile(store=ImpressionBaseStore(store))
        result = app.invoke({"messages": [("user", question)]}, context={"user_id": user})
    print(result["messages"][-1].text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit('usage: langgraph_store.py USER "QUESTION"')
    main(sys.argv[1], sys.argv[2])
