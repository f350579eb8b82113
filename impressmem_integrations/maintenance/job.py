"""Maintenance as a background job, for every adapter: tried again while what failed may pass, its report told once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from impressmem_integrations.errors import ModelError, StoreUnavailable
from impressmem_integrations.maintenance.runner import RetryLater
from impressmem_integrations.model import Report

_TROUBLE = ("model_failed", "cut_off", "rejected", "store_unavailable")

_log = logging.getLogger(__name__)


class MaintenanceJob:
    """What a `Runner` is given: the object is the job, `ended` its `on_done`.

    A server that is away and a model's failure that may pass (`Report.passing`) are tried again by the runner, before
    anything that came later. When its tries are used up, and after any other failure of the model, the job ends with an
    error for `flush`; the turns are not lost: the next call of `maintain` with their history asks about them again.

    Args:
        distil: Maintains, blocking.
        tell: Gets the report: of the try that ended the job, in a background thread.
    """

    def __init__(self, distil: Callable[[], Report], tell: Callable[[Report], object]) -> None:
        self._distil = distil
        self._tell = tell
        self._untold: Report | None = None

    def __call__(self) -> Report:
        """Try once.

        Raises:
            RetryLater: It may work later; from a `StoreUnavailable` or `ModelError`.
            ModelError: The model failed for good.
        """
        self._untold = report = self._distil()
        if report.status == "store_unavailable":
            raise RetryLater from StoreUnavailable(report.reason)
        if report.status == "model_failed" and report.passing:
            raise RetryLater(report.after_seconds) from ModelError(report.reason, passing=True)
        self._tell_once()
        if report.status == "model_failed":
            raise ModelError(report.reason)
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
    if report.status in _TROUBLE:
        _log.warning("maintenance ended with status %s", report.status)
    for listener in listeners:
        try:
            listener(report)
        except Exception as error:  # noqa: BLE001 - it must cost neither the report nor the user's answer
            _log.warning("a listener to memory raised %s", type(error).__name__)
