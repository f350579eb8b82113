"""Background work: one queue per key, in order, on a few threads; nothing is lost without a word.

The threads come from a plain `ThreadPoolExecutor`, because that is what the interpreter itself drains before it ends.
It does so only for work handed over before the end began. So whoever makes a key busy hands one *token* (a call of
`_serve`) to the pool, and a token leaves only when a key has become idle: each busy key has its token there in time.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import contextvars
import inspect
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self, TypeVar

from impressmem_integrations.errors import BacklogFull, ConfigurationError, JobError, RunnerClosed, name_of_key
from impressmem_integrations.maintenance.attempt import RetryLater, attempt, hand_out
from impressmem_integrations.maintenance.backlog import Backlog, Entry

R = TypeVar("R")

__all__ = ["RetryLater", "Runner"]

_log = logging.getLogger(__name__)

_KEPT_ERRORS = 100
_TICK_SECONDS = 0.25
"""Between two looks at what cannot wake a thread: the end of the interpreter, and Ctrl-C on Windows."""


class _Inside(threading.local):
    """Whether the present thread is running a job."""

    job = False


class Runner:
    """Runs plain blocking callables in background threads.

    Jobs of one key run one at a time and in the order they were submitted, also when one of them is tried again; jobs
    of different keys run at the same time. Threads start with the first job. In a forked child the runner is empty
    and usable: the parent's jobs run in the parent only. A job sees none of the submitter's context variables.

    When the interpreter ends normally, everything submitted still runs, waiting retries at once. Jobs are lost only
    with the process (`os._exit`, a signal that kills, Ctrl-C during that wait, which is logged with their number); call
    `flush` first where the host may do that.

    Args:
        workers: Most threads.
        max_waiting: Most jobs that wait, over all keys.
        max_waiting_per_key: Most jobs that wait under one key.
        full_wait_seconds: How long `submit` waits for room.
        tries: How often a job that raises `RetryLater` is tried in all.
        retry_seconds: The wait before the second try; doubled before each further one, 60 at most.
        on_error: Called in a background thread with each `JobError`, beside its being returned by the next flush.
        name: Begins the names of the threads.

    Attributes:
        failed: How many jobs have failed in this process so far.

    Raises:
        ConfigurationError: A number is out of range.
    """

    def __init__(
        self,
        *,
        workers: int = 4,
        max_waiting: int = 10_000,
        max_waiting_per_key: int = 1_000,
        full_wait_seconds: float = 1.0,
        tries: int = 5,
        retry_seconds: float = 1.0,
        on_error: Callable[[JobError], object] | None = None,
        name: str = "impressmem-background",
    ) -> None:
        if min(workers, max_waiting, max_waiting_per_key, tries) < 1:
            raise ConfigurationError("workers, max_waiting, max_waiting_per_key and tries must be 1 or more")
        if not (full_wait_seconds >= 0 and retry_seconds >= 0):
            raise ConfigurationError("full_wait_seconds and retry_seconds must be 0 or more")
        self._workers = workers
        self._max_waiting = max_waiting
        self._max_waiting_per_key = max_waiting_per_key
        self._full_wait_seconds = full_wait_seconds
        self._tries = tries
        self._retry_seconds = retry_seconds
        self._on_error = on_error
        self._name = name
        self._closed = False
        self._start_empty()
        _runners.add(self)

    def _start_empty(self) -> None:
        """Begin without jobs, threads and held locks; also in a forked child, where those of the parent are useless."""
        # Its lock is re-entrant: a done callback, a finalizer or a signal handler may submit while it is held.
        self._changed = threading.Condition()
        self._inside = _Inside()
        self._pool: ThreadPoolExecutor | None = None
        self._backlog = Backlog(self._max_waiting, self._max_waiting_per_key)
        self._errors: deque[JobError] = deque(maxlen=_KEPT_ERRORS)
        self._hurry = self._closed  # retries do not wait any more
        self.failed = 0

    @property
    def waiting(self) -> int:
        """How many jobs wait for their first or next try."""
        return self._backlog.waiting

    def submit(
        self,
        key: Hashable,
        job: Callable[[], R],
        *,
        replaces: Hashable | None = None,
        on_done: Callable[[Future[R]], object] | None = None,
    ) -> Future[R]:
        """Queue a job and return at once.

        At a bound it waits for room up to `full_wait_seconds`, but not at all in a job or in a thread with a running
        event loop, where waiting would stop others.

        Args:
            key: What must happen in order: jobs of one key never run at the same time. Errors name it.
            job: A blocking callable without arguments. It must own what it reads: copy messages before.
            replaces: A token that says "this job does all that the waiting one with the same key and token would
                have done" (a history that holds the earlier one). It then takes that one's place in the queue, and
                both tickets end with its result. A job that was tried already is not replaced.
            on_done: Called with the ticket, in a background thread, before `flush` returns; or at once if the job
                is done already.

        Returns:
            The ticket: a future with the job's result or a `JobError`. `cancel()` works until the job starts. In a
            job, do not wait for one of the same key.

        Raises:
            BacklogFull: No room in time. The job was not taken.
            RunnerClosed: The runner is closed, or the interpreter is ending. The job was not taken.
            ConfigurationError: The job is an async function.
        """
        if inspect.iscoroutinefunction(job):
            raise ConfigurationError("a background job is a blocking function, not an async one")
        ticket: Future[R] = Future()
        if on_done is not None:
            ticket.add_done_callback(lambda done: hand_out(on_done, done))
        with self._changed:
            deadline = time.monotonic() + self._patience()
            while True:
                if self._closed:
                    raise RunnerClosed("this runner is closed: the job was not taken; make a new runner")
                if replaces is not None and self._backlog.replace(key, replaces, job, ticket):
                    return ticket
                if not (full := self._backlog.why_full(key)):
                    break
                left = deadline - time.monotonic()
                if left <= 0:
                    raise BacklogFull(full)
                self._changed.wait(min(left, _TICK_SECONDS))
            if self._backlog.is_idle(key):
                self._send_token(key)
            self._backlog.append(Entry(key, job, replaces, [ticket]))
            self._changed.notify_all()
        return ticket

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait for every job submitted so far, retries included, and hand out the errors.

        Interrupting it (Ctrl-C, a notebook's stop button) leaves the jobs running and the errors for the next flush.

        Args:
            timeout: Seconds to wait at most; None waits without limit.

        Returns:
            The errors since the last flush, oldest first, of which the newest 100 are kept; each is returned once.

        Raises:
            TimeoutError: Not all jobs ended in time. They go on, and the errors stay for the next flush.
            RuntimeError: It was called in one of this runner's own jobs, which would wait for itself.
        """
        self._refuse_inside("flush")
        self._wait(timeout)
        return self._take_errors()

    async def aflush(self, timeout: float | None = None) -> list[JobError]:
        """`flush` without blocking the event loop. Cancelling it leaves the jobs running."""
        self._refuse_inside("aflush")
        await self._await(timeout)
        return self._take_errors()

    def close(self, timeout: float | None = None) -> list[JobError]:
        """Take no more jobs, finish those there are (waiting retries run at once), end the threads.

        Closing twice is fine. Arguments, result and errors are those of `flush`; after a `TimeoutError` the runner
        stays closed, its jobs go on, and `close` can be called again.
        """
        self._refuse_inside("close")
        self._begin_to_close()
        self._wait(timeout)
        self._end_threads()
        return self._take_errors()

    async def aclose(self, timeout: float | None = None) -> list[JobError]:
        """`close` without blocking the event loop."""
        self._refuse_inside("aclose")
        self._begin_to_close()
        await self._await(timeout)
        self._end_threads()  # their work is done: this takes no time
        return self._take_errors()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Submitting. The lock is held.

    def _patience(self) -> float:
        if self._inside.job:
            return 0.0
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self._full_wait_seconds
        return 0.0

    def _send_token(self, key: Hashable) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix=self._name)
        try:
            self._pool.submit(self._serve)
        except RuntimeError as error:
            if not self._inside.job:
                raise RunnerClosed(
                    f"no thread for a background job of {name_of_key(key)}: the interpreter is ending, or the system "
                    "has no threads left; the job was not taken"
                ) from error
            self._hurry = True  # and the token that runs the present job goes on to this one

    # Working, in the pool's threads.

    def _serve(self) -> None:
        while (entry := self._take()) is not None:
            # A fresh context: callbacks and tokens of the submitter's stream do not reach the job, nor what one job
            # sets the next one. (Threads start with an empty one, except in free-threaded builds of Python.)
            busy = contextvars.Context().run(self._run, entry)
            del entry
            if not busy and not self._hurry:
                return

    def _take(self) -> Entry | None:
        """The next entry to try; None when this token is not needed any more."""
        with self._changed:
            while True:
                self._backlog.wake(float("inf") if self._hurry else time.monotonic())
                if (entry := self._backlog.take()) is not None:
                    self._changed.notify_all()  # one fewer waits
                    return entry
                due = self._backlog.next_due
                if due is None:
                    return None
                self._changed.wait(min(max(0.0, due - time.monotonic()), _TICK_SECONDS))
                if self._backlog.has_ready or self._hurry or self._pool is None:
                    continue
                # Only the pool knows when the interpreter is ending: it takes no token any more.
                try:
                    self._pool.submit(self._serve)
                except RuntimeError:
                    self._hurry = True
                else:
                    return None

    def _run(self, entry: Entry) -> bool:
        """Try a job once. Returns whether its key still has work."""
        self._inside.job = True
        try:
            if entry.tries == 1:
                entry.tickets = [ticket for ticket in entry.tickets if ticket.set_running_or_notify_cancel()]
            if entry.tickets:
                pause = attempt(entry, self._tries, self._retry_seconds, self._note_failure)
                if pause is not None:
                    with self._changed:
                        return self._backlog.delay(entry, time.monotonic() + pause)
            return self._finish(entry)
        finally:
            self._inside.job = False

    def _note_failure(self, error: JobError) -> None:
        with self._changed:
            self.failed += 1
            self._errors.append(error)
        if self._on_error is not None:
            self._on_error(error)

    def _finish(self, entry: Entry) -> bool:
        with self._changed:
            more = self._backlog.finish(entry)
            self._changed.notify_all()
        entry.finished.set_result(None)
        return more

    # Waiting and closing.

    def _refuse_inside(self, what: str) -> None:
        if self._inside.job:
            raise RuntimeError(f"{what} was called in a background job of the same runner: it would wait for itself")

    def _wait(self, timeout: float | None) -> None:
        with self._changed:
            pending = self._backlog.unfinished()
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        while pending:
            left = max(0.0, deadline - time.monotonic())
            pending = concurrent.futures.wait(pending, min(left, _TICK_SECONDS)).not_done
            if pending and left == 0.0:
                raise _too_late(len(pending))

    async def _await(self, timeout: float | None) -> None:
        with self._changed:
            waits = [asyncio.wrap_future(finished) for finished in self._backlog.unfinished()]
        if not waits:
            return
        try:
            _, late = await asyncio.wait(waits, timeout=timeout)
        finally:
            for wait in waits:
                wait.cancel()  # nobody awaits them any more; the jobs themselves cannot be cancelled by it
        if late:
            raise _too_late(len(late))

    def _take_errors(self) -> list[JobError]:
        with self._changed:
            errors = list(self._errors)
            self._errors.clear()
        return errors

    def _begin_to_close(self) -> None:
        with self._changed:
            self._closed = self._hurry = True
            self._changed.notify_all()

    def _end_threads(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


def _too_late(count: int) -> TimeoutError:
    jobs = "1 background job was" if count == 1 else f"{count} background jobs were"
    return TimeoutError(f"{jobs} not finished in time; flush again, or with a longer timeout")


_runners: weakref.WeakSet[Runner] = weakref.WeakSet()


def _forget_the_parents_work() -> None:
    for runner in _runners:
        runner._start_empty()


def _tell_what_is_lost() -> None:
    """Say what the end of the process leaves undone. The pools have been waited for; Ctrl-C breaks that wait off."""
    left = 0
    for runner in list(_runners):
        with runner._changed:
            left += len(runner._backlog.unfinished())
    if left:
        jobs = "1 background job is" if left == 1 else f"{left} background jobs are"
        _log.warning("%s lost: the wait at the end of the process was interrupted; these turns were not learnt", jobs)


atexit.register(_tell_what_is_lost)

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parents_work)
