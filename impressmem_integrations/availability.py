"""Reading memory within a time limit, and not waiting again for a store that is known to be away.

A read that meets a dead or silent server marks the store as away. From then on at most one read at a time tries again;
nobody waits for it longer than an instant, and the first one that is answered ends the outage. No clock decides that.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from impressmem_integrations.connect.connection import Connection, executor
from impressmem_integrations.errors import StoreTimeout, StoreUnavailable
from impressmem_integrations.store import ImpressionStore

T = TypeVar("T")

DEFAULT_LIMIT_SECONDS = 1.0
_COLD_SECONDS = 15.0
"""The embedded server starts or fails within this; there is no network to wait for."""
_INSTANT_SECONDS = 0.1

_log = logging.getLogger(__name__)


class Availability:
    """Whether one server answers; shared by all that reach it by the same connection (see `availability_of`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away = False
        self._answered = False
        self._try: Future[Any] | None = None

    @property
    def away(self) -> bool:
        """Whether the store did not answer when it was last asked."""
        return self._away

    @property
    def answered(self) -> bool:
        """Whether the store ever did."""
        return self._answered

    def saw(self, error: BaseException | None) -> None:
        """Learn from a call made elsewhere: None for one that was answered."""
        away = isinstance(error, StoreUnavailable)
        self._answered = self._answered or error is None
        if away != self._away:
            self._away = away
            _log.warning("the memory store %s", "does not answer" if away else "answers again")

    def read(self, call: Callable[[], T], limit_seconds: float) -> T:
        """Run a blocking read in a thread and wait for it.

        Raises:
            StoreUnavailable: No server, no answer within the limit (`StoreTimeout`), or known to be away.
        """
        future, seconds = self._start(call, limit_seconds)
        wait([future], seconds)
        return self._answer(future)

    async def aread(self, call: Callable[[], T], limit_seconds: float) -> T:
        """`read` without blocking the event loop; the call is the same blocking one."""
        future, seconds = self._start(call, limit_seconds)
        waiting = asyncio.wrap_future(future)
        try:
            await asyncio.wait([waiting], timeout=seconds)
        finally:
            waiting.cancel()  # or it would report to a loop that may be closed by then
        if not waiting.cancelled():
            waiting.exception()  # it is raised below, from the future itself
        return self._answer(future)

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
            self.saw(future.exception())

    def _answer(self, future: Future[T]) -> T:
        if future.done() and not future.cancelled():
            return future.result()
        late = StoreTimeout("memory did not answer within the time limit")
        if not future.cancel():  # it was sent, and did not merely wait for a thread
            with self._lock:
                self._try = future  # its answer, however late, will end the outage
            self.saw(late)
        raise late


_known: weakref.WeakKeyDictionary[Connection, Availability] = weakref.WeakKeyDictionary()
_known_lock = threading.Lock()


def availability_of(store: ImpressionStore) -> Availability:
    """The one of a store and all its views."""
    with _known_lock:
        return _known.setdefault(store._connection, Availability())


def limit_for(store: ImpressionStore, limit_seconds: float) -> float:
    """The time limit of the next read: longer where it has to start the embedded server."""
    cold = store._connection.cold  # whether a server is up is nobody's business but ours
    return max(limit_seconds, _COLD_SECONDS) if cold else limit_seconds
