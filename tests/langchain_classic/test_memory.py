"""`ImpressionMemory` in the chains of classic LangChain; runs on langchain-classic and on langchain 0.3."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, InvalidInput, JobError
from impressmem_integrations.langchain import ImpressionMemory
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from tests.langchain.chat import ScriptedChat, use
from tests.scripted import Scripted, impression, save

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what the old packages say of themselves
    try:
        from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
        from langchain_classic.chains import ConversationChain, LLMChain
        from langchain_classic.memory import CombinedMemory, ConversationBufferMemory, ReadOnlySharedMemory
    except ImportError:
        from langchain.agents import AgentExecutor, create_tool_calling_agent
        from langchain.chains import ConversationChain, LLMChain
        from langchain.memory import CombinedMemory, ConversationBufferMemory, ReadOnlySharedMemory

# The chains and the buffer are deprecated, and say so when they are made or run.
pytestmark = pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")

OSLO = impression("HOME", "lives in Oslo")


@pytest.fixture
def store(valkey_server):
    with ImpressionStore.from_url(valkey_server.url) as made:
        yield made


@pytest.fixture
def memory(store):
    made: list[ImpressionMemory] = []

    def make(**options) -> ImpressionMemory:
        options = {"store": store, "user": "alice", "model": None} | options
        made.append(ImpressionMemory(**options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def alice(store):
    return store.scoped(user="alice")


def remember(alice) -> None:
    alice.save("TEA", "drinks green tea", category="Food", labels=["Drink"])


# --- in chains ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_conversation_chain_shows_memory_and_distils_the_turn(memory, alice, way):
    remember(alice)
    model, chat = Scripted(save(OSLO)), ScriptedChat(replies=["Noted."])
    mine = memory(model=model)
    chain = ConversationChain(llm=chat, memory=mine)
    given = {"input": "I live in Oslo."}
    result = chain.invoke(given) if way == "invoke" else await chain.ainvoke(given)
    assert result["response"] == "Noted."
    assert "drinks green tea" in chat.texts[0]
    assert await mine.aflush() == []
    assert alice.get("HOME").content == "lives in Oslo"
    assert "I live in Oslo." in model.asked
    assert "Noted." in model.asked


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_an_llm_chain_with_two_inputs_and_messages(memory, alice, way):
    remember(alice)
    model, chat = Scripted(save(OSLO)), ScriptedChat(replies=["ok"])
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Plan: {plan}"), MessagesPlaceholder("impressions"), ("human", "{question}")]
    )
    mine = memory(memory_key="impressions", input_key="question", return_messages=True, model=model)
    chain = LLMChain(llm=chat, prompt=prompt, memory=mine)
    given = {"plan": "gold", "question": "I live in Oslo."}
    assert (chain.invoke(given) if way == "invoke" else await chain.ainvoke(given))["text"] == "ok"
    assert [message["role"] for message in chat.requests[0]] == ["system", "system", "user"]
    assert "drinks green tea" in chat.requests[0][1]["content"]
    mine.flush()
    assert "gold" not in model.asked
    assert alice.get("HOME")


@tool
def lookup(city: str) -> str:
    """Look a city up."""
    return f"{city}: rain"


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream"])
async def test_an_agent_executor_and_what_its_tools_did(memory, alice, way):
    remember(alice)
    model = Scripted(save(OSLO))
    chat = ScriptedChat(replies=[use("lookup", city="Oslo"), "It rains."])
    prompt = ChatPromptTemplate.from_messages(
        [("system", "{history}"), ("human", "{input}"), MessagesPlaceholder("agent_scratchpad")]
    )
    mine = memory(model=model)
    agent = AgentExecutor(
        agent=create_tool_calling_agent(chat, [lookup], prompt),
        tools=[lookup],
        memory=mine,
        return_intermediate_steps=True,
    )
    given = {"input": "I live in Oslo. What is the weather?"}
    if way == "stream":
        result = list(agent.stream(given))[-1]
    else:
        result = agent.invoke(given) if way == "invoke" else await agent.ainvoke(given)
    assert "It rains." in result["output"]
    assert "drinks green tea" in chat.texts[0]
    mine.flush()
    assert len(model.requests) == 1
    assert "lookup" in model.asked
    assert alice.get("HOME")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_combined_with_a_buffer(memory, alice, way):
    remember(alice)
    model, chat = Scripted(save(OSLO)), ScriptedChat(replies=["Noted."])
    mine = memory(memory_key="impressions", input_key="input", model=model)
    both = CombinedMemory(memories=[ConversationBufferMemory(input_key="input"), mine])
    prompt = PromptTemplate.from_template("{impressions}\n{history}\nHuman: {input}")
    chain = ConversationChain(llm=chat, memory=both, prompt=prompt)
    given = {"input": "I live in Oslo."}
    _ = chain.invoke(given) if way == "invoke" else await chain.ainvoke(given)
    assert "drinks green tea" in chat.texts[0]
    mine.flush()
    assert alice.get("HOME")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_read_only_shared(memory, alice, way):
    remember(alice)
    model, chat = Scripted(save(OSLO)), ScriptedChat(replies=["Noted."])
    mine = memory(model=model)
    chain = ConversationChain(llm=chat, memory=ReadOnlySharedMemory(memory=mine))
    given = {"input": "I live in Oslo."}
    _ = chain.invoke(given) if way == "invoke" else await chain.ainvoke(given)
    assert "drinks green tea" in chat.texts[0]
    mine.flush()
    assert model.requests == []


def test_what_bears_on_the_input_is_shown(memory, alice):
    remember(alice)
    assert "drinks green tea" in memory().load_memory_variables({"input": "Which tea?"})["history"]
    assert memory(user="bob").load_memory_variables({"input": "Which tea?"}) == {"history": ""}
    assert memory(user="bob", return_messages=True).load_memory_variables({}) == {"history": []}
    (message,) = memory(return_messages=True).load_memory_variables({})["history"]
    assert isinstance(message, SystemMessage)


# --- keys ---------------------------------------------------------------------------------------------------------

INPUTS = {"question": "I live in Oslo", "plan": "gold", "memory": "..."}
OUTPUTS = {"answer": "ok", "source_documents": [Document("d")]}


@pytest.mark.parametrize("way", ["save_context", "asave_context"])
async def test_lc09_several_inputs_and_outputs(memory, alice, way):
    model = Scripted(save(OSLO))
    mine = memory(memory_key="memory", input_key="question", output_key="answer", model=model)
    done = getattr(mine, way)(INPUTS, OUTPUTS)
    if done is not None:
        await done
    mine.flush()
    assert "I live in Oslo" in model.asked
    assert "..." not in model.asked
    assert alice.get("HOME")


@pytest.mark.parametrize("way", ["save_context", "asave_context"])
async def test_lc09_without_names_one_error_lists_the_keys(memory, way):
    async def saved(**options):
        done = getattr(memory(memory_key="memory", **options), way)(INPUTS, OUTPUTS)
        if done is not None:
            await done

    with pytest.raises(ConfigurationError, match=r"\['plan', 'question'\].*input_key"):
        await saved()
    with pytest.raises(ConfigurationError, match=r"\['answer', 'source_documents'\].*output_key"):
        await saved(input_key="question")
    with pytest.raises(ConfigurationError, match=r"'nope'.*'answer'"):
        await saved(input_key="question", output_key="nope")


def test_lc09_the_memory_variable_is_never_taken_for_user_input(memory):
    model = Scripted()
    mine = memory(model=model)
    mine.save_context({"input": "I live in Oslo", "history": "old text", "stop": ["x"]}, {"response": "ok"})
    mine.flush()
    assert "old text" not in model.asked
    with pytest.raises(ConfigurationError, match="memory_key"):
        memory(memory_key="input", input_key="input")


def test_inputs_may_be_messages(memory):
    model = Scripted()
    mine = memory(model=model)
    mine.save_context({"input": [HumanMessage("I live in Oslo")]}, {"output": AIMessage("Good to know")})
    mine.flush()
    assert "I live in Oslo" in model.asked
    assert "Good to know" in model.asked


@pytest.mark.parametrize(("inputs", "outputs"), [(None, None), ({"input": "hi"}, None), ("hi", {}), ([], {})])
def test_lc09_what_is_no_dict_is_told_apart(memory, inputs, outputs):
    with pytest.raises(InvalidInput, match="puts must be a dict"):
        memory().save_context(inputs, outputs)
    if not isinstance(inputs, dict):
        with pytest.raises(InvalidInput, match="inputs must be a dict"):
            memory().load_memory_variables(inputs)


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory_key": ""},
        {"memory_key": None},
        {"input_key": ""},
        {"output_key": 5},
        {"return_messages": "yes"},
        {"limit_seconds": "1"},
        {"limit_seconds": 0},
        {"budget_units": -1},
        {"on_report": 5},
        {"runner": 3},
        {"settings": {}},
        {"on_error": "ignore"},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_wrong_options_are_refused_at_once(memory, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        memory(**wrong)


def test_unknown_keywords_are_refused(memory):
    with pytest.raises(ValueError, match="retrun_messages"):
        memory(retrun_messages=True)
    with pytest.raises(ValueError, match="user"):
        ImpressionMemory(store=ImpressionStore.from_url("embedded://:memory:"), model=None)


# --- whose memory -------------------------------------------------------------------------------------------------


def test_the_user_may_come_from_the_run(memory, store, alice):
    remember(alice)
    mine = memory(user="{user_id}")
    step = RunnableLambda(lambda given: mine.load_memory_variables(given)["history"])
    assert "green tea" in step.invoke({}, {"configurable": {"user_id": "alice"}})
    assert step.invoke({}, {"configurable": {"user_id": "bob"}}) == ""
    with pytest.raises(ConfigurationError, match="user_id"):
        step.invoke({})
    store.save("SHARED", "office closes at six", category="Office", labels=["Hours"])
    assert "office closes" in memory(user=None).load_memory_variables({})["history"]


# --- the chain is neither delayed nor broken ----------------------------------------------------------------------


def test_saving_waits_for_nobody_and_errors_come_at_flush(memory):
    gate = threading.Event()

    def slow(messages, tools):
        gate.wait(30)
        raise RuntimeError("provider down")

    mine = memory(model=slow)
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok"})
    with pytest.raises(TimeoutError):
        mine.flush(timeout=0)
    gate.set()
    (error,) = mine.flush()
    assert isinstance(error, JobError)


def test_a_store_that_is_away_breaks_no_chain(caplog):
    away = ImpressionStore.from_url("redis://127.0.0.1:1/0?retry_on_timeout=no")
    mine = ImpressionMemory(store=away, user="alice", model=Scripted(), runner=Runner(tries=1))
    text = mine.load_memory_variables({"input": "hi"})["history"]
    assert "unavailable, not empty" in text
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok"})
    assert len(mine.flush()) == 1
    mine.runner.close()
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok"})  # the runner takes no more: logged, not raised
    assert "Oslo" not in caplog.text
    strict = ImpressionMemory(store=away, user="alice", model=None, on_error="raise")
    with pytest.raises(ConnectionError):
        strict.load_memory_variables({"input": "hi"})


async def test_a_store_that_is_away_breaks_no_async_chain():
    away = ImpressionStore.from_url("redis://127.0.0.1:1/0")
    mine = ImpressionMemory(store=away, user="alice", model=None)
    assert "unavailable" in (await mine.aload_memory_variables({"input": "hi"}))["history"]


# --- forgetting ---------------------------------------------------------------------------------------------------


def test_clear_forgets_the_pending_turn_and_not_the_person(memory, alice):
    remember(alice)
    model = Scripted(save(OSLO))
    mine = memory(model=model, settings=Settings(batch_turns=2))
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok"})
    assert mine.flush() == []
    mine.clear()
    mine.save_context({"input": "My dog is called Rex"}, {"output": "ok"})
    mine.save_context({"input": "My cat is called Tom"}, {"output": "ok"})
    mine.flush()
    assert "Oslo" not in model.asked
    assert "Rex" in model.asked
    assert "Tom" in model.asked
    assert alice.get("TEA")


async def test_clear_takes_back_what_waits_in_the_background(memory, alice):
    running, gate, asked = threading.Event(), threading.Event(), []

    def slow(messages, tools):
        asked.append(messages[-1]["content"])
        running.set()
        gate.wait(30)
        return "IGNORE"

    mine = memory(model=slow)
    mine.save_context({"input": "My dog is called Rex"}, {"output": "ok"})
    running.wait(30)
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok"})
    await mine.aclear()
    gate.set()
    await mine.aflush()
    assert len(asked) == 1
    assert "Rex" in asked[0]


def test_clear_leaves_the_conversations_of_others_alone(memory):
    model = Scripted()
    mine = memory(user="{user_id}", model=model, settings=Settings(batch_turns=2))
    said = RunnableLambda(lambda text: mine.save_context({"input": text}, {"output": "ok"}))
    cleared = RunnableLambda(lambda _: mine.clear())
    for user, city in (("alice", "Oslo"), ("bob", "Rome")):
        said.invoke(f"I live in {city}", {"configurable": {"user_id": user}})
    cleared.invoke(None, {"configurable": {"user_id": "alice"}})
    for user in ("alice", "bob"):
        said.invoke("My dog is called Rex", {"configurable": {"user_id": user}})
    mine.flush()
    assert len(model.requests) == 1
    assert "Rome" in model.asked
    with pytest.raises(ConfigurationError, match="user_id"):
        mine.clear()


def test_threads_that_save_at_once_lose_no_turn(memory):
    model = Scripted()
    mine = memory(model=model)
    threads = [
        threading.Thread(target=mine.save_context, args=({"input": f"My number is {at}"}, {"output": "ok"}))
        for at in range(12)
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert mine.flush() == []
    asked = " ".join(request[-1]["content"] for request in model.requests)
    assert all(f"My number is {at}" in asked for at in range(12))


@pytest.mark.parametrize("way", ["forget_all", "aforget_all"])
async def test_forget_all_erases_the_person(memory, alice, way):
    remember(alice)
    mine = memory()
    done = getattr(mine, way)()
    certificate = done if way == "forget_all" else await done
    assert certificate.clues == 1
    assert alice.get("TEA") is None


def test_a_turn_said_twice_in_one_talk_is_heard_twice_and_none_is_asked_about_again(memory):
    model = Scripted()
    mine = memory(model=model)
    for said in ("I live in Oslo", "I moved to Rome", "I live in Oslo"):
        mine.save_context({"input": said}, {"output": "ok"})
        mine.flush()
    assert len(model.requests) == 3
    assert "Rome" not in model.requests[2][-1]["content"].split("I live in Oslo")[-1]


# --- packaging ----------------------------------------------------------------------------------------------------

QUIET = """
import warnings
from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMemory

class Mine(ImpressionMemory):
    pass

memory = Mine(store=ImpressionStore.from_url("redis://127.0.0.1:1/0"), user="alice", model=lambda m, t: "IGNORE")
print(memory.memory_variables, memory.model_dump()["memory_key"])
"""


def test_rd03_no_warning_of_ours_and_no_connection_at_construction():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['history'] history\n"


MISSING = """
import sys
sys.modules["langchain_classic"] = None
sys.modules["langchain_core.memory"] = None
import impressmem_integrations.langchain
try:
    impressmem_integrations.langchain.ImpressionMemory
except ImportError as error:
    print(type(error).__name__, error)
"""


def test_lc10_the_missing_part_is_named_when_it_is_used():
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", MISSING], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("MissingExtra ")
    assert "impressmem-integrations[langchain-classic]" in done.stdout


def test_steps_of_older_agents_are_read_too(memory):
    model = Scripted()
    mine = memory(model=model)
    action = SimpleNamespace(tool="search", tool_input="Oslo weather", log="")
    mine.save_context({"input": "I live in Oslo"}, {"output": "ok", "intermediate_steps": [(action, {"rain": True})]})
    mine.flush()
    assert "search" in model.asked
    assert json.dumps("Oslo weather") in model.asked or "Oslo weather" in model.asked
