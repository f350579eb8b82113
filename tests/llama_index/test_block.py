"""`ImpressionMemoryBlock` in LlamaIndex' own `Memory`."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.memory import BaseMemoryBlock, InsertMethod, Memory
from llama_index.core.utils import get_tokenizer

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.render import FENCE
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionMemoryBlock
from impressmem_integrations.maintenance.runner import Runner
from tests.llama_index.chat import Chat, calling
from tests.llama_index.stock import stock
from tests.llama_index.test_memory import NUTS, PAINT, assistant, times, user
from tests.scripted import Scripted, impression, save

Make = Callable[..., ImpressionMemoryBlock]


@pytest.fixture
def block_of(keeper: Scripted, runner: Runner) -> Make:
    def make(store: ImpressionStore | str, **options: Any) -> ImpressionMemoryBlock:
        return ImpressionMemoryBlock(store, **({"model": keeper, "runner": runner} | options))

    return make


def small(block: ImpressionMemoryBlock, **options: Any) -> Memory:
    """A memory whose queue overflows after a few messages."""
    limits = {"token_limit": 400, "token_flush_size": 40, "chat_history_token_ratio": 0.2}
    return stock(block, **(limits | options))


def test_it_is_a_block_of_the_library(alice: ImpressionStore, block_of: Make) -> None:
    block = block_of(alice)
    assert isinstance(block, BaseMemoryBlock)
    assert block.priority == 1  # 0 would never be shortened, and burst the limit


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("messages", [[], None, [ChatMessage(role="user", content="Where do I live?")]])
async def test_li03_the_context_is_returned_whatever_the_block_gets(
    alice: ImpressionStore, block_of: Make, messages: Any
) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    block = block_of(alice)
    assert "lives in Lisbon" in await block.aget(messages, session_id="s", initial_token_count=7, anything="else")
    memory = stock(block)
    found = await memory.aget(input=ChatMessage(role="user", content="Where do I live?"))
    assert "lives in Lisbon" in str(found)


async def test_reading_changes_nothing_and_gives_the_same(
    alice: ImpressionStore, block_of: Make, valkey_server: Any
) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    block = block_of(alice)
    first = await block.aget([user("Where?")])
    before = alice.stats()
    assert [await block.aget([user("Where?")]) for _ in range(5)] == [first] * 5
    assert alice.stats() == before


@pytest.mark.parametrize("insert", [InsertMethod.SYSTEM, InsertMethod.USER])
def test_li07_both_ways_of_stock_memory(
    alice: ImpressionStore, block_of: Make, chat: Chat, insert: InsertMethod
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = stock(block_of(alice), insert_method=insert)
    talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory)
    for text in (NUTS, PAINT, "Good night."):
        talk.chat(text)
    assert chat.faults == []
    assert [len(chat.shown(place)) for place in range(3)] == [1, 1, 1]
    assert not [message for message in memory.get_all() if FENCE in (message.content or "")]


# --- learning -------------------------------------------------------------------------------------------------------


def test_li01_what_a_flush_hands_over_is_distilled_with_its_tool_traffic(
    alice: ImpressionStore, block_of: Make, keeper: Scripted
) -> None:
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts"))]  # it checks BEDROCK, among others
    block = block_of(alice)
    result = ChatMessage(role="tool", content="sunny " * 60, additional_kwargs={"tool_call_id": "c1"})
    asyncio.run(block.aput([user(NUTS), calling("weather", {"city": "Rome"}), result, assistant()], session_id="s1"))
    assert block.flush() == []
    assert alice.get("USER-NUTS") is not None


def test_a_queue_that_overflows_feeds_the_block_once(alice: ImpressionStore, block_of: Make, keeper: Scripted) -> None:
    block = block_of(alice)
    memory = small(block)
    texts = [f"On day {place} I walked to the {place}th lighthouse of the coast and drew it." for place in range(8)]
    for text in texts:
        memory.put(user(text))
        memory.put(assistant())
    assert block.flush() == []
    flushed = sum(times(keeper, text) for text in texts)
    assert 0 < flushed < len(texts)
    report = block.end_session(memory)
    assert report.status == "nothing_to_store"
    assert [times(keeper, text) for text in texts] == [1] * len(texts)
    assert block.end_session(memory).status == "already_done"


async def test_the_end_of_a_session_without_an_overflow(
    alice: ImpressionStore, block_of: Make, keeper: Scripted
) -> None:
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts"))]
    block = block_of(alice)
    memory = stock(block)
    await memory.aput_messages([user(NUTS), assistant()])
    assert keeper.requests == []
    report = await block.aend_session(memory)
    assert (report.status, report.saved) == ("stored", ("USER-NUTS",))


def test_the_end_of_a_session_with_a_failing_model(alice: ImpressionStore, block_of: Make, keeper: Scripted) -> None:
    keeper.replies = [RuntimeError("down")]
    block = block_of(alice)
    memory = stock(block)
    memory.put_messages([user(NUTS), assistant()])
    assert block.end_session(memory).status == "model_failed"
    assert block.end_session(memory).status == "nothing_to_store"


def test_beside_the_memory_nothing_is_learnt_twice(
    alice: ImpressionStore, block_of: Make, keeper: Scripted, runner: Runner
) -> None:
    block = block_of(alice, accept_short_term_memory=False)
    memory = ImpressionMemory(alice, primary=small(block), model=keeper, runner=runner)
    texts = [f"On day {place} I walked to the {place}th lighthouse of the coast and drew it." for place in range(8)]
    for text in texts:
        memory.put(user(text))
        memory.put(assistant())
    assert memory.flush() == []
    assert block.end_session(memory.primary).status == "already_done"
    assert [times(keeper, text) for text in texts] == [1] * len(texts)


def test_the_switch(alice: ImpressionStore, block_of: Make, keeper: Scripted) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    block = block_of(alice)
    with block.switched("off"):
        assert asyncio.run(block.aget([user("Where?")])) == ""
    with block.switched("read-only"):
        assert asyncio.run(block.aget([user("Where?")])) != ""
        asyncio.run(block.aput([user(NUTS), assistant()]))
    assert block.flush() == []
    assert keeper.requests == []


# --- one block, several sessions ------------------------------------------------------------------------------------


async def test_li04_one_block_in_two_sessions(store: ImpressionStore, block_of: Make, keeper: Scripted) -> None:
    users = {"s-alice": "alice", "s-bob": "bob"}
    block = block_of(store, user=users)
    for name in users.values():
        store.scoped(user=name).save("NAME", f"is called {name}", category="Life", labels=["Name"])
    memories = {session: stock(block, session_id=session) for session in users}

    async def ask(session: str) -> str:
        return str(await memories[session].aget(input="Who am I?"))

    sessions = list(users) * 5
    for session, text in zip(sessions, await asyncio.gather(*map(ask, sessions)), strict=True):
        other = next(name for key, name in users.items() if key != session)
        assert f"is called {users[session]}" in text
        assert f"is called {other}" not in text
    keeper.replies = [save(impression("HOBBY", "paints"))]
    await block.aput([user(PAINT), assistant()], session_id="s-bob")
    assert await block.aflush() == []
    assert store.scoped(user="bob").get("HOBBY") is not None
    assert store.scoped(user="alice").get("HOBBY") is None


async def test_li04_a_session_of_nobody_is_refused(store: ImpressionStore, block_of: Make) -> None:
    block = block_of(store, user={"s1": "alice"})
    with pytest.raises(ConfigurationError, match="belongs to no user"):
        await block.aget([], session_id="s2")
    with pytest.raises(ConfigurationError, match="session_id"):
        await block.aget([])
    with pytest.raises(ConfigurationError, match="whose memory"):
        block_of(store)


# --- shortening -----------------------------------------------------------------------------------------------------


def thirty(store: ImpressionStore) -> None:
    for place in range(30):
        name = f"N{place:02}"
        store.save(name, f"fact number {place} of thirty", category="Facts", labels=["Fact"], pin=place < 2)


def clues(text: str) -> list[str]:
    return [line.split()[2] for line in text.split("\n") if line.startswith("- ")]


def tokens(text: str) -> int:
    return len(get_tokenizer()(text))


async def test_li08_it_is_shortened_to_whole_entries(alice: ImpressionStore, block_of: Make) -> None:
    thirty(alice)
    block = block_of(alice)
    whole = await block.aget()
    away = int(tokens(whole) * 0.6)
    text = await block.atruncate(whole, away)
    assert text is not None
    assert tokens(text) <= tokens(whole) - away
    assert {"N00", "N01"} < set(clues(text))
    newest = sorted(set(clues(text)) - {"N00", "N01"})
    assert newest == [f"N{place:02}" for place in range(30 - len(newest), 30)]
    assert set(text.split("\n")) <= set(whole.split("\n")), "no entry is cut"
    room = tokens(whole) - away - tokens(text)
    assert room < 2 * tokens(whole.split("\n")[-2]), "the room is used"


async def test_li08_room_for_one_entry_and_for_none(alice: ImpressionStore, block_of: Make) -> None:
    thirty(alice)
    block = block_of(alice)
    whole = await block.aget()
    lines = whole.split("\n")
    one = tokens("\n".join([*lines[:2], "Pinned:", next(line for line in lines if "N01" in line), lines[-1]])) + 2
    text = await block.atruncate(whole, tokens(whole) - one)
    assert text is not None
    assert len(clues(text)) == 1
    assert clues(text)[0] in ("N00", "N01")
    assert await block.atruncate(whole, tokens(whole) - 5) is None
    assert await block.atruncate(whole, tokens(whole) + 5) is None
    assert await block.atruncate([], 10) is None
    assert await block.atruncate(whole, 0) == whole


async def test_li08_a_stock_memory_keeps_the_pins(alice: ImpressionStore, block_of: Make) -> None:
    thirty(alice)
    block = block_of(alice)
    limit = int(tokens(await block.aget()) * 0.5)
    memory = stock(block, token_limit=limit)
    shown = str(await memory.aget())
    assert "N00" in shown
    assert "N29" in shown
    assert "N05" not in shown


async def test_a_line_that_was_replaced_does_not_come_back(alice: ImpressionStore, block_of: Make) -> None:
    thirty(alice)
    for place in range(30):
        alice.save(f"M{place:02}", "filling " * 40, category="Facts", labels=["Fact"])
    block = block_of(alice)
    await block.aget()
    alice.save("N05", "it is otherwise now", category="Facts", labels=["Fact"])
    alice.forget("N06")
    whole = await block.aget()
    for part in (0.3, 0.6, 0.9):
        text = await block.atruncate(whole, int(tokens(whole) * part))
        assert text is not None
        assert "fact number 5 of" not in text
        assert "fact number 6 of" not in text


# --- copies ---------------------------------------------------------------------------------------------------------


async def test_li09_copies_reconnect_by_themselves(alice: ImpressionStore, block_of: Make, keeper: Scripted) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    block = block_of(alice)
    for twin in (copy.deepcopy(block), copy.copy(block), pickle.loads(pickle.dumps(block)), block.model_copy()):
        assert "lives in Lisbon" in await twin.aget([user("Where?")])
    assert json.dumps(block.model_dump())
    await pickle.loads(pickle.dumps(block)).aput([user(NUTS), assistant()])


def test_li09_a_stock_memory_keeps_its_block(alice: ImpressionStore, block_of: Make, caplog: Any) -> None:
    memory = stock(block_of(alice))
    found = pickle.loads(pickle.dumps(memory))
    assert [block.name for block in found.memory_blocks] == ["impressions"]
    assert not [record for record in caplog.records if "memory_blocks" in record.getMessage()]
