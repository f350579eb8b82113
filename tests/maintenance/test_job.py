"""Maintenance as a background job: a failure that may pass is tried again, any other is handed out, none is silent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from impressmem_integrations.errors import ConfigurationError, JobError, ModelError, StoreUnavailable
from impressmem_integrations.maintenance.job import MaintenanceJob
from impressmem_integrations.maintenance.runner import RetryLater, Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from tests.scripted import Scripted, impression, said, save

TURN = said("I live in Oslo")
SAVE = save(impression("HOME", "lives in Oslo"))


class RateLimitError(Exception):
    """What SDKs call it."""

    status_code = 429


@pytest.fixture
def told():
    return []


@pytest.fixture
def runner():
    with Runner(retry_seconds=0.0) as made:
        yield made


def submitted(runner, told, store, model, history=TURN, **options):
    work = MaintenanceJob(lambda: store.maintain(history, model, **options), told.append)
    return runner.submit(store.scope, work, on_done=work.ended)


@pytest.mark.parametrize("passing", [RateLimitError("slow down"), TimeoutError("slow"), ConnectionError("reset")])
def test_a_failure_that_passes_is_tried_again_and_nobody_hears_of_it(alice, runner, told, passing):
    ticket = submitted(runner, told, alice, Scripted(passing, passing, SAVE))
    assert runner.flush() == []
    assert ticket.result().saved == ("HOME",)
    assert [report.status for report in told] == ["stored"]
    assert alice.get("HOME").revision == 1


def test_one_that_does_not_pass_is_handed_out_once_and_its_turn_goes_with_the_next(alice, runner, told):
    model = Scripted(*[RateLimitError("slow down")] * 3, SAVE)
    submitted(runner, told, alice, model)
    (error,) = runner.flush()
    assert isinstance(error, JobError)
    assert error.tries == 3
    assert isinstance(error.__cause__, ModelError)
    assert [(report.status, report.passing, report.given_up) for report in told] == [("model_failed", True, ())]
    assert "slow down" in told[0].reason
    submitted(runner, told, alice, model, [*TURN, *said("I like tea")])
    assert runner.flush() == []
    assert told[1].saved == ("HOME",)
    assert "I live in Oslo" in model.requests[3][-1]["content"]


def test_any_other_failure_is_handed_out_at_once(alice, runner, told):
    model = Scripted(RuntimeError("no such model"))
    submitted(runner, told, alice, model)
    (error,) = runner.flush()
    assert (error.tries, len(model.requests)) == (1, 1)
    assert [(report.status, report.passing) for report in told] == [("model_failed", False)]


def test_what_was_submitted_later_waits_for_the_retry(alice, runner, told):
    model = Scripted(RateLimitError("slow down"), save(impression("ORDER", "first")), save(impression("ORDER", "last")))
    submitted(runner, told, alice, model, said("one"), thread_id="a")
    submitted(runner, told, alice, model, said("two"), thread_id="b")
    assert runner.flush() == []
    assert alice.get("ORDER").content == "last"


def test_a_server_that_is_away_is_an_error_and_a_report(runner, told):
    work = MaintenanceJob(lambda: Report("store_unavailable", reason="no server"), told.append)
    runner.submit("k", work, on_done=work.ended)
    (error,) = runner.flush()
    assert isinstance(error.__cause__, StoreUnavailable)
    assert [report.status for report in told] == ["store_unavailable"]


def test_the_provider_says_how_long_to_wait(alice, told):
    limited = RateLimitError("slow down")
    limited.response = SimpleNamespace(headers={"retry-after": "7"})
    with pytest.raises(RetryLater) as later:
        MaintenanceJob(lambda: alice.maintain(TURN, Scripted(limited)), told.append)()
    assert later.value.after_seconds == 7.0
    assert told == []


def test_mq_28_a_turn_is_given_up_after_many_failures_that_pass_and_few_that_do_not(alice):
    limited = Scripted(*[RateLimitError("slow down")] * 40)
    reports = [alice.maintain(TURN, limited) for _ in range(30)]
    assert [report.given_up != () for report in reports] == [False] * 29 + [True]
    assert all(report.passing for report in reports[:-1])
    assert not reports[-1].passing
    assert "given up after 30 tries" in reports[-1].reason
    assert alice.maintain(TURN, limited).status == "already_done"
    few = Settings(max_passing_tries=2)
    second = [alice.maintain(TURN, limited, thread_id="b", settings=few) for _ in range(2)]
    assert [report.given_up != () for report in second] == [False, True]
    with pytest.raises(ConfigurationError, match="max_passing_tries"):
        Settings(max_passing_tries=0)


def test_with_a_fallback_that_fails_as_well_the_model_itself_may_pass(alice):
    settings = Settings(fallback=Scripted(RuntimeError("no such model")))
    report = alice.maintain(TURN, Scripted(RateLimitError("slow down")), settings=settings)
    assert (report.status, report.passing) == ("model_failed", True)
    settings = Settings(fallback=Scripted(RateLimitError("slow down")))
    report = alice.maintain(TURN, Scripted(RuntimeError("no such model")), settings=settings)
    assert report.passing
