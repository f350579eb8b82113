"""Maintenance as a background job: a failure that may pass is tried again, any other is handed out, none is silent."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, JobError, ModelError, StoreUnavailable
from impressmem_integrations.maintenance.job import MaintenanceJob, tell
from impressmem_integrations.maintenance.outage import Outages
from impressmem_integrations.maintenance.runner import RetryLater, Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from tests.scripted import Scripted, impression, said, save
from tests.servers import AT_ONCE, RunningServer, valkey_binary

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
    with Runner(retry_seconds=0.0, tries=3) as made:
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


def test_memory_that_kept_changing_is_tried_again(alice, runner, told):
    alice.save("HOME", "lives in Rome", category="Home", labels=["City"])

    def meanwhile(_):
        alice.save("HOME", f"lives in place {alice.get('HOME').revision}", category="Home", labels=["City"])
        return SAVE

    model = Scripted(*[meanwhile] * 3, SAVE)
    submitted(runner, told, alice, model)
    assert runner.flush() == []
    assert [(report.status, report.changed) for report in told] == [("stored", ("HOME",))]
    assert len(model.requests) == 4


def test_memory_that_always_changes_is_an_error_and_its_turn_goes_with_the_next(alice, told):
    alice.save("HOME", "lives in Rome", category="Home", labels=["City"])

    def meanwhile(_):
        alice.save("HOME", f"lives in place {alice.get('HOME').revision}", category="Home", labels=["City"])
        return SAVE

    model = Scripted(*[meanwhile] * 6, SAVE)
    with Runner(retry_seconds=0.0, tries=2) as runner:
        submitted(runner, told, alice, model)
        (error,) = runner.flush()
        assert str(error).endswith("failed after 2 tries: stale: memory kept changing while the model answered")
        assert [(report.status, report.passing) for report in told] == [("rejected", True)]
        submitted(runner, told, alice, model)
        assert runner.flush() == []
    assert alice.get("HOME").content == "lives in Oslo"


def test_mq_28_a_turn_that_is_given_up_is_told_once_by_flush_and_report(alice, runner, told):
    model = Scripted(*[RuntimeError("no such model")] * 9)
    errors = []
    for _ in range(5):
        submitted(runner, told, alice, model)
        errors.append([str(error) for error in runner.flush()])
    assert [len(found) for found in errors] == [1, 1, 1, 0, 0]
    assert ["given up after 3 tries" in found[0] for found in errors[:3]] == [False, False, True]
    assert [len(report.given_up) for report in told] == [0, 0, 1, 0, 0]


def test_mq_28_one_that_was_given_up_is_told_whatever_came_of_later_turns(alice, runner, told, caplog):
    """The first turn is given up, the second meets a rate limit and is stored by the next try."""
    model = Scripted(RuntimeError("no such model"), RateLimitError("slow down"), SAVE)
    history = [*said("My cat is Tom"), *TURN]
    settings = Settings(max_tries=1, request_budget_units=40)
    submitted(runner, told, alice, model, history, settings=settings)
    (error,) = runner.flush()
    assert "no such model (given up after 1 try)" in str(error)
    assert [(report.status, len(report.given_up), report.saved) for report in told] == [("stored", 1, ("HOME",))]
    tell(told[0], [])
    assert "1 turn is given up" in caplog.text


def test_an_answer_that_is_cut_off_too_often_is_an_error_as_well(alice, runner, told):
    cut = {"choices": [{"message": {"role": "assistant", "content": "I"}, "finish_reason": "length"}]}
    submitted(runner, told, alice, Scripted(cut), settings=Settings(max_tries=1))
    (error,) = runner.flush()
    assert "the output limit ended the answer" in str(error)
    assert told[0].given_up


def test_an_error_says_whose_job_it_was_and_what_failed_but_nothing_of_a_foreign_error(alice, runner, told, caplog):
    submitted(runner, told, alice, Scripted(RuntimeError("no such model")))

    def foreign():
        raise ValueError("I live in Oslo")

    runner.submit(("a", "b"), foreign)
    runner.submit("a\nb", foreign)
    errors = sorted(str(error) for error in runner.flush())
    assert errors == [
        "a background job of 'a\\nb' failed after 1 try: ValueError",
        "a background job of ('a', 'b') failed after 1 try: ValueError",
        "a background job of user 'alice' of bot 'assistant' failed after 1 try: "
        "the model failed: RuntimeError: no such model",
    ]
    assert sorted(record.getMessage() for record in caplog.records) == errors


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


class Server:
    """The store as a job meets it: reports from a list, then `stored`."""

    def __init__(self, *reports):
        self.reports = list(reports)
        self.tries = 0

    def __call__(self):
        self.tries += 1
        return self.reports.pop(0) if self.reports else Report("stored")


REFUSED = Report("store_unavailable", reason="no server answers")
SILENT = Report("store_unavailable", reason="no answer in time", silent=True)


@pytest.mark.parametrize(("report", "tries"), [(SILENT, [2, 0, 0]), (REFUSED, [3, 1, 1])])
def test_an_outage_costs_one_job_its_tries_and_not_each_that_waits_behind_it(runner, told, report, tries):
    outages, servers, gate = Outages(), [Server(*[report] * 9) for _ in range(3)], threading.Event()
    runner.submit("k", lambda: gate.wait(30))
    for server in servers:
        work = MaintenanceJob(server, told.append, outages)
        runner.submit("k", work, on_done=work.ended)
    gate.set()
    errors = runner.flush()
    assert [server.tries for server in servers] == tries
    assert [type(error.__cause__) for error in errors] == [StoreUnavailable] * 3
    assert [one.status for one in told] == ["store_unavailable"] * 3
    later = Server(report)
    work = MaintenanceJob(later, told.append, outages)
    runner.submit("k", work, on_done=work.ended)
    assert runner.flush() == []
    assert later.tries == 2


def test_a_server_that_hangs_is_told_from_one_that_is_not_there():
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary) as server, server.client(retry=AT_ONCE, socket_timeout=0.3) as client:
        server.pause()
        report = ImpressionStore(client=client, user="alice").maintain(TURN, Scripted(SAVE))
        server.resume()
    assert (report.status, report.silent) == ("store_unavailable", True)
    with ImpressionStore.from_url("redis://127.0.0.1:1/0", user="alice") as store:
        report = store.maintain(TURN, Scripted(SAVE))
    assert (report.status, report.silent) == ("store_unavailable", False)


def test_a_server_that_is_back_gets_the_jobs_that_waited(runner, told):
    outages, gate = Outages(), threading.Event()
    runner.submit("k", lambda: gate.wait(30))
    for server in (Server(*[REFUSED] * 3), Server()):
        work = MaintenanceJob(server, told.append, outages)
        runner.submit("k", work, on_done=work.ended)
    gate.set()
    assert len(runner.flush()) == 1
    assert [one.status for one in told] == ["store_unavailable", "stored"]


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
