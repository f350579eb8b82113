"""One try of a background job: what came of it, and who hears of that."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from impressmem_integrations.errors import JobError
from impressmem_integrations.maintenance.backlog import Entry

_LONGEST_WAIT_SECONDS = 60.0

_log = logging.getLogger(__name__)


class RetryLater(Exception):
    """Raised by a job that could not be done now: it runs again, before anything that was submitted after it.

    Raise it `from` the error that is the reason; that one is reported when the tries are used up.

    Attributes:
        after_seconds: How long to wait (at most 60), or None for the runner's own growing waits.
    """

    def __init__(self, after_seconds: float | None = None) -> None:
        super().__init__(after_seconds)
        self.after_seconds = after_seconds


def attempt(entry: Entry, tries: int, retry_seconds: float, on_failed: Callable[[JobError], object]) -> float | None:
    """Run the job of an entry and end its tickets. It raises nothing, whatever the job or a callback raises.

    Args:
        entry: Its `tries` counts this try.
        tries: Most tries.
        retry_seconds: The wait after the first try; doubled after each further one.
        on_failed: Called when the job failed for good, before its tickets end.

    Returns:
        The seconds after which the job is to be tried again, or None when it is over.
    """
    try:
        result = _call(entry.job)
    except RetryLater as later:
        if entry.tries < tries:
            asked = later.after_seconds
            seconds = retry_seconds * 2 ** (entry.tries - 1) if asked is None else asked
            return min(max(0.0, seconds), _LONGEST_WAIT_SECONDS)
        _fail(entry, later.__cause__ or later, on_failed)
    except BaseException as error:  # noqa: BLE001 - whatever a job raises must not end the queue
        _fail(entry, error, on_failed)
    else:
        for ticket in entry.tickets:
            hand_out(ticket.set_result, result)
    return None


def _call(job: Callable[[], Any]) -> Any:
    result = job()
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise TypeError("a background job returned an awaitable; it must be a blocking function")
    return result


def _fail(entry: Entry, cause: BaseException, on_failed: Callable[[JobError], object]) -> None:
    error = JobError(entry.key, entry.tries, cause)
    _log.warning("%s", error)
    hand_out(on_failed, error)
    for ticket in entry.tickets:
        hand_out(ticket.set_exception, error)


def hand_out(receiver: Callable[[Any], object], value: Any) -> None:
    """Call a receiver of results. What it raises is logged without its text, which may hold contents."""
    try:
        receiver(value)
    except BaseException as error:  # noqa: BLE001 - it must not end the queue
        _log.warning("a callback of a background job raised %s", type(error).__name__)
