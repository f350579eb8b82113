"""Chapter 5: maintenance asks a chat model what of a turn is worth keeping, and does it exactly once."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.settings import Settings

MONDAY = datetime(2026, 5, 18, 10, tzinfo=UTC)
TALK = [
    {"role": "user", "content": "I live in Porto, and tomorrow I'm flying to Rome."},
    {"role": "assistant", "content": "Enjoy Rome!"},
]


def keeps(clue, content):
    """A callable model that answers every request with one tool call."""
    impression = {"clue": clue, "content": content, "category": "Home", "labels": ["City"], "pin": False}
    arguments = json.dumps({"impressions": [impression]})

    def model(messages, tools):
        call = {"id": "1", "type": "function", "function": {"name": "save_impressions", "arguments": arguments}}
        return {"role": "assistant", "content": None, "tool_calls": [call], "finish_reason": "tool_calls"}

    return model


def test_a_model_is_a_callable_in_openai_form(alice):
    report = alice.maintain(TALK, keeps("ALICE-HOME", "lives in Porto"))

    assert (report.status, report.saved) == ("stored", ("ALICE-HOME",))
    assert alice.get("ALICE-HOME").content == "lives in Porto"
    assert alice.get("ALICE-HOME").source == report.turns[-1]


def test_it_sees_one_system_message_and_one_with_the_quoted_turn(alice):
    alice.save("ALICE-TEA", "likes tea", category="Food", labels=["Drink"])
    asked = []

    def model(messages, tools):
        asked.extend(messages)
        return "IGNORE"

    assert alice.maintain(TALK, model, at=MONDAY).status == "nothing_to_store"
    system, user = asked
    assert "ALICE-TEA" in system["content"]
    assert "| I live in Porto" in user["content"]
    assert "2026-05-18 (Monday)" in user["content"]


def test_the_rule_distiller_needs_no_model_at_all(alice):
    report = alice.maintain(TALK, RuleDistiller(), at=MONDAY)
    assert {alice.get(clue).content for clue in report.saved} == {"Lives in Porto", "Plan: trip to Rome, 2026-05-19"}


def test_each_turn_is_distilled_once(alice):
    model = keeps("ALICE-HOME", "lives in Porto")
    alice.maintain(TALK, model, thread_id="t")
    assert alice.maintain(TALK, model, thread_id="t").status == "already_done"

    longer = [*TALK, {"role": "user", "content": "By the way, I moved to Braga."}]
    report = alice.maintain(longer, keeps("ALICE-HOME", "moved to Braga"), thread_id="t")
    assert (report.status, report.changed, len(report.turns)) == ("stored", ("ALICE-HOME",), 1)


def test_small_talk_costs_no_call(alice):
    def never(messages, tools):
        raise AssertionError("asked about a greeting")

    assert alice.maintain([{"role": "user", "content": "Thanks!"}], never).status == "skipped"


def test_a_failing_model_is_a_status_and_the_turn_is_asked_about_again(alice):
    def broken(messages, tools):
        raise TimeoutError("no answer")

    assert alice.maintain(TALK, broken).status == "model_failed"
    assert alice.maintain(TALK, keeps("ALICE-HOME", "lives in Porto")).status == "stored"


def test_or_a_fallback_is_asked(alice):
    def broken(messages, tools):
        raise TimeoutError("no answer")

    report = alice.maintain(TALK, broken, at=MONDAY, settings=Settings(fallback=RuleDistiller()))
    assert report.status == "stored"
    assert "fallback" in report.warnings[0]


def test_a_plan_can_wait_for_somebody_to_decide(alice):
    alice.maintain(TALK, keeps("ALICE-HOME", "lives in Porto"), review="collect")
    assert alice.get("ALICE-HOME") is None

    (plan,) = alice.plans()
    assert [(step.kind, step.clue) for step in plan.steps] == [("add", "ALICE-HOME")]
    assert alice.apply(plan).saved == ("ALICE-HOME",)
    assert alice.plans() == []


def test_distilled_turns_are_found_by_recall(alice):
    alice.maintain(TALK, keeps("ALICE-HOME", "lives in Porto"), at=MONDAY)
    assert any(item.kind == "turn" and "flying to Rome" in item.content for item in alice.recall("flying"))


def test_secrets_are_masked(alice):
    alice.maintain(
        [{"role": "user", "content": "My password is hunter2! and I live in Porto."}],
        keeps("ALICE-KEY", "password: hunter2!"),
    )
    assert "hunter2" not in alice.get("ALICE-KEY").content
    assert "hunter2" not in alice.recall("password").text
