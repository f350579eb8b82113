"""Reading memory for a chat that must go on: an answer, or None where the store fails or is late.

The reads are the blocking ones in the package's threads, so they do not care which event loop runs, if any.
"""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from typing import TypeVar

from impressmem_integrations.availability import Availability
from impressmem_integrations.errors import StoreError
from impressmem_integrations.llama_index.attachment import Attachment

T = TypeVar("T")

DEFAULT_LIMIT_SECONDS = 2.0

_log = logging.getLogger(__name__)


class Reader:
    """Reads of one store; shared by everything that was given it (see `reader_of`)."""

    def __init__(self) -> None:
        self._availability = Availability()

    @property
    def away(self) -> bool:
        """Whether the store did not answer when it was last asked."""
        return self._availability.away

    def read(self, call: Callable[[], T], limit_seconds: float) -> T | None:
        """The answer of a blocking read, or None where the store fails or is late.

        Raises:
            ConfigurationError: The store cannot be used at all.
        """
        try:
            return self._availability.read(call, limit_seconds)
        except StoreError as error:
            _log.warning("memory is not shown: %s", error)
            return None

    async def aread(self, call: Callable[[], T], limit_seconds: float) -> T | None:
        """`read` without blocking the event loop."""
        try:
            return await self._availability.aread(call, limit_seconds)
        except StoreError as error:
            _log.warning("memory is not shown: %s", error)
            return None


_known: weakref.WeakKeyDictionary[object, Reader] = weakref.WeakKeyDictionary()
_known_lock = threading.Lock()


def reader_of(attachment: Attachment) -> Reader:
    """The one of this attachment's store."""
    with _known_lock:
        return _known.setdefault(attachment.origin, Reader())
