"""The two nodes for hand-written graphs."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

import pytest
from langchain_core.messages import SystemMessage
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.langchain import impression_nodes
from tests.langchain.chat import ScriptedChat, note, saving, use
from tests.langchain.conftest import remember

OSLO = note("HOME", "lives in Oslo")


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]
    memory: NotRequired[Annotated[str, UntrackedValue]]
    report: NotRequired[Annotated[Any, UntrackedValue]]


class Context(TypedDict):
    user_id: str


def graph_of(store, chat, model, **options):
    nodes = impression_nodes(store, model, **options)

    def answer(state: State) -> dict[str, Any]:
        said = [SystemMessage(f"Help. {state['memory']}"), *state["messages"]]
        replies = [chat.invoke(said)]
        while replies[-1].tool_calls:  # several model calls in one turn
            replies.append(chat.invoke(said))
        return {"messages": replies[-1:]}

    graph = StateGraph(State, context_schema=Context)
    graph.add_node("read", nodes.read).add_node("answer", answer).add_node("keep", nodes.keep)
    graph.add_edge(START, "read").add_edge("read", "answer").add_edge("answer", "keep").add_edge("keep", END)
    return graph.compile(checkpointer=InMemorySaver())


def config(thread="t", **more):
    return {"configurable": {"thread_id": thread, **more}}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_graph_with_memory(store, way):
    remember(store, "alice", "TEA", "drinks green tea")
    chat, model = ScriptedChat(replies=["Noted."]), ScriptedChat(replies=[saving(OSLO)])
    app = graph_of(store, chat, model, report_key="report")
    given, options = {"messages": [("user", "I live in Oslo.")]}, {"context": {"user_id": "alice"}}
    if way == "invoke":
        result = app.invoke(given, config(), **options)
    else:
        result = await app.ainvoke(given, config(), **options)
    assert "drinks green tea" in chat.systems[0]
    assert store.scoped(user="alice").get("HOME").content == "lives in Oslo"
    assert result["messages"][-1].content == "Noted."
    assert all("green tea" not in str(one) for one in app.checkpointer.list(None))


def test_two_users_of_one_graph(store):
    remember(store, "alice", "TEA", "drinks green tea")
    chat = ScriptedChat()
    app = graph_of(store, chat, ScriptedChat(fallback="IGNORE"))
    app.invoke({"messages": [("user", "hello there")]}, config("b"), context={"user_id": "bob"})
    app.invoke({"messages": [("user", "hello there")]}, config("a", user_id="alice"))
    assert ["green tea" in system for system in chat.systems] == [False, True]
    with pytest.raises(ConfigurationError, match="user_id"):
        app.invoke({"messages": [("user", "hello there")]}, config("c"))


def test_lc14_many_model_calls_in_a_turn_and_one_maintenance(store):
    chat = ScriptedChat(replies=[use("a"), use("b"), use("c"), "Done."])
    model = ScriptedChat(replies=[saving(OSLO)])
    app = graph_of(store, chat, model)
    app.invoke({"messages": [("user", "I live in Oslo.")]}, config(), context={"user_id": "alice"})
    assert (len(chat.requests), len(model.requests)) == (4, 1)


def test_a_failing_model_does_not_fail_the_graph_and_the_turn_is_distilled_later(store):
    model = ScriptedChat(replies=[RuntimeError("down"), saving(OSLO)])
    app = graph_of(store, ScriptedChat(), model, report_key="report")
    who = {"context": {"user_id": "alice"}}
    app.invoke({"messages": [("user", "I live in Oslo.")]}, config(), **who)
    app.invoke({"messages": [("user", "Thanks a lot for the tip.")]}, config(), **who)
    assert store.scoped(user="alice").get("HOME")


def test_other_keys_and_a_state_without_messages(store):
    nodes = impression_nodes(store, ScriptedChat(), user="alice", messages_key="talk", memory_key="known")
    assert nodes.read.invoke({"talk": []}) == {"known": ""}
    with pytest.raises(InvalidInput, match="messages_key"):
        nodes.keep.invoke({"messages": []})


def test_rd03_nothing_is_opened_at_construction():
    assert impression_nodes(ImpressionStore.from_url("redis://127.0.0.1:1/0"), ScriptedChat()).read
