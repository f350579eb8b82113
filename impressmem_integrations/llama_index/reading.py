"""Reading memory within a time limit, and not waiting again for a store that is known to be away.

A read that meets a dead or silent server marks the store as away. From then on at most one read at a time tries again;
nobody waits for it longer than an instant, and the first one that is answered ends the outage. No clock decides that.
The reads are the blocking ones in the package's threads, so they do not care which event loop runs, if any.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from impressmem_integrations.connect.connection import executor
from impressmem_integrations.errors import StoreError, StoreTimeout, StoreUnavailable
from impressmem_integrations.llama_index.attachment import Attachment

T = TypeVar("T")

DEFAULT_LIMIT_SECONDS = 2.0
_INSTANT_SECONDS = 0.05

_log = logging.getLogger(__name__)


class Reader:
    """Reads of one store; shared by everything that was given it (see `reader_of`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away = False
        self._try: Future[Any] | None = None

    @property
    def away(self) -> bool:
        """Whether the store did not answer when it was last asked."""
        return self._away

    def read(self, call: Callable[[], T], limit_seconds: float) -> T | None:
        """The answer of a blocking read, or None where the store fails or is late.

        Raises:
            ConfigurationError: The store cannot be used at all.
        """
        try:
            future, seconds = self._start(call, limit_seconds)
            wait([future], seconds)
            return self._answer(future)
        except StoreError as error:
            _log.warning("memory is not shown: %s", error)
            return None

    async def aread(self, call: Callable[[], T], limit_seconds: float) -> T | None:
        """`read` without blocking the event loop."""
        try:
            future, seconds = self._start(call, limit_seconds)
            waiting = asyncio.wrap_future(future)
            try:
                await asyncio.wait([waiting], timeout=seconds)
            finally:
                if not waiting.done():
                    waiting.cancel()  # or it would report to a loop that may be closed by then
                elif not waiting.cancelled():
                    waiting.exception()  # taken from `future` below
            return self._answer(future)
        except StoreError as error:
            _log.warning("memory is not shown: %s", error)
            return None

    def _start(self, call: Callable[[], T], limit_seconds: float) -> tuple[Future[T], float]:
        with self._lock:
            if not self._away:
                return self._submit(call), limit_seconds
            if self._try is not None and not self._try.done():
                raise StoreUnavailable("memory is away, and a try to reach it is still under way")
            self._try = self._submit(call)
            return self._try, min(_INSTANT_SECONDS, limit_seconds)

    def _submit(self, call: Callable[[], T]) -> Future[T]:
        future = executor().submit(call)
        future.add_done_callback(self._learn)
        return future

    def _learn(self, future: Future[Any]) -> None:
        if not future.cancelled():
            self._saw(future.exception())

    def _saw(self, error: BaseException | None) -> None:
        away = isinstance(error, StoreUnavailable)
        if away != self._away:
            self._away = away
            _log.warning("the memory store %s", "does not answer" if away else "answers again")

    def _answer(self, future: Future[T]) -> T:
        if future.done() and not future.cancelled():
            return future.result()
        with self._lock:
            if not future.cancel():
                self._try = future  # still under way: its answer will end the outage
        late = StoreTimeout("memory did not answer within the time limit")
        self._saw(late)
        raise late


_known: weakref.WeakKeyDictionary[object, Reader] = weakref.WeakKeyDictionary()
_known_lock = threading.Lock()


def reader_of(attachment: Attachment) -> Reader:
    """The one of this attachment's store."""
    with _known_lock:
        return _known.setdefault(attachment.origin, Reader())
