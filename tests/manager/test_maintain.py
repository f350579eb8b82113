"""The passive recipe: prompt, definitions, and carrying out the calls that a model made."""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageFunctionToolCall as Call

from impressmem_integrations import ImpressMemManager, slice_new_turn_messages
from tests.manager.conftest import MakeManager
from tests.request_rules import CHECKERS
from tests.scripted import call, impression, merge, said
from tests.servers import RunningServer, valkey_binary

ONE = impression("DIET", "no nuts", category="Food", labels=["Diet"])
TEXT = json.dumps(ONE)
NAME = "save_impression"


def test_im49_im50_prompt_and_definitions(manager: ImpressMemManager) -> None:
    prompt = manager.get_maintain_prompt()
    assert "IGNORE" in prompt
    assert "organize" in prompt
    definitions = manager.get_maintain_tool_definitions()
    assert [tool["function"]["name"] for tool in definitions] == ["save_impression", "organize_impressions"]
    definitions.clear()
    assert len(manager.get_maintain_tool_definitions()) == 2


def sdk(arguments: str) -> Call:
    return Call.model_validate({"id": "c1", "type": "function", "function": {"name": NAME, "arguments": arguments}})


SHAPES: dict[str, Any] = {
    "arguments as JSON text": [{"function": {"name": NAME, "arguments": TEXT}}],
    "arguments as a dict": [{"function": {"name": NAME, "arguments": ONE}}],
    "with id and type": [call(NAME, ONE)],
    "SDK object": [sdk(TEXT)],
    "a tuple of SDK objects": (sdk(TEXT),),
    "LangChain": [{"name": NAME, "args": ONE, "id": "c1", "type": "tool_call"}],
    "plain object": [SimpleNamespace(function=SimpleNamespace(name=NAME, arguments=TEXT))],
    "Anthropic block": [{"type": "tool_use", "id": "c1", "name": NAME, "input": ONE}],
    "Gemini part": [{"function_call": {"name": NAME, "args": ONE}}],
    "legacy function call": {"name": NAME, "arguments": TEXT},
    "message with a legacy call": {
        "role": "assistant",
        "content": None,
        "function_call": {"name": NAME, "arguments": TEXT},
    },
    "message": {"role": "assistant", "content": None, "tool_calls": [call(NAME, ONE)]},
    "the other save tool": [call("save_impressions", {"impressions": [ONE]})],
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_tc07_every_shape_that_carries_arguments_saves_the_same(manager: ImpressMemManager, shape: str) -> None:
    report = await manager.execute_maintain_tool_calls(SHAPES[shape])
    assert (report.status, report.saved, report.refused) == ("stored", ("DIET",), ())
    held = await manager.store.aget("DIET")
    assert held is not None
    assert (held.content, held.category, held.labels, held.pin) == ("no nuts", "Food", ("Diet",), False)


EMPTY: dict[str, Any] = {
    "missing": {"function": {"name": NAME}},
    "none": {"function": {"name": NAME, "arguments": None}},
    "empty text": {"function": {"name": NAME, "arguments": ""}},
    "empty object": {"function": {"name": NAME, "arguments": "{}"}},
    "LangChain without": {"name": NAME, "args": None, "id": "c1"},
    "SDK object": sdk(""),
    "no name": {"function": {"arguments": TEXT}},
    "nothing": {},
    "not a call": None,
    "a number": 7,
}


@pytest.mark.parametrize("shape", EMPTY)
async def test_tc07_an_empty_call_is_one_clear_error_and_stops_no_other(manager: ImpressMemManager, shape: str) -> None:
    report = await manager.execute_maintain_tool_calls([EMPTY[shape]])
    assert report.status == "rejected"
    assert len(report.refused) == 1
    assert report.refused[0].reason
    assert await manager.get_recent_clues() == []
    both = await manager.execute_maintain_tool_calls([EMPTY[shape], call(NAME, ONE)])
    assert (both.status, both.saved, len(both.refused)) == ("stored", ("DIET",), 1)


@pytest.mark.parametrize("nothing", [None, [], (), {"role": "assistant", "content": "IGNORE", "tool_calls": None}])
async def test_im51_no_calls_are_nothing_to_store(manager: ImpressMemManager, nothing: Any) -> None:
    report = await manager.execute_maintain_tool_calls(nothing)
    assert report.status == "nothing_to_store"
    assert report.reason == "no tool was called"


async def test_im51_the_report_tells_saved_changed_merged_and_refused(manager: ImpressMemManager) -> None:
    await manager.save_impression("OLD", "old text", "Food", ["Diet"])
    report = await manager.execute_maintain_tool_calls(
        [
            call("save_impressions", {"impressions": [ONE, impression("OLD", "new text"), {"clue": "BAD"}]}),
            call(NAME, impression("TWIN", "nuts: no")),
            merge("clue", ["TWIN"], "DIET", new_content="no nuts at all"),
            merge("clue", ["NONE"], "DIET", new_content="never"),
        ]
    )
    assert report.status == "stored"
    assert report.saved == ("DIET", "TWIN")
    assert report.changed == ("OLD",)
    assert [(done.sources, done.target) for done in report.merged] == [(("TWIN",), "DIET")]
    assert len(report.refused) == 2
    assert report.transaction is not None
    assert await manager.get_impressions_by_clues(["DIET", "TWIN"]) == [("DIET", "no nuts at all")]


async def test_im51_saving_what_is_there_is_nothing_new(manager: ImpressMemManager) -> None:
    await manager.execute_maintain_tool_calls([call(NAME, ONE)])
    report = await manager.execute_maintain_tool_calls([call(NAME, ONE)])
    assert (report.status, report.reason) == ("nothing_to_store", "it is remembered already")


async def test_im51_unknown_names_are_skipped_with_a_warning(
    manager: ImpressMemManager, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        report = await manager.execute_maintain_tool_calls(
            [call("delete_everything", {}), call("recall_impressions", {"category": "Food"}), call(NAME, ONE)]
        )
    assert report.saved == ("DIET",)
    assert len(report.refused) == 2
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(("mark", "pinned"), [("⭐", True), ("◻", False), (True, True)])
async def test_im18_the_marks_pin_in_maintenance_calls_too(
    make_manager: MakeManager, mark: object, pinned: bool
) -> None:
    marked = make_manager(bot_name="Aide", unpinned_emoji="◻", pinned_emoji="⭐")
    report = await marked.execute_maintain_tool_calls([call(NAME, ONE | {"pin": mark})])
    assert report.refused == ()
    assert bool(await marked.get_pinned_clues()) is pinned


async def test_im51_a_server_that_is_gone_is_reported_not_raised(
    make_manager: MakeManager, caplog: pytest.LogCaptureFixture
) -> None:
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary) as server:
        manager = make_manager(redis_config={"url": server.url})
        await manager.save_impression("A", "text", "General", ["Note"])
    report = await manager.execute_maintain_tool_calls([call(NAME, ONE), call(NAME, ONE)])
    assert report.status == "store_unavailable"
    assert "no server answers" in report.reason
    assert caplog.records


async def test_im52_im48_the_recipe_from_history_to_memory(manager: ImpressMemManager) -> None:
    history = [*said("Hello", "Hi"), {"role": "user", "content": "I eat no nuts."}]
    request = [
        {"role": "system", "content": await manager.build_memory_context()},
        *slice_new_turn_messages(history),
        {"role": "user", "content": manager.get_maintain_prompt()},
    ]
    assert [message["role"] for message in request] == ["system", "assistant", "user", "user"]
    assert all(message["content"].strip() for message in request)
    await manager.execute_maintain_tool_calls([call(NAME, ONE)])
    assert "no nuts" in await manager.build_memory_context()


@pytest.mark.parametrize("provider", sorted(CHECKERS))
async def test_tc06_the_recipe_on_empty_texts_suits_every_provider(manager: ImpressMemManager, provider: str) -> None:
    """Nothing stored, a blank user message and an assistant message that only calls a tool."""
    history = [
        {"role": "user", "content": "\n"},
        {"role": "user", "content": "What is on today?"},
        {"role": "assistant", "content": None, "tool_calls": [call("calendar", {"day": "today"})]},
        {"role": "tool", "tool_call_id": "c1", "content": "nothing"},
        {"role": "assistant", "content": "Nothing."},
    ]
    context = await manager.build_memory_context()
    assert context.strip()
    assert (
        CHECKERS[provider](
            [{"role": "system", "content": context}, {"role": "user", "content": manager.get_maintain_prompt()}],
            manager.get_maintain_tool_definitions(),
        )
        == []
    )
    assert slice_new_turn_messages(history)[-1] is history[-1]
