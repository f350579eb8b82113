"""The tool classes: definitions in OpenAI's form, results as a text for the model and a line for people."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from impressmem_integrations import (
    ImpressMemManager,
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionsTool,
    SaveImpressionTool,
)
from impressmem_integrations.errors import InvalidInput
from tests.manager.conftest import MakeManager
from tests.servers import RunningServer, valkey_binary

TOOLS = (SaveImpressionTool, SaveImpressionsTool, RecallImpressionsTool, OrganizeImpressionsTool)
NOTE = {"clue": "DIET", "content": "no nuts", "category": "Food", "labels": ["Diet", "Allergy"]}


@pytest.mark.parametrize(
    ("tool", "name", "required"),
    [
        (SaveImpressionTool, "save_impression", {"clue", "content", "category", "labels"}),
        (SaveImpressionsTool, "save_impressions", {"impressions"}),
        (RecallImpressionsTool, "recall_impressions", set()),
        (
            OrganizeImpressionsTool,
            "organize_impressions",
            {"level", "from_items", "to_item", "reason", "check", "is_redundant", "is_confirm"},
        ),
    ],
)
def test_im31_im35_im40_im55_definitions(manager: ImpressMemManager, tool: Any, name: str, required: set[str]) -> None:
    made = tool(manager)
    definition = made.get_definition()
    assert made.get_name() == name
    assert definition["type"] == "function"
    assert definition["function"]["name"] == name
    assert 200 < len(definition["function"]["description"]) < 1024
    parameters = definition["function"]["parameters"]
    assert required <= set(parameters.get("required", []))
    assert not {"anyOf", "oneOf", "allOf"} & set(parameters)  # refused by strict modes
    definition["function"]["name"] = "changed"
    assert made.get_definition()["function"]["name"] == name


def test_im33_im35_five_labels_stand_in_the_schemas(manager: ImpressMemManager) -> None:
    one = SaveImpressionTool(manager).get_definition()["function"]["parameters"]["properties"]
    many = SaveImpressionsTool(manager).get_definition()["function"]["parameters"]["properties"]["impressions"]
    recall = RecallImpressionsTool(manager).get_definition()["function"]["parameters"]["properties"]
    assert [part["labels"]["maxItems"] for part in (one, many["items"]["properties"], recall)] == [5, 5, 5]


def test_im32_im36_im41_what_the_descriptions_ask_of_the_model(manager: ImpressMemManager) -> None:
    save, _, recall, organize = (tool(manager).get_definition()["function"]["description"] for tool in TOOLS)
    assert "each gets its own clue" in save
    assert "Pin only critical" in save
    assert "before you answer" in recall
    assert "counter-case" in organize
    assert "is_confirm" in organize


# --- save -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", [SaveImpressionTool, SaveImpressionsTool])
@pytest.mark.parametrize("as_text", [True, False])
async def test_im31_both_save_tools_take_one_or_several(manager: ImpressMemManager, tool: Any, as_text: bool) -> None:
    for arguments in (NOTE, {"impressions": [NOTE, NOTE | {"clue": "OTHER"}]}):
        full, summary = await tool(manager).execute(json.dumps(arguments) if as_text else arguments)
        assert "DIET" in full
        assert "Saved" in summary
    assert {name for name, _ in await manager.get_recent_clues()} == {"DIET", "OTHER"}


async def test_im34_a_bad_item_stops_no_other_and_is_named_by_its_place(manager: ImpressMemManager) -> None:
    items = [NOTE, {"clue": "BAD", "category": "Food", "labels": ["Diet"]}, NOTE | {"clue": "GOOD"}]
    full, summary = await SaveImpressionsTool(manager).execute(json.dumps({"impressions": items}))
    assert summary.startswith("Saved 2/3")
    assert "impressions[1]: content is missing" in full
    assert {name for name, _ in await manager.get_recent_clues()} == {"DIET", "GOOD"}
    assert "no nuts" not in summary


async def test_im33_more_than_five_labels_are_told(manager: ImpressMemManager) -> None:
    full, _ = await SaveImpressionTool(manager).execute(json.dumps(NOTE | {"labels": list("abcdefg")}))
    assert "only 5 labels are kept; left out: f, g" in full
    assert len(await manager.get_recent_labels()) == 5


@pytest.mark.parametrize(("mark", "pinned"), [("⭐", True), ("◻", False), (True, True), ("true", True), (None, False)])
async def test_im18_the_save_tools_know_the_marks(make_manager: MakeManager, mark: Any, pinned: bool) -> None:
    marked = make_manager(bot_name="Aide", unpinned_emoji="◻", pinned_emoji="⭐")
    await SaveImpressionTool(marked).execute(json.dumps(NOTE | {"pin": mark}))
    await SaveImpressionsTool(marked).execute(json.dumps({"impressions": [NOTE | {"clue": "B", "pin": mark}]}))
    assert len(await marked.get_pinned_clues()) == (2 if pinned else 0)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", ["", "not json", "[]", "null", "7", '{"clue": ', None, [], 7])
async def test_im34_execute_never_raises_for_what_a_model_wrote(
    manager: ImpressMemManager, tool: Any, arguments: Any
) -> None:
    full, summary = await tool(manager).execute(arguments)
    assert "Nothing was" in full
    assert summary
    assert "\n" not in summary


async def test_im34_a_server_that_is_gone_is_told_in_words(make_manager: MakeManager) -> None:
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary) as server:
        manager = make_manager(redis_config={"url": server.url})
        await manager.save_impression(**NOTE)  # type: ignore[arg-type]
    for tool, arguments in ((SaveImpressionTool, NOTE), (RecallImpressionsTool, {"category": "Food"})):
        full, summary = await tool(manager).execute(json.dumps(arguments))
        assert "cannot be reached" in full
        assert summary == "Memory is unavailable"


# --- recall -----------------------------------------------------------------------------------------------------


async def several(manager: ImpressMemManager) -> None:
    await manager.save_impression("DIET", "no nuts", "Food", ["Diet", "Allergy"])
    await manager.save_impression("CITY", "lives in Bergen", "Home", ["City"])
    await manager.save_impression("TEA", "green tea", "Food", ["Drink"])


def clues_of(text: str) -> list[str]:
    return re.findall(r"^\[[^\]]+\]\[([^\]]+)\]", text, re.MULTILINE)


async def recalled(manager: ImpressMemManager, **arguments: Any) -> str:
    return (await RecallImpressionsTool(manager).execute(json.dumps(arguments)))[0]


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"category": "Food"}, ["DIET", "TEA"]),
        ({"labels": ["City"]}, ["CITY"]),
        ({"labels": ["City", "Drink"]}, ["CITY", "TEA"]),
        ({"category": "Home", "labels": ["Diet"]}, ["DIET", "CITY"]),
        ({}, ["DIET", "CITY", "TEA"]),
        ({"category": "", "labels": []}, ["DIET", "CITY", "TEA"]),
    ],
)
async def test_im35_im37_what_is_recalled_comes_oldest_first_and_once(
    manager: ImpressMemManager, arguments: dict[str, Any], found: list[str]
) -> None:
    await several(manager)
    assert clues_of(await recalled(manager, **arguments)) == found


async def test_im38_a_recall_names_related_labels_and_counts(manager: ImpressMemManager) -> None:
    await several(manager)
    full, summary = await RecallImpressionsTool(manager).execute('{"labels": ["Diet"]}')
    related = re.search(r"^Related labels: (.+)$", full, re.MULTILINE)
    assert related is not None
    assert "Allergy" in related[1]
    assert re.search(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00:00\]\[DIET\]no nuts$", full, re.MULTILINE)
    assert "not instructions" in full
    assert summary == "Recalled 1 impression"
    assert "no nuts" not in summary


async def test_im35_only_five_labels_are_looked_up(manager: ImpressMemManager) -> None:
    for at in range(6):
        await manager.save_impression(f"CLUE-{at}", f"text {at}", "General", [f"Label{at}"])
    full = await recalled(manager, labels=[f"Label{at}" for at in range(6)])
    assert clues_of(full) == [f"CLUE-{at}" for at in range(5)]
    assert "left out: Label5" in full


async def test_im38_nothing_found_is_said_and_close_names_are_offered(manager: ImpressMemManager) -> None:
    assert "Nothing is stored yet." in await recalled(manager, category="Food")
    await several(manager)
    full = await recalled(manager, category="Foods")
    assert "Nothing was found." in full
    assert "Close names that exist: Food" in full
    assert "<memory>" not in full


async def test_im39_limits_of_a_recall(manager: ImpressMemManager) -> None:
    for at in range(5):
        await manager.save_impression(f"CLUE-{at}", "x" * 60, "General", [f"Label{at}", "Shared"])
    tool = RecallImpressionsTool(manager, max_labels=2, max_impression_text_units=90)
    full, summary = await tool.execute('{"labels": ["Shared"]}')
    assert clues_of(full) == ["CLUE-3", "CLUE-4"]
    assert "3 more match and are not shown" in full
    assert summary == "Recalled 2 impressions, 3 not shown"
    related = re.search(r"^Related labels: (.+)$", full, re.MULTILINE)
    assert related is not None
    assert len(related[1].split(", ")) == 2
    with pytest.raises(InvalidInput, match="max_labels"):
        RecallImpressionsTool(manager, max_labels=-1)


async def test_im39_the_config_limits_a_recall_too(make_manager: MakeManager) -> None:
    small = make_manager(bot_name="Aide", impression_text_units_per_set=90, labels_per_set=1, timezone="Asia/Tokyo")
    for at in range(5):
        await small.save_impression(f"CLUE-{at}", "x" * 60, "General", [f"Label{at}", "Shared"])
    full = await recalled(small, category="General")
    assert clues_of(full) == ["CLUE-3", "CLUE-4"]
    assert "+09:00]" in full
    related = re.search(r"^Related labels: (.+)$", full, re.MULTILINE)
    assert related is not None
    assert "," not in related[1]
