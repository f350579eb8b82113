"""Every model class against a server of its provider's form: save, merge, nothing, cut off, error, no tools."""

from __future__ import annotations

import json
import logging

import pytest

from tests.providers.loopback import Reply
from tests.providers.models import MODELS
from tests.scripted import impression, merge, said

# Async clients keep their connections to one loop, and ChatOpenAI shares them in the whole process.
ONE_LOOP = pytest.mark.asyncio(loop_scope="session")

# google-genai's own business; the warning would be raised inside the call.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

SECRET = "kept between us 4711"
TURN = said(f"I live in Oslo, {SECRET}")
HOME = impression("HOME", f"lives in Oslo, {SECRET}", category="Home", labels=["City"])
SAVE = Reply(calls=(("save_impressions", {"impressions": [HOME]}),))


def organize(*arguments, **fields):
    return ("organize_impressions", json.loads(merge(*arguments, **fields)["function"]["arguments"]))


@pytest.fixture(params=["maintain", "amaintain"])
def how(request):
    return request.param


@pytest.fixture(params=list(MODELS))
def model(request, kept):
    return kept(request.param)


async def run(store, how, model, messages=TURN, **options):
    """Maintain the one way or the other. The blocking one runs inside the loop, as in a notebook."""
    return (
        await store.amaintain(messages, model, **options)
        if how == "amaintain"
        else store.maintain(messages, model, **options)
    )


@ONE_LOOP
async def test_saves_and_counts_tokens(alice, loopback, model, how):
    loopback.replies = [SAVE]
    report = await run(alice, how, model)
    assert (report.status, report.saved, report.refused) == ("stored", ("HOME",), ())
    assert (report.usage.input_tokens, report.usage.output_tokens, report.usage.calls) == (11, 7, 1)
    assert alice.get("HOME").content == HOME["content"]
    (request,) = loopback.requests
    assert {tool["function"]["name"] for tool in request.tools} == {"save_impressions", "organize_impressions"}
    assert [message["role"] for message in request.messages] == ["system", "user"]


@ONE_LOOP
async def test_tc_20_several_calls_in_one_answer_merge_and_save_in_their_order(alice, loopback, model, how):
    alice.save("CITY", "is from Oslo", category="Home", labels=["Town"])
    alice.save("HOME", "lives in Oslo", category="Home", labels=["City"])
    loopback.replies = [
        Reply(
            calls=(
                organize("clue", ["CITY"], "HOME", new_content="is from Oslo and lives there"),
                organize("label", ["Town"], "City"),
                ("save_impressions", {"impressions": [impression("PET", "has a dog")]}),
            )
        )
    ]
    report = await run(alice, how, model)
    assert report.status == "stored"
    assert [(merged.level, merged.sources, merged.target) for merged in report.merged] == [
        ("clue", ("CITY",), "HOME"),
        ("label", ("Town",), "City"),
    ]
    assert report.saved == ("PET",)
    assert {item.clue for item in alice.impressions()} == {"HOME", "PET"}


@ONE_LOOP
async def test_tc_18_nothing_words_and_failure_are_three_outcomes(alice, loopback, model, how):
    loopback.replies = [Reply("slow down", status=429), Reply("Sure, noted!"), Reply("IGNORE")]
    failed = await run(alice, how, model)
    assert (failed.status, failed.turns, failed.passing) == ("model_failed", (), True)
    assert "429" in failed.reason
    assert "slow down" in failed.reason
    words = await run(alice, how, model)
    assert (words.status, words.text) == ("nothing_to_store", "Sure, noted!")
    assert "in words" in words.reason
    nothing = await run(alice, how, model, said("I like tea"))
    assert (nothing.status, nothing.reason) == ("nothing_to_store", "the model found nothing to keep")
    assert len(loopback.requests) == 3


@ONE_LOOP
async def test_tc_18_a_cut_off_answer_stores_nothing_and_is_asked_again(alice, loopback, model, how):
    loopback.replies = [Reply(calls=SAVE.calls, cut=True), SAVE]
    report = await run(alice, how, model)
    assert (report.status, report.turns) == ("cut_off", ())
    assert not list(alice.impressions())
    assert (await run(alice, how, model)).saved == ("HOME",)


@ONE_LOOP
async def test_tc_14_a_server_that_takes_no_tools_is_asked_in_json(alice, loopback, model, how):
    written = json.dumps({"calls": [{"name": name, "arguments": arguments} for name, arguments in SAVE.calls]})
    loopback.replies = [Reply("registry/m:latest does not support tools", status=400), Reply(written)]
    report = await run(alice, how, model)
    assert (report.status, report.saved) == ("stored", ("HOME",))
    first, second = loopback.requests
    assert first.tools
    assert second.tools is None
    loopback.replies = [Reply("registry/m:latest does not support tools", status=400)]
    refused = await run(alice, how, model, said("I like tea"), mode="tools")
    assert refused.status == "model_failed"
    assert "does not support tools" in refused.reason


@ONE_LOOP
async def test_sp_09_no_log_line_and_no_reason_holds_what_was_said(alice, loopback, model, how, caplog):
    caplog.set_level(logging.INFO)
    logging.getLogger("impressmem_integrations").setLevel(logging.DEBUG)
    loopback.replies = [SAVE, Reply(f"cannot parse: I live in Oslo, {SECRET}", status=400)]
    assert (await run(alice, how, model)).status == "stored"
    failed = await run(alice, how, model, [*TURN, *said(f"Again: {SECRET}")])
    assert failed.status == "model_failed"
    assert SECRET not in failed.reason
    assert SECRET not in caplog.text
