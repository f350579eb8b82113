"""Runnables around LangChain models, LLMs that call no functions, streams, and what the user bound for themselves."""

from __future__ import annotations

import json

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda

from tests.providers.loopback import Reply
from tests.providers.models import MODELS, chat_openai, openai_like
from tests.scripted import impression, said

SAVE = Reply(calls=(("save_impressions", {"impressions": [impression("HOME", "lives in Oslo")]}),))
TURN = said("I live in Oslo")
JSON = json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in SAVE.calls]})
OWN_TOOL = {
    "type": "function",
    "function": {"name": "pay", "description": "Pay.", "parameters": {"type": "object", "properties": {}}},
}

WRAPPED = {
    "bind": lambda model: model.bind(temperature=0.25),
    "config": lambda model: model.with_config(run_name="x"),
    "retry": lambda model: model.with_retry(stop_after_attempt=2),
    "fallbacks": lambda model: model.with_fallbacks([model]),
    "all": lambda model: (
        model.bind(temperature=0.25)
        .with_config(tags=["mine"])
        .with_retry(stop_after_attempt=2)
        .with_fallbacks([model.bind(temperature=0.25)])
        .with_config(run_name="x")
    ),
}


@pytest.fixture(scope="module")
def plain(running_loopback):
    return chat_openai(running_loopback.url)


@pytest.mark.parametrize("how", list(WRAPPED))
def test_tools_reach_the_model_inside_and_its_options_stay(alice, loopback, plain, how):
    loopback.replies = [SAVE]
    assert alice.maintain(TURN, WRAPPED[how](plain)).saved == ("HOME",)
    (request,) = loopback.requests
    assert [tool["function"]["name"] for tool in request.tools] == ["save_impressions", "organize_impressions"]
    assert request.body.get("temperature") == (0.25 if how in ("bind", "all") else None)


@pytest.mark.parametrize("how", ["retry", "fallbacks", "all"])
def test_a_failed_call_is_tried_again_by_the_wrapping(alice, loopback, plain, how):
    loopback.replies = [Reply("busy", status=500), SAVE]
    assert alice.maintain(TURN, WRAPPED[how](plain)).saved == ("HOME",)
    assert all(request.tools for request in loopback.requests)
    assert len(loopback.requests) == 2


def test_what_a_fallback_of_the_wrapping_took_is_in_the_report_and_in_stats(alice, loopback, plain):
    loopback.replies = [Reply("busy", status=500), SAVE]
    report = alice.maintain(TURN, plain.with_fallbacks([chat_openai(loopback.url)]))
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.calls) == (11, 7, 1)
    stats = alice.stats()
    assert (stats.input_tokens, stats.output_tokens, stats.model_calls, stats.tokens_today) == (11, 7, 1, 18)


def test_tc_13_forced_choice_and_tools_of_the_user_are_left_aside(alice, loopback, plain):
    loopback.replies = [SAVE]
    forced = plain.bind_tools([OWN_TOOL], tool_choice="pay", parallel_tool_calls=False).with_retry()
    assert alice.maintain(TURN, forced).saved == ("HOME",)
    (request,) = loopback.requests
    assert request.choice is None
    assert "parallel_tool_calls" not in request.body
    assert "pay" not in {tool["function"]["name"] for tool in request.tools}


def test_in_json_mode_no_tool_of_the_user_is_sent(alice, loopback, plain):
    loopback.replies = [Reply(JSON)]
    assert alice.maintain(TURN, plain.bind_tools([OWN_TOOL]), mode="json").saved == ("HOME",)
    assert loopback.requests[0].tools is None


class Tokens(BaseCallbackHandler):
    """What a user sees of a model that streams to them."""

    def __init__(self):
        self.seen = []

    def on_llm_new_token(self, token, **_):
        self.seen.append(token)

    def on_chat_model_start(self, *_, **__):
        self.seen.append("start")


@pytest.mark.parametrize("options", [{"streaming": True}, {}])
def test_cut_off_arguments_never_pass_as_whole(alice, loopback, options):
    """FRAMEWORKS: streamed pieces are joined by a parser that completes what was cut, without any sign of it."""
    cut = '{"impressions": [{"clue": "HOME", "content": "lives in Os'
    loopback.replies = [Reply(calls=(("save_impressions", cut),), cut=True)]
    report = alice.maintain(TURN, chat_openai(loopback.url, **options))
    assert report.status == "cut_off"
    assert not loopback.requests[0].body.get("stream")
    assert not list(alice.impressions())


@pytest.mark.parametrize("how", list(WRAPPED))
def test_im_58_nothing_reaches_the_callbacks_of_a_run_around_it(alice, loopback, plain, how):
    around = Tokens()
    loopback.replies = [SAVE]
    step = RunnableLambda(lambda _: alice.maintain(TURN, WRAPPED[how](plain)).status)
    assert step.invoke("go", config={"callbacks": [around]}) == "stored"
    assert around.seen == []


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("how", list(WRAPPED))
async def test_im_58_nor_in_asyncio_code(alice, loopback, plain, how):
    around, own = Tokens(), Tokens()
    loopback.replies = [SAVE]

    async def work(_):
        return (await alice.amaintain(TURN, WRAPPED[how](plain).with_config(callbacks=[own]))).status

    assert await RunnableLambda(work).ainvoke("go", config={"callbacks": [around]}) == "stored"
    assert around.seen == []
    assert own.seen == ["start"]


def test_the_users_model_object_is_not_changed(alice, loopback):
    model = chat_openai(loopback.url, streaming=True)
    before = model.model_dump()
    alice.maintain(TURN, model)
    assert model.model_dump() == before
    assert model.streaming


def test_tc_14_binding_that_is_not_implemented(alice):
    model = FakeListChatModel(responses=[JSON])
    refused = alice.maintain(TURN, model, mode="tools")
    assert refused.status == "model_failed"
    assert "FakeListChatModel" in refused.reason
    report = alice.maintain(TURN, model)
    assert (report.saved, report.warnings) == (("HOME",), (f"asked in JSON: {refused.reason}",))


@pytest.mark.parametrize("how", list(WRAPPED))
def test_tc_14_the_error_names_the_model_inside(alice, loopback, plain, how):
    loopback.replies = [Reply(JSON)]
    report = alice.maintain(TURN, WRAPPED[how](plain), mode="tools")
    assert report.status == "model_failed"
    assert report.reason.startswith("ChatOpenAI gpt-4o wrote its calls as text")


def test_tc_14_the_error_names_a_client_s_model_and_an_llm_s(alice, loopback):
    for model, name in (
        (MODELS["OpenAIChat(OpenAI)"](loopback.url), "OpenAIChat m"),
        (MODELS["LlamaIndex OpenAILike"](loopback.url), "OpenAILike m"),
    ):
        loopback.replies = [Reply(JSON)]
        report = alice.maintain(TURN, model, mode="tools", thread_id=name)
        assert report.reason.startswith(f"{name} wrote its calls as text")


def test_tc_14_a_runnable_without_tools(alice):
    assert alice.maintain(TURN, RunnableLambda(lambda _: JSON)).saved == ("HOME",)


def test_tc_14_an_llm_that_is_not_for_function_calling(alice, loopback):
    loopback.replies = [Reply(JSON)]
    model = openai_like(loopback.url, is_function_calling_model=False)
    refused = alice.maintain(TURN, model, mode="tools")
    assert refused.status == "model_failed"
    assert "OpenAILike" in refused.reason
    assert alice.maintain(TURN, model).saved == ("HOME",)
    assert [request.tools for request in loopback.requests] == [None]


def test_llama_index_keeps_parallel_calls_and_reads_arguments_strictly(alice, loopback):
    """LlamaIndex' own parser turns the second call into a fact without its content."""
    half = '{"impressions": [{"clue": "B", "category": "C", "labels": ["x"], "pin": false, "content": "half of the sent'
    loopback.replies = [Reply(calls=(*SAVE.calls, ("save_impressions", half)))]
    report = alice.maintain(TURN, openai_like(loopback.url, is_function_calling_model=True))
    assert report.saved == ("HOME",)
    assert len(report.refused) == 1
    assert "cannot be read" in report.refused[0].reason
    assert loopback.requests[0].body["parallel_tool_calls"] is True
