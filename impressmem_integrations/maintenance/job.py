"""Maintenance as a background job, for every adapter: tried again while what failed may pass, its report told once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import replace

from impressmem_integrations.errors import ModelError, StoreUnavailable
from impressmem_integrations.maintenance.runner import RetryLater
from impressmem_integrations.model import Report

_TROUBLE = ("model_failed", "cut_off", "rejected", "store_unavailable")

_log = logging.getLogger(__name__)


class MaintenanceJob:
    """What a `Runner` is given: the object is the job, `ended` its `on_done`.

    A server that is away and what may pass (`Report.passing`: a model's failure, or memory that kept changing while it
    answered) are tried again by the runner, before anything that came later. When its tries are used up, after any
    other failure of the model, and where a turn was given up, the job ends with an error for `flush`. Turns that were
    not given up are not lost: the next call of `maintain` with their history asks about them again.

    Args:
        distil: Maintains, blocking.
        tell: Gets the report: of the try that ended the job, in a background thread.
    """

    def __init__(self, distil: Callable[[], Report], tell: Callable[[Report], object]) -> None:
        self._distil = distil
        self._tell = tell
        self._untold: Report | None = None
        self._given_up: dict[str, str] = {}  # turns by id, also those of earlier tries, with the reason

    def __call__(self) -> Report:
        """Try once.

        Raises:
            RetryLater: It may work later; from a `StoreUnavailable` or `ModelError`.
            ModelError: The model failed for good, or a turn was given up.
        """
        report = self._distil()
        self._given_up |= dict.fromkeys(report.given_up, report.reason)
        self._untold = report = replace(report, given_up=tuple(self._given_up))
        if report.status == "store_unavailable":
            raise RetryLater from StoreUnavailable(report.reason)
        if report.passing:
            raise RetryLater(report.after_seconds) from ModelError(report.reason, passing=True)
        self._tell_once()
        if report.status == "model_failed":
            raise ModelError(report.reason)
        if self._given_up:
            raise ModelError("; ".join(dict.fromkeys(self._given_up.values())))
        return report

    def ended(self, ticket: Future[Report]) -> None:
        """Tell the report of the last try where the runner gave up."""
        if not ticket.cancelled():
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
