"""What becomes of a model's answer: outcomes, plans, review, JSON mode."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from impressmem_integrations import errors
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Plan
from tests.scripted import Scripted, call, calls, impression, merge, said, save

TURN = said("I live in Oslo")
HOME = impression("HOME", "lives in Oslo", category="Home", labels=["City"])


def test_a_save_is_stored_with_its_turn_as_source(alice):
    report = alice.maintain(TURN, Scripted(save(HOME)))
    assert (report.status, report.saved, report.changed) == ("stored", ("HOME",), ())
    assert report.transaction
    assert report.usage.calls == 1
    assert report.seconds > 0
    item = alice.get("HOME")
    assert (item.content, item.category, item.labels) == ("lives in Oslo", "Home", ("City",))
    assert (item.source,) == report.turns


def test_tc_18_failure_is_not_nothing_to_save(alice):
    model = Scripted(RuntimeError("rate limit"), TimeoutError("slow"), "I have nothing for you, sorry.", "IGNORE")
    failed, slow, prose = (alice.maintain(TURN, model) for _ in range(3))
    assert [failed.status, slow.status] == ["model_failed", "model_failed"]
    assert "rate limit" in failed.reason
    assert (prose.status, prose.text) == ("nothing_to_store", "I have nothing for you, sorry.")
    assert "in words" in prose.reason
    ignored = alice.maintain(said("I like tea"), model)
    assert (ignored.status, ignored.reason) == ("nothing_to_store", "the model found nothing to keep")


def test_mq_28_a_turn_that_always_fails_is_given_up_and_later_ones_are_stored(alice):
    def answer(messages):
        asked = [n for n in range(1, 7) if f"turn {n}" in messages[-1]["content"]]
        if 3 in asked:
            raise RuntimeError("always")
        return save(*(impression(f"T{n}", f"turn {n}") for n in asked))

    history, reports = [], []
    model = Scripted(*[answer] * 20)
    for n in range(1, 7):
        history += said(f"This is turn {n}")
        reports.append(alice.maintain(history, model))
    assert reports[2].status == "model_failed"
    given_up = [report for report in reports if report.given_up]
    assert [len(report.given_up) for report in given_up] == [1]
    assert "given up after 3 tries" in given_up[0].reason
    assert {item.clue for item in alice.impressions()} == {"T1", "T2", "T4", "T5", "T6"}
    # Nothing waits any more.
    assert alice.maintain(history, Scripted()).status == "already_done"


def test_a_cut_off_answer_applies_nothing_and_the_turn_is_asked_about_again(alice):
    cut = calls(call("save_impressions", '{"impressions": [{"clue": "HOME", "con'), finish_reason="length")
    report = alice.maintain(TURN, Scripted(cut))
    assert (report.status, report.saved) == ("cut_off", ())
    assert alice.maintain(TURN, Scripted(save(HOME))).saved == ("HOME",)


def test_bad_calls_do_not_stop_good_ones(alice):
    answer = calls(
        call("delete_everything", {}, "1"),
        call("save_impressions", {"impressions": [HOME, {"clue": "X"}]}, "2"),
        call("functions.save_impressions", "{broken", "3"),
    )
    report = alice.maintain(TURN, Scripted(answer))
    assert report.saved == ("HOME",)
    assert len(report.refused) == 3
    assert any("save_impressions, organize_impressions" in refusal.reason for refusal in report.refused)


def test_an_answer_with_bad_calls_only_is_rejected_and_the_turn_kept(alice):
    report = alice.maintain(TURN, Scripted(calls(call("save_impressions", "{broken"))))
    assert (report.status, report.turns) == ("rejected", ())
    assert alice.maintain(TURN, Scripted(save(HOME))).status == "stored"


def test_mq_15_merges_that_make_no_sense_are_refused_with_the_reason(alice):
    alice.save("A", "one", category="C", labels=["x"])
    alice.save("B", "two", category="C", labels=["y"])
    answer = calls(
        merge("clue", ["NOWHERE"], "A", new_content="n"),
        merge("clue", ["A"], "NOWHERE", new_content="n"),
        merge("label", ["x"], "x"),
        merge("label", ["x"], "y", is_confirm=False),
        merge("label", ["x"], "y"),
    )
    report = alice.maintain(TURN, Scripted(answer))
    assert [result.target for result in report.merged] == ["y"]
    assert len(report.refused) == 4
    assert alice.get("A").content == "one"


TWO = {"A": "cat", "B": "dog"}
LATER = {
    "merge A into B, then save B": (
        calls(merge("clue", ["A"], "B", new_content="cat and dog"), *save(impression("B", "three pets"))["tool_calls"]),
        {"B": "three pets"},
    ),
    "save B, then merge A into B": (
        calls(*save(impression("B", "three pets"))["tool_calls"], merge("clue", ["A"], "B", new_content="four pets")),
        {"B": "four pets"},
    ),
    "two saves of one clue": (save(impression("N", "one"), impression("N", "two")), {**TWO, "N": "two"}),
    "two calls that save one clue": (
        calls(*save(impression("N", "one"))["tool_calls"], *save(impression("N", "two"))["tool_calls"]),
        {**TWO, "N": "two"},
    ),
    "save new, then merge it into A": (
        calls(*save(impression("N", "hamster"))["tool_calls"], merge("clue", ["N"], "A", new_content="cat, hamster")),
        {"A": "cat, hamster", "B": "dog"},
    ),
    "save new, then merge A into it": (
        calls(*save(impression("N", "hamster"))["tool_calls"], merge("clue", ["A"], "N", new_content="cat, hamster")),
        {"B": "dog", "N": "cat, hamster"},
    ),
    "save new, then merge both into it": (
        calls(*save(impression("N", "x"))["tool_calls"], merge("clue", ["A", "N"], "N", new_content="cat, x")),
        {"B": "dog", "N": "cat, x"},
    ),
}


@pytest.mark.parametrize("order", LATER)
def test_tc_20_several_calls_in_one_answer_run_in_their_order_and_lose_nothing_saved(alice, order):
    answer, left = LATER[order]
    for clue, content in TWO.items():
        alice.save(clue, content, category="C", labels=["x"])
    report = alice.maintain(TURN, Scripted(answer))
    assert (report.status, report.refused) == ("stored", ())
    assert {item.clue: item.content for item in alice.impressions()} == left
    newest, *older = alice.journal()
    assert (newest.transaction, len(older)) == (report.transaction, len(TWO))


@pytest.mark.parametrize(("source", "target"), [("A", "N"), ("N", "A")])
def test_tc_20_a_merge_in_front_of_the_save_of_its_new_clue_is_refused_and_both_notes_stay(alice, source, target):
    alice.save("A", "cat", category="C", labels=["x"])
    answer = calls(
        merge("clue", [source], target, new_content="cat and dog"), *save(impression("N", "dog"))["tool_calls"]
    )
    report = alice.maintain(TURN, Scripted(answer))
    assert report.saved == ("N",)
    assert [refusal.what for refusal in report.refused] == [f"merge into {target}"]
    assert "'N'" in report.refused[0].reason
    assert {item.clue: item.content for item in alice.impressions()} == {"A": "cat", "N": "dog"}


def test_a_call_in_prose_is_never_run(alice):
    text = 'You could call {"name": "save_impressions", "arguments": {"impressions": [' + json.dumps(HOME) + "]}} here."
    for mode in ("tools", "json", "auto"):
        report = alice.maintain(TURN, Scripted(text, text), mode=mode, thread_id=mode)
        assert report.saved == ()
    assert alice.get("HOME") is None


def test_json_mode_describes_the_tools_and_reads_the_whole_answer(alice):
    answer = json.dumps({"calls": [{"name": "save_impressions", "arguments": {"impressions": [HOME]}}]})
    for n, text in enumerate([answer, f"```json\n{answer}\n```"]):
        model = Scripted(text)
        report = alice.maintain(TURN, model, mode="json", thread_id=str(n))
        assert report.status in ("stored", "nothing_to_store")
        assert model.tools == [None]
        assert "save_impressions" in model.requests[0][0]["content"]
    assert alice.get("HOME").content == "lives in Oslo"


def test_json_mode_has_one_repair_round_that_shows_what_was_wrong(alice):
    answer = json.dumps({"calls": [{"name": "save_impressions", "arguments": {"impressions": [HOME]}}]})
    model = Scripted("Sure! " + answer, answer)
    report = alice.maintain(TURN, model, mode="json")
    assert (report.status, report.usage.calls) == ("stored", 2)
    assert "one JSON value" in model.asked
    assert "| Sure!" in model.asked
    worse = Scripted("Sure!", "I cannot.")
    failed = alice.maintain(said("more facts"), worse, mode="json")
    assert failed.status == "model_failed"
    assert len(worse.requests) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Nothing to save.", "the model answered in words and used no tool"),
        ("没有需要记住的内容", "the model answered in words and used no tool"),
        ('{"calls": []}', "the model found nothing to keep"),
        ('{"impressions": []}', "the model found nothing to keep"),
    ],
)
def test_json_mode_reads_nothing_to_do_in_words_and_as_an_empty_plan(alice, text, reason):
    report = alice.maintain(TURN, Scripted(text), mode="json")
    assert (report.status, report.reason) == ("nothing_to_store", reason)
    assert (report.text, report.usage.calls, report.refused) == (text, 1, ())


def test_json_mode_says_of_a_broken_answer_and_nothing_afterwards_what_it_was(alice):
    report = alice.maintain(TURN, Scripted('{"calls": [', "IGNORE"), mode="json")
    assert report.status == "nothing_to_store"
    assert report.warnings == ("the first JSON answer could not be read; asked again, the model asked for nothing",)


def test_tc_14_auto_falls_back_to_json_where_the_model_takes_no_tools(alice):
    answer = json.dumps({"calls": [{"name": "save_impressions", "arguments": {"impressions": [HOME]}}]})
    refuses = errors.ToolsUnsupported("model small takes no tools")
    assert alice.maintain(TURN, Scripted(refuses, answer)).saved == ("HOME",)
    report = alice.maintain(said("more facts"), Scripted(refuses), mode="tools")
    assert report.status == "model_failed"
    assert "model small" in report.reason


WRITTEN = json.dumps({"calls": [{"name": "save_impressions", "arguments": {"impressions": [HOME]}}]})


CALL_TEXT = WRITTEN[11:-2]


@pytest.mark.parametrize("text", [WRITTEN, f"```json\n{WRITTEN}\n```", f"<tool_call>{CALL_TEXT}</tool_call>"])
def test_tc_14_a_call_written_as_text_is_no_answer_with_tools_and_asked_for_in_json(alice, text):
    """So a server that drops the tools without a word loses no fact: neither run as it is, nor taken for nothing."""
    off = alice.maintain(TURN, Scripted(text), mode="tools")
    assert (off.status, off.turns) == ("model_failed", ())
    assert off.reason == 'Scripted wrote its calls as text instead of using the tools; mode="json" reads them'
    model = Scripted(text, "IGNORE")
    assert alice.maintain(TURN, model, thread_id="a").status == "nothing_to_store"
    assert [tools is None for tools in model.tools] == [False, True]
    on = alice.maintain(TURN, Scripted(text, text), thread_id="b")
    assert (on.saved, on.usage.calls) == (("HOME",), 2)
    assert on.warnings == ("asked in JSON: Scripted wrote its calls as text instead of using the tools",)


@pytest.mark.parametrize(
    "text",
    [
        f"[TOOL_CALLS][{CALL_TEXT}]",
        f"<tool_call>{CALL_TEXT}</tool_call>\n<tool_call>{CALL_TEXT}</tool_call>",
        f"<think>One fact.</think>\n<tool_call>{CALL_TEXT}",
        CALL_TEXT[:70],
    ],
)
def test_tc_14_a_call_that_is_written_as_text_in_another_form_or_broken_is_not_nothing_to_store(alice, text):
    off = alice.maintain(TURN, Scripted(text), mode="tools")
    assert (off.status, off.turns) == ("model_failed", ())
    assert alice.maintain(TURN, Scripted(text, WRITTEN)).saved == ("HOME",)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"choices": [{"message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}, "model_failed"),
        ({"content": None, "tool_calls": "x"}, "model_failed"),
        ({"content": "", "finish_reason": "tool_calls"}, "model_failed"),
        ("<think>hmm let me think", "cut_off"),
    ],
)
def test_tc_18_a_refusal_or_half_an_answer_is_not_nothing_to_save(alice, answer, status):
    report = alice.maintain(TURN, lambda *_: answer)
    assert (report.status, report.turns) == (status, ())


def test_review_sees_the_plan_and_may_drop_steps(alice):
    alice.save("HOME", "lives in Rome", category="Home", labels=["City"])
    seen = []

    def review(plan: Plan) -> Plan:
        seen.append(plan)
        return Plan(plan.id, plan.thread, plan.turns, plan.steps[:1], plan.generation, plan.said_at)

    report = alice.maintain(TURN, Scripted(save(HOME, impression("CAT", "a cat"))), review=review)
    assert [step.kind for step in seen[0].steps] == ["change", "add"]
    assert (report.changed, report.saved) == (("HOME",), ())
    assert (
        alice.maintain(said("and I got a boat"), Scripted(save(HOME)), review=lambda _: False).status
        == "nothing_to_store"
    )


def test_plan_kinds(alice):
    alice.save("SAME", "as it is", category="General", labels=["Note"])
    alice.save("PINME", "as it is", category="General", labels=["Note"])
    alice.save("UNPINME", "as it is", category="General", labels=["Note"], pin=True)
    answer = save(
        impression("SAME", "as it is"), impression("PINME", "as it is", pin=True), impression("UNPINME", "as it is")
    )
    kinds = []
    alice.maintain(TURN, Scripted(answer), review=lambda plan: kinds.extend(s.kind for s in plan.steps) or True)
    assert kinds == ["nothing", "pin", "unpin"]
    assert alice.get("PINME").pin
    assert not alice.get("UNPINME").pin


def test_a_collected_plan_waits_and_is_applied_once(alice):
    report = alice.maintain(TURN, Scripted(save(HOME)), review="collect")
    assert (report.status, alice.get("HOME")) == ("skipped", None)
    (plan,) = alice.plans()
    assert plan.id == report.plan
    assert alice.maintain(TURN, Scripted(save(HOME))).status == "already_done"
    assert alice.apply(plan).saved == ("HOME",)
    assert alice.plans() == []
    with pytest.raises(errors.NotFound):
        alice.apply(plan)


def test_a_rejected_plan_is_gone_and_its_turn_done(alice):
    alice.maintain(TURN, Scripted(save(HOME)), review="collect")
    (plan,) = alice.plans()
    alice.reject(plan)
    assert alice.plans() == []
    assert alice.maintain(TURN, Scripted(save(HOME))).status == "already_done"


@pytest.mark.parametrize("change", ["refiled", "pinned", "forgotten", "merged", "saved", "erased"])
def test_a_stale_plan_is_refused_whole(alice, change):
    alice.save("HOME", "lives in Rome", category="Home", labels=["City"])
    alice.save("OTHER", "other", category="Other", labels=["City"])
    alice.maintain(TURN, Scripted(save(HOME, impression("CAT", "a cat"))), review="collect")
    (plan,) = alice.plans()
    match change:
        case "refiled":
            alice.merge_categories("Home", "Other")
        case "pinned":
            alice.pin("HOME")
        case "forgotten":
            alice.forget("HOME")
        case "merged":
            alice.merge_clues(["HOME"], "OTHER", "other in Rome")
        case "saved":
            alice.save("HOME", "lives in Bergen", category="Home", labels=["City"])
        case "erased":
            alice.forget_everything()
    with pytest.raises((errors.StalePlan, errors.NotFound)):
        alice.apply(plan)
    assert alice.get("CAT") is None


def test_a_change_while_the_model_answers_is_asked_about_again(alice):
    alice.save("HOME", "lives in Rome", category="Home", labels=["City"])

    def meanwhile(_):
        alice.save("HOME", "lives in Paris", category="Home", labels=["City"])
        return save(HOME)

    model = Scripted(meanwhile, save(HOME))
    report = alice.maintain(TURN, model)
    assert report.changed == ("HOME",)
    assert "Paris" in model.requests[1][0]["content"]
    always = Scripted(
        *[lambda _: (alice.pin("HOME") if not alice.get("HOME").pin else alice.unpin("HOME")) and save(HOME)] * 9
    )
    stubborn = alice.maintain(said("again I live in Oslo"), always)
    assert (stubborn.status, len(always.requests)) == ("rejected", 3)
    assert "stale" in stubborn.reason


def test_mq_23_turns_that_carry_nothing_cost_no_call_and_are_covered_later(alice):
    useful = Scripted(save(HOME))
    history = said("I live in Oslo, and my sister Mia moves to Bergen in May", "Tell me more. " * 200)
    assert alice.maintain(history, useful).status == "stored"
    for word in ("ok", "thanks", "👍", "好的", "yes!", "great, thanks", "ok", "hm", "cool", "谢谢"):
        history += said(word)
        model = Scripted()
        assert alice.maintain(history, model).status == "skipped"
        assert model.requests == []
    history += said("by the way I'm vegan")
    report = alice.maintain(history, model)
    assert len(model.requests) == 1
    assert len(report.turns) == 11
    assert "vegan" in model.asked


def test_mq_23_batches_make_a_quarter_of_the_calls(alice):
    settings = Settings(batch_turns=4)
    model = Scripted()
    history = []
    for n in range(10):
        history += said(f"fact {n}")
        alice.maintain(history, model, settings=settings)
    assert len(model.requests) == 2
    alice.maintain(history, model, settings=settings, flush=True)
    assert len(model.requests) == 3
    assert "fact 9" in model.asked


@pytest.mark.parametrize("model", [None, "gpt", 42, object()])
def test_something_that_is_no_model_is_refused_at_once(alice, model):
    with pytest.raises(errors.ConfigurationError, match="no chat model"):
        alice.maintain(TURN, model)


@pytest.mark.parametrize("collected", [False, True])
def test_tc_20_of_two_merges_of_one_clue_the_first_is_done(alice, collected):
    for name in "ABC":
        alice.save(name, f"note {name}", category="C", labels=["x"])
    model = Scripted(calls(*(merge("clue", ["B"], name, new_content=f"notes {name} and B") for name in "AC")))
    report = alice.maintain(TURN, model, review="collect" if collected else None)
    if collected:
        (plan,) = alice.plans()
        report = alice.apply(plan)
    assert [(merged.sources, merged.target) for merged in report.merged] == [(("B",), "A")]
    assert [refusal.what for refusal in report.refused] == ["merge into C"]
    assert "no clue 'B'" in report.refused[0].reason
    assert {item.clue: item.content for item in alice.impressions()} == {"A": "notes A and B", "C": "note C"}


def test_a_step_that_a_review_repeats_is_refused_the_second_time_alone(alice):
    for name in "AB":
        alice.save(name, f"note {name}", category="C", labels=["x"])
    report = alice.maintain(
        TURN,
        Scripted(calls(*save(HOME)["tool_calls"], merge("clue", ["B"], "A", new_content="both"))),
        review=lambda plan: replace(plan, steps=(*plan.steps, plan.steps[1])),
    )
    assert (report.saved, [merged.target for merged in report.merged]) == (("HOME",), ["A"])
    assert [refusal.what for refusal in report.refused] == ["merge into A"]
