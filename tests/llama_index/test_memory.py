"""`ImpressionMemory`: what a call sees, what is learnt, and what is passed on."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.chat_engine import ContextChatEngine, SimpleChatEngine
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.workflow import Context, JsonPickleSerializer, JsonSerializer

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.render import FENCE
from impressmem_integrations.errors import ConfigurationError, JobError
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionMemoryBlock
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from tests.llama_index.chat import Chat, Documents, calling
from tests.llama_index.stock import stock
from tests.scripted import Scripted, impression, save

Make = Callable[..., ImpressionMemory]
NUTS, PAINT, BOAT = (
    "I must not eat any nuts at all.",
    "I started to paint in oil last May.",
    "I sold my old boat to Jo.",
)


def engine(chat: Chat, memory: BaseMemory, **options: Any) -> SimpleChatEngine:
    return SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory, **options)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def assistant(text: str = "I see.") -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def times(keeper: Scripted, text: str) -> int:
    """In how many requests a text was to be distilled."""
    return sum(text in request[-1]["content"] for request in keeper.requests)


# --- what a call sees -----------------------------------------------------------------------------------------------


def test_what_is_learnt_in_one_session_is_shown_in_the_next(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    keeper.replies = [save(impression("USER-NUTS", "must not eat nuts"))]
    first = memory_of(alice)
    engine(chat, first).chat(NUTS)
    assert first.flush() == []
    engine(chat, memory_of(alice)).chat("What can I have for dinner?")
    assert [("must not eat nuts" in text) for text in chat.shown()] == [True]
    assert chat.requests[-1][-1]["content"].endswith("What can I have for dinner?")
    assert chat.shown(0) == []


def test_li07_three_turns_with_a_system_prompt(
    alice: ImpressionStore, chat: Chat, memory_of: Make, keeper: Scripted
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice)
    talk = engine(chat, memory, system_prompt="You are kind.")
    for text in (NUTS, PAINT, BOAT):
        talk.chat(text)
    memory.flush()
    assert chat.faults == []
    assert [len(chat.shown(place)) for place in range(3)] == [1, 1, 1]
    assert not [message for message in memory.primary.get_all() if FENCE in (message.content or "")]


def test_li07_insert_system_is_there_for_those_who_want_it(
    alice: ImpressionStore, memory_of: Make, keeper: Scripted
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice, insert="system")
    memory.put(user(NUTS))
    found = memory.get()
    assert [message.role for message in found] == [MessageRole.SYSTEM, MessageRole.USER]
    assert found[1].content == NUTS
    memory.set([ChatMessage(role="system", content="Be kind."), user(NUTS)])
    assert [message.role for message in memory.get()] == [MessageRole.SYSTEM, MessageRole.USER]
    assert (memory.get()[0].content or "").startswith("Be kind.")
    with pytest.raises(ConfigurationError, match="insert"):
        memory_of(alice, insert="front")


async def test_li03_the_question_may_be_a_message(alice: ImpressionStore, memory_of: Make) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    for question in ("Where do I live?", user("Where do I live?")):
        (shown,) = await memory_of(alice).aget(input=question)
        assert shown.role == MessageRole.USER
        assert "lives in Lisbon" in (shown.content or "")


def test_nothing_is_shown_where_nothing_is_remembered(alice: ImpressionStore, memory_of: Make) -> None:
    memory = memory_of(alice)
    assert memory.get(input="hello") == []
    memory.put(user("hello"))
    assert [message.content for message in memory.get()] == ["hello"]


def test_placeholders_in_a_note_are_no_placeholders_of_a_prompt(
    alice: ImpressionStore, chat: Chat, memory_of: Make
) -> None:
    alice.save("USER-CODE", "writes {query_str} and {context_str} in templates", category="Work", labels=["Code"])
    talk = ContextChatEngine.from_defaults(retriever=Documents(), llm=chat.llm, memory=memory_of(alice))
    talk.chat("QUESTION?")
    shown = chat.shown()[0]
    assert "query_str" in shown
    assert "QUESTION?" not in shown
    assert "canteen" not in shown


def test_blocks_of_a_message_are_kept_and_those_stored_are_never_touched(
    alice: ImpressionStore, memory_of: Make
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice)
    memory.put(ChatMessage(role="user", blocks=[TextBlock(text="one"), TextBlock(text="two")]))
    (shown,) = memory.get()
    assert [block.text for block in shown.blocks if isinstance(block, TextBlock)][1:] == ["one", "two"]
    shown.blocks[-1].text = "changed by an agent"  # type: ignore[union-attr]
    assert memory.get_all()[0].content == "one\ntwo"


# --- what is learnt -------------------------------------------------------------------------------------------------


def test_a_whole_history_that_is_set_is_not_distilled(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(alice)
    talk = engine(chat, memory)
    for text in (NUTS, PAINT):
        talk.chat(text)
    memory.flush()
    history = memory.get_all()
    for _ in range(2):
        memory.set(history)
        memory.flush()
    talk.chat(BOAT, chat_history=history)
    memory.flush()
    assert [times(keeper, text) for text in (NUTS, PAINT, BOAT)] == [1, 1, 1]


async def test_an_imported_history_is_background_only(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(alice)
    await memory.aset([user("Do you know Kyoto?"), assistant("Kyoto is where the maples are.")])
    await engine(chat, memory).achat("I moved there in the spring.")
    await memory.aflush()
    assert len(keeper.requests) == 1
    assert "Kyoto is where the maples are." in keeper.asked
    assert "Do you know Kyoto?" not in keeper.asked


def test_a_history_that_ends_with_a_question_opens_its_turn(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(alice)
    memory.set([user(PAINT), assistant(), user(NUTS)])
    memory.put(assistant())
    memory.flush()
    assert (times(keeper, PAINT), times(keeper, NUTS)) == (0, 1)


def test_a_replay_in_another_process_is_harmless(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    said = [user(NUTS), assistant(), user(PAINT), assistant(), user(BOAT), assistant()]
    for _ in range(2):
        memory = memory_of(alice, thread_id="t1")
        memory.put_messages(said)
        memory.flush()
    memory = memory_of(alice, thread_id="t1")
    for message in said:  # and one by one
        memory.put(message)
        memory.flush()
    assert [times(keeper, text) for text in (NUTS, PAINT, BOAT)] == [1, 1, 1]


def test_equal_turns_of_one_conversation_are_each_distilled(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(alice)
    for text in (NUTS, PAINT, NUTS, PAINT, NUTS):
        memory.put_messages([user(text), assistant()])
        memory.flush()
    assert len(keeper.requests) == 5


def test_a_turn_may_end_in_another_process(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    held = ChatMemoryBuffer.from_defaults()
    memory_of(alice, primary=held, thread_id="t1").put_messages([user(NUTS), calling("look", {"a": 1})])
    later = memory_of(alice, primary=held, thread_id="t1")
    later.put_messages([ChatMessage(role="tool", content="42", additional_kwargs={"tool_call_id": "c1"}), assistant()])
    later.flush()
    assert times(keeper, NUTS) == 1
    assert "look" in keeper.asked


def test_li06_calls_as_objects_and_no_text(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    class Function:
        name, arguments = "look", '{"a": 1}'

    class Call:
        id, type, function = "c1", "function", Function()

    memory = memory_of(alice)
    memory.put(user(NUTS))
    memory.put(ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [Call()]}))
    memory.put(ChatMessage(role="tool", content="fine", additional_kwargs={"tool_call_id": "c1"}))
    memory.put(assistant())
    assert memory.flush() == []
    assert times(keeper, NUTS) == 1


def test_tc05_one_system_message_in_every_request(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    """`Chat` and `Scripted` hold each request against all rules, STRICT-TEMPLATE among them."""
    alice.save("USER-CITY", "lives in Oslo", category="Life", labels=["Home"])
    memory = memory_of(alice)
    talk = SimpleChatEngine.from_defaults(llm=chat.llm, memory=memory, system_prompt="RULES")
    for text in (NUTS, PAINT):
        talk.chat(text)
    assert memory.flush() == []
    assert chat.faults == []
    for request in chat.requests:
        assert [message["role"] for message in request].count("system") == 1
        assert "RULES" in request[0]["content"]
        assert "lives in Oslo" in str(request)
    assert {tuple(message["role"] for message in request) for request in keeper.requests} == {("system", "user")}
    assert (times(keeper, NUTS), times(keeper, PAINT), times(keeper, "RULES")) == (1, 1, 0)


def test_flush_tries_a_turn_again_that_failed(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    keeper.replies = [RuntimeError("down")]
    reports: list[Report] = []
    memory = memory_of(alice, on_report=reports.append)
    memory.put_messages([user(NUTS), assistant()])
    (error,) = memory.flush()
    assert isinstance(error, JobError)
    assert times(keeper, NUTS) == 1
    assert memory.flush() == []
    assert [report.status for report in reports] == ["model_failed", "nothing_to_store"]
    assert times(keeper, NUTS) == 2


def test_a_turn_that_failed_goes_with_the_next_one(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    keeper.replies = [RuntimeError("down"), RuntimeError("down")]
    memory = memory_of(alice)
    memory.put_messages([user(NUTS), assistant()])
    assert [len(memory.flush()) for _ in range(2)] == [1, 1]
    memory.put_messages([user(PAINT), assistant()])
    assert memory.flush() == []
    assert (times(keeper, NUTS), times(keeper, PAINT)) == (3, 1)


@pytest.mark.parametrize("end", ["close", "flush"])
def test_closing_asks_nobody_a_second_time_about_a_turn_that_failed(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make, end: str
) -> None:
    keeper.replies = [RuntimeError("down")] * 9
    memory = memory_of(alice)
    memory.put_messages([user(NUTS), assistant()])
    if end == "flush":
        assert len(memory.flush()) == 1
    assert len(memory.close()) == (0 if end == "flush" else 1)
    assert times(keeper, NUTS) == 1


def test_mq28_a_turn_that_is_given_up_is_told_once(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    keeper.replies = [RuntimeError("down")] * 9
    memory = memory_of(alice)
    memory.put_messages([user(NUTS), assistant()])
    errors = [[str(error) for error in memory.flush()] for _ in range(5)]
    assert [len(found) for found in errors] == [1, 1, 1, 0, 0]
    assert ["given up after 3 tries" in found[0] for found in errors[:3]] == [False, False, True]


def test_turns_that_wait_together_fail_with_one_error(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make, runner: Runner
) -> None:
    keeper.replies = [RuntimeError("down")] * 9
    memory = memory_of(alice)
    gate = threading.Event()
    runner.submit(alice.scope, lambda: gate.wait(20))
    memory.put_messages([user(NUTS), assistant()])
    memory.put_messages([user(PAINT), assistant()])
    gate.set()
    assert len(memory.flush()) == 1


@pytest.mark.parametrize("flushing", [True, False])
def test_a_rate_limit_loses_no_turn(alice: ImpressionStore, keeper: Scripted, memory_of: Make, flushing: bool) -> None:
    limited = TimeoutError("slow down")
    keeper.replies = [limited, limited, limited, save(impression("ONE", "one")), save(impression("TWO", "two"))]
    memory = memory_of(alice)
    found = []
    for text in (NUTS, PAINT):
        memory.put_messages([user(text), assistant()])
        memory._upkeep.wait()
        found += memory.flush() if flushing else []
    assert found + memory.flush() == []
    assert {item.clue for item in alice.impressions()} == {"ONE", "TWO"}


def test_a_batch_waits_and_flush_asks_all_the_same(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    memory = memory_of(alice, settings=Settings(batch_turns=3))
    memory.put_messages([user(NUTS), assistant()])
    memory._upkeep.wait()
    assert keeper.requests == []
    memory.flush()
    assert times(keeper, NUTS) == 1


def test_lc14_an_agent_with_three_tool_rounds_is_one_turn(
    alice: ImpressionStore, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(alice)
    memory.put(user(NUTS))
    rounds = []
    for place in range(3):
        result = ChatMessage(role="tool", content="x", additional_kwargs={"tool_call_id": f"c{place}"})
        rounds += [calling("look", {"place": place}, f"c{place}"), result]
    memory.put_messages([*rounds, assistant()])
    memory.flush()
    assert len(keeper.requests) == 1


def test_the_reply_is_not_delayed(alice: ImpressionStore, chat: Chat, memory_of: Make) -> None:
    gate = threading.Event()

    def slow(messages: Any, tools: Any) -> str:
        assert gate.wait(20)
        return "IGNORE"

    memory = memory_of(alice, model=slow)
    assert str(engine(chat, memory).chat(NUTS)) == "ok"  # while the maintenance model has not answered
    with pytest.raises(TimeoutError):
        memory.flush(0.05)
    gate.set()
    assert memory.flush() == []


# --- the switch -----------------------------------------------------------------------------------------------------


def test_memory_is_switched_for_single_calls(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice)
    talk = engine(chat, memory)
    with memory.switched("off"):
        talk.chat(NUTS)
    with memory.switched("read-only"):
        "".join(talk.stream_chat(PAINT).response_gen)  # its answer is put by another thread
    talk.chat(BOAT)
    memory.flush()
    assert [len(chat.shown(place)) for place in range(3)] == [0, 1, 1]
    assert [times(keeper, text) for text in (NUTS, PAINT, BOAT)] == [0, 0, 1]
    with pytest.raises(ConfigurationError, match="read-only"):
        memory.switched("sometimes").__enter__()  # type: ignore[arg-type]


@pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning"
)  # LlamaIndex' agents are made that way
async def test_the_switch_reaches_an_agents_tasks(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice)
    with memory.switched("off"):
        await FunctionAgent(tools=[lambda a: a], llm=chat.llm).run(PAINT, memory=memory)
    await memory.aflush()
    assert chat.shown() == []
    assert keeper.requests == []


# --- passing on -----------------------------------------------------------------------------------------------------


def test_every_method_of_a_memory_is_our_own() -> None:
    public = {name for name, _ in inspect.getmembers(BaseMemory, inspect.isfunction) if name in vars(BaseMemory)}
    public -= {name for name in public if name.startswith("_")}
    assert len(public) == 12
    assert {name for name in public if name not in vars(ImpressionMemory)} == set()


async def test_each_method_does_what_the_primary_does(alice: ImpressionStore, memory_of: Make) -> None:
    memory = memory_of(alice)
    memory.put(user("a"))
    await memory.aput(assistant("b"))
    memory.put_messages([user("c"), assistant("d")])
    await memory.aput_messages([user("e"), assistant("f")])
    expected = ["a", "b", "c", "d", "e", "f"]
    assert [message.content for message in memory.get_all()] == expected
    assert [message.content for message in await memory.aget_all()] == expected
    assert [message.content for message in memory.primary.get_all()] == expected
    await memory.aset([user("x")])
    assert [message.content for message in memory.get()] == ["x"]
    memory.set([user("y")])
    assert [message.content for message in await memory.aget()] == ["y"]
    memory.reset()
    assert memory.get_all() == []
    memory.put(user("z"))
    await memory.areset()
    assert memory.get_all() == []
    assert memory.tokenizer_fn("word")  # engines look for it
    assert memory.chat_store_key == "chat_history"
    with pytest.raises(AttributeError):
        memory.no_such_thing  # noqa: B018


def test_the_thread_is_the_primarys_session(alice: ImpressionStore, memory_of: Make) -> None:
    assert memory_of(alice, primary=stock(session_id="s1")).thread_id == "s1"
    assert memory_of(alice, thread_id="t1").thread_id == "t1"
    assert memory_of(alice).thread_id != memory_of(alice).thread_id


# --- whose it is ----------------------------------------------------------------------------------------------------


def test_it_must_be_said_whose_memory_it_is(store: ImpressionStore, alice: ImpressionStore) -> None:
    with pytest.raises(ConfigurationError, match="user="):
        ImpressionMemory(store)
    with pytest.raises(ConfigurationError):
        ImpressionMemory(store, user="")
    with pytest.raises(ConfigurationError, match="no user"):
        ImpressionMemory(alice, user=None)
    with pytest.raises(ConfigurationError, match="for each user"):
        ImpressionMemory(store, user=lambda session: session)
    with pytest.raises(ConfigurationError, match="URL"):
        ImpressionMemory(7)  # type: ignore[arg-type]
    for user, expected in ((None, None), (1, "1")):
        assert ImpressionMemory(store, user=user, model=Scripted())._attachment.user == expected


def test_wrong_options_are_refused_at_once_and_not_in_the_background(alice: ImpressionStore) -> None:
    async def keep(messages: Any, tools: Any) -> str:
        return "IGNORE"

    for made in (ImpressionMemory, ImpressionMemoryBlock):
        with pytest.raises(ConfigurationError, match="str is no chat model"):
            made(alice, model="openai:gpt-4.1-mini")
        with pytest.raises(ConfigurationError, match="async"):
            made(alice, model=keep)
        with pytest.raises(ConfigurationError, match="budget_units"):
            made(alice, budget_units=0)


def test_users_at_once_never_mix(store: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    memories = {name: memory_of(store, user=name) for name in ("ada", "bob", "cyd")}
    for name in memories:
        store.scoped(user=name).save("NAME", f"is called {name}", category="Life", labels=["Name"])
    chats = {name: Chat() for name in memories}

    def talk(name: str) -> None:
        for _ in range(3):
            engine(chats[name], memories[name]).chat("Who am I?")

    threads = [threading.Thread(target=talk, args=(name,)) for name in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, memory in memories.items():
        memory.flush()
        assert all(
            f"is called {name}" in text and text.count("is called") == 1
            for place in range(3)
            for text in chats[name].shown(place)
        )


# --- copies ---------------------------------------------------------------------------------------------------------


def test_li09_copies_go_on_with_the_same_store(alice: ImpressionStore, keeper: Scripted, memory_of: Make) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    memory = memory_of(alice)
    memory.put(user(PAINT))
    for twin in (copy.deepcopy(memory), pickle.loads(pickle.dumps(memory))):
        assert "must not eat nuts" in (twin.get()[-1].content or "")
        assert [message.content for message in twin.get_all()] == [PAINT]
    twin.put(assistant())
    assert twin.flush() == []
    memory.put(assistant())
    assert memory.flush() == []
    assert times(keeper, PAINT) == 1


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex' agents are made so
@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")  # it says so of every memory
@pytest.mark.parametrize("serializer", [JsonPickleSerializer, JsonSerializer])
async def test_li09_a_workflow_goes_on_from_its_saved_context(
    alice: ImpressionStore, chat: Chat, keeper: Scripted, memory_of: Make, serializer: Any
) -> None:
    alice.save("USER-NUTS", "must not eat nuts", category="Health", labels=["Diet"])
    agent = FunctionAgent(tools=[lambda a: a], llm=chat.llm)
    context, memory = Context(agent), memory_of(alice)
    await agent.run(PAINT, ctx=context, memory=memory)
    saved = json.loads(json.dumps(context.to_dict(serializer=serializer())))
    await asyncio.to_thread(memory.flush)  # or both would ask at once, and the store take one answer
    again = Context.from_dict(agent, saved, serializer=serializer())
    # The JSON form leaves memories out, which is LlamaIndex' own rule: the application hands it over again.
    options = {} if serializer is JsonPickleSerializer else {"memory": memory}
    await agent.run(BOAT, ctx=again, **options)
    assert "must not eat nuts" in chat.shown()[0]
    assert [message["content"] for message in chat.requests[-1]][:2] == [PAINT, "ok"]
    held = await again.store.get("memory")
    assert isinstance(held, ImpressionMemory)
    await held.aflush()
    assert (times(keeper, PAINT), times(keeper, BOAT)) == (1, 1)


# --- connections ----------------------------------------------------------------------------------------------------


def test_the_number_of_connections_stays_flat(
    valkey_server: Any, chat: Chat, keeper: Scripted, memory_of: Make
) -> None:
    memory = memory_of(f"unix://{valkey_server.socket_path}?db=0", user="alice")
    talk = engine(chat, memory)
    counts = []
    for place in range(200):
        talk.chat(f"I own {place} pairs of blue socks by now.")
        if place % 20 == 19:
            memory.flush()
            counts.append(len(valkey_server.admin.client_list()))
    assert len(keeper.requests) >= 10
    assert max(counts) - min(counts) <= 4, counts
    assert memory.close() == []
