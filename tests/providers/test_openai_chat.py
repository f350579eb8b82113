"""`OpenAIChat`: plain clients as models. Needs the openai package only, 2.x or 3.x."""

from __future__ import annotations

import asyncio
import threading

import openai
import pytest

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.openai import OpenAIChat
from tests.providers.loopback import Reply
from tests.scripted import impression, said

SAVE = Reply(calls=(("save_impressions", {"impressions": [impression("HOME", "lives in Oslo")]}),))
ASKED = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]


def client(loopback, kind=openai.OpenAI):
    return kind(base_url=f"{loopback.url}/v1", api_key="key", max_retries=0)


def test_it_is_a_callable_of_the_fixed_form(loopback):
    with client(loopback) as connected:
        chat = OpenAIChat(connected, model="m", temperature=0, extra_body={"top_k": 1})
        loopback.replies = [SAVE]
        tool = {"type": "function", "function": {"name": "x", "parameters": {"type": "object", "properties": {}}}}
        message = chat(ASKED, [tool])
        assert message["role"] == "assistant"
        assert message["content"] is None
        assert message["tool_calls"][0]["function"]["name"] == "save_impressions"
        assert message["finish_reason"] == "tool_calls"
        assert message["usage"]["prompt_tokens"] == 11
        assert chat(ASKED, None)["content"] == "IGNORE"
        assert chat(ASKED)["content"] == "IGNORE"
    with_tools, without, _ = (request.body for request in loopback.requests)
    assert with_tools == {"model": "m", "messages": ASKED, "temperature": 0, "top_k": 1, "tools": [tool]}
    assert without == {"model": "m", "messages": ASKED, "temperature": 0, "top_k": 1}


def test_blocking_code_with_an_async_client_never_touches_the_users_loop(loopback, alice):
    """The client is used in the user's loop before and after, and blocking code asks from threads meanwhile."""

    async def main():
        async with client(loopback, openai.AsyncOpenAI) as connected:
            chat = OpenAIChat(connected, model="m")
            assert (await chat.acall(ASKED))["content"] == "IGNORE"
            loopback.replies = [SAVE]
            in_thread = await asyncio.to_thread(alice.maintain, said("I live in Oslo"), chat)
            in_loop = alice.maintain(said("I like tea"), chat)  # as in a notebook
            assert (await chat.acall(ASKED))["content"] == "IGNORE"
            return in_thread, in_loop

    in_thread, in_loop = asyncio.run(main())
    assert (in_thread.status, in_loop.status) == ("stored", "nothing_to_store")
    assert len(loopback.requests) == 4


def test_an_async_client_keeps_its_key_headers_and_url_in_blocking_code(loopback):
    seen = []
    original = client(loopback, openai.AsyncOpenAI).with_options(default_headers={"X-Tenant": "t1"}, timeout=7.0)
    chat = OpenAIChat(original, model="m")

    def answer(request):
        seen.append(request.headers)
        return Reply("IGNORE")

    loopback.replies = [answer]
    assert chat(ASKED)["content"] == "IGNORE"
    assert seen[0]["X-Tenant"] == "t1"
    assert seen[0]["Authorization"] == "Bearer key"
    assert original.timeout == 7.0
    assert not original.is_closed()


async def test_a_blocking_client_does_not_stop_the_loop(loopback, alice):
    """The server answers only when the loop, which is busy with nothing but maintenance, sets the event."""
    release = threading.Event()

    def slow(request):
        assert release.wait(30)
        return SAVE

    loopback.replies = [slow]
    with client(loopback) as connected:
        job = asyncio.create_task(alice.amaintain(said("I live in Oslo"), OpenAIChat(connected, model="m")))
        while not loopback.requests:
            await asyncio.sleep(0.005)
        release.set()
        assert (await job).saved == ("HOME",)


@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"message": "upstream is down", "code": 502}}, "upstream is down"),
        ({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": []}, "no message"),
        ({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": None}, "no message"),
        ({"choices": [{"index": 0, "finish_reason": "stop", "message": None}]}, "no message"),
    ],
)
def test_tc_18_a_body_without_a_message_is_a_failure(loopback, alice, kind, body, reason):
    loopback.replies = [Reply(body=body)]
    report = alice.maintain(said("I live in Oslo"), OpenAIChat(client(loopback, kind), model="m"))
    assert (report.status, report.turns) == ("model_failed", ())
    assert reason in report.reason


@pytest.mark.parametrize("name", ["tool_choice", "tools", "messages", "stream", "functions", "n"])
def test_tc_13_what_maintenance_decides_is_not_the_callers_to_set(loopback, name):
    with client(loopback) as connected, pytest.raises(ConfigurationError, match=name):
        OpenAIChat(connected, model="m", **{name: "required"})
    with client(loopback) as connected, pytest.raises(ConfigurationError, match=name):
        OpenAIChat(connected, model="m", extra_body={name: "required"})


@pytest.mark.parametrize("wrong", [None, "gpt", object(), openai.OpenAI])
def test_only_a_client_will_do(wrong):
    with pytest.raises(ConfigurationError, match="client"):
        OpenAIChat(wrong, model="m")


def test_a_model_has_a_name(loopback):
    with client(loopback) as connected, pytest.raises(ConfigurationError, match="model"):
        OpenAIChat(connected, model="")
    with client(loopback) as connected:
        assert "key" not in repr(OpenAIChat(connected, model="m"))
