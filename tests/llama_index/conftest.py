"""Memories on the bundled Valkey, with a scripted maintenance model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.memory import ChatMemoryBuffer

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionMemory
from impressmem_integrations.maintenance.runner import Runner
from tests.llama_index.chat import Chat
from tests.scripted import Scripted


@pytest.fixture(scope="session", autouse=True)
def _no_loop_of_old() -> None:
    """LlamaIndex' blocking methods take the loop that a fresh main thread makes by itself, which nobody closes."""
    asyncio.run(asyncio.sleep(0))


@pytest.fixture
def store(valkey_server: Any) -> Iterator[ImpressionStore]:
    with valkey_server.client() as client:
        yield ImpressionStore(client=client)


@pytest.fixture
def alice(store: ImpressionStore) -> ImpressionStore:
    return store.scoped(user="alice")


@pytest.fixture
def keeper() -> Scripted:
    return Scripted()


@pytest.fixture
def chat() -> Chat:
    return Chat()


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner(retry_seconds=0.01) as made:
        yield made


@pytest.fixture
def memory_of(keeper: Scripted, runner: Runner) -> Callable[..., ImpressionMemory]:
    """Makes a memory around a `ChatMemoryBuffer`."""

    def make(store: ImpressionStore | str, **options: Any) -> ImpressionMemory:
        defaults = {"primary": ChatMemoryBuffer.from_defaults(), "model": keeper, "runner": runner}
        return ImpressionMemory(store, **(defaults | options))

    return make
