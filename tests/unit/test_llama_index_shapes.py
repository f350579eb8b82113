"""LlamaIndex's real classes, where it is installed; its attribute shapes are met as fakes in the other tests too."""

from __future__ import annotations

import json
from types import SimpleNamespace as Thing

import pytest

from impressmem_integrations.model import ToolCall
from impressmem_integrations.tools.calls import read_answer, read_calls
from impressmem_integrations.turns import canonical, cut_turns, slice_new_turn_messages

types = pytest.importorskip("llama_index.core.base.llms.types", reason="llama-index-core is not installed")
ToolSelection = pytest.importorskip("llama_index.core.tools", reason="llama-index-core is not installed").ToolSelection

ChatMessage = types.ChatMessage
CUT = '{"impressions": [{"clue": "A", "content": "half of the sent'


def test_lc13_the_same_cut_in_the_type_given() -> None:
    pairs = [("user", "u1"), ("assistant", "a1"), ("user", "u2"), ("assistant", "a2")]
    history = [ChatMessage(role=role, content=text) for role, text in pairs]
    newest = slice_new_turn_messages(history)
    assert all(found is given for found, given in zip(newest, history[1:], strict=True))
    assert cut_turns(history) == cut_turns(pairs)


def test_li06_calls_as_objects_with_content_none() -> None:
    call = Thing(id="c1", function=Thing(name="f", arguments='{"a": 1}'))
    message = ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [call]})
    found = canonical(message)
    assert found is not None
    assert json.loads(json.dumps(found["tool_calls"]))[0]["function"] == {"name": "f", "arguments": '{"a": 1}'}


def test_blocks() -> None:
    message = ChatMessage(
        role="user",
        blocks=[
            types.TextBlock(text="my cat"),
            types.ImageBlock(image=b"iVBO" * 300, image_mimetype="image/png"),
            types.DocumentBlock(data=b"x", title="lease.pdf", document_mimetype="application/pdf"),
        ],
    )
    assert canonical(message) == {"role": "user", "content": "my cat\n[image]\n[file lease.pdf]"}
    result = ChatMessage(role="tool", content="sunny", additional_kwargs={"tool_call_id": "c1", "name": "weather"})
    assert canonical(result) == {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "c1"}


def test_calls_and_answers() -> None:
    selection = ToolSelection(tool_id="c1", tool_name="save_impressions", tool_kwargs={"impressions": []})
    assert read_calls(selection) == (ToolCall("save_impressions", {"impressions": []}, "c1"),)
    message = ChatMessage(
        role="assistant",
        blocks=[
            types.TextBlock(text="Noted."),
            types.ToolCallBlock(tool_name="save_impressions", tool_kwargs=CUT, tool_call_id="c1"),
        ],
    )
    raw = {"choices": [{"finish_reason": "length"}], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    answer = read_answer(types.ChatResponse(message=message, raw=raw))
    assert (answer.text, answer.cut_off, answer.usage.input_tokens) == ("Noted.", True, 3)
    assert answer.calls[0].arguments is None
