"""An agent with memory: what each model call sees, what the state holds, what is kept after a turn."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentState, ModelRequest, dynamic_prompt
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from pydantic import BaseModel

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain import ImpressionMiddleware, impression_tools, injection
from impressmem_integrations.langchain.middleware import MEMORY_SWITCH
from impressmem_integrations.model import Context
from tests.langchain.chat import ScriptedChat, note, saving, use
from tests.langchain.conftest import remember
from tests.request_rules import strict_template
from tests.scripted import Scripted, impression, save

RECALL = "recall_impressions"
WAYS = ("invoke", "ainvoke", "stream", "astream")


def said(text: str) -> dict[str, Any]:
    return {"messages": [("user", text)]}


def run_as(user: Any, thread: str | None = None, **configurable: Any) -> dict[str, Any]:
    threads = {"thread_id": thread} if thread else {}
    return {"configurable": {"user_id": user, **threads, **configurable}}


async def turn(agent: Any, way: str, text: str, config: dict[str, Any], **options: Any) -> None:
    """One turn in one of the four ways; the sync ones in a thread of their own."""
    if way == "invoke":
        await asyncio.to_thread(agent.invoke, said(text), config, **options)
    elif way == "ainvoke":
        await agent.ainvoke(said(text), config, **options)
    elif way == "stream":
        await asyncio.to_thread(lambda: list(agent.stream(said(text), config, **options)))
    else:
        assert [part async for part in agent.astream(said(text), config, **options)]


@pytest.mark.parametrize("way", WAYS)
async def test_lc_02_each_way_shows_the_memory_once_and_maintains_once(store, memory, way):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model, keeper = ScriptedChat(), Scripted(save(impression("USER-CAT", "Has a cat, Tom.")))
    kept = memory(model=keeper)
    await turn(create_agent(model, middleware=[kept]), way, "My cat is called Tom.", run_as("alice"))
    assert kept.flush() == []
    assert [text.count("Oslo") for text in model.texts] == [1]
    assert len(keeper.requests) == 1
    assert store.scoped(user="alice").get("USER-CAT").content == "Has a cat, Tom."


@pytest.mark.parametrize("restart", [False, True])
def test_lc_04_memory_text_never_enters_the_state(store, memory, restart):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    saver, model = InMemorySaver(), ScriptedChat()
    agent = create_agent(model, middleware=[memory(maintenance="off")], checkpointer=saver)
    for number in range(5):
        if restart:
            agent = create_agent(model, middleware=[memory(maintenance="off")], checkpointer=saver)
        result = agent.invoke(said(f"question {number}"), run_as("alice", "t"))
        assert set(result) == {"messages"}
    messages = agent.get_state(run_as("alice", "t")).values["messages"]
    assert [message.type for message in messages] == ["human", "ai"] * 5
    assert "Oslo" not in repr(agent.get_state(run_as("alice", "t")).values)
    assert [text.count("Oslo") for text in model.texts] == [1] * 5


def test_lc_05_the_users_system_prompt_and_its_cache_marks_survive(store, memory):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    rules = {"type": "text", "text": "RULES", "cache_control": {"type": "ephemeral"}}
    seen = []
    for prompt in (SystemMessage([rules]), "RULES", None):
        model = ScriptedChat()
        create_agent(model, middleware=[memory(maintenance="off")], system_prompt=prompt).invoke(
            said("hi"), run_as("alice")
        )
        seen.append(model._requests[0]["messages"][0].content)
    blocks, text, alone = seen
    assert blocks[0] == rules
    assert "Oslo" in blocks[1]["text"]
    assert len(blocks) == 2
    assert text.startswith("RULES\n\n<memory>")
    assert alone.startswith("<memory>")


@pytest.mark.parametrize("prompt", [None, "RULES"])
def test_lc_05_an_empty_memory_adds_nothing(memory, prompt):
    model = ScriptedChat()
    create_agent(model, middleware=[memory(maintenance="off")], system_prompt=prompt).invoke(said("hi"), run_as("new"))
    assert model.requests[0] == [
        *([{"role": "system", "content": "RULES"}] if prompt else []),
        {"role": "user", "content": "hi"},
    ]


def test_tc_05_one_system_message_in_every_request(store, memory):
    """`Scripted` holds the maintenance request against all rules, STRICT-TEMPLATE among them."""
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model, keeper = ScriptedChat(), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[kept], system_prompt="RULES", checkpointer=InMemorySaver())
    for text in ("I drink tea", "I have a cat"):
        agent.invoke(said(text), run_as("alice", "t"))
    assert kept.flush() == []
    assert [strict_template(request) for request in model.requests] == [[], []]
    assert ["Oslo" in text and text.startswith("RULES") for text in model.systems] == [True, True]
    assert [[message["role"] for message in request] for request in keeper.requests] == [["system", "user"]] * 2
    assert "RULES" not in str(keeper.requests)


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_tc_14_the_chat_goes_on_with_a_maintenance_model_that_takes_no_tools(store, memory, way):
    written = json.dumps({"impressions": [note("USER-TEA", "Drinks tea.")]})
    reports = []
    kept = memory(model=FakeListChatModel(responses=[written]), on_report=reports.append)
    model = ScriptedChat()
    await turn(create_agent(model, middleware=[kept]), way, "I drink tea", run_as("alice", "t"))
    assert kept.flush() == []
    assert len(model.requests) == 1
    assert (reports[0].saved, reports[0].warnings) == (
        ("USER-TEA",),
        ("asked in JSON: FakeListChatModel does not support tools",),
    )


def test_lc_07_ids_that_are_no_strings(store, memory):
    remember(store, "1", "SECRET", "number one")
    here = uuid.UUID(int=7)
    remember(store, str(here), "SECRET", "number seven")
    model = ScriptedChat()
    agent = create_agent(model, middleware=[memory(maintenance="off")])
    for user in (1, "1", here):
        agent.invoke(said("hi"), run_as(user))
    assert ["one" in text for text in model.systems] == [True, True, False]
    assert "seven" in model.systems[2]
    for user in ("", None):
        with pytest.raises(ConfigurationError):
            agent.invoke(said("hi"), run_as(user))
    assert len(model.requests) == 3


@pytest.mark.parametrize("where", ["context", "configurable"])
async def test_lc_08_one_agent_many_users_at_once(store, memory, where):
    remember(store, "alice", "SECRET", "A1")
    remember(store, "bob", "SECRET", "B1")
    model = ScriptedChat()
    keeper = Scripted(*[lambda messages: "IGNORE"] * 50)
    agent = create_agent(model, middleware=[kept := memory(model=keeper)])

    async def ask(number: int) -> None:
        user = ("alice", "bob")[number % 2]
        given = {"context": {"user_id": user}} if where == "context" else {"config": run_as(user)}
        await agent.ainvoke(said(f"I am {user} and this is my story number {number}"), **given)

    await asyncio.gather(*(ask(number) for number in range(50)))
    assert await kept.aflush() == []
    requests = [*model.texts, *(json.dumps(request) for request in keeper.requests)]
    assert len(requests) == 100
    for text in requests:
        mine, other = ("A1", "B1") if "I am alice" in text else ("B1", "A1")
        assert mine in text
        assert other not in text


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_lc_08_without_a_user_no_model_is_called(memory, way):
    model = ScriptedChat()
    agent = create_agent(model, middleware=[memory()])
    with pytest.raises(ConfigurationError, match="names no user_id"):
        await turn(agent, way, "hi", {})
    assert model.requests == []


@dataclass
class Caller:
    user_id: str
    tenant: str = "t"


def test_identity_from_a_context_object_and_a_template_of_two(store, memory):
    remember(store, "t/alice", "USER-CITY", "Lives in Oslo.")
    model = ScriptedChat()
    agent = create_agent(
        model, middleware=[memory(user="{tenant}/{user_id}", maintenance="off")], context_schema=Caller
    )
    agent.invoke(said("hi"), context=Caller("alice"))
    assert "Oslo" in model.systems[0]


def test_lc_12_content_in_blocks(store, memory):
    answer = AIMessage([{"type": "thinking", "thinking": "secret plan"}, {"type": "text", "text": "Noted: Lisbon"}])
    keeper = Scripted()
    kept = memory(model=keeper)
    question = HumanMessage(["I live", {"type": "text", "text": "in Lisbon"}])
    create_agent(ScriptedChat(replies=[answer]), middleware=[kept]).invoke({"messages": [question]}, run_as("a"))
    for content in ("", [], ["plain", "strings"]):
        agent = create_agent(ScriptedChat(replies=[AIMessage(content)]), middleware=[kept])
        agent.invoke(said(f"I moved {content}"), run_as("a"))
    assert kept.flush() == []
    assert "Noted: Lisbon" in keeper.requests[0][-1]["content"]
    assert "secret plan" not in repr(keeper.requests)
    assert len(keeper.requests) == 4


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain in {city}"


def test_lc_14_many_model_calls_one_maintenance(memory):
    model = ScriptedChat(replies=[use("weather", f"c{n}", city=f"City{n}") for n in range(3)])
    keeper = Scripted()
    kept = memory(model=keeper)
    create_agent(model, tools=[weather], middleware=[kept]).invoke(said("I plan a trip to three cities"), run_as("a"))
    kept.flush()
    assert len(model.requests) == 4
    assert len(keeper.requests) == 1
    asked = keeper.requests[0][-1]["content"]
    assert all(f"City{n}" in asked for n in range(3))
    assert "ok" in asked


def test_mq_24_the_answer_is_not_delayed_and_turns_are_kept_in_order(store, memory):
    import threading

    go = threading.Event()

    def slow(messages):
        assert go.wait(30)
        said_now = messages[-1]["content"].split("story ")[1][0]
        return save(impression("ORDER", f"heard {said_now}"), impression(f"N{said_now}", f"heard story {said_now}"))

    keeper = Scripted(slow, slow, slow)
    kept = memory(model=keeper)
    agent = create_agent(ScriptedChat(), middleware=[kept], checkpointer=InMemorySaver())
    for number in range(3):
        agent.invoke(said(f"I tell story {number}"), run_as("alice", "t"))
    # All three answers are there and no maintenance has come to its end.
    assert list(store.scoped(user="alice").impressions()) == []
    go.set()
    assert kept.flush() == []
    alice = store.scoped(user="alice")
    assert alice.get("ORDER").content == "heard 2"
    created = sorted(alice.impressions(), key=lambda item: (item.created_at, item.seq))
    assert [item.clue for item in created if item.clue != "ORDER"] == ["N0", "N1", "N2"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_mq_27_what_was_saved_by_tool_is_known_in_the_next_turn(store, memory, valkey_server, way):
    model = ScriptedChat(replies=[saving(note("USER-TEA", "Drinks oolong.")), "noted"])
    agent = create_agent(model, middleware=[memory(maintenance="off")], checkpointer=InMemorySaver())
    await turn(agent, way, "I drink oolong", run_as("alice", "t"))
    assert "oolong" in model.systems[1]  # already in the same turn's second call
    await turn(agent, way, "What do I drink?", run_as("alice", "t"))
    assert "oolong" in model.systems[2]
    with ImpressionStore.from_url(valkey_server.url) as elsewhere:
        other = ScriptedChat()
        await turn(create_agent(other, middleware=[memory(store=elsewhere)]), way, "hello", run_as("alice"))
        assert "oolong" in other.systems[0]


def test_mq_29_the_recall_tool_is_named_only_where_it_is_bound(store, memory):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    seen = {}
    for tools in (True, False):
        model = ScriptedChat()
        create_agent(model, middleware=[memory(tools=tools, maintenance="off")]).invoke(said("hi"), run_as("alice"))
        seen[tools] = (RECALL in model.systems[0], [one["function"]["name"] for one in model.tools[0]])
    assert seen[True] == (True, ["save_impressions", RECALL, "organize_impressions"])
    assert seen[False] == (False, [])


def test_mq_29_recall_reaches_what_did_not_fit(store, memory):
    for number in range(60):
        remember(store, "alice", f"N{number}", f"The code of door {number} is {number * 7919}.")
    model = ScriptedChat(replies=[use(RECALL, query="door 3", category="General"), "It is 23757."])
    kept = memory(maintenance="off", budget_units=400)
    create_agent(model, middleware=[kept]).invoke(said("What is the code of door 3?"), run_as("alice"))
    assert "23757" not in model.systems[0]
    assert model.requests[1][-1]["role"] == "tool"


def test_tools_and_maintenance_together_store_a_fact_once(store, memory):
    model = ScriptedChat(replies=[saving(note("USER-TEA", "Drinks oolong tea.")), "noted"])
    keeper = Scripted(save(impression("USER-DRINK", "Drinks oolong tea.")))
    reports = []
    kept = memory(model=keeper, on_report=reports.append)
    create_agent(model, middleware=[kept]).invoke(said("I drink oolong tea"), run_as("alice"))
    assert kept.flush() == []
    assert "USER-TEA" in keeper.requests[0][0]["content"]  # maintenance sees it as remembered
    assert "save_impressions" in keeper.requests[0][-1]["content"]  # and sees the call
    assert [item.clue for item in store.scoped(user="alice").impressions()] == ["USER-TEA"]
    assert [(one.status, one.refused[0].what) for one in reports] == [("nothing_to_store", "USER-DRINK")]


@pytest.mark.parametrize(("order", "there"), [("before", True), ("after", False)])
def test_a_dynamic_prompt_stands_before_memory(store, memory, order, there):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")

    @dynamic_prompt
    def prompt(request: ModelRequest) -> str:
        return "DYNAMIC"

    ours = memory(maintenance="off")
    model = ScriptedChat()
    create_agent(model, middleware=[prompt, ours] if order == "before" else [ours, prompt]).invoke(
        said("hi"), run_as("alice")
    )
    assert model.systems[0].startswith("DYNAMIC")
    assert ("Oslo" in model.systems[0]) is there


class City(BaseModel):
    """Where somebody lives."""

    name: str


def test_structured_output(store, memory):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model = ScriptedChat(replies=[AIMessage("", tool_calls=[{"name": "City", "args": {"name": "Oslo"}, "id": "c"}])])
    keeper = Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[kept], response_format=ToolStrategy(City))
    assert agent.invoke(said("Where do I live these days?"), run_as("alice"))["structured_response"] == City(
        name="Oslo"
    )
    assert kept.flush() == []
    assert "Oslo" in model.systems[0]


# --- the switch -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_the_switch_makes_memory_off_or_read_only_for_one_run(store, memory, way):
    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model, keeper = ScriptedChat(), Scripted()
    kept = memory(model=keeper)
    agent = create_agent(model, middleware=[kept], checkpointer=InMemorySaver())
    for switch in ("off", "read-only", "on"):
        await turn(agent, way, f"My {switch} story is long.", run_as("alice", "t", **{MEMORY_SWITCH: switch}))
    kept.flush()
    assert ["Oslo" in text for text in model.systems] == [False, True, True]
    names = [[one["function"]["name"] for one in tools] for tools in model.tools]
    assert names[:2] == [[], [RECALL]]
    assert len(names[2]) == 3
    # What was said while memory was not on is not learned later either.
    assert len(keeper.requests) == 1
    asked = keeper.requests[0][-1]["content"]
    assert "My on story" in asked
    assert "My off story" not in asked
    assert "My read-only story" not in asked


def test_the_switch_refuses_a_tool_that_is_called_all_the_same(store, memory):
    model = ScriptedChat(replies=[saving(note("TEA", "x")), "fine"])
    agent = create_agent(model, middleware=[memory()])
    result = agent.invoke(said("hi"), run_as("alice", **{MEMORY_SWITCH: "read-only"}))
    assert "Memory is read-only" in result["messages"][2].content
    assert list(store.scopes()) == []


def test_off_needs_no_user_and_a_wrong_word_is_an_error(memory):
    model = ScriptedChat()
    agent = create_agent(model, middleware=[memory()])
    agent.invoke(said("hi"), {"configurable": {MEMORY_SWITCH: "off"}})
    with pytest.raises(ConfigurationError, match="read-only"):
        agent.invoke(said("hi"), run_as("alice", **{MEMORY_SWITCH: "nope"}))
    assert len(model.requests) == 1


# --- several of them, several users of a thread -----------------------------------------------------------------


def test_two_memories_in_one_agent(store, memory):
    remember(store, "alice", "MINE", "Lives in Oslo.")
    remember(store, "team-red", "OURS", "We meet on Monday.")
    model, keeper = ScriptedChat(), Scripted()
    team = memory(user="team-{team}", name="TeamMemory", tools=False, model=keeper)
    mine = memory(model=keeper)
    agent = create_agent(model, middleware=[mine, team], checkpointer=InMemorySaver())
    agent.invoke(said("I tell a story"), run_as("alice", "t", team="red"))
    assert mine.flush() == team.flush() == []
    assert "Oslo" in model.systems[0]
    assert "Monday" in model.systems[0]
    assert len(keeper.requests) == 2


def test_one_users_words_are_not_learned_for_the_next_user_of_a_thread(store, memory):
    keeper = Scripted()
    kept = memory(model=keeper)
    agent = create_agent(ScriptedChat(), middleware=[kept], checkpointer=InMemorySaver())
    agent.invoke(said("I am alice and my code is 4417"), run_as("alice", "t"))
    agent.invoke(said("I am bob and I like soup"), run_as("bob", "t"))
    kept.flush()
    assert len(keeper.requests) == 2
    of_bob = next(text for text in map(repr, keeper.requests) if "soup" in text)
    assert "4417" not in of_bob


def test_the_agents_own_model_keeps_house_where_none_is_given(store, memory):
    model = ScriptedChat(replies=["hello Tom", saving(note("USER-NAME", "Is called Tom."))])
    kept = memory()
    create_agent(model, middleware=[kept]).invoke(said("My name is Tom"), run_as("tom"))
    assert kept.flush() == []
    assert store.scoped(user="tom").get("USER-NAME").content == "Is called Tom."


def test_a_memory_that_is_off_keeps_nothing(store, memory):
    model = ScriptedChat()
    kept = memory(maintenance="off")
    create_agent(model, middleware=[kept]).invoke(said("My name is Tom"), run_as("tom"))
    assert kept.flush() == []
    assert len(model.requests) == 1


def test_the_relevant_lines_stand_beside_the_newest_words_for_one_call_only(store, memory, monkeypatch):
    asked = []

    def context(self, query=None, budget_units=None):
        asked.append(query)
        return Context("CORE", relevant=f"RELEVANT to {query}")

    monkeypatch.setattr(ImpressionStore, "context", context)
    model = ScriptedChat(replies=[use("weather", city="Rome"), "wet"])
    agent = create_agent(model, tools=[weather], middleware=[memory(maintenance="off")], checkpointer=InMemorySaver())
    agent.invoke(said("first"), run_as("alice", "t"))
    agent.invoke(said("second"), run_as("alice", "t"))
    assert asked == ["first", "first", "second"]
    texts = [[message["content"] for message in request if message["role"] == "user"] for request in model.requests]
    assert texts == [
        ["first\n\nRELEVANT to first"],
        ["first\n\nRELEVANT to first"],
        ["first", "second\n\nRELEVANT to second"],
    ]
    assert "RELEVANT" not in repr(agent.get_state(run_as("alice", "t")).values)


def test_relevant_lines_keep_the_blocks_of_a_message():
    blocks = [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]
    made = injection.with_relevant([HumanMessage(blocks)], "LINES")
    assert made[0].content == [*blocks, {"type": "text", "text": "LINES"}]
    assert blocks == [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]


def test_a_question_that_cannot_be_sent_is_mended():
    assert injection.query_of([HumanMessage("caf\ud83d?")]) == "caf??"
    assert injection.query_of([HumanMessage("x" * 9_000)]) == "x" * 4_000
    assert injection.query_of([AIMessage("x")]) is None


@pytest.mark.parametrize(
    "options",
    [
        {"maintenance": "later"},
        {"on_error": "ignore"},
        {"model": object()},
        {"user": "{a.b}"},
        {"thread": ""},
        {"store": object()},
    ],
)
def test_wrong_options_are_refused_at_once(store, options):
    with pytest.raises(ConfigurationError):
        ImpressionMiddleware(**{"store": store, **options})


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("switch", ["on", "off"])
async def test_two_memories_whose_tools_have_one_name_are_refused_before_a_model_is_called(store, memory, way, switch):
    model = ScriptedChat()
    team = memory(user="team", name="Team", maintenance="off")
    for beside in (
        {"middleware": [memory(maintenance="off"), team]},
        {"middleware": [team], "tools": impression_tools(store)},
    ):
        agent = create_agent(model, **beside)
        with pytest.raises(ConfigurationError, match="tools=False"):
            await turn(agent, way, "I drink tea", run_as("alice", impression_memory=switch))
    assert model.requests == []
    one = create_agent(
        model, middleware=[memory(maintenance="off"), memory(user="team", name="Team", tools=False, maintenance="off")]
    )
    await turn(one, way, "I drink tea", run_as("alice"))
    assert len(model.requests) == 1


# --- threads, and many runs at once -----------------------------------------------------------------------------


def test_equal_turns_of_two_conversations_are_told_apart_by_the_thread(memory):
    keeper = Scripted()
    kept = memory(model=keeper, thread="{conversation}")
    agent = create_agent(ScriptedChat(), middleware=[kept])
    for conversation in ("one", "two", "one"):
        agent.invoke(said("I drink tea"), run_as("alice", conversation=conversation))
    assert kept.flush() == []
    assert len(keeper.requests) == 2  # the third is a replay
    with pytest.raises(ConfigurationError, match="names no conversation"):
        agent.invoke(said("I drink tea"), run_as("alice"))


@pytest.mark.parametrize("maintenance", ["background", "inline"])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_repetition_in_the_history_that_a_client_sends_is_no_replay(memory, maintenance, way):
    keeper, history = Scripted(), []
    kept = memory(model=keeper, maintenance=maintenance)
    agent = create_agent(ScriptedChat(), middleware=[kept])

    async def say(text: str, **configurable: Any) -> None:
        history.append(("user", text))
        given, config = {"messages": list(history)}, run_as("alice", **configurable)
        await (agent.ainvoke(given, config) if way == "ainvoke" else asyncio.to_thread(agent.invoke, given, config))
        assert kept.flush() == []
        history.append(("assistant", "ok"))

    for city in ("Berlin", "Oslo", "Berlin"):
        await say(f"I live in {city}")
    assert len(keeper.requests) == 3
    del history[-2:]  # the client sends its last request again
    await say("I live in Berlin")
    assert len(keeper.requests) == 3
    # What was said while memory was off stays unknown, also where it stands between equal turns.
    await say("I play the bassoon", impression_memory="off")
    await say("I live in Berlin")
    assert len(keeper.requests) == 4
    assert "bassoon" not in repr(keeper.requests)


def test_the_private_state_holds_no_message_and_after_a_run_no_word(memory):
    agent = create_agent(ScriptedChat(), middleware=[memory(maintenance="off")], checkpointer=InMemorySaver())
    config = run_as("alice", "t")
    states = [
        part["impressmem"]
        for part in agent.stream(said("I drink tea"), config, stream_mode="values")
        if "impressmem" in part
    ]
    assert states
    assert "HumanMessage" not in repr(states)
    assert "tea" not in repr(states[-1])
    [entry] = agent.get_state(config).values["impressmem"].values()
    assert set(entry) == {"memory", "user", "thread", "words", "marks"}
    assert entry["words"] == []


def test_many_runs_in_threads(store, memory):
    remember(store, "alice", "SECRET", "A1")
    remember(store, "bob", "SECRET", "B1")
    model = ScriptedChat()
    agent = create_agent(model, middleware=[memory(maintenance="off")])
    users = ["alice", "bob"] * 10
    agent.batch([said(f"I am {user}") for user in users], [run_as(user) for user in users])
    assert len(model.texts) == 20
    for text in model.texts:
        assert ("A1" in text, "B1" in text) == ("I am alice" in text, "I am bob" in text)


def test_the_bots_own_memory_is_shared_by_all_on_purpose(store, memory):
    store.save("HOURS", "Open from nine to five.", category="Shop", labels=["Time"])
    model, keeper = ScriptedChat(), Scripted(save(impression("HOLIDAY", "Closed on Monday.")))
    kept = memory(user=None, model=keeper)
    create_agent(model, middleware=[kept]).invoke(said("We close on Monday"))
    assert kept.flush() == []
    assert "nine to five" in model.systems[0]
    assert {item.clue for item in store.impressions()} == {"HOURS", "HOLIDAY"}


async def test_leaving_a_block_waits_for_what_is_kept(store):
    for way in ("with", "async with"):
        kept = ImpressionMiddleware(store, model=Scripted(save(impression(way, "Has a cat."))), user=way)
        agent = create_agent(ScriptedChat(), middleware=[kept])
        if way == "with":
            with kept:
                await asyncio.to_thread(agent.invoke, said("I have a cat"))
        else:
            async with kept:
                await agent.ainvoke(said("I have a cat"))
        assert store.scoped(user=way).get(way)
        # Closed: the answer is given, and what cannot be kept is an error of the log, not of the run.
        assert (await agent.ainvoke(said("I have a dog")))["messages"][-1].content == "ok"


def test_a_state_of_the_applications_own(store, memory):
    class Mine(AgentState):
        mood: str

    remember(store, "alice", "USER-CITY", "Lives in Oslo.")
    model = ScriptedChat()
    agent = create_agent(model, middleware=[memory(maintenance="off")], state_schema=Mine)
    result = agent.invoke({**said("hi"), "mood": "fine"}, run_as("alice"))
    assert set(result) == {"messages", "mood"}
    assert "Oslo" in model.systems[0]
