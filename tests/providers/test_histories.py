"""Histories of the frameworks through real provider classes: the message part of LI-01, LI-06 and LC-12."""

from __future__ import annotations

from types import SimpleNamespace

from langchain_core.messages import AIMessage, HumanMessage
from llama_index.core.llms import ChatMessage

from impressmem_integrations import slice_new_turn_messages
from tests.providers.loopback import Reply
from tests.providers.models import MODELS, openai_like
from tests.scripted import impression

SAVE = Reply(calls=(("save_impressions", {"impressions": [impression("HOME", "lives in Oslo")]}),))


def test_li_01_a_history_with_tool_parts_makes_a_request_that_bedrock_takes(alice, loopback):
    """All checkers, BEDROCK too, run over each request that the loopback server gets."""
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}
    history = [
        ChatMessage(role="user", content="I live in Oslo. Is it cold?"),
        ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [call]}),
        ChatMessage(role="tool", content="-4 degrees", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content="It is -4 degrees."),
    ]
    loopback.replies = [SAVE]
    model = MODELS["LlamaIndex Anthropic"](loopback.url)
    assert alice.maintain(history, model).saved == ("HOME",)
    (request,) = loopback.requests
    assert "I live in Oslo" in str(request.messages[-1]["content"])


def test_li_06_calls_as_objects_and_messages_without_text(alice, loopback):
    function = SimpleNamespace(name="weather", arguments='{"city": "Oslo"}')
    call = SimpleNamespace(id="c1", type="function", function=function)
    history = [
        ChatMessage(role="user", content="I live in Oslo. Is it cold?"),
        ChatMessage(role="assistant", content=None, additional_kwargs={"tool_calls": [call]}),
        ChatMessage(role="tool", content="", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content=None),
    ]
    loopback.replies = [SAVE]
    assert slice_new_turn_messages(history) == history
    report = alice.maintain(history, openai_like(loopback.url, is_function_calling_model=True))
    assert report.saved == ("HOME",)
    asked = str(loopback.requests[0].messages[-1]["content"])
    assert "I live in Oslo" in asked
    assert 'called "weather"' in asked


def test_lc_12_text_blocks_reach_the_model_and_thinking_does_not(alice, loopback):
    history = [
        HumanMessage(["I moved.", {"type": "text", "text": "To Lisbon."}]),
        AIMessage([{"type": "thinking", "thinking": "secret plan"}, {"type": "text", "text": "Noted: Lisbon"}]),
        HumanMessage(""),
        AIMessage(""),
        {"role": "user", "content": ["Two", "strings"]},
        {"role": "assistant", "content": None},
    ]
    loopback.replies = [SAVE]
    assert alice.maintain(history, MODELS["ChatOpenAI"](loopback.url)).status == "stored"
    asked = str(loopback.requests[0].messages)
    for text in ("I moved.", "To Lisbon.", "Noted: Lisbon", "Two", "strings"):
        assert text in asked
    assert "secret plan" not in asked
