"""`ImpressionRetriever`: recall as nodes."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import MetadataMode

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.llama_index import ImpressionRetriever
from tests.llama_index.chat import Chat, Documents


@pytest.fixture
def filled(alice: ImpressionStore) -> ImpressionStore:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"], pin=True)
    alice.save("USER-CAKE", "likes cake without nuts", category="Food", labels=["Taste"])
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    return alice


def test_nodes_come_best_first_and_say_what_they_are(filled: ImpressionStore) -> None:
    retriever = ImpressionRetriever(filled)
    assert isinstance(retriever, BaseRetriever)
    for found in (retriever.retrieve("any nuts?"), asyncio.run(retriever.aretrieve("any nuts?"))):
        assert [node.metadata["clue"] for node in found][:2] in (
            ["USER-NUTS", "USER-CAKE"], ["USER-CAKE", "USER-NUTS"])  # fmt: skip
        assert [node.score for node in found] == sorted((node.score for node in found), reverse=True)
        node = next(node for node in found if node.metadata["clue"] == "USER-NUTS")
        assert node.text == "must not eat nuts"
        assert (node.metadata["user"], node.metadata["category"], node.metadata["pin"]) == ("alice", "Health", True)
        shown = node.node.get_content(MetadataMode.LLM)
        assert "Health" in shown
        assert "alice" not in shown


def test_the_same_note_is_the_same_node(filled: ImpressionStore) -> None:
    first, second = (ImpressionRetriever(filled).retrieve(query) for query in ("Lisbon", "where is Lisbon"))
    assert first[0].node_id == second[0].node_id
    fused = QueryFusionRetriever(
        [ImpressionRetriever(filled), ImpressionRetriever(filled), Documents()],
        llm=Chat().llm, num_queries=1, use_async=False, mode="reciprocal_rerank", similarity_top_k=10,
    )  # fmt: skip
    clues = [node.metadata.get("clue") for node in fused.retrieve("Lisbon")]
    assert clues.count("USER-HOME") == 1


def test_only_a_category_or_labels(filled: ImpressionStore) -> None:
    found = ImpressionRetriever(filled, category="Food").retrieve("nuts")
    assert [node.metadata["clue"] for node in found] == ["USER-CAKE"]
    found = ImpressionRetriever(filled, labels=["Diet"]).retrieve("nuts")
    assert [node.metadata["clue"] for node in found] == ["USER-NUTS"]


def test_in_a_query_engine(filled: ImpressionStore) -> None:
    chat = Chat("In Lisbon.")
    engine = RetrieverQueryEngine(ImpressionRetriever(filled), get_response_synthesizer(llm=chat.llm))
    assert str(engine.query("Where do I live? Lisbon?")) == "In Lisbon."
    assert "lives in Lisbon" in chat.requests[0][-1]["content"]


def test_it_knows_whose_it_is_and_can_be_off(store: ImpressionStore, filled: ImpressionStore) -> None:
    assert ImpressionRetriever(store, user="bob").retrieve("Lisbon") == []
    assert ImpressionRetriever(filled, switch="off").retrieve("Lisbon") == []
    with pytest.raises(ConfigurationError, match="whose memory"):
        ImpressionRetriever(store)
