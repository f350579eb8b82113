"""The loopback model server itself, asked with the real `openai` package."""

from __future__ import annotations

import openai
import pytest

from tests.loopback import KEY, Loopback
from tests.scripted import call, calls


def test_replies_come_in_order_and_requests_are_recorded() -> None:
    with (
        Loopback("first", calls(call("look", {"at": "it"}))) as loopback,
        openai.OpenAI(base_url=loopback.base_url, api_key=KEY) as client,
    ):
        said = [
            client.chat.completions.create(model="any", messages=[{"role": "user", "content": text}]).choices[0]
            for text in ("one", "two", "three")
        ]
    assert [choice.message.content for choice in said] == ["first", None, "IGNORE"]
    assert [choice.finish_reason for choice in said] == ["stop", "tool_calls", "stop"]
    made = said[1].message.tool_calls
    assert made is not None
    assert made[0].id == "c1"
    assert [request.messages[0]["content"] for request in loopback.requests] == ["one", "two", "three"]
    assert loopback.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_scripted_status_reaches_the_client_as_its_error() -> None:
    with (
        Loopback(503) as loopback,
        openai.OpenAI(base_url=loopback.base_url, api_key=KEY, max_retries=0) as client,
        pytest.raises(openai.InternalServerError, match="scripted failure"),
    ):
        client.chat.completions.create(model="any", messages=[{"role": "user", "content": "hello"}])


def test_a_reply_may_depend_on_the_request() -> None:
    with (
        Loopback(lambda body: body["messages"][-1]["content"].upper()) as loopback,
        openai.OpenAI(base_url=loopback.base_url, api_key=KEY) as client,
    ):
        answer = client.chat.completions.create(model="any", messages=[{"role": "user", "content": "echo"}])
    assert answer.choices[0].message.content == "ECHO"
