"""Maintenance after a turn: in the background or inline, with its reports told to whoever asked for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from impressmem_integrations.availability import Availability
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.read import Seen
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.errors import ModelError, StoreUnavailable
from impressmem_integrations.langchain.repeats import in_their_history
from impressmem_integrations.maintenance.evidence import DEFAULT_THREAD
from impressmem_integrations.maintenance.job import MaintenanceJob, tell
from impressmem_integrations.maintenance.outage import Outages, unavailable
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Message, Report
from impressmem_integrations.store import ImpressionStore

_AWAY: Final = Report("store_unavailable", reason="the store did not answer; the turn is distilled later")


@dataclass(frozen=True, slots=True)
class Job:
    """A run's messages to distil.

    Attributes:
        memory: The user's memory.
        messages: In canonical form, owned by the job.
        model: Whom to ask.
        thread: Whose turns are counted together.
        at: When the run ended, for turns that carry no time.
        earlier: The history before them, which tells a repetition from a replay; see `repeats`.
    """

    memory: ImpressionStore
    messages: list[Message]
    model: Any
    thread: str | None
    at: datetime
    earlier: Sequence[Message] = ()


def event_of(report: Report) -> dict[str, Any] | None:
    """The event for the graph's custom stream; None where nothing changed."""
    if report.status != "stored":
        return None
    return {
        "type": "memory_updated",
        "saved": list(report.saved),
        "changed": list(report.changed),
        "merged": [merge.target for merge in report.merged],
        "transaction": report.transaction,
    }


class Upkeep:
    """Runs maintenance jobs.

    Args:
        available: Whether the store answers; a store known to be away is not waited for.
        fault: What to do with errors inline.
        on_report: Gets every report; in the background, in one of its threads.
        settings: How to ask and what it may cost.
        runner: A background runner to share; None makes one.
    """

    def __init__(
        self,
        available: Availability,
        fault: Callable[[Exception], None],
        on_report: Callable[[Report], object] | None,
        settings: Settings | None,
        runner: Runner | None,
    ) -> None:
        self._available = available
        self._fault = fault
        self._on_report = on_report
        self._settings = settings
        self._outages = Outages()
        self.runner = runner or Runner()

    def submit(self, job: Job) -> None:
        """Queue a job behind the others of its scope; never waits for the model."""
        work = MaintenanceJob(lambda: self._distil(job), self._tell, self._outages)
        self.runner.submit(job.memory.scope, work, on_done=work.ended)

    def inline(self, job: Job) -> Report:
        """Run a job now."""
        if self._available.away:
            return self._told(_AWAY)
        return self._told(self._distil(job))

    async def ainline(self, job: Job) -> Report:
        """The awaitable twin of `inline`."""
        if self._available.away:
            return self._told(_AWAY)
        messages = job.messages
        if job.earlier:
            try:
                seen = await job.memory.aperform(_seen(job))
            except StoreUnavailable as error:
                return self._told(unavailable(error))
            messages = in_their_history(messages, job.earlier, seen.turns)
        return self._told(
            await job.memory.amaintain(messages, job.model, thread_id=job.thread, at=job.at, settings=self._settings)
        )

    def _distil(self, job: Job) -> Report:
        messages = job.messages
        if job.earlier:
            try:
                seen = job.memory.perform(_seen(job))
            except StoreUnavailable as error:  # a second try would wait for a silent server once more
                return unavailable(error)
            messages = in_their_history(messages, job.earlier, seen.turns)
        return job.memory.maintain(messages, job.model, thread_id=job.thread, at=job.at, settings=self._settings)

    def _told(self, report: Report) -> Report:
        self._tell(report)
        if report.status == "store_unavailable":
            self._fault(StoreUnavailable(report.reason))
        elif report.status == "model_failed":
            self._fault(ModelError(report.reason))
        return report

    def _tell(self, report: Report) -> None:
        tell(report, [] if self._on_report is None else [self._on_report])


def _seen(job: Job) -> Callable[[Bound], Flow[Seen]]:
    return lambda bound: ask(read.seen(bound, job.thread or DEFAULT_THREAD))
