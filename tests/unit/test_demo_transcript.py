"""The demo talk, turn by turn through the rule distiller: what it must keep, correct and leave out."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.resources import files
from itertools import groupby

import pytest

from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.transcript import render

DEMO = files("impressmem_integrations.demo")
MESSAGES = [json.loads(line) for line in DEMO.joinpath("transcript.jsonl").read_text(encoding="utf-8").splitlines()]
EXPECTATIONS = json.loads(DEMO.joinpath("expectations.json").read_text(encoding="utf-8"))


def turns(user):
    """The user's messages, cut before each thing the user says, session by session."""
    mine = [message for message in MESSAGES if message["user"] == user]
    for _, session in groupby(mine, key=lambda message: message["session"]):
        turn = []
        for message in session:
            if message["role"] == "user" and turn:
                yield turn
                turn = []
            turn.append(message)
        yield turn


def memory_of(user):
    """Clue to impression after all turns: the later note of one clue wins."""
    memory, silent = {}, 0
    for turn in turns(user):
        at = datetime.fromisoformat(turn[0]["at"])
        request = f"Day of the talk: {at:%Y-%m-%d} ({at:%A})\n<turn>\n{render(turn, tool_results=True)}\n</turn>"
        answer = RuleDistiller()([{"role": "system", "content": "Memory"}, {"role": "user", "content": request}])
        silent += answer["content"] == "IGNORE"
        for call in answer.get("tool_calls", ()):
            for item in json.loads(call["function"]["arguments"])["impressions"]:
                memory[item["clue"]] = item
    return memory, silent


@pytest.mark.parametrize("user", EXPECTATIONS)
def test_the_distiller_gets_the_demo_right(user):
    memory, silent = memory_of(user)
    expected = EXPECTATIONS[user]
    text = json.dumps(memory, ensure_ascii=False)
    assert [phrase for phrase in expected["kept"] if phrase not in text] == []
    for kind in ("gone", "secrets", "never", "not_of_others"):
        assert [phrase for phrase in expected[kind] if phrase in text] == [], kind
    pinned = [item["content"] for item in memory.values() if item["pin"]]
    for phrase in expected["pinned"]:
        assert any(phrase in content for content in pinned)
    assert silent >= 4, "small talk must leave nothing"


def test_the_corrected_facts_were_said():
    for user, expected in EXPECTATIONS.items():
        said = "\n".join(m["content"] for m in MESSAGES if m["user"] == user and m["role"] == "user")
        for kind in ("gone", "secrets"):
            assert all(phrase in said for phrase in expected[kind])


def test_the_transcript_is_in_openai_form():
    assert {message["user"] for message in MESSAGES} == set(EXPECTATIONS)
    for user in EXPECTATIONS:
        days = {message["at"][:10] for message in MESSAGES if message["user"] == user}
        assert len(days) == len({m["session"] for m in MESSAGES if m["user"] == user}) == 3
    called = set()
    for message in MESSAGES:
        assert datetime.fromisoformat(message["at"]).tzinfo is not None
        assert message["role"] in ("user", "assistant", "tool")
        for call in message.get("tool_calls", ()):
            json.loads(call["function"]["arguments"])
            called.add(call["id"])
        if message["role"] == "tool":
            assert message["tool_call_id"] in called
    assert called
