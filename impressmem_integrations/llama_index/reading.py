"""Reading memory for a chat that must go on: an answer, or None where the store fails or is late.

The reads are the blocking ones in the package's threads, so they do not care which event loop runs, if any.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from impressmem_integrations.availability import Availability, availability_of, limit_for
from impressmem_integrations.errors import ConfigurationError, StoreError
from impressmem_integrations.store import ImpressionStore

T = TypeVar("T")

DEFAULT_LIMIT_SECONDS = 2.0

_log = logging.getLogger(__name__)


def read(
    store: ImpressionStore, call: Callable[[ImpressionStore], T], limit_seconds: float, *, raises: bool = False
) -> T | None:
    """The answer of a blocking read, or None where the store fails or is late.

    Args:
        store: Whose memory.
        call: The read.
        limit_seconds: How long it is waited for; longer where it has to start the embedded server.
        raises: Raise whatever goes wrong.

    Raises:
        ConfigurationError: The store cannot be used, and never could: one that has answered before is away instead.
    """
    available = availability_of(store)
    try:
        return available.read(lambda: call(store), limit_for(store, limit_seconds))
    except (StoreError, ConfigurationError) as error:
        _missed(available, error, raises)
        return None


async def aread(
    store: ImpressionStore, call: Callable[[ImpressionStore], T], limit_seconds: float, *, raises: bool = False
) -> T | None:
    """`read` without blocking the event loop."""
    available = availability_of(store)
    try:
        return await available.aread(lambda: call(store), limit_for(store, limit_seconds))
    except (StoreError, ConfigurationError) as error:
        _missed(available, error, raises)
        return None


def _missed(available: Availability, error: Exception, raises: bool) -> None:
    if raises or (isinstance(error, ConfigurationError) and not available.answered):
        raise error
    _log.warning("memory is not shown: %s", error)
