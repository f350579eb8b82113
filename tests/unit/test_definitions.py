"""The tools as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from impressmem_integrations.errors import InvalidToolCall
from impressmem_integrations.tools.definitions import (
    MAINTENANCE_TOOLS,
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSION,
    SAVE_IMPRESSIONS,
    TOOLS,
    Tool,
    openai_definition,
    strict,
    tool_named,
)
from tests.request_rules import gemini, schema_violations

each_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def objects(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every object schema inside a schema, itself included."""
    if "properties" in schema:
        yield schema
    for value in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from objects(value)


@each_tool
def test_tc15_schemas_keep_to_the_subset_that_every_provider_takes(tool: Tool) -> None:
    definition = openai_definition(tool)
    assert gemini([{"role": "user", "content": "hi"}], [definition]) == []
    assert schema_violations(tool.parameters) == []
    assert json.loads(json.dumps(definition)) == definition
    assert all(schema.get("required", ["x"]) for schema in objects(tool.parameters)), "an empty required is refused"


@each_tool
def test_descriptions_fit_and_every_field_has_one(tool: Tool) -> None:
    assert 100 < len(tool.description) < 1024
    assert all(field["description"] for schema in objects(tool.parameters) for field in schema["properties"].values())


def test_im33_pin_is_a_required_boolean_and_labels_are_at_most_five() -> None:
    item = SAVE_IMPRESSIONS.parameters["properties"]["impressions"]["items"]
    assert item == SAVE_IMPRESSION.parameters
    assert item["required"] == ["clue", "content", "category", "labels", "pin"]
    assert item["properties"]["pin"]["type"] == "boolean"
    assert item["properties"]["labels"]["maxItems"] == 5
    assert RECALL_IMPRESSIONS.parameters["properties"]["labels"]["maxItems"] == 5


def test_im40_organize_has_the_two_step_fields() -> None:
    assert set(ORGANIZE_IMPRESSIONS.parameters["properties"]) == {
        "level", "from_items", "to_item", "new_content", "reason", "check", "is_redundant", "is_confirm",
    }  # fmt: skip
    assert "new_content" not in ORGANIZE_IMPRESSIONS.parameters["required"]


def test_im50_maintenance_writes_and_tidies_and_does_not_recall() -> None:
    assert [tool.name for tool in MAINTENANCE_TOOLS] == ["save_impressions", "organize_impressions"]


@each_tool
def test_sp02_no_definition_names_a_user_or_bot(tool: Tool) -> None:
    names = {name for schema in objects(tool.parameters) for name in schema["properties"]}
    assert not {name for name in names if any(word in name for word in ("user", "tenant", "namespace", "bot", "scope"))}


@each_tool
def test_tc16_strict_forbids_extras_and_requires_all_with_optional_ones_nullable(tool: Tool) -> None:
    made = strict(tool)
    assert openai_definition(made)["function"]["strict"] is True
    assert "strict" not in openai_definition(tool)["function"]
    plain = list(objects(tool.parameters))
    for before, after in zip(plain, objects(made.parameters), strict=True):
        assert after["additionalProperties"] is False
        assert after["required"] == list(after["properties"]) == list(before["properties"])
        for name, field in after["properties"].items():
            optional = name not in before.get("required", [])
            assert ("null" in field["type"]) == optional
            assert not {"default", "minItems", "maxItems"} & set(field)


@each_tool
def test_definitions_are_copies(tool: Tool) -> None:
    before = json.dumps(openai_definition(tool))
    openai_definition(tool)["function"]["parameters"]["properties"].clear()
    strict(tool)
    assert json.dumps(openai_definition(tool)) == before


@pytest.mark.parametrize("name", ["save_impressions", "Save_Impressions", "SAVE-IMPRESSIONS", " save_impressions "])
def test_tc12_one_tool_in_many_spellings(name: str) -> None:
    assert tool_named(name) is SAVE_IMPRESSIONS


def test_tc12_a_name_that_does_not_exist_gets_the_real_ones() -> None:
    with pytest.raises(InvalidToolCall) as caught:
        tool_named("delete_everything", MAINTENANCE_TOOLS)
    assert "save_impressions, organize_impressions" in str(caught.value)
    with pytest.raises(InvalidToolCall):
        tool_named("recall_impressions", MAINTENANCE_TOOLS)
