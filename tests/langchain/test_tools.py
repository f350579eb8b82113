"""The three tools as LangChain tools."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any, ClassVar

import pytest
from langchain.agents import create_agent
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain import impression_tools
from impressmem_integrations.langchain.tools import (
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionsTool,
)
from impressmem_integrations.tools.definitions import TOOLS
from tests.langchain.chat import ScriptedChat, note, saving, use
from tests.langchain.conftest import remember
from tests.polling import wait_until
from tests.request_rules import gemini
from tests.servers import RunningServer, valkey_binary

ALICE = {"configurable": {"user_id": "alice"}}
MERGE = {
    "level": "clue",
    "from_items": ["A"],
    "to_item": "B",
    "new_content": "both",
    "reason": "the same",
    "check": "nothing is lost",
    "is_redundant": True,
    "is_confirm": True,
}


def sent(name, arguments):
    return {"type": "tool_call", "name": name, "args": arguments, "id": "c1"}


@pytest.fixture
def tools(store):
    return impression_tools(store)


# --- LangChain's own suites -------------------------------------------------------------------------------------


class _Tool:
    """What LangChain's suites ask about a tool; they take one suite for each class."""

    kind: ClassVar[type]
    arguments: ClassVar[dict[str, Any]]

    @pytest.fixture(autouse=True)
    def _served(self, store):
        self.store = store
        remember(store, "alice", "A", "Has a cat.")
        remember(store, "alice", "B", "Has a dog.")

    @property
    def tool_constructor(self):
        return self.kind

    @property
    def tool_constructor_params(self):
        return {"store": self.store, "user": "alice"}

    @property
    def tool_invoke_params_example(self):
        return self.arguments


class _Save(_Tool):
    kind = SaveImpressionsTool
    arguments: ClassVar[dict[str, Any]] = {"impressions": [note("TEA", "Drinks tea.")]}


class _Recall(_Tool):
    kind = RecallImpressionsTool
    arguments: ClassVar[dict[str, Any]] = {"category": "General"}


class _Organize(_Tool):
    kind = OrganizeImpressionsTool
    arguments: ClassVar[dict[str, Any]] = MERGE


class TestSaveUnit(_Save, ToolsUnitTests):
    pass


class TestSave(_Save, ToolsIntegrationTests):
    pass


class TestRecallUnit(_Recall, ToolsUnitTests):
    pass


class TestRecall(_Recall, ToolsIntegrationTests):
    pass


class TestOrganizeUnit(_Organize, ToolsUnitTests):
    pass


class TestOrganize(_Organize, ToolsIntegrationTests):
    pass


# --- ours -------------------------------------------------------------------------------------------------------


def test_tc_15_the_model_sees_exactly_the_definitions(tools):
    data = {tool.name: tool for tool in TOOLS}
    for tool in tools:
        made = convert_to_openai_tool(tool)["function"]
        assert made["description"] == data[tool.name].description
        assert made["parameters"]["properties"] == data[tool.name].parameters["properties"]
        assert made["parameters"].get("required", []) == data[tool.name].parameters.get("required", [])
        assert gemini([{"role": "user", "content": "x"}], [convert_to_openai_tool(tool)]) == []


async def test_lc_01_every_tool_sync_and_async(store, tools):
    save, recall, organize = tools
    for way in ("invoke", "ainvoke"):
        for tool, arguments in (
            (save, {"impressions": [note("A", "Has a cat."), note("B", "Has a cat, Tom.")]}),
            (recall, {"category": "General"}),
            (organize, MERGE),
        ):
            made = getattr(tool, way)(sent(tool.name, arguments), ALICE)
            result = await made if way == "ainvoke" else made
            assert result.status == "success"
            assert isinstance(result.content, str)
            assert "coroutine" not in result.content
            assert not result.content.startswith("(")
            assert result.artifact["ok"]
            json.dumps(result.artifact)
    assert [item.clue for item in store.scoped(user="alice").impressions()] == ["B"]


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_lc_01_in_an_agent(store, tools, way):
    model = ScriptedChat(replies=[saving(note("USER-TEA", "Drinks tea.")), "noted"])
    agent = create_agent(model, tools=tools)
    question = {"messages": [("user", "I drink tea")]}
    if way == "invoke":
        await asyncio.to_thread(agent.invoke, question, ALICE)
    else:
        await agent.ainvoke(question, ALICE)
    assert [item.clue for item in store.scoped(user="alice").impressions()] == ["USER-TEA"]
    result = model.requests[1][-1]
    assert result["role"] == "tool"
    assert result["content"] == "Saved 1/1.\n- USER-TEA: saved."


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_tc_20_one_result_for_each_call_of_an_answer_in_their_order(store, tools, way):
    answer = saving(note("USER-TEA", "Drinks tea."), call_id="c1")
    answer.tool_calls += saving({"clue": "X"}, call_id="c2").tool_calls
    answer.tool_calls += saving(note("USER-CAT", "Has a cat."), call_id="c3").tool_calls
    model = ScriptedChat(replies=[answer, "noted"])
    agent = create_agent(model, tools=tools)
    question = {"messages": [("user", "I drink tea and have a cat")]}
    if way == "invoke":
        await asyncio.to_thread(agent.invoke, question, ALICE)
    else:
        await agent.ainvoke(question, ALICE)
    results = [message for message in model.requests[1] if message["role"] == "tool"]
    assert [result["tool_call_id"] for result in results] == ["c1", "c2", "c3"]
    assert ["USER-TEA" in results[0]["content"], "missing" in results[1]["content"]] == [True, True]
    assert "USER-CAT" in results[2]["content"]
    assert {item.clue for item in store.scoped(user="alice").impressions()} == {"USER-TEA", "USER-CAT"}


@pytest.mark.parametrize("context", [True, False])
async def test_identity_comes_from_context_or_configurable_in_an_agent(store, tools, context):
    agent = create_agent(
        ScriptedChat(replies=[saving(note("TEA", "x")), "noted", saving(note("TEA", "x")), "n"]), tools
    )
    given = {"context": {"user_id": "bob"}} if context else {"config": {"configurable": {"user_id": "bob"}}}
    await asyncio.to_thread(lambda: agent.invoke({"messages": [("user", "hi")]}, **given))
    await agent.ainvoke({"messages": [("user", "hi")]}, **given)
    assert [scope.user for scope in store.scopes()] == ["bob"]


def test_sp_02_the_model_cannot_pick_the_user(store, tools):
    words = ("user", "bot", "tenant", "namespace", "scope")
    for tool in tools:
        schema = json.dumps(convert_to_openai_tool(tool)["function"]["parameters"])
        assert not [word for word in words if f'"{word}' in schema]
    wanted = {
        "user_id": "eve",
        "tenant": "t",
        "namespace": ["n"],
        "bot_name": "b",
        "config": {},
        "runtime": {},
        "self": 1,
    }
    result = tools[0].invoke(sent("save_impressions", {"impressions": [note("TEA", "x")], **wanted}), ALICE)
    assert result.status == "success"
    assert "ignored, the tool has no such field: user_id" in result.content
    assert [(scope.bot, scope.user) for scope in store.scopes()] == [("assistant", "alice")]
    result = tools[1].invoke(sent("recall_impressions", {"category": "General", **wanted}), ALICE)
    assert "TEA" in result.content
    assert "ignored" in result.content


def test_lc_07_one_and_its_text_are_one_user(store, tools):
    save = tools[0]
    for user in (1, "1", uuid.UUID(int=1)):
        save.invoke({"impressions": [note("TEA", "x")]}, {"configurable": {"user_id": user}})
    assert {scope.user for scope in store.scopes()} == {"1", str(uuid.UUID(int=1))}
    for user in ("", None):
        with pytest.raises(ConfigurationError):
            save.invoke({"impressions": [note("TEA", "x")]}, {"configurable": {"user_id": user}})
    with pytest.raises(ConfigurationError):
        save.invoke({"impressions": [note("TEA", "x")]})


def test_a_bad_item_stops_no_other_and_says_what_to_change(tools):
    good = note("TEA", "Drinks tea.")
    result = tools[0].invoke(sent("save_impressions", {"impressions": [{"clue": "X"}, good, 7]}), ALICE)
    assert result.content.startswith("Saved 1/3.")
    assert "content is missing" in result.content
    assert [one["status"] for one in result.artifact["result"]] == ["refused", "created", "refused"]


def test_sp_08_a_secret_is_masked_and_the_model_is_told(store, tools):
    item = {"clue": "KEY", "content": "my password is hunter2!", "category": "C", "labels": ["L"]}
    said = tools[0].invoke(sent("save_impressions", {"impressions": [item]}), config=ALICE).content
    assert "secret" in said
    assert store.scoped(user="alice").get("KEY").content == "my password is [secret]"


def test_a_list_written_as_text_is_understood(store, tools):
    tools[0].invoke({"impressions": json.dumps([note("TEA", "x", labels='["Drink", "Hot"]')])}, ALICE)
    assert store.scoped(user="alice").get("TEA").labels == ("Drink", "Hot")
    assert "TEA" in tools[1].invoke({"labels": '["Drink"]'}, ALICE)


def test_what_strict_mode_forces_a_model_to_fill_in_counts_as_not_given(store, tools):
    remember(store, "alice", "TEA", "Drinks tea.")
    assert "TEA" in tools[1].invoke({"query": "", "category": "", "labels": []}, ALICE)


def test_missing_arguments_are_one_line_for_the_model(tools):
    result = tools[0].invoke(sent("save_impressions", {}), ALICE)
    assert (result.status, result.content) == ("error", "impressions: Field required")
    result = tools[2].invoke(sent("organize_impressions", {"level": "clue"}), ALICE)
    assert result.status == "error"
    assert "\n" not in result.content
    assert "to_item: Field required" in result.content


@pytest.mark.parametrize("arguments", [{}, {"impressions": None}, {"impressions": []}, {"impressions": 5}], ids=repr)
def test_a_list_that_is_missing_is_an_error_however_it_is_missing(tools, arguments):
    call = {"type": "tool_call", "name": "save_impressions", "id": "1", "args": arguments}
    result = tools[0].invoke(call, ALICE)
    assert result.status == "error"
    assert result.content.startswith("impressions: ")


def test_a_merge_that_cannot_be_is_told_in_words(tools):
    result = tools[2].invoke(sent("organize_impressions", MERGE), ALICE)
    assert result.status == "success"
    assert "Nothing was done" in result.content
    assert not result.artifact["ok"]


async def test_rd_12_a_store_that_is_away_is_an_error_for_the_model_and_comes_back():
    with RunningServer(valkey_binary(), tcp=True) as server, ImpressionStore.from_url(server.url) as store:
        tools = impression_tools(store)
        saved = sent("save_impressions", {"impressions": [note("TEA", "x")]})
        server.kill()
        for _ in range(2):
            result = tools[0].invoke(saved, ALICE)
            assert result.status == "error"
            assert "unavailable, not empty" in result.content
            result = await tools[1].ainvoke(sent("recall_impressions", {}), ALICE)
            assert result.status == "error"
        server.start()
        wait_until(lambda: tools[0].invoke(saved, ALICE).status == "success", "a tool reaches the server again")


async def test_an_agent_goes_on_without_its_memory_tools():
    store = ImpressionStore.from_url("redis://127.0.0.1:1/0")
    model = ScriptedChat(replies=[use("recall_impressions", query="tea"), "I cannot look it up."])
    agent = create_agent(model, tools=impression_tools(store))
    answer = await agent.ainvoke({"messages": [("user", "What do I drink?")]}, ALICE)
    assert answer["messages"][-1].content == "I cannot look it up."


def test_rd_03_making_tools_opens_nothing():
    assert len(impression_tools(ImpressionStore.from_url("redis://127.0.0.1:1/0"))) == 3
