"""Chains, nodes and retrievers answer while the store is away, as the middleware does (RD-12); a data store raises."""

from __future__ import annotations

import asyncio

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.availability import availability_of
from impressmem_integrations.errors import InvalidInput, StoreUnavailable
from impressmem_integrations.langchain import (
    ImpressionBaseStore,
    ImpressionRetriever,
    context_chain,
    impression_nodes,
)
from impressmem_integrations.langchain.injection import UNAVAILABLE
from tests.scripted import Scripted

LIMIT = 0.3
ALICE = {"configurable": {"user_id": "alice"}}
WAYS = pytest.mark.parametrize("way", ["invoke", "ainvoke"])


def reading(kind, store, **options):
    """A step that reads, and what its output is while memory is unavailable."""
    if kind == "chain":
        return context_chain(store, **options), UNAVAILABLE
    if kind == "node":
        step = impression_nodes(store, Scripted(), **options).read
        return (lambda text: {"messages": [("user", text)]}) | step, {"memory": UNAVAILABLE}
    return ImpressionRetriever(store=store, **options) | list, []


async def read(step, way):
    if way == "invoke":
        return await asyncio.to_thread(step.invoke, "Where do I live?", ALICE)
    return await step.ainvoke("Where do I live?", ALICE)


@WAYS
@pytest.mark.parametrize("kind", ["chain", "node", "retriever"])
async def test_rd_12_a_host_that_never_answers(silent, kind, way):
    with ImpressionStore.from_url(silent) as store:
        step, unavailable = reading(kind, store, limit_seconds=LIMIT)
        assert await read(step, way) == unavailable
        assert availability_of(store).away
        patient, _ = reading(kind, store, limit_seconds=600)
        assert await read(patient, way) == unavailable  # nobody waits for the limit again


@WAYS
@pytest.mark.parametrize("kind", ["chain", "node", "retriever"])
async def test_rd_12_on_error(kind, way, caplog):
    with ImpressionStore.from_url("redis://127.0.0.1:1/0") as store:
        errors = []
        listening, unavailable = reading(kind, store, on_error=errors.append)
        assert await read(listening, way) == unavailable
        assert [type(error) for error in errors] == [StoreUnavailable]
        strict, _ = reading(kind, store, on_error="raise")
        with pytest.raises(StoreUnavailable):
            await read(strict, way)
        logging, _ = reading(kind, store)
        caplog.clear()
        assert await read(logging, way) == unavailable
        assert "memory: " in caplog.text


def test_a_mistake_of_the_caller_is_raised_whatever_on_error_says(store):
    with pytest.raises(InvalidInput):
        context_chain(store, user="alice").invoke({"question": "no messages"})
    with pytest.raises(InvalidInput):
        ImpressionRetriever(store=store, user="alice", category="  ").invoke("Where do I live?")


async def test_a_store_of_values_raises():
    with ImpressionStore.from_url("redis://127.0.0.1:1/0") as store:
        values = ImpressionBaseStore(store)
        with pytest.raises(StoreUnavailable):
            values.get(("users", "alice"), "k")
        with pytest.raises(StoreUnavailable):
            await values.aget(("users", "alice"), "k")
