"""TC-13: a tool choice that the user forced is left aside, once and aloud, wherever a framework keeps it."""

from __future__ import annotations

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from llama_index.llms.openai import OpenAI as LlamaIndexOpenAI

from tests.providers.loopback import Reply
from tests.providers.models import chat_openai, openai_like
from tests.scripted import Scripted, impression, said, save

HOME = impression("HOME", "lives in Oslo")
SAVE = Reply(calls=(("save_impressions", {"impressions": [HOME]}),))
TURN = said("I live in Oslo")
SAID = "the model's own tool_choice was left aside: maintenance asks with tool choice auto"
OWN_TOOL = {
    "type": "function",
    "function": {"name": "pay", "description": "Pay.", "parameters": {"type": "object", "properties": {}}},
}

FORCED = {
    "bind_tools": lambda url: chat_openai(url).bind_tools([OWN_TOOL], tool_choice="pay"),
    "bind_tools, wrapped": lambda url: chat_openai(url).bind_tools([OWN_TOOL], tool_choice="any").with_retry(),
    "bind": lambda url: chat_openai(url).bind(tool_choice="required"),
    "a fallback of it": lambda url: chat_openai(url).with_fallbacks([chat_openai(url).bind(tool_choice="required")]),
    "model_kwargs": lambda url: chat_openai(url, model_kwargs={"tool_choice": "required"}),
    "extra_body": lambda url: chat_openai(url, extra_body={"tool_choice": "required"}),
    "Anthropic": lambda url: ChatAnthropic(
        model="claude-sonnet-4-5",
        base_url=url,
        api_key="key",
        max_retries=0,
        model_kwargs={"tool_choice": {"type": "any"}},
    ),
    "Gemini": lambda url: ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", base_url=url, google_api_key="key", max_retries=1
    ).bind_tools([OWN_TOOL], tool_choice="any"),
    "LlamaIndex": lambda url: LlamaIndexOpenAI(
        model="gpt-4o",
        api_base=f"{url}/v1",
        api_key="key",
        max_retries=0,
        additional_kwargs={"tool_choice": "required"},
    ),
    "LlamaIndex like": lambda url: openai_like(
        url, is_function_calling_model=True, additional_kwargs={"tool_choice": "required"}
    ),
}


def thinking(request):
    """A thinking model: it takes no choice but auto. (The server of the tests fails a test that sends one, too.)"""
    if request.choice not in (None, "auto"):
        return Reply("Thinking mode does not support this tool_choice", status=400)
    return SAVE


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
@pytest.mark.parametrize("mode", ["maintain", "amaintain"])
@pytest.mark.parametrize("where", FORCED)
async def test_tc_13_a_forced_choice_is_left_aside_and_the_report_says_so(alice, loopback, where, mode):
    model = FORCED[where](loopback.url)
    loopback.replies = [thinking]
    report = await alice.amaintain(TURN, model) if mode == "amaintain" else alice.maintain(TURN, model)
    assert (report.saved, report.warnings) == (("HOME",), (SAID,))
    (request,) = loopback.requests
    assert {tool["function"]["name"] for tool in request.tools} == {"save_impressions", "organize_impressions"}


@pytest.mark.parametrize("auto", [{}, {"tool_choice": "auto"}, {"tool_choice": None}])
def test_tc_13_a_choice_that_is_auto_is_nothing_to_speak_of(alice, loopback, auto):
    loopback.replies = [thinking]
    report = alice.maintain(TURN, chat_openai(loopback.url).bind_tools([OWN_TOOL], **auto))
    assert (report.saved, report.warnings) == (("HOME",), ())


def test_tc_13_the_users_model_keeps_its_choice(alice, loopback):
    model = FORCED["model_kwargs"](loopback.url)
    alice.maintain(TURN, model)
    assert isinstance(model, ChatOpenAI)
    assert model.model_kwargs == {"tool_choice": "required"}


def test_tc_13_a_callable_that_forces_by_itself_is_asked_once_more_in_json(alice):
    """What it sends is its own; the server's refusal is one of tools, so the model is asked without."""
    refused = RuntimeError("Thinking mode does not support this tool_choice")
    model = Scripted(refused, save(HOME), refused)
    report = alice.maintain(TURN, model)
    assert report.saved == ("HOME",)
    assert model.tools[1] is None
    assert len(report.warnings) == 1
    assert report.warnings[0].startswith("asked in JSON: ")
    assert "does not support this tool_choice" in report.warnings[0]
    failed = alice.maintain(said("I like tea"), model, mode="tools")
    assert failed.status == "model_failed"
    assert "does not support this tool_choice" in failed.reason


def test_tc_13_a_cut_off_answer_and_a_refused_one_say_it_too(alice, loopback):
    model = FORCED["bind"](loopback.url)
    loopback.replies = [Reply(calls=SAVE.calls, cut=True), Reply(calls=(("delete_everything", {"x": 1}),))]
    cut, refused = alice.maintain(TURN, model), alice.maintain(TURN, model)
    assert [report.status for report in (cut, refused)] == ["cut_off", "rejected"]
    assert cut.warnings == refused.warnings == (SAID,)
