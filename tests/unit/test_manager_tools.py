"""The tool classes and the flows behind them: what the model and a user interface are told, and what is stored."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace as Thing

import pytest
from openai.types.chat import ChatCompletionMessageToolCall

from impressmem_integrations import (
    ImpressionStore,
    ImpressMemConfig,
    ImpressMemManager,
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionsTool,
    SaveImpressionTool,
)
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import ToolCall
from impressmem_integrations.tools.calls import read_calls
from impressmem_integrations.tools.dispatch import call_flow, organize_flow, recall_flow, save_flow

SAVE = {"clue": "USER-DIET", "content": "vegan", "category": "Health", "labels": ["Diet"], "pin": False}
MERGE = {
    "level": "clue",
    "from_items": ["TEA"],
    "to_item": "USER-DIET",
    "new_content": "vegan, likes tea",
    "reason": "one topic",
    "check": "both facts stay",
    "is_redundant": True,
    "is_confirm": True,
}


@pytest.fixture
def manager(valkey_server):
    made = ImpressMemManager(ImpressMemConfig(bot_name="bot", redis_config={"url": valkey_server.url}))
    yield made
    made.store.close()


@pytest.fixture
async def filled(manager):
    await manager.save_impression(**SAVE)
    await manager.save_impression("TEA", "likes green tea", "Taste", ["Drink", "Food"])
    return manager


async def stored(manager: ImpressMemManager) -> list[str]:
    return sorted(clue for clue, _ in await manager.get_recent_clues())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (SaveImpressionTool, "save_impression"),
        (SaveImpressionsTool, "save_impressions"),
        (RecallImpressionsTool, "recall_impressions"),
        (OrganizeImpressionsTool, "organize_impressions"),
    ],
)
def test_a_tool_has_a_name_and_a_definition_in_openais_form(manager, kind, name):
    tool = kind(manager)
    definition = tool.get_definition()
    assert tool.get_name() == name == definition["function"]["name"]
    assert definition["type"] == "function"
    assert definition["function"]["parameters"]["type"] == "object"
    json.dumps(definition)


# --- save --------------------------------------------------------------------------------------------------------


async def test_saving_one_and_several(manager):
    assert await SaveImpressionTool(manager).execute(json.dumps(SAVE)) == (
        "Saved 1/1.\n- USER-DIET: saved.",
        "Saved 1/1: USER-DIET",
    )
    many = {"impressions": [{**SAVE, "content": "vegetarian"}, {**SAVE, "clue": "B", "content": "b"}]}
    full, summary = await SaveImpressionsTool(manager).execute(json.dumps(many))
    assert "- USER-DIET: saved, replacing the earlier note.\n- B: saved." in full
    assert summary == "Saved 2/2: USER-DIET, B"
    assert await stored(manager) == ["B", "USER-DIET"]


async def test_either_save_tool_takes_either_form(manager):
    await SaveImpressionTool(manager).execute(json.dumps({"impressions": [SAVE]}))
    await SaveImpressionsTool(manager).execute({**SAVE, "clue": "B", "content": "b"})
    assert await stored(manager) == ["B", "USER-DIET"]


async def test_a_bad_item_is_named_and_stops_no_other(manager):
    items = [{**SAVE, "clue": ""}, SAVE, "text", {**SAVE, "clue": "LONG", "content": "x" * 70_000}]
    full, summary = await SaveImpressionsTool(manager).execute(json.dumps({"impressions": items}))
    assert summary == "Saved 1/4: USER-DIET"
    for index, word in ((0, "clue is missing"), (2, "must be an object"), (3, "content is too long")):
        assert f"impressions[{index}]: {word}" in full
    assert await stored(manager) == ["USER-DIET"]


@pytest.mark.parametrize("mark", ["📌", True, "true"])
async def test_a_pin_may_come_as_the_mark(manager, mark):
    await SaveImpressionsTool(manager).execute({"impressions": [{**SAVE, "pin": mark}]})
    assert [clue for clue, _ in await manager.get_pinned_clues()] == ["USER-DIET"]
    await SaveImpressionTool(manager).execute({**SAVE, "pin": "⚪"})
    assert await manager.get_pinned_clues() == []


async def test_mq01_a_second_clue_with_the_same_content_is_told_the_first(manager):
    save = SaveImpressionTool(manager)
    for _ in range(10):
        full, _ = await save.execute(json.dumps(SAVE))
    assert full == "Saved 1/1.\n- USER-DIET: was stored already."
    full, _ = await save.execute(json.dumps({**SAVE, "clue": "FOOD", "content": "  Vegan\n"}))
    assert "The same content also stands under USER-DIET" in full
    full, _ = await save.execute(json.dumps({**SAVE, "clue": "MEAT", "content": "eats meat"}))
    assert "same content" not in full
    assert await stored(manager) == ["FOOD", "MEAT", "USER-DIET"]


async def test_mq11_similar_names_are_told(manager):
    save = SaveImpressionTool(manager)
    await save.execute(json.dumps({**SAVE, "category": "UserPreference"}))
    full, _ = await save.execute(json.dumps({**SAVE, "clue": "B", "content": "b", "category": "user_preference"}))
    assert "Similar names exist: UserPreference." in full


async def test_a_full_memory_says_so(valkey_server):
    from impressmem_integrations import Limits

    with ImpressionStore.from_url(valkey_server.url, limits=Limits(max_impressions=1)) as store:
        store.perform(lambda bound: save_flow(bound, {**SAVE, "pin": True}))
        outcome = store.perform(lambda bound: save_flow(bound, {**SAVE, "clue": "B"}))
    assert not outcome.ok
    assert "unpin" in outcome.full
    assert outcome.refused[0].what == "B"


# --- recall ------------------------------------------------------------------------------------------------------


async def test_recalling_by_category_labels_and_nothing(filled):
    recall = RecallImpressionsTool(filled)
    for arguments, clues in (
        ({"category": "Taste"}, ["TEA"]),
        ({"labels": ["Diet", "Drink"]}, ["USER-DIET", "TEA"]),
        ({"category": "Health", "labels": ["Food"]}, ["USER-DIET", "TEA"]),
        ({}, ["USER-DIET", "TEA"]),
    ):
        full, summary = await recall.execute(json.dumps(arguments))
        lines = [line for line in full.splitlines() if line.startswith("[")]
        assert [line.split("][")[1].partition("]")[0] for line in lines] == clues, arguments  # oldest first
        assert summary == f"Recalled {len(clues)} impression{'s' if len(clues) > 1 else ''}"
    assert "Related labels: Drink, Food\n" in (await recall.execute({"category": "Taste"}))[0]


async def test_recalling_what_is_not_there(filled, manager):
    full, summary = await RecallImpressionsTool(filled).execute({"category": "taste"})
    assert (full, summary) == ("Nothing was found.\nClose names that exist: Taste.", "Recalled 0 impressions")
    await filled.store.aforget_everything()
    assert await RecallImpressionsTool(manager).execute({}) == ("Nothing is stored yet.", "Recalled 0 impressions")


async def test_recall_limits_of_the_tool(filled):
    tool = RecallImpressionsTool(filled, max_labels=1, max_impression_text_units=20)
    full, summary = await tool.execute({})
    assert summary == "Recalled 1 impression, 1 not shown"
    assert "1 more match and are not shown" in full
    assert "Related labels: Drink\n" in full
    full, summary = await RecallImpressionsTool(filled, max_impression_text_units=5).execute({})
    assert (full, summary) == (
        "2 match and are not shown: ask more closely, by category, labels or question.",
        "Recalled 0 impressions, 2 not shown",
    )
    with pytest.raises(InvalidInput):
        RecallImpressionsTool(filled, max_labels=-1)


async def test_an_oversize_note_hides_no_other(filled):
    await filled.save_impression("LONG", "x" * 4_000, "Taste", ["Food"])
    full, _ = await RecallImpressionsTool(filled, max_impression_text_units=200).execute({"category": "Taste"})
    assert "likes green tea" in full


# --- organize ----------------------------------------------------------------------------------------------------


async def test_merging_needs_a_confirmation(filled):
    organize = OrganizeImpressionsTool(filled)
    for wrong, word in (
        ({"is_redundant": False}, "Skipped"),
        ({"is_confirm": False}, "Not confirmed"),
        ({"is_confirm": None}, "Not confirmed"),
        ({"reason": ""}, "Not confirmed"),
        ({"check": " "}, "Not confirmed"),
    ):
        full, summary = await organize.execute(json.dumps({**MERGE, **wrong}))
        assert full.startswith(word)
        assert summary == full
    assert await stored(filled) == ["TEA", "USER-DIET"]
    full, summary = await organize.execute(json.dumps(MERGE))
    assert (full, summary) == (
        "Merged clue TEA into USER-DIET.\n- Impressions changed: 1",
        "Merged clue TEA into USER-DIET",
    )
    assert await filled.get_impressions_by_clues(["USER-DIET"]) == [("USER-DIET", "vegan, likes tea")]


async def test_merging_categories_and_labels(filled):
    organize = OrganizeImpressionsTool(filled)
    merge = {**MERGE, "new_content": None}
    await organize.execute({**merge, "level": "category", "from_items": ["Taste"], "to_item": "Health"})
    await organize.execute({**merge, "level": "label", "from_items": ["Drink", "Food"], "to_item": "Diet"})
    assert [name for name, _ in await filled.get_recent_categories()] == ["Health"]
    assert [name for name, _ in await filled.get_recent_labels()] == ["Diet"]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"from_items": ["GONE"]}, "GONE"),
        ({"to_item": "GONE"}, "GONE"),
        ({"to_item": "USER-DIET, TEA"}, "USER-DIET, TEA"),
        ({"from_items": ["USER-DIET"]}, "same"),
        ({"from_items": []}, "from_items"),
        ({"new_content": " "}, "new_content"),
        ({"level": "note"}, "level"),
        ({"level": "category", "from_items": ["A", "B"]}, "exactly one"),
    ],
)
async def test_mq15_a_merge_that_makes_no_sense_is_refused_in_words(filled, wrong, word):
    before = await filled.build_memory_context()
    full, summary = await OrganizeImpressionsTool(filled).execute(json.dumps({**MERGE, **wrong}))
    assert full.startswith("Nothing was done: ")
    assert word in full
    assert "\n" not in summary
    assert await filled.build_memory_context() == before


# --- arguments and failures --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["", None, "nope", "[]", "5", '{"clue": "A", "conte', "null", "{", 7])
@pytest.mark.parametrize("kind", [SaveImpressionTool, SaveImpressionsTool, OrganizeImpressionsTool])
async def test_tc07_arguments_that_cannot_be_read_give_one_clear_error(manager, kind, wrong):
    full, summary = await kind(manager).execute(wrong)
    assert full.startswith("Nothing was done: ")
    assert "\n" not in full
    assert len(summary) < 200
    assert await stored(manager) == []


TEXT = json.dumps(SAVE)
SHAPES = {
    "text": {"id": "1", "type": "function", "function": {"name": "save_impression", "arguments": TEXT}},
    "decoded": {"function": {"name": "save_impression", "arguments": SAVE}},
    "no id and no type": {"function": {"name": "save_impression", "arguments": TEXT}},
    "LangChain": {"name": "save_impression", "args": SAVE, "id": "1", "type": "tool_call"},
    "OpenAI object": ChatCompletionMessageToolCall.model_validate(
        {"id": "1", "type": "function", "function": {"name": "save_impression", "arguments": TEXT}}
    ),
    "any object": Thing(id=None, function=Thing(name="save_impression", arguments=TEXT)),
    "Anthropic": {"type": "tool_use", "id": "1", "name": "save_impression", "input": SAVE},
    "Gemini": {"functionCall": {"name": "save_impression", "args": SAVE}},
    "legacy": {"name": "save_impression", "arguments": TEXT},
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_tc07_every_shape_stores_the_same_impression(manager, shape):
    report = await manager.execute_maintain_tool_calls([SHAPES[shape]])
    assert (report.status, report.saved, report.refused) == ("stored", ("USER-DIET",), ())
    held = await manager.store.aget("USER-DIET")
    assert (held.content, held.category, held.labels, held.pin) == ("vegan", "Health", ("Diet",), False)


@pytest.mark.parametrize("arguments", [None, ""])
async def test_tc07_an_empty_shape_is_one_error(manager, arguments):
    calls = [{"function": {"name": "save_impression", "arguments": arguments}}]
    report = await manager.execute_maintain_tool_calls(calls)
    assert report.status == "rejected"
    assert len(report.refused) == 1
    assert "arguments" in report.refused[0].reason


async def test_sp02_a_made_up_user_changes_nothing(manager):
    full, _ = await SaveImpressionTool(manager).execute({**SAVE, "user_id": "bob", "bot_name": "x"})
    assert "ignored, the tool has no such field: user_id, bot_name" in full
    assert {(scope.bot, scope.user) for scope in manager.store.scopes()} == {("bot", None)}


async def test_a_store_that_is_away_is_said_and_not_raised(caplog):
    manager = ImpressMemManager(ImpressMemConfig(redis_config={"url": "unix:///nowhere/at-all.sock"}))
    for tool, arguments in (
        (SaveImpressionTool(manager), SAVE),
        (RecallImpressionsTool(manager), {}),
        (OrganizeImpressionsTool(manager), MERGE),
    ):
        full, summary = await tool.execute(arguments)
        assert "cannot be reached" in full
        assert summary == "Memory is unavailable"
    assert "vegan" not in caplog.text


async def test_sp09_no_content_in_logs(filled, caplog):
    with caplog.at_level(logging.DEBUG, "impressmem_integrations"):
        await SaveImpressionTool(filled).execute(SAVE)
        await SaveImpressionTool(filled).execute({**SAVE, "labels": []})
        await RecallImpressionsTool(filled).execute({})
        await OrganizeImpressionsTool(filled).execute({**MERGE, "to_item": "GONE"})
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("impressmem")]
    assert not [message for message in ours if "vegan" in message or "tea" in message]


# --- the flows in blocking code ----------------------------------------------------------------------------------


def test_the_same_flows_serve_blocking_code(client):
    store = ImpressionStore(client=client)
    saved = store.perform(lambda bound: save_flow(bound, SAVE, source="turn-1"))
    assert [result.status for result in saved.artifact] == ["created"]
    assert store.get("USER-DIET").source == "turn-1"
    found = store.perform(lambda bound: recall_flow(bound, {"category": "Health"}))
    assert [item.clue for item in found.artifact] == ["USER-DIET"]
    assert "vegan" in found.full
    assert store.perform(lambda bound: organize_flow(bound, MERGE)).artifact is None


def test_a_call_is_carried_out_by_its_name(client):
    store = ImpressionStore(client=client)
    (call,) = read_calls([{"name": "functions.save_impressions", "args": {"impressions": [SAVE]}}])
    assert store.perform(lambda bound: call_flow(bound, call)).ok
    assert "vegan" in store.perform(lambda bound: call_flow(bound, ToolCall("Recall-Impressions", {}))).full
    assert not store.perform(lambda bound: call_flow(bound, ToolCall("organize_impressions", MERGE))).ok
    assert "There is no tool" in store.perform(lambda bound: call_flow(bound, ToolCall("drop", {}))).full
    assert "cut" in store.perform(lambda bound: call_flow(bound, ToolCall("", None, None, "it was cut"))).full
