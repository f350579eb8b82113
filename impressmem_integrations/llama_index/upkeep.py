"""Maintenance in the background: turns in, reports and an event out."""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Self

from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.read import Seen
from impressmem_integrations.core.effects import ask
from impressmem_integrations.errors import (
    BacklogFull,
    ConfigurationError,
    InvalidInput,
    JobError,
    RunnerClosed,
    StoreUnavailable,
)
from impressmem_integrations.llama_index import events
from impressmem_integrations.llama_index.attachment import Attachment
from impressmem_integrations.llama_index.turnlog import TurnLog
from impressmem_integrations.maintenance.job import MaintenanceJob, tell
from impressmem_integrations.maintenance.outage import Outages, unavailable
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Message, Report
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.turns import digest_of

OnReport = Callable[[Report], object]
Window = Callable[[list[str]], list[Message]]

_NOTHING_WAITS: Final = Report("already_done", reason="nothing waits")

_log = logging.getLogger(__name__)
_in_job: ContextVar[bool] = ContextVar("impressmem_llama_index_job", default=False)
_shared: list[Runner] = []
_shared_lock = threading.Lock()


def _shared_runner() -> Runner:
    """The background runner of everything that was given none: a service makes memories by the thousand."""
    with _shared_lock:
        if not _shared:
            _shared.append(Runner(name="impressmem-llama-index"))
        return _shared[0]


class Upkeep:
    """Hands conversations to maintenance, in order for each user, and waits for them when asked.

    Args:
        attachment: The store and the model.
        settings: How to ask and what it may cost.
        runner: A background runner to use; None for one that is shared.
        on_report: Gets each report, in a background thread.
    """

    def __init__(
        self, attachment: Attachment, settings: Settings | None, runner: Runner | None, on_report: OnReport | None
    ) -> None:
        self._attachment = attachment
        self.settings = settings
        self._runner = runner
        self._on_report = on_report
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._open: set[Future[None]] = set()
        self._errors: list[JobError] = []
        self._outages = Outages()

    def submit(
        self,
        memory: ImpressionStore,
        thread: str,
        window: Window,
        *,
        note: Callable[[Seen], None],
        ended: Callable[[JobError | None], None],
        flush: bool = False,
    ) -> Future[Report] | None:
        """Queue a conversation; never waits for the model. None where the queue takes it no more: it is logged.

        Args:
            memory: The user's memory.
            thread: The conversation.
            window: Gives the messages to distil, from the digests that the store knows. A later job of the same one
                does its work too.
            note: Told afterwards what the store knows.
            ended: Told at the end what went wrong.
            flush: Ask also about a batch that is not full.
        """
        scope = memory.scope
        runner = self._runner or _shared_runner()
        work = MaintenanceJob(
            lambda: self._distil(memory, thread, window, note, flush),
            lambda report: None if report is _NOTHING_WAITS else self.tell(report, scope.user, thread),
            self._outages,
        )

        over: Future[None] = Future()  # unlike the ticket it ends after its report is told and its error is noted

        def over_with(ticket: Future[Report]) -> None:
            try:
                work.ended(ticket)
                ended(self._note_error(ticket))
            finally:
                over.set_result(None)

        try:
            ticket = runner.submit(scope, work, replaces=(window, flush), on_done=over_with)
        except (BacklogFull, RunnerClosed) as error:
            _log.warning("a turn is not distilled now: %s", error)
            return None
        with self._lock:
            self._open = {one for one in self._open if not one.done()} | {over}
        return ticket

    def _note_error(self, ticket: Future[Report]) -> JobError | None:
        error = None if ticket.cancelled() else ticket.exception()
        if not isinstance(error, JobError):
            return None
        with self._lock:
            if not any(error is one for one in self._errors):  # a job that stands for several ends all their tickets
                self._errors.append(error)
        return error

    def is_untold(self, error: JobError) -> bool:
        """Whether the next flush returns an error."""
        with self._lock:
            return any(error is one for one in self._errors)

    def _distil(
        self, memory: ImpressionStore, thread: str, window: Window, note: Callable[[Seen], None], flush: bool
    ) -> Report:
        _in_job.set(True)  # a job has a context of its own
        try:
            messages = window(_digests(_seen(memory, thread)))
            if not messages:  # an earlier job took them along
                return _NOTHING_WAITS
            report = memory.maintain(
                messages, self._attachment.model(), thread_id=thread, flush=flush, settings=self.settings
            )
            note(_seen(memory, thread))
        except StoreUnavailable as error:
            return unavailable(error)
        return report

    def tell(self, report: Report, user: str | None, thread: str) -> None:
        """Pass a report on to all who want to hear of it."""
        listeners: list[OnReport] = [lambda found: events.tell(found, user, thread)]
        if self._on_report is not None:
            listeners.append(self._on_report)
        tell(report, listeners)

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait for what was handed over here; the errors since the last time, each returned once.

        Raises:
            TimeoutError: It was not done in time; it goes on.
            RuntimeError: It was called in a background job, which would wait for itself.
        """
        self.wait(timeout)
        with self._lock:
            errors, self._errors = self._errors, []
        return errors

    def wait(self, timeout: float | None = None) -> None:
        """`flush` that leaves the errors for the next one."""
        if _in_job.get():
            raise RuntimeError("flush was called in a background job: it would wait for itself")
        with self._lock:
            if self._process != os.getpid():
                self._open, self._process = set(), os.getpid()  # the parent's jobs run in the parent
            waiting = set(self._open)
        if wait(waiting, timeout).not_done:
            raise TimeoutError("maintenance was not done in time; it goes on, flush again")
        with self._lock:
            self._open -= waiting

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = copy.copy(self)
        made._begin()
        return made

    def __copy__(self) -> Self:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        # Runner and listener belong to the process.
        return type(self), (self._attachment, None, None, None)


class Conversation:
    """One thread of one user: the turns in it, handed over as they end.

    Args:
        attachment: Store, user and model.
        upkeep: Where turns go.
        thread: The conversation's id.
        session: The session that asks, where users are given by session.
    """

    def __init__(self, attachment: Attachment, upkeep: Upkeep, thread: str, session: str | None = None) -> None:
        self._attachment = attachment
        self._upkeep = upkeep
        self.thread = thread
        self._session = session
        self._log = TurnLog()
        self._lock = threading.Lock()
        self._failure: JobError | None = None

    def put(self, messages: Iterable[Any], learns: bool) -> None:
        """Note what was put, and hand a turn over when it has ended."""
        try:
            with self._lock:
                ended = self._log.add(messages, _now(), learns)
        except InvalidInput as error:
            _log.warning("a message is not learnt from: %s", error)
            return
        if ended:
            self.hand_over()

    @property
    def begun(self) -> bool:
        """Whether a user has spoken since this was made."""
        return self._log.begun

    def adopt(self, history: Iterable[Any], learns: bool) -> None:
        """Take the open turn of a history that was there before."""
        try:
            with self._lock:
                self._log.adopt(history, _now(), learns)
        except InvalidInput as error:
            _log.warning("a history is not learnt from: %s", error)

    def restart(self, history: Iterable[Any], learns: bool) -> None:
        """Go on from a history that was set; nothing of it is distilled."""
        try:
            with self._lock:
                self._log.restart(history, _now(), learns)
        except InvalidInput as error:
            _log.warning("a history is not learnt from: %s", error)

    def hand_over(self, *, flush: bool = False) -> None:
        """Queue what waits."""
        with self._lock:
            if not self._log.waiting:
                return
        try:
            memory = self._attachment.memory(self._session)
        except ConfigurationError as error:
            _log.warning("a turn is not distilled: %s", error)
            return
        self._upkeep.submit(memory, self.thread, self._window, note=self._note, ended=self._ended, flush=flush)

    def flush(self, timeout: float | None = None, *, again: bool = True) -> list[JobError]:
        """Have all that waits learnt from, and wait for it; the errors since the last time.

        Nobody is asked twice about a turn on the way: what has just failed, with an error that is returned here, waits
        for the next turn or flush.

        Args:
            timeout: Seconds to wait at most.
            again: Ask again about turns whose error was returned before.

        Raises:
            TimeoutError: It was not done in time; it goes on.
        """
        until = None if timeout is None else time.monotonic() + timeout
        self._upkeep.wait(timeout)
        failure = self._failure
        if failure is None or (again and not self._upkeep.is_untold(failure)):
            self.hand_over(flush=True)
        return self._upkeep.flush(None if until is None else max(0.0, until - time.monotonic()))

    def _ended(self, failure: JobError | None) -> None:
        self._failure = failure

    def _window(self, seen: list[str]) -> list[Message]:
        with self._lock:
            return self._log.window(seen)

    def _note(self, seen: Seen) -> None:
        with self._lock:
            self._log.note(_digests(seen), seen.trimmed)

    def __deepcopy__(self, memo: dict[int, Any]) -> Conversation:
        with self._lock:
            log = copy.deepcopy(self._log)
        return _conversation(self._attachment, copy.deepcopy(self._upkeep, memo), self.thread, self._session, log)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return _conversation, (
                self._attachment,
                self._upkeep,
                self.thread,
                self._session,
                copy.deepcopy(self._log),
            )


def _conversation(
    attachment: Attachment, upkeep: Upkeep, thread: str, session: str | None, log: TurnLog
) -> Conversation:
    made = Conversation(attachment, upkeep, thread, session)
    made._log = log
    return made


def _seen(memory: ImpressionStore, thread: str) -> Seen:
    return memory.perform(lambda bound: ask(read.seen(bound, thread)))


def _digests(seen: Seen) -> list[str]:
    return [digest_of(turn) for turn in seen.turns]


def _now() -> datetime:
    return datetime.now(UTC)
