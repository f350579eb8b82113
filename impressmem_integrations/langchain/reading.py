"""Reading memory in a run that must go on: an answer within a time limit, or None where memory cannot be read."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from impressmem_integrations.availability import availability_of, limit_for
from impressmem_integrations.errors import ConfigurationError, InvalidInput, StoreError
from impressmem_integrations.store import ImpressionStore

T = TypeVar("T")

OnError = str | Callable[[Exception], object]
"""`log`, `raise`, or a function that gets the error."""

_log = logging.getLogger(__name__)


def faults_to(on_error: OnError) -> Callable[[Exception], None]:
    """What to do with an error that must not cost the user the answer.

    Raises:
        ConfigurationError: It is none of the three choices.
    """
    if on_error == "raise":
        return _raise
    if on_error == "log":
        return _note
    if not callable(on_error) or inspect.iscoroutinefunction(on_error):
        raise ConfigurationError('on_error must be "log", "raise" or a blocking function of the error')
    return lambda error: _hand_out(on_error, error)


def _raise(error: Exception) -> None:
    raise error


def _note(error: Exception) -> None:
    # The text of a model or input error may hold contents.
    _log.warning("memory: %s", error if isinstance(error, StoreError) else type(error).__name__)


def _hand_out(told: Callable[[Any], object], value: Any) -> None:
    """Tell a listener of the application; one that fails must not cost the user the answer."""
    try:
        told(value)
    except Exception as error:  # noqa: BLE001 - as said above
        _log.warning("memory: a callback raised %s", type(error).__name__)


class Reader:
    """Reads of one store within a time limit; whether the store is away is shared by all that use it.

    Args:
        store: The memory.
        limit_seconds: How long a read is waited for at most.
        fault: What to do with a read that failed, as `faults_to` made it.
    """

    def __init__(self, store: ImpressionStore, limit_seconds: float, fault: Callable[[Exception], None]) -> None:
        self._store = store
        self._available = availability_of(store)
        self._limit_seconds = limit_seconds
        self._fault = fault

    def read(self, call: Callable[[], T]) -> T | None:
        """The answer of a blocking read, or None where there is none in time.

        Raises:
            ConfigurationError, InvalidInput: A mistake of the caller: waiting would not mend it.
            Exception: What `fault` raises.
        """
        try:
            return self._available.read(call, self._limit())
        except Exception as error:  # noqa: BLE001 - whatever it is, the user gets an answer; on_error decides
            self._missed(error)
            return None

    async def aread(self, call: Callable[[], T]) -> T | None:
        """`read` without blocking the event loop; the call is the same blocking one."""
        try:
            return await self._available.aread(call, self._limit())
        except Exception as error:  # noqa: BLE001 - as above
            self._missed(error)
            return None

    def _limit(self) -> float:
        return limit_for(self._store, self._limit_seconds)

    def _missed(self, error: Exception) -> None:
        if isinstance(error, ConfigurationError | InvalidInput):
            raise error
        self._fault(error)
