"""Memory text leaves room: it takes a quarter of the window that is known, unless a budget was asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import ChatMemoryBuffer, Memory
from llama_index.core.utils import get_tokenizer

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.text import units
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionMemoryBlock
from impressmem_integrations.llama_index.room import room_in, window_of
from tests.llama_index.chat import Chat
from tests.llama_index.test_memory import user

Make = Callable[..., ImpressionMemory]


@pytest.fixture
def full(alice: ImpressionStore) -> ImpressionStore:
    alice.save_many(
        {"clue": f"N{place:03}", "content": f"remembers lighthouse {place} well, and who painted it",
         "category": "Trips", "labels": ["Sea"], "pin": place == 0}
        for place in range(900)
    )  # fmt: skip
    return alice


class Windowed(MockLLM):
    """An LLM that states its window."""

    size: int = 4_096

    @property
    def metadata(self) -> Any:
        return super().metadata.model_copy(update={"context_window": self.size})


def windowed(size: int) -> Windowed:
    made = Windowed()
    made.size = size
    return made


def text_in(memory: Any, question: str = "lighthouse 17?") -> str:
    (message,) = memory.get(input=question)
    return str(message.content)


def test_a_small_primary_and_a_small_model(full: ImpressionStore, memory_of: Make, chat: Chat) -> None:
    small = ChatMemoryBuffer.from_defaults(token_limit=1_000)
    memory = memory_of(full, primary=small, model=windowed(4_096))
    SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory).chat("Which lighthouse is number 17?")
    prompt = "".join(message["content"] for message in chat.requests[-1])
    assert len(get_tokenizer()(prompt)) < 400
    assert "N000" in prompt, "the pin is there"
    memory.flush()


@pytest.mark.parametrize(
    ("limit", "window", "most"), [(2_000, 4_096, 500), (30_000, 4_096, 1_024), (30_000, 10**6, 7_500)]
)
def test_both_parts_together_take_a_quarter_of_the_smaller_one(
    full: ImpressionStore, memory_of: Make, limit: int, window: int, most: int
) -> None:
    primary = ChatMemoryBuffer.from_defaults(token_limit=limit)
    text = text_in(memory_of(full, primary=primary, model=windowed(window)))
    assert most * 0.7 < units(text) <= most + 2, "the room is used, and no more"
    assert "lighthouse 17 " in text, "what the question needs has a place"


def test_a_budget_that_was_asked_for_counts(full: ImpressionStore, memory_of: Make) -> None:
    primary = ChatMemoryBuffer.from_defaults(token_limit=1_000)
    assert units(text_in(memory_of(full, primary=primary, budget_units=3_000))) > 2_500


def test_a_window_too_small_for_anything_shows_no_half_lines(full: ImpressionStore, memory_of: Make) -> None:
    memory = memory_of(full, primary=ChatMemoryBuffer.from_defaults(token_limit=40))
    assert all("N0" not in str(message.content) for message in memory.get(input="lighthouse 17?"))


async def test_the_block_knows_the_window_of_its_model(full: ImpressionStore) -> None:
    block = ImpressionMemoryBlock(full, model=windowed(2_000))
    assert units(await block.aget([user("lighthouse 17?")])) <= 502


def test_what_is_not_known_does_not_count() -> None:
    class Odd:
        @property
        def metadata(self) -> Any:
            raise ValueError("Unknown model")

    assert (window_of(Odd()), window_of(None), window_of(len)) == (None, None, None)
    assert (room_in(None, "x", 0, True), room_in(None, 4_000), room_in(3)) == (None, 1_000, 1)
    assert Memory.from_defaults().token_limit == 30_000
