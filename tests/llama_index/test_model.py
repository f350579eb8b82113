"""Who decides what is kept: the model that was given, or the one that the application set; never one of LlamaIndex'."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
from llama_index.core import Settings
from llama_index.core.llms import MockLLM

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, JobError, ModelError
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionMemoryBlock
from impressmem_integrations.maintenance.runner import Runner
from tests.llama_index.chat import Chat
from tests.llama_index.stock import stock
from tests.llama_index.test_memory import NUTS, assistant, user


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is set, and LlamaIndex' default model, OpenAI, could be made."""
    monkeypatch.setattr(Settings, "_llm", None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody-may-use-this")
    monkeypatch.setenv("OPENAI_API_BASE", "http://127.0.0.1:1")
    yield
    assert Settings._llm is None or type(Settings._llm).__name__ != "OpenAI"


@pytest.mark.parametrize("kind", [ImpressionMemory, ImpressionMemoryBlock])
def test_where_no_model_is_known_nothing_is_built(alice: ImpressionStore, kind: type) -> None:
    with pytest.raises(ConfigurationError, match=r"model=.*Settings\.llm.*read-only"):
        kind(alice)
    Settings.llm = None  # LlamaIndex' way to have none: it puts an echo there
    with pytest.raises(ConfigurationError, match="model="):
        kind(alice)


def test_the_llm_that_the_application_set_is_asked(alice: ImpressionStore, runner: Runner) -> None:
    keeper, other = Chat("IGNORE"), Chat()
    Settings.llm = keeper.llm
    memory = ImpressionMemory(alice, primary=stock(), runner=runner)
    Settings.llm = other.llm  # too late: it was chosen when the memory was made
    memory.put_messages([user(NUTS), assistant()])
    assert memory.flush() == []
    assert (len(keeper.requests), other.requests) == (1, [])


def test_without_a_model_memory_can_be_shown(alice: ImpressionStore, runner: Runner) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    memory = ImpressionMemory(alice, primary=stock(), runner=runner, switch="read-only")
    assert "lives in Lisbon" in str(memory.get(input="Where?"))
    memory.put_messages([user(NUTS), assistant()])
    assert memory.flush() == []
    with memory.switched("on"):
        memory.put_messages([user(NUTS), assistant()])
    (error,) = memory.flush()[:1]
    assert isinstance(error, JobError)
    assert isinstance(error.__cause__, ModelError)
    block = ImpressionMemoryBlock(alice, accept_short_term_memory=False)
    held = stock(block)
    held.put(user(NUTS))
    assert block.end_session(held).status == "model_failed"


def test_a_given_model_may_be_an_echo(alice: ImpressionStore) -> None:
    memory = ImpressionMemory(alice, primary=stock(), model=MockLLM())
    assert pickle.loads(pickle.dumps(memory)).get() == []
