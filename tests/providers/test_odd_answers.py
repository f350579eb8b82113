"""Odd answers, recorded and made, through the real clients: each has its stated result.

`tests/data/odd_answers.jsonl` holds one object per line: `source` is "recorded" (a small local model's own answer),
"derived" (a call cut out of such an answer's text) or "made"; `case` names the rule it stands for; `message` and
`finish`, or `status` and `body`, are what the server sends; `expect` is what becomes of it, `chat_openai` what differs
where LangChain has read the answer first.
"""

from __future__ import annotations

import json
from pathlib import Path

import openai
import pytest

from impressmem_integrations.openai import OpenAIChat
from tests.providers.loopback import Reply
from tests.providers.models import chat_openai, client, openai_like
from tests.providers.wires import openai_body
from tests.scripted import said

ANSWERS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "odd_answers.jsonl").read_text(encoding="utf-8").splitlines()
]
TURN = said("I drink tea")


@pytest.fixture(scope="module")
def models(running_loopback):
    with client(running_loopback.url, openai.OpenAI) as connected:
        yield {
            "openai": OpenAIChat(connected, model="m"),
            "chat_openai": chat_openai(running_loopback.url),
            "llama_index": openai_like(running_loopback.url, is_function_calling_model=True),
        }


def sent(answer):
    body = answer["body"] if "body" in answer else openai_body(answer["message"], answer["finish"])
    return Reply(status=answer.get("status", 200), body=body)


def test_there_are_enough_and_each_is_told_apart():
    assert len(ANSWERS) >= 200
    assert len({answer["id"] for answer in ANSWERS}) == len(ANSWERS)
    assert {answer["source"] for answer in ANSWERS} == {"recorded", "derived", "made"}


@pytest.mark.parametrize("through", ["openai", "chat_openai", "llama_index"])
@pytest.mark.parametrize("answer", ANSWERS, ids=[f"{answer['case']} {answer['id']}" for answer in ANSWERS])
def test_tc_07_to_tc_20_odd_answers(alice, loopback, models, answer, through):
    alice.save("A", "has a cat", category="Alpha", labels=["one", "Cat"])
    alice.save("B", "has two cats", category="Beta", labels=["two", "Cats"])
    loopback.replies = [sent(answer), sent(answer)]
    report = alice.maintain(TURN, models[through], mode=answer["mode"])
    expected = answer["expect"] | answer.get(through, {})
    assert report.status == expected["status"], report
    assert list(report.saved) == expected["saved"]
    assert len(report.merged) == expected["merged"]
    assert len(report.refused) == expected["refused"]
    assert bool(report.turns) == (report.status in ("stored", "nothing_to_store"))
    assert expected.get("reason", "") in report.reason
    assert len(loopback.requests) == expected.get("asked", 1)
    there = {item.clue: item for item in alice.impressions()}
    assert set(there) - {"A", "B"} == set(expected["saved"])
    for field in ("content", "labels", "pin"):
        if field in expected:
            found = getattr(there[expected["saved"][0]], field)
            assert (list(found) if field == "labels" else found) == expected[field]
