"""The event that memory was updated, and one thread shared with another framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers.base import BaseEventHandler
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionMemory
from impressmem_integrations.llama_index.events import MemoryUpdatedEvent
from tests.llama_index.chat import Chat, calling
from tests.llama_index.test_memory import BOAT, NUTS, PAINT, assistant, times, user
from tests.scripted import Scripted, impression, said, save

Make = Callable[..., ImpressionMemory]


class Heard(BaseEventHandler):
    events: list[Any] = []  # noqa: RUF012 - pydantic copies it for each object

    def handle(self, event: Any, **kwargs: Any) -> None:
        if isinstance(event, MemoryUpdatedEvent):
            self.events.append(event)


@pytest.fixture
def heard() -> Iterator[Heard]:
    root, handler = get_dispatcher(), Heard()
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


def test_the_dispatcher_hears_what_changed_and_no_contents(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make, heard: Heard
) -> None:
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts")), "IGNORE"]
    memory = memory_of(alice, thread_id="t1")
    for text in (NUTS, PAINT):
        memory.put_messages([user(text), assistant()])
        memory.flush()
    (event,) = heard.events
    assert (event.user, event.thread_id, event.saved, event.changed) == ("alice", "t1", ["USER-NUTS"], [])
    assert event.transaction
    assert "must not eat nuts" not in str(event.model_dump())


def test_a_listener_that_fails_is_no_harm(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts"))]

    def broken(report: Any) -> None:
        raise RuntimeError("listener")

    memory = memory_of(alice, on_report=broken)
    memory.put_messages([user(NUTS), assistant()])
    assert memory.flush() == []
    assert alice.get("USER-NUTS") is not None


def test_flush_inside_a_job_is_refused(alice: ImpressionStore, memory_of: Make) -> None:
    refused: list[str] = []

    def listener(report: Any) -> None:
        try:
            memory.flush()
        except RuntimeError as error:
            refused.append(str(error))

    memory = memory_of(alice, on_report=listener)
    memory.put_messages([user(NUTS), assistant()])
    memory.flush()
    assert len(refused) == 1


def test_one_thread_with_another_framework(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    """Each hands over its own turns, in turns; each sees what the other learnt."""
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts")), save(impression("USER-ART", "paints in oil"))]
    memory = memory_of(alice, thread_id="shared")
    talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)
    alice.maintain(said(NUTS), keeper, thread_id="shared")
    talk.chat(PAINT)
    memory.flush()
    alice.maintain([*said(BOAT), *said("I am left-handed, by the way.")], keeper, thread_id="shared")
    talk.chat("My sister Ines is a doctor.")
    talk.chat("She works in Faro.")
    memory.flush()
    texts = (NUTS, PAINT, BOAT, "left-handed", "Ines", "Faro")
    assert [times(keeper, text) for text in texts] == [1] * 6
    assert "must not eat nuts" in chat.shown(0)[0]
    assert "paints in oil" in alice.context().text


def test_a_llama_index_llm_keeps_the_memory(alice: ImpressionStore, memory_of: Make) -> None:
    def both(messages: Any, **kwargs: Any) -> ChatMessage:
        assert [tool.metadata.get_name() for tool in kwargs["tools"]] == ["save_impressions", "organize_impressions"]
        first = calling("save_impressions", {"impressions": [impression("USER-NUTS", "must not eat nuts")]})
        second = calling("save_impressions", {"impressions": [impression("USER-ART", "paints in oil")]}, "c2")
        return first.model_copy(update={"blocks": [*first.blocks, *second.blocks]})

    memory = memory_of(alice, model=MockFunctionCallingLLM(response_generator=both, is_chat_model=True))
    memory.put_messages([user(NUTS), assistant()])
    assert memory.flush() == []
    assert {item.clue for item in alice.impressions()} == {"USER-NUTS", "USER-ART"}  # both calls of one answer


def test_a_cut_off_call_of_a_llama_index_llm_saves_nothing(alice: ImpressionStore, memory_of: Make) -> None:
    def cut(messages: Any, **kwargs: Any) -> ChatMessage:
        return calling("save_impressions", '{"impressions": [{"clue": "A", "content": "half of the sent')

    memory = memory_of(alice, model=MockFunctionCallingLLM(response_generator=cut, is_chat_model=True))
    memory.put_messages([user(NUTS), assistant()])
    memory.flush()
    assert list(alice.impressions()) == []


def test_an_llm_without_tools_is_asked_in_json(alice: ImpressionStore, memory_of: Make) -> None:
    class Text(MockLLM):
        def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
            text = (
                '{"calls": [{"name": "save_impressions", "arguments": {"impressions": [{"clue": "USER-NUTS", '
                '"content": "must not eat nuts", "category": "Health", "labels": ["Diet"], "pin": false}]}}]}'
            )
            return ChatResponse(message=ChatMessage(role="assistant", content=text))

    memory = memory_of(alice, model=Text())
    memory.put_messages([user(NUTS), assistant()])
    assert memory.flush() == []
    assert alice.get("USER-NUTS") is not None
