"""Wrong options and wrong messages are refused where they are given, in words, and change nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.memory import ChatMemoryBuffer, Memory

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.llama_index import (
    ImpressionMemory,
    ImpressionMemoryBlock,
    ImpressionRetriever,
    ImpressionToolSpec,
)
from tests.llama_index.stock import stock
from tests.llama_index.test_memory import NUTS, assistant, user
from tests.scripted import Scripted

Make = Callable[..., ImpressionMemory]


async def awaited(report: Any) -> None:
    """No listener of ours."""


COMMON: dict[str, tuple[Any, ...]] = {
    "budget_units": (0, -1, "x", True, 1.5),
    "limit_seconds": (0, -1, "x", None, True, float("nan"), float("inf")),
    "switch": ("Off", "readonly", "", None, True),
    "settings": (5, {}),
    "runner": (5, "runner"),
    "on_report": (5, awaited),
}
OF_MEMORY: dict[str, tuple[Any, ...]] = COMMON | {
    "insert": ("front", None),
    "thread_id": ("", [1], True, "\ud800", "a\x00b", "x" * 5_000),
    "primary": (Memory, "x", 5),
}
OF_BLOCK: dict[str, tuple[Any, ...]] = COMMON | {"tokenizer_fn": (5,), "prioritty": (1,)}
OF_RETRIEVER: dict[str, tuple[Any, ...]] = {
    **{name: COMMON[name] for name in ("budget_units", "limit_seconds", "switch")},
    "category": ([5], "", "  "),
    "labels": ("Diet", ["Diet", None], [""], 5),
    "on_error": ("ignore", None),
}


def each(wrong: dict[str, tuple[Any, ...]]) -> list[Any]:
    return [
        pytest.param(name, value, id=f"{name}-{place}") for name in wrong for place, value in enumerate(wrong[name])
    ]


@pytest.mark.parametrize(("name", "value"), each(OF_MEMORY))
def test_of_a_memory(alice: ImpressionStore, name: str, value: Any) -> None:
    options: dict[str, Any] = {"model": Scripted(), "primary": stock(), name: value}
    with pytest.raises(ConfigurationError, match=name.replace("switch", "memory is switched")):
        ImpressionMemory(alice, **options)


@pytest.mark.parametrize(("name", "value"), each(OF_BLOCK))
def test_of_a_block(alice: ImpressionStore, name: str, value: Any) -> None:
    options: dict[str, Any] = {"model": Scripted(), name: value}
    with pytest.raises(ConfigurationError, match=name.replace("switch", "memory is switched")):
        ImpressionMemoryBlock(alice, **options)


@pytest.mark.parametrize(("name", "value"), each(OF_RETRIEVER))
def test_of_a_retriever(alice: ImpressionStore, name: str, value: Any) -> None:
    options: dict[str, Any] = {name: value}
    with pytest.raises((ConfigurationError, InvalidInput), match=name.replace("switch", "memory is switched")[:8]):
        ImpressionRetriever(alice, **options)


@pytest.mark.parametrize("kind", ["memory", "block"])
def test_what_is_set_later_is_checked_too(alice: ImpressionStore, memory_of: Make, kind: str) -> None:
    made: Any = memory_of(alice) if kind == "memory" else ImpressionMemoryBlock(alice, model=Scripted())
    made.switch = "off"
    for name, value in (("switch", "Off"), ("budget_units", 0), ("limit_seconds", -1)):
        with pytest.raises(ConfigurationError):
            setattr(made, name, value)
    assert (made.switch, made.budget_units, made.limit_seconds) == ("off", None, 2.0)
    around = made.model_copy(update={"switch": "Off"})
    with pytest.raises(ConfigurationError, match="Off"):
        around.get(input="x") if kind == "memory" else asyncio.run(around.aget())


def test_the_thread_is_chosen_once_and_learning_needs_a_model(alice: ImpressionStore, memory_of: Make) -> None:
    memory = memory_of(alice, thread_id=7)
    assert memory.thread_id == "7"
    with pytest.raises(ConfigurationError, match="thread_id"):
        memory.thread_id = "t2"
    reads = ImpressionMemory(alice, primary=stock(), switch="read-only")
    with pytest.raises(ConfigurationError, match="model="):
        reads.switch = "on"
    assert reads.switch == "read-only"


def test_memory_never_stands_twice(alice: ImpressionStore, memory_of: Make) -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        memory_of(alice, primary=memory_of(alice))
    memory = memory_of(alice)
    with pytest.raises(ConfigurationError, match="twice"):
        memory.primary = memory_of(alice)


@pytest.mark.parametrize("wrong", ["hi", None, {"role": "user", "content": "hi"}, 5])
def test_what_is_put_must_be_messages(alice: ImpressionStore, memory_of: Make, wrong: Any) -> None:
    memory = memory_of(alice)
    for call in (memory.put, memory.put_messages, memory.set):
        with pytest.raises(InvalidInput, match="ChatMessage"):
            call(wrong)
    for acall in (memory.aput, memory.aput_messages, memory.aset):
        with pytest.raises(InvalidInput, match="ChatMessage"):
            asyncio.run(acall(wrong))
    for several in (memory.put_messages, memory.set):
        with pytest.raises(InvalidInput, match="ChatMessage"):
            several([user(NUTS), wrong])
    assert memory.get_all() == []


async def test_the_end_of_a_session_is_that_of_a_memory_with_this_block(
    alice: ImpressionStore, memory_of: Make
) -> None:
    block = ImpressionMemoryBlock(alice, model=Scripted())
    others: list[Any] = [None, "x", ChatMemoryBuffer.from_defaults(), stock(),
                         stock(ImpressionMemoryBlock(alice, model=Scripted()))]  # fmt: skip
    for wrong in others:
        with pytest.raises(InvalidInput, match="memory_blocks"):
            await block.aend_session(wrong)
        with pytest.raises(InvalidInput, match="memory_blocks"):
            block.end_session(wrong)
    around = memory_of(alice, primary=stock(block))
    await around.aput_messages([user(NUTS), assistant()])
    assert (await block.aend_session(around)).status in ("nothing_to_store", "already_done")


def test_of_tools(alice: ImpressionStore) -> None:
    with pytest.raises(ConfigurationError, match="switched"):
        ImpressionToolSpec(alice, switch="Off")  # type: ignore[arg-type]
