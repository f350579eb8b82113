"""`ImpressionToolSpec`: schemas, answers in words, and what a model and a program see."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionToolSpec
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSIONS,
    openai_definition,
)
from impressmem_integrations.tools.dispatch import ToolOutcome
from tests.llama_index.chat import Chat, calling
from tests.request_rules import schema_violations
from tests.scripted import impression

DEFINITIONS = (SAVE_IMPRESSIONS, RECALL_IMPRESSIONS, ORGANIZE_IMPRESSIONS)


def tool(store: ImpressionStore, name: str) -> FunctionTool:
    (found,) = [tool for tool in ImpressionToolSpec(store).to_tool_list() if tool.metadata.name == name]
    return found


def both(made: FunctionTool, **arguments: Any) -> list[Any]:
    """The outputs of the blocking and the awaited call."""
    return [made.call(**arguments), asyncio.run(made.acall(**arguments))]


def test_it_is_a_tool_spec_of_the_library() -> None:
    assert issubclass(ImpressionToolSpec, BaseToolSpec)
    for blocking, awaited in ImpressionToolSpec.spec_functions:
        assert asyncio.iscoroutinefunction(getattr(ImpressionToolSpec, awaited))
        assert callable(getattr(ImpressionToolSpec, blocking))


def test_tc15_the_request_holds_exactly_the_definitions(alice: ImpressionStore) -> None:
    made = [tool.metadata.to_openai_tool() for tool in ImpressionToolSpec(alice).to_tool_list()]
    assert made == [openai_definition(definition) for definition in DEFINITIONS]
    for one in made:
        assert len(one["function"]["description"]) <= 1024
        assert schema_violations(one["function"]["parameters"]) == []


def test_no_argument_names_a_user(alice: ImpressionStore) -> None:
    for made in ImpressionToolSpec(alice).to_tool_list():
        assert not {"user", "user_id", "bot"} & set(made.metadata.get_parameters_dict()["properties"])


def test_sp02_a_made_up_user_is_named_as_ignored(store: ImpressionStore, alice: ImpressionStore) -> None:
    for output in both(tool(alice, "save_impressions"), impressions=[impression("A", "b")], user_id="bob"):
        assert "user_id" in output.content
    assert alice.get("A") is not None
    assert store.scoped(user="bob").get("A") is None


def test_li10_the_model_sees_the_full_text_and_the_program_the_rest(alice: ImpressionStore) -> None:
    for output in both(tool(alice, "save_impressions"), impressions=[impression("USER-NUTS", "must not eat nuts")]):
        outcome = output.raw_output
        assert isinstance(outcome, ToolOutcome)
        assert output.content == outcome.full
        assert "must not eat nuts" not in outcome.summary
        assert output.content[:1] != "("
    for output in both(tool(alice, "recall_impressions"), query="nuts"):
        assert "must not eat nuts" in output.content
        assert output.raw_output.summary == "Recalled 1 impression"


def test_arguments_are_checked_here_item_by_item(alice: ImpressionStore) -> None:
    # LlamaIndex would call the function with these, and count it as success.
    for output in both(tool(alice, "save_impressions"), impressions=[{"clue": "A"}, impression("B", "good")]):
        assert "A: not saved" in output.content
        assert "B: " in output.content
    assert alice.get("B") is not None
    for output in both(tool(alice, "save_impressions")):
        assert "impressions is missing" in output.content
    for output in both(tool(alice, "save_impressions"), impressions='[{"clue": "C"'):
        assert "not saved" in output.content or "Nothing was done" in output.content
    for output in both(tool(alice, "organize_impressions"), level="planet"):
        assert "level" in output.content


def test_sp08_a_secret_is_masked_and_the_model_is_told(alice: ImpressionStore) -> None:
    note = impression("KEY", "mein Passwort ist geheim123")
    for output in both(tool(alice, "save_impressions"), impressions=[note]):
        assert "secret" in output.content
        assert "geheim123" not in output.content
    held = alice.get("KEY")
    assert held is not None
    assert held.content == "mein Passwort ist [secret]"


def test_the_answer_to_thousands_of_items_is_short_and_names_what_went_wrong(alice: ImpressionStore) -> None:
    items: list[Any] = [impression(f"N{place}", "the same") for place in range(2_000)]
    output = tool(alice, "save_impressions").call(impressions=[*items, {"clue": "LAST"}])
    assert len(output.content) < 5_000
    assert output.content.startswith("Saved 2000/2001.\n- LAST: not saved: ")
    shown = output.content.count("\n- N")
    assert output.content.endswith(f"\n- and {2_000 - shown:,} more such lines")
    assert len(output.raw_output.artifact) == 2_001
    bad = tool(alice, "save_impressions").call(impressions=[{"clue": "X" * 900, str(place): 1} for place in range(900)])
    assert len(bad.content) < 6_000


def test_merging(alice: ImpressionStore) -> None:
    alice.save("A", "x", category="Food", labels=["One"])
    alice.save("B", "y", category="Meals", labels=["One"])
    done = tool(alice, "organize_impressions").call(
        level="category", from_items=["Meals"], to_item="Food", reason="same", check="nothing",
        is_redundant=True, is_confirm=True,
    )  # fmt: skip
    assert "Merged" in done.content
    held = alice.get("B")
    assert held is not None
    assert held.category == "Food"


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # its agents are made that way
@pytest.mark.parametrize("in_workflow", [False, True])
async def test_li10_inside_an_agent(alice: ImpressionStore, in_workflow: bool) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    chat = Chat(
        calling("recall_impressions", {"query": "Lisbon"}),
        calling("save_impressions", {"impressions": [impression("USER-CAT", "has a cat named Mia")]}, "c2"),
        "Done.",
    )
    agent = FunctionAgent(
        name="one",
        description="one",
        tools=ImpressionToolSpec(alice).to_tool_list(),
        llm=chat.llm,  # type: ignore[arg-type]
    )
    runs = AgentWorkflow(agents=[agent], root_agent="one") if in_workflow else agent
    handler = runs.run("Where do I live?", memory=ChatMemoryBuffer.from_defaults())
    results = [event async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    assert str(await handler) == "Done."
    assert chat.faults == []
    said = [message["content"] for message in chat.requests[-1] if message["role"] == "tool"]
    assert "lives in Lisbon" in said[0]
    assert said == [result.tool_output.raw_output.full for result in results]
    assert alice.get("USER-CAT") is not None


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # its agents are made that way
async def test_tc20_one_result_for_each_call_of_an_answer(alice: ImpressionStore) -> None:
    """Agents of LlamaIndex run the calls of an answer at the same time and hand back results as they come."""
    answer = calling("save_impressions", {"impressions": [impression("TEA", "drinks tea")]}, "c1")
    for call_id, item in (("c2", {"clue": "X"}), ("c3", impression("CAT", "has a cat"))):
        answer.blocks.append(
            ToolCallBlock(tool_call_id=call_id, tool_name="save_impressions", tool_kwargs={"impressions": [item]})
        )
    chat = Chat(answer, "Done.")
    agent = FunctionAgent(
        tools=ImpressionToolSpec(alice).to_tool_list(),
        llm=chat.llm,  # type: ignore[arg-type]
    )
    assert str(await agent.run("I drink tea and have a cat", memory=ChatMemoryBuffer.from_defaults())) == "Done."
    assert chat.faults == []
    results = [message for message in chat.requests[-1] if message["role"] == "tool"]
    said = {result["tool_call_id"]: result["content"] for result in results}
    assert len(results) == len(said) == 3
    assert ["TEA" in said["c1"], "missing" in said["c2"], "CAT" in said["c3"]] == [True, True, True]
    assert {item.clue for item in alice.impressions()} == {"TEA", "CAT"}


def test_the_switch(alice: ImpressionStore) -> None:
    spec = ImpressionToolSpec(alice)
    with spec.switched("read-only"):
        assert "read-only" in spec.save_impressions(impressions=[impression("A", "b")]).full
        assert spec.recall_impressions().ok is False
        assert "Nothing is stored" in spec.recall_impressions().full
    with spec.switched("off"):
        assert "switched off" in spec.recall_impressions().full
    assert alice.get("A") is None
    assert spec.save_impressions(impressions=[impression("A", "b")]).ok


def test_a_part_of_the_tools_and_other_metadata(alice: ImpressionStore) -> None:
    spec = ImpressionToolSpec(alice)
    (one,) = spec.to_tool_list(["recall_impressions"])
    assert one.metadata.name == "recall_impressions"
    (same,) = spec.to_tool_list([("recall_impressions", "arecall_impressions")], {"recall_impressions": one.metadata})
    assert same.metadata is one.metadata


def test_li09_tools_can_be_copied_and_pickled(alice: ImpressionStore) -> None:
    alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
    made = tool(alice, "recall_impressions")
    for twin in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert "lives in Lisbon" in twin.call(query="Lisbon").content
