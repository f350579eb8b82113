"""Maintenance as a background job, for every adapter: tried again while what failed may pass, its report told once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace
from typing import Final, NoReturn

from impressmem_integrations.errors import ModelError, StoreUnavailable
from impressmem_integrations.maintenance.outage import Outages
from impressmem_integrations.maintenance.runner import RetryLater
from impressmem_integrations.model import Report

_NOT_TRIED: Final = Report(
    "store_unavailable", reason="the server did not answer the jobs before; it was not tried again", silent=True
)
_TROUBLE = ("model_failed", "cut_off", "rejected", "store_unavailable")

_log = logging.getLogger(__name__)


_SILENT_TRIES = 2
"""Tries of one job with a server that says nothing: each of them waits the whole socket timeout."""


class MaintenanceJob:
    """What a `Runner` is given: the object is the job, `ended` its `on_done`.

    A server that is away and what may pass (`Report.passing`: a model's failure, or memory that kept changing while it
    answered) are tried again by the runner, before anything that came later. When its tries are used up, after any
    other failure of the model, and where a turn was given up, the job ends with an error for `flush`. Turns that were
    not given up are not lost: the next call of `maintain` with their history asks about them again.

    A server that is silent until the timeout is tried twice at most. Once a job was given up because no server
    answered, those submitted before that try it once each; where it was silent they end without a try.

    Args:
        distil: Maintains, blocking.
        tell: Gets the report: of the try that ended the job, in a background thread.
        outages: Shared by the jobs of one store.
    """

    def __init__(
        self, distil: Callable[[], Report], tell: Callable[[Report], object], outages: Outages | None = None
    ) -> None:
        self._distil = distil
        self._tell = tell
        self._outages = outages or Outages()
        self._mark = self._outages.mark()
        self._silent = 0
        self._untold: Report | None = None
        self._given_up: dict[str, str] = {}  # turns by id, also those of earlier tries, with the reason

    def __call__(self) -> Report:
        """Try once.

        Raises:
            RetryLater: It may work later; from a `StoreUnavailable` or `ModelError`.
            StoreUnavailable: The server has been waited for long enough.
            ModelError: The model failed for good, or a turn was given up.
        """
        report = _NOT_TRIED if self._outages.silent_since(self._mark) else self._distil()
        self._given_up |= dict.fromkeys(report.given_up, report.reason)
        self._untold = report = replace(report, given_up=tuple(self._given_up))
        if report.status == "store_unavailable":
            self._wait_for_the_server(report)
        if report.passing:
            raise RetryLater(report.after_seconds) from ModelError(report.reason, passing=True)
        self._tell_once()
        if report.status == "model_failed":
            raise ModelError(report.reason)
        if self._given_up:
            raise ModelError("; ".join(dict.fromkeys(self._given_up.values())))
        return report

    def _wait_for_the_server(self, report: Report) -> NoReturn:
        away = StoreUnavailable(report.reason)
        self._silent += report.silent
        if self._silent < _SILENT_TRIES and not self._outages.since(self._mark):
            raise RetryLater from away
        raise away

    def ended(self, ticket: Future[Report]) -> None:
        """Tell the report of the last try where the job was given up."""
        if ticket.cancelled():
            return
        if (last := self._untold) is not None and last.status == "store_unavailable":
            self._outages.gave_up(silent=last.silent)
        self._tell_once()

    def _tell_once(self) -> None:
        report, self._untold = self._untold, None
        if report is not None:
            self._tell(report)


def tell(report: Report, listeners: Iterable[Callable[[Report], object]]) -> None:
    """Log a report of trouble, and pass any report on. What a listener of the application raises is logged, no more."""
    if report.status in _TROUBLE or report.given_up:
        lost = f"; {_turns(len(report.given_up))} given up" if report.given_up else ""
        _log.warning("maintenance ended with status %s: %s%s", report.status, report.reason, lost)
    for listener in listeners:
        try:
            listener(report)
        except Exception as error:  # noqa: BLE001 - it must cost neither the report nor the user's answer
            _log.warning("a listener to memory raised %s", type(error).__name__)


def _turns(count: int) -> str:
    return "1 turn is" if count == 1 else f"{count} turns are"
