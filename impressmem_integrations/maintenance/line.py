"""A line for each scope of this process: who was answered in vain asks again alone, and who comes then comes behind.

Nothing depends on it: what is written is guarded by what it was made from. It only keeps writers that change the same
impression from making each other's answers stale until the tries are used up.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Hashable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Self

from impressmem_integrations.core.effects import Effect

_PATIENCE_SECONDS = 60.0
"""The longest wait; a place in front may be held by a model that hangs, or by a task of the thread that waits."""

_lock = threading.Lock()
_last: dict[Hashable, Future[None]] = {}
"""For each line the end of the place at its end."""


class Line:
    """One writer's place in a line. It takes it when it first waits, and leaves at the end of the `with` block.

    Args:
        key: Names the line.
    """

    def __init__(self, key: Hashable) -> None:
        self._key = key
        self._before: Future[None] | None = None
        self._left: Future[None] | None = None

    @property
    def behind(self) -> bool:
        """Whether others stand in line and this writer has no place in it yet."""
        return self._left is None and self._key in _last

    def wait(self) -> None:
        """Wait until those in front have left; not at all in a thread whose event loop would stand still meanwhile."""
        before = self._take_place()
        if before is not None and not _in_event_loop():
            wait([before], _PATIENCE_SECONDS)

    async def await_(self) -> None:
        """`wait` without blocking the event loop."""
        before = self._take_place()
        if before is not None:
            waiting = asyncio.wrap_future(before)
            try:
                await asyncio.wait([waiting], timeout=_PATIENCE_SECONDS)
            finally:
                waiting.cancel()  # or it would report to a loop that may be closed by then

    def _take_place(self) -> Future[None] | None:
        if self._left is None:
            left: Future[None] = Future()
            left.set_running_or_notify_cancel()  # who waits for it cannot cancel it
            with _lock:
                self._before, _last[self._key] = _last.get(self._key), left
            self._left = left
        return self._before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._left is None:
            return
        if self._before is None:
            self._leave()
        else:  # at once, unless this writer waited no longer: those behind it still wait for those in front
            self._before.add_done_callback(lambda _: self._leave())

    def _leave(self) -> None:
        assert self._left is not None
        with _lock:
            if _last.get(self._key) is self._left:
                del _last[self._key]
        self._left.set_result(None)


@dataclass(frozen=True, slots=True)
class StandInLine(Effect[None]):
    """Wait until those in front in a line have left."""

    line: Line


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _forget_the_parents_lines() -> None:
    global _lock
    _lock = threading.Lock()  # a thread of the parent may have held it
    _last.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parents_lines)
