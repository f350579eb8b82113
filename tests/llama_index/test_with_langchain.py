"""A LangChain agent and a LlamaIndex engine share one user's memory and one thread."""

from __future__ import annotations

from collections.abc import Callable

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from llama_index.core.chat_engine import SimpleChatEngine

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware
from impressmem_integrations.llama_index import ImpressionMemory
from impressmem_integrations.maintenance.runner import Runner
from tests.langchain.chat import ScriptedChat
from tests.llama_index.chat import Chat
from tests.llama_index.test_memory import assistant, times, user
from tests.scripted import Scripted, impression, save

SAID = (
    "I must not eat any nuts at all.",
    "I started to paint in oil last May.",
    "My sister Ines is a doctor in Faro.",
    "I sold my old boat to Jo.",
    "I sleep badly in summer, always have.",
    "My garden has two lemon trees.",
)


def test_one_user_and_one_thread_in_both(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Callable[..., ImpressionMemory], runner: Runner
) -> None:
    keeper.replies = [save(impression("USER-NUTS", "has a nut allergy")), save(impression("USER-ART", "paints in oil"))]
    model = ScriptedChat()
    middleware = ImpressionMiddleware(alice, model=keeper, tools=False, runner=runner)
    agent = create_agent(model, middleware=[middleware], checkpointer=InMemorySaver())
    memory = memory_of(alice, thread_id="shared")
    engine = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)

    for place, text in enumerate(SAID):
        if place % 2:
            engine.chat(text)
            assert memory.flush() == []
        else:
            agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": "shared"}})
            assert middleware.flush() == []

    assert [times(keeper, text) for text in SAID] == [1] * len(SAID)
    for request in (chat.requests[-1], model.requests[-1]):
        assert "has a nut allergy" in str(request)
        assert "paints in oil" in str(request)


def test_a_turn_said_again_is_distilled_again_in_a_thread_of_both(
    alice: ImpressionStore, keeper: Scripted, memory_of: Callable[..., ImpressionMemory]
) -> None:
    memory = memory_of(alice, thread_id="shared")
    elsewhere: list[tuple[str, str]] = []
    for text, other in zip((SAID[0], SAID[1], SAID[0], SAID[1], SAID[1]), (*SAID[2:], "I like tea."), strict=True):
        memory.put_messages([user(text), assistant()])
        assert memory.flush() == []
        elsewhere += [("user", other), ("assistant", "I see.")]
        assert alice.maintain(elsewhere, keeper, thread_id="shared").status == "nothing_to_store"
    assert [times(keeper, text) for text in SAID[:2]] == [2, 3]
    assert [times(keeper, text) for text in (*SAID[2:], "I like tea.")] == [1] * 5
