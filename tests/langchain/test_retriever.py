"""The retriever over recall, held against LangChain's own suite for retrievers."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import create_retriever_tool
from langchain_core.tracers.context import collect_runs
from langchain_tests.integration_tests import RetrieversIntegrationTests

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain import ImpressionRetriever
from tests.langchain.conftest import remember


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _filled(self, store):
        self.alice = store.scoped(user="alice")
        for at in range(6):
            remember(store, "alice", f"TEA-{at}", f"drinks tea number {at} at {at} o'clock")

    @property
    def retriever_constructor(self):
        return ImpressionRetriever

    @property
    def retriever_constructor_params(self):
        return {"store": self.alice}

    @property
    def retriever_query_example(self):
        return "Which tea does she drink?"


CONFIG = {"configurable": {"user_id": "alice"}}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_documents_say_what_they_are(store, way):
    alice = store.scoped(user="alice")
    alice.save("TEA", "drinks green tea", category="Food", labels=["Drink", "Habit"])
    alice.save("CAT", "has a cat", category="Home", labels=["Pet"])
    alice.remember_turns([HumanMessage("My tea was cold today", name="alice"), AIMessage("Sorry!")])
    finder = ImpressionRetriever(store=store)
    found = finder.invoke("green tea", CONFIG) if way == "invoke" else await finder.ainvoke("green tea", CONFIG)
    fact = next(one for one in found if one.metadata["kind"] == "impression")
    turn = next(one for one in found if one.metadata["kind"] == "turn")
    assert fact.page_content == "drinks green tea"
    said_at = fact.metadata.pop("said_at")
    assert said_at == alice.get("TEA").updated_at.isoformat()
    assert fact.metadata.pop("score") > 0
    assert fact.metadata == {"clue": "TEA", "kind": "impression", "category": "Food", "labels": ["Drink", "Habit"]}
    assert turn.page_content == "My tea was cold today"
    assert turn.metadata["speaker"] == "alice"


def test_each_run_has_its_user(store):
    remember(store, "alice", "TEA", "drinks green tea")
    finder = ImpressionRetriever(store=store)
    assert len(finder.invoke("tea", CONFIG)) == 1
    assert finder.invoke("tea", {"configurable": {"user_id": "bob"}}) == []
    with pytest.raises(ConfigurationError, match="user_id"):
        finder.invoke("tea")


def test_narrowed_and_filled(store):
    alice = store.scoped(user="alice")
    alice.save("TEA", "drinks green tea", category="Food", labels=["Drink"])
    alice.save("CUP", "has a blue tea cup", category="Home", labels=["Thing"])
    alice.save("CAT", "has a cat", category="Home", labels=["Pet"])

    def clues(**options):
        return {one.metadata["clue"] for one in ImpressionRetriever(store=alice, **options).invoke("green tea")}

    assert clues(category="Food") == {"TEA"}
    assert clues(labels=("Thing",)) == {"CUP"}
    assert clues(fill=True) == {"TEA", "CUP", "CAT"}
    assert clues(fill=True, k=1) == {"TEA"}


def test_as_a_tool_in_a_traced_run(store):
    remember(store, "alice", "TEA", "drinks green tea")
    tool = create_retriever_tool(ImpressionRetriever(store=store), "memory", "Looks memory up.")
    with collect_runs() as traced:
        assert "drinks green tea" in tool.invoke({"query": "tea"}, CONFIG)
    (span,) = traced.traced_runs
    assert [run.run_type for run in span.child_runs] == ["retriever"]


def test_wrong_arguments(store):
    for wrong in ({"k": 0}, {"kk": 3}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ImpressionRetriever(store=store, **wrong)
    with pytest.raises(ConfigurationError):
        ImpressionRetriever(store=None)


def test_rd03_nothing_is_opened_at_construction():
    assert ImpressionRetriever(store=ImpressionStore.from_url("redis://127.0.0.1:1/0")).k == 4
