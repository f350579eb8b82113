"""What waits to be done in the background: one queue per key. No threads, no lock, no clock of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from impressmem_integrations.errors import name_of_key


def _never_cancelled() -> Future[None]:
    future: Future[None] = Future()
    future.set_running_or_notify_cancel()
    return future


@dataclass(slots=True, eq=False)
class Entry:
    """A job in its queue.

    Attributes:
        key: Names the queue.
        job: What to run.
        replaces: Token under which a later job may take this one's place, or None.
        tickets: Those of the job and of the jobs it stands for.
        tries: How often it was begun.
        finished: Ends when the job is over, whatever came of it; unlike the tickets, nobody can cancel it.
    """

    key: Hashable
    job: Callable[[], Any]
    replaces: Hashable | None
    tickets: list[Future[Any]]
    tries: int = 0
    finished: Future[None] = field(default_factory=_never_cancelled)


class Backlog:
    """The queues of a runner, which holds its lock around every call.

    A key is idle (no queue), ready, running (its first entry is being tried) or delayed (its first entry is to be
    tried again). Only `take` makes it running, so two jobs of one key never run at once.

    Args:
        max_waiting: Most entries that wait, over all keys.
        max_waiting_per_key: Most entries that wait under one key.
    """

    def __init__(self, max_waiting: int, max_waiting_per_key: int) -> None:
        self._max_waiting = max_waiting
        self._max_waiting_per_key = max_waiting_per_key
        self._queues: dict[Hashable, deque[Entry]] = {}
        self._ready: deque[Hashable] = deque()
        self._running: set[Hashable] = set()
        self._delayed: dict[Hashable, float] = {}
        self._unfinished: dict[Entry, None] = {}

    @property
    def waiting(self) -> int:
        """Entries that wait for their first or next try."""
        return len(self._unfinished) - len(self._running)

    @property
    def next_due(self) -> float | None:
        """When the earliest delayed key is due, or None without delayed keys."""
        return min(self._delayed.values(), default=None)

    @property
    def has_ready(self) -> bool:
        """Whether `take` may find something."""
        return bool(self._ready)

    def is_idle(self, key: Hashable) -> bool:
        """Whether nothing of this key waits or runs."""
        return key not in self._queues

    def unfinished(self) -> set[Future[None]]:
        """The `finished` futures of all that waits or runs."""
        return {entry.finished for entry in self._unfinished}

    def why_full(self, key: Hashable) -> str:
        """Why there is no room for another entry of the key, or an empty text."""
        queue = self._queues.get(key, ())
        if len(queue) - (key in self._running) >= self._max_waiting_per_key:
            return (
                f"{self._max_waiting_per_key} background jobs of {name_of_key(key)} wait already: the job was not taken"
            )
        if self.waiting >= self._max_waiting:
            return f"{self._max_waiting} background jobs wait already: the job of {name_of_key(key)} was not taken"
        return ""

    def replace(self, key: Hashable, token: Hashable, job: Callable[[], Any], ticket: Future[Any]) -> bool:
        """Give the job to the untried entry with this key and token. Returns whether there was one."""
        for entry in reversed(self._queues.get(key, ())):
            if entry.replaces == token and not entry.tries:
                entry.job = job
                entry.tickets.append(ticket)
                return True
        return False

    def append(self, entry: Entry) -> None:
        """Put an entry at the end of its key's queue."""
        # In this order a KeyboardInterrupt between two lines leaves at most a ready key without work, which `take`
        # passes over, or an entry that runs without `flush` waiting for it.
        queue = self._queues.get(entry.key)
        if queue is None:
            self._ready.append(entry.key)
            self._queues[entry.key] = deque([entry])
        else:
            queue.append(entry)
        self._unfinished[entry] = None

    def take(self) -> Entry | None:
        """Begin a try of the next ready entry; keys take turns."""
        while self._ready:
            key = self._ready.popleft()
            queue = self._queues.get(key)
            if queue and key not in self._running and key not in self._delayed:
                self._running.add(key)
                queue[0].tries += 1
                return queue[0]
        return None

    def wake(self, now: float) -> None:
        """Make the delayed keys ready that are due at `now`."""
        for key in [key for key, due in self._delayed.items() if due <= now]:
            del self._delayed[key]
            self._ready.append(key)

    def delay(self, entry: Entry, due: float) -> bool:
        """End a try that is to be repeated at `due`. Returns whether the key has more work: yes, if the entry is ours.

        An entry is not ours in a child process that its job forked and then returned in.
        """
        if not self._is_first(entry):
            return False
        self._delayed[entry.key] = due
        self._running.discard(entry.key)
        return True

    def finish(self, entry: Entry) -> bool:
        """Take a tried entry out. Returns whether its key has more work."""
        if not self._is_first(entry):
            return False
        queue = self._queues[entry.key]
        queue.popleft()
        if queue:
            self._ready.append(entry.key)
        else:
            del self._queues[entry.key]
        self._running.discard(entry.key)
        self._unfinished.pop(entry, None)
        return bool(queue)

    def _is_first(self, entry: Entry) -> bool:
        queue = self._queues.get(entry.key)
        return queue is not None and queue[0] is entry
