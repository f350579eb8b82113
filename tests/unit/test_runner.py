"""The background runner: order, bounds, retries, waiting, closing. No test measures a duration."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import threading
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from impressmem_integrations.errors import BacklogFull, ConfigurationError, JobError, RunnerClosed
from impressmem_integrations.maintenance.runner import RetryLater, Runner
from tests.polling import await_until, wait_until

PATIENCE = 10  # seconds until a test that hangs fails
LONG = 60.0  # a wait that no test sits out
NAME = "runner-under-test"


class Gate:
    """A job that says when it has begun and goes on when it is told to."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        return "through"


def fail() -> None:
    raise ValueError("the secret is 4417")


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(NAME)]


@pytest.fixture
def runner():
    with Runner(name=NAME, retry_seconds=0, full_wait_seconds=0) as made:
        yield made
    assert not threads()


def test_mq24_submit_returns_while_the_model_still_thinks_and_turns_land_in_order(runner):
    """MQ-24: the gate stands for a model that takes its time; the three answers do not wait for it."""
    model, landed = Gate(), []

    def turn(number: int) -> None:
        if number == 1:
            model()
        landed.append(number)

    for number in (1, 2, 3):
        runner.submit("alice", functools.partial(turn, number))
    assert model.begun.wait(PATIENCE)
    assert landed == []
    assert runner.waiting == 2
    model.go_on.set()
    assert runner.flush(PATIENCE) == []
    assert landed == [1, 2, 3]


def test_mq28_a_turn_that_always_fails_is_given_up_and_the_later_ones_are_stored(runner):
    """MQ-28: turn 3 for ever fails."""
    stored, tries, given_up = [], Counter(), []
    runner = Runner(name=NAME, retry_seconds=0, tries=4, on_error=given_up.append)

    def turn(number: int) -> None:
        tries[number] += 1
        if number == 3:
            raise RetryLater(0) from ConnectionError("my name is Bob")
        stored.append(number)

    for number in (1, 2, 3, 4, 5, 6):
        runner.submit(("bot", "user"), functools.partial(turn, number))
    [error] = runner.flush(PATIENCE)
    assert stored == [1, 2, 4, 5, 6]
    assert tries == {1: 1, 2: 1, 3: 4, 4: 1, 5: 1, 6: 1}
    assert (error.key, error.tries) == (("bot", "user"), 4)
    assert isinstance(error.__cause__, ConnectionError)
    assert str(error) == "a background job of ('bot', 'user') failed after 4 tries: ConnectionError"
    assert runner.waiting == 0
    assert given_up == [error]
    assert runner.flush(PATIENCE) == []
    assert runner.close() == []


def test_a_retry_runs_before_what_was_submitted_later(runner):
    seen = []

    def first() -> None:
        seen.append("first")
        if len(seen) == 1:
            runner.submit("k", lambda: seen.append("second"))
            raise RetryLater

    ticket = runner.submit("k", first)
    assert runner.flush(PATIENCE) == []
    wait_until(lambda: not runner.waiting, "all is done")
    assert seen == ["first", "first", "second"]
    assert ticket.result(PATIENCE) is None


def test_a_retry_comes_by_itself_and_holds_no_thread_meanwhile():
    seen = []

    def stubborn() -> str:
        seen.append("try")
        if len(seen) < 3:
            raise RetryLater(0.01)
        return "done"

    with Runner(workers=1, name=NAME) as runner:
        assert runner.submit("k", stubborn).result(PATIENCE) == "done"

    def rate_limited() -> None:
        seen.append("limited")
        raise RetryLater(LONG)

    with Runner(workers=1, tries=3, name=NAME) as runner:
        waits = [runner.submit(key, rate_limited) for key in ("a", "b", "c")]
        wait_until(lambda: seen.count("limited") == 3, "all have been tried once on the one thread")
        wait_until(lambda: runner.waiting == 3, "and wait for their second try")
        # A key whose turn comes while all others wait is served by a thread that is waiting for them.
        assert runner.submit("other", lambda: "served").result(PATIENCE) == "served"
        assert runner.waiting == 3
        assert not any(ticket.done() for ticket in waits)
        errors = runner.close()  # and closing does not sit the waits out
    assert sorted(error.key for error in errors) == ["a", "b", "c"]
    assert seen.count("limited") == 9


@pytest.mark.parametrize("asked", [float("nan"), -1.0])
def test_an_odd_wait_is_none(runner, asked):
    def job() -> None:
        raise RetryLater(asked)

    runner.submit("k", job)
    [error] = runner.flush(PATIENCE)
    assert isinstance(error.__cause__, RetryLater)


def test_different_keys_run_at_the_same_time_on_no_more_threads_than_asked():
    meeting = threading.Barrier(3)
    with Runner(workers=3, name=NAME) as runner:
        for key in range(30):
            runner.submit(key, lambda: meeting.wait(PATIENCE))  # passes only if three are there at once
        assert runner.flush(PATIENCE) == []
        assert len(threads()) == 3
    assert not threads()


def test_a_busy_key_does_not_keep_the_others_waiting():
    order = []
    first = Gate()
    with Runner(workers=1, name=NAME) as runner:
        runner.submit("busy", first)
        for number in range(5):
            runner.submit("busy", functools.partial(order.append, number))
        runner.submit("quiet", lambda: order.append("quiet"))
        first.go_on.set()
        runner.flush(PATIENCE)
    assert order.index("quiet") <= 1
    assert [entry for entry in order if entry != "quiet"] == [0, 1, 2, 3, 4]


@settings(max_examples=40, deadline=None)
@given(
    jobs=st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["ok", "retry", "fail"])), max_size=30),
    workers=st.integers(1, 3),
)
def test_each_key_keeps_its_order_and_never_runs_twice_at_once(jobs, workers):
    begun: dict[int, list[int]] = {key: [] for key in range(4)}
    inside: Counter[int] = Counter()
    overlaps = []

    def job(key: int, number: int, kind: str) -> int:
        inside[key] += 1
        overlaps.append(inside[key])
        begun[key].append(number)
        inside[key] -= 1
        if kind == "retry":
            raise RetryLater(0)
        if kind == "fail":
            raise ValueError
        return number

    with Runner(workers=workers, tries=2, name=NAME) as runner:
        tickets = [
            runner.submit(key, functools.partial(job, key, number, kind)) for number, (key, kind) in enumerate(jobs)
        ]
        errors = runner.flush(PATIENCE)
    expected: dict[int, list[int]] = {key: [] for key in range(4)}
    for number, (key, kind) in enumerate(jobs):
        expected[key] += [number] * (2 if kind == "retry" else 1)
    assert begun == expected
    assert set(overlaps) <= {1}
    assert len(errors) == sum(kind != "ok" for _, kind in jobs)
    assert [number for number, ticket in enumerate(tickets) if ticket.exception() is None] == [
        number for number, (_, kind) in enumerate(jobs) if kind == "ok"
    ]


def test_a_newer_job_takes_the_place_of_the_waiting_one_it_replaces(runner):
    gate, ran = Gate(), []

    def turn(name: str) -> str:
        ran.append(name)
        return name

    runner.submit("k", gate)
    assert gate.begun.wait(PATIENCE)
    older = runner.submit("k", lambda: turn("a1"), replaces="a")
    other = runner.submit("k", lambda: turn("b1"), replaces="b")
    newer = runner.submit("k", lambda: turn("a2"), replaces="a")
    elsewhere = runner.submit("l", lambda: turn("l1"), replaces="a")
    assert elsewhere.result(PATIENCE) == "l1"
    assert runner.waiting == 2
    gate.go_on.set()
    runner.flush(PATIENCE)
    assert ran == ["l1", "a2", "b1"]
    assert [ticket.result() for ticket in (older, newer, other)] == ["a2", "a2", "b1"]


def test_a_job_that_was_tried_is_not_replaced():
    tried = threading.Event()

    def limited() -> None:
        tried.set()
        raise RetryLater(LONG)

    runner = Runner(name=NAME)
    first = runner.submit("k", limited, replaces="t")
    assert tried.wait(PATIENCE)
    wait_until(lambda: runner.waiting == 1, "the first one waits for its second try")
    second = runner.submit("k", lambda: "second", replaces="t")
    assert runner.waiting == 2
    runner.close()
    assert isinstance(first.exception(), JobError)
    assert second.result() == "second"


@pytest.mark.parametrize("bound", ["max_waiting", "max_waiting_per_key"])
def test_at_the_bound_a_job_is_refused_and_nothing_that_waits_is_dropped(bound):
    gate, ran = Gate(), []
    runner = Runner(name=NAME, full_wait_seconds=0, **{bound: 2})
    runner.submit("k", gate)
    assert gate.begun.wait(PATIENCE)
    runner.submit("k", lambda: ran.append(1))
    runner.submit("k", lambda: ran.append(2), replaces="t")
    with pytest.raises(BacklogFull, match="'k'"):
        runner.submit("k", lambda: ran.append(3))
    runner.submit("k", lambda: ran.append(4), replaces="t")  # needs no room
    if bound == "max_waiting_per_key":
        runner.submit("other", lambda: ran.append("other")).result(PATIENCE)
        ran.remove("other")
    else:
        with pytest.raises(BacklogFull, match="'other'"):
            runner.submit("other", lambda: ran.append("other"))
    gate.go_on.set()
    assert runner.close() == []
    assert ran == [1, 4]


def test_at_the_bound_submit_waits_for_room():
    gate, ran = Gate(), []
    with Runner(name=NAME, max_waiting_per_key=1, full_wait_seconds=PATIENCE) as runner:
        runner.submit("k", gate)
        assert gate.begun.wait(PATIENCE)
        runner.submit("k", lambda: ran.append(1))
        submitter = threading.Thread(target=lambda: runner.submit("k", lambda: ran.append(2)))
        submitter.start()
        gate.go_on.set()
        submitter.join(PATIENCE)
        runner.flush(PATIENCE)
    assert ran == [1, 2]


def test_closing_frees_a_submit_that_waits_for_room():
    gate, refused = Gate(), []
    runner = Runner(name=NAME, max_waiting_per_key=1, full_wait_seconds=LONG)
    runner.submit("k", gate)
    assert gate.begun.wait(PATIENCE)
    runner.submit("k", int)

    def submit() -> None:
        try:
            runner.submit("k", int)
        except RunnerClosed as error:
            refused.append(error)

    submitter = threading.Thread(target=submit)
    submitter.start()
    with pytest.raises(TimeoutError):
        runner.close(0)
    submitter.join(PATIENCE)
    assert len(refused) == 1
    gate.go_on.set()
    assert runner.close() == []


async def test_in_a_running_loop_or_a_job_submit_never_waits_for_room():
    gate = Gate()
    async with Runner(name=NAME, max_waiting=1, full_wait_seconds=10 * LONG) as runner:
        runner.submit("k", gate)
        await await_until(gate.begun.is_set, "the gate is reached")

        def from_a_job() -> str:
            runner.submit("k", int)
            with pytest.raises(BacklogFull):
                runner.submit("k", int)
            return "refused at once"

        ticket = runner.submit("l", from_a_job)
        assert await asyncio.wait_for(asyncio.wrap_future(ticket), PATIENCE) == "refused at once"
        with pytest.raises(BacklogFull):
            runner.submit("k", int)
        gate.go_on.set()


def test_errors_are_handed_out_once_counted_and_bounded_and_never_logged_with_their_text(runner, caplog):
    with caplog.at_level(logging.DEBUG):
        tickets = [runner.submit("k", fail) for _ in range(130)]
        errors = runner.flush(PATIENCE)
    assert len(errors) == 100
    assert [ticket.exception() for ticket in tickets][-100:] == errors
    assert runner.failed == 130
    assert runner.flush(PATIENCE) == []
    assert len(caplog.records) == 130
    assert "4417" not in caplog.text
    assert "'k'" in caplog.text
    assert "ValueError" in caplog.text


@pytest.mark.parametrize("raised", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_whatever_a_job_or_a_callback_raises_the_queue_goes_on(raised, caplog):
    def broken(*_: object) -> None:
        raise raised("4417")

    with Runner(name=NAME, on_error=broken) as runner:
        runner.submit("k", broken, on_done=broken)
        after = runner.submit("k", lambda: "after", on_done=broken)
        [error] = runner.flush(PATIENCE)
    assert isinstance(error.__cause__, raised)
    assert after.result() == "after"
    assert "4417" not in caplog.text


def test_an_async_job_is_refused_instead_of_never_running(runner):
    async def job() -> None: ...

    with pytest.raises(ConfigurationError):
        runner.submit("k", functools.partial(job))
    runner.submit("k", lambda: job())
    [error] = runner.flush(PATIENCE)
    assert isinstance(error.__cause__, TypeError)


def test_a_ticket_cancelled_in_time_is_not_run(runner):
    gate, ran = Gate(), []
    running = runner.submit("k", gate)
    assert gate.begun.wait(PATIENCE)
    cancelled = runner.submit("k", lambda: ran.append("cancelled"))
    assert cancelled.cancel()
    assert not running.cancel()
    gate.go_on.set()
    assert runner.flush(PATIENCE) == []
    assert ran == []


def test_on_done_has_been_called_when_flush_returns_and_may_submit_more(runner):
    done = []
    runner.submit("k", lambda: 1, on_done=lambda ticket: done.append(ticket.result()))
    runner.submit("k", fail, on_done=lambda ticket: done.append(type(ticket.exception())))
    runner.flush(PATIENCE)
    assert done == [1, JobError]
    runner.submit("k", int, on_done=lambda _: runner.submit("k", lambda: done.append("more")))
    wait_until(lambda: "more" in done, "the job submitted by a callback ran")
    # Here the callback runs in this thread, at once, and takes the same lock.
    ticket = runner.submit("k", int)
    ticket.result(PATIENCE)
    ticket.add_done_callback(lambda _: runner.submit("k", lambda: done.append("at once")))
    runner.flush(PATIENCE)
    assert done[-1] == "at once"


@pytest.mark.parametrize("what", ["flush", "close", "aflush", "aclose"])
def test_waiting_in_a_job_is_refused_instead_of_hanging(runner, what):
    def job() -> None:
        waiting = getattr(runner, what)()
        if asyncio.iscoroutine(waiting):
            asyncio.run(waiting)

    runner.submit("k", job)
    [error] = runner.flush(PATIENCE)
    assert isinstance(error.__cause__, RuntimeError)
    assert what in str(error.__cause__)
    assert runner.submit("k", lambda: "open still").result(PATIENCE) == "open still"


def test_a_callback_that_flushes_is_refused_too(runner):
    caught = []

    def flush(_: object) -> None:
        try:
            runner.flush()
        except RuntimeError as error:
            caught.append(error)

    runner.submit("k", int, on_done=flush)
    runner.flush(PATIENCE)
    assert len(caught) == 1


def test_a_flush_that_is_too_late_keeps_the_errors_for_the_next(runner):
    gate = Gate()
    runner.submit("k", fail)
    runner.submit("k", gate)
    assert gate.begun.wait(PATIENCE)
    with pytest.raises(TimeoutError, match="1 background job was"):
        runner.flush(0)
    gate.go_on.set()
    assert [error.key for error in runner.flush(PATIENCE)] == ["k"]


async def test_a_flush_waits_only_for_what_was_submitted_before(runner):
    first, second = Gate(), Gate()
    runner.submit("k", first)
    flushing = asyncio.create_task(runner.aflush())
    await asyncio.sleep(0)  # it has looked what there is, and waits
    later = runner.submit("k", second)
    first.go_on.set()
    assert await asyncio.wait_for(flushing, PATIENCE) == []
    assert not later.done()
    second.go_on.set()


async def test_aflush_leaves_the_loop_free_and_cancelling_it_leaves_the_work_running(runner):
    gate, ran = Gate(), []
    runner.submit("k", gate)
    runner.submit("k", lambda: ran.append(1))
    runner.submit("k", fail)
    flushing = asyncio.create_task(runner.aflush())
    await await_until(gate.begun.is_set, "the job runs while the loop goes on")
    assert not flushing.done()
    flushing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flushing
    with pytest.raises(TimeoutError):
        await runner.aflush(0)
    gate.go_on.set()
    assert [error.key for error in await runner.aflush(PATIENCE)] == ["k"]
    assert ran == [1]
    assert await runner.aflush() == []


def test_a_loop_that_ended_while_it_waited_is_not_spoken_to(runner, caplog):
    gate = Gate()
    runner.submit("k", gate)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            await runner.aflush(0)

    asyncio.run(give_up())
    gate.go_on.set()
    assert runner.flush(PATIENCE) == []
    assert caplog.records == []


async def test_the_async_context_manager_finishes_the_work():
    ran = []
    async with Runner(name=NAME) as runner:
        for number in range(5):
            runner.submit("k", functools.partial(ran.append, number))
    assert ran == [0, 1, 2, 3, 4]
    assert not threads()


def test_a_closed_runner_takes_nothing_and_says_so():
    runner = Runner(name=NAME)
    ticket = runner.submit("k", lambda: "finished")
    assert runner.close() == []
    assert ticket.result(0) == "finished"
    assert not threads()
    with pytest.raises(RunnerClosed, match="make a new runner"):
        runner.submit("k", int)
    assert runner.close() == []
    assert runner.flush() == []


def test_jobs_see_no_context_of_the_submitter_nor_of_each_other():
    """Callbacks and stream tokens of the user's run travel in context variables."""
    stream: contextvars.ContextVar[str] = contextvars.ContextVar("stream", default="none")
    seen = []

    def job() -> None:
        seen.append(stream.get())
        stream.set("the job's")

    token = stream.set("the user's")
    try:
        with Runner(name=NAME, workers=1) as runner:
            for _ in range(2):
                runner.submit("k", job, on_done=lambda _: seen.append(stream.get()))
                runner.flush(PATIENCE)
    finally:
        stream.reset(token)
    assert seen == ["none", "the job's", "none", "the job's"]


def test_no_thread_before_the_first_job():
    with Runner(name=NAME) as runner:
        assert runner.flush() == []
        assert not threads()


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"tries": 0}, {"max_waiting": 0}, {"retry_seconds": float("nan")}])
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigurationError):
        Runner(**wrong)
