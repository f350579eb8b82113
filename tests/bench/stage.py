"""Where the bench plays: one server, both systems filled with the same notes, and everything a row can call."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import redis
import redis.asyncio
import redis.asyncio.connection
import redis.connection

from impressmem_integrations import ImpressionStore, Limits, Scope
from impressmem_integrations.core.keys import scope_prefix
from tests.bench import corpus
from tests.bench.corpus import Note
from tests.bench.described import Described
from tests.servers import RunningServer

_SET = "return redis.call('SET', KEYS[1], ARGV[1])"
_ROOM = 1_000_000
_FLOOR_KEYS = 1_000


class Stage:
    """A server with `size` notes in each system; use it in a `with` block.

    Attributes:
        size: Notes in each system at the start; rows add to them.
        client: The blocking client of the floors.
        native: The asyncio client of the floors and of `native_store`.
        store: As a user makes it: by URL, its async twins in threads.
        native_store: The same scope with `async_client=`.
        full_store: Another scope, at its limit of impressions.
        described: The described system, or None.
        memory: Bytes the server took for the notes of (this project, the described system or None).
    """

    def __init__(self, server: RunningServer, size: int, described: Described | None) -> None:
        self.size = size
        self.described = described
        self.url = server.url
        self.loop = asyncio.new_event_loop()
        self.client = server.client()
        self.native = redis.asyncio.Redis.from_url(server.url)
        roomy = Limits(max_impressions=_ROOM)
        self.store = ImpressionStore.from_url(server.url, bot="bench", limits=roomy)
        self.native_store = ImpressionStore.from_url(server.url, bot="bench", limits=roomy, async_client=self.native)
        self.full_store = ImpressionStore.from_url(server.url, bot="full", limits=Limits(max_impressions=size))
        self.memory: tuple[float, float | None] = (0.0, None)
        self._numbers = itertools.count(size)
        self._held: dict[str, Any] = {}
        self._set_sha = ""

    def __enter__(self) -> Stage:
        return self

    def fill(self) -> None:
        """Save the same notes in both systems, and see that they are there."""
        self._set_sha = self.client.script_load(_SET)
        self.store.stats()  # scripts and connections are there before memory is read
        before = used_memory(self.client)
        for notes in corpus.chunks(self.size):
            self.store.save_many(map(asdict, notes))
        between = used_memory(self.client)
        if self.described:
            self.described.load(corpus.chunks(self.size))
        after = used_memory(self.client)
        self._copy(self.store.scope, self.full_store.scope)
        held = [self.store.stats().impressions, self.full_store.stats().impressions]
        held += [self.described.count()] if self.described else []
        if set(held) != {self.size}:
            raise RuntimeError(f"{self.size} notes were saved and {held} are held")
        self.memory = (between - before, after - between if self.described else None)

    @contextmanager
    def copy(self, bot: str) -> Iterator[ImpressionStore]:
        """A scope of its own that holds what `store` holds now; erased at the end."""
        store = self.store.scoped(bot=bot)
        self._copy(self.store.scope, store.scope)
        try:
            yield store
        finally:
            self._pipelined("unlink", [(key,) for key in self._keys(store.scope)])

    def _copy(self, source: Scope, target: Scope) -> None:
        """Copy a scope key by key on the server: filling one by saves takes minutes where it is large."""
        start, end = scope_prefix(source).encode(), scope_prefix(target).encode()
        self._pipelined("copy", [(key, end + key.removeprefix(start)) for key in self._keys(source)])

    def _keys(self, scope: Scope) -> list[bytes]:
        return list(self.client.scan_iter(scope_prefix(scope).encode() + b"*", count=1_000))

    def _pipelined(self, command: str, calls: list[tuple[bytes, ...]]) -> None:
        for at in range(0, len(calls), 1_000):
            pipeline = self.client.pipeline(transaction=False)
            for arguments in calls[at : at + 1_000]:
                getattr(pipeline, command)(*arguments)
            pipeline.execute()

    def __exit__(self, *_: object) -> None:
        for store in (self.store, self.native_store, self.full_store):
            store.close()
        self.loop.run_until_complete(self.native.aclose())
        self.loop.close()
        self.client.close()

    def new_note(self, **changes: str) -> Note:
        """A note that neither system holds."""
        return corpus.note(next(self._numbers), self.size, **changes)

    def changed_note(self) -> Note:
        """A held note's clue with another content and filing."""
        number = next(self._numbers)
        return corpus.note(number, self.size, clue=self.held_note(number).clue)

    def held_note(self, number: int) -> Note:
        """One of the notes that both systems were filled with, spread over all of them."""
        return corpus.note(number * 7_919 % self.size, self.size)

    def next_number(self) -> int:
        """A number that no other call uses."""
        return next(self._numbers)

    def floor_set(self, client: Any, payload: bytes) -> Any:
        """Run the script of one command."""
        return client.evalsha(self._set_sha, 1, f"floor:set:{hash(payload) % _FLOOR_KEYS}", payload)

    def floor_key(self, name: str, make: Callable[[], str]) -> str:
        """A key that holds the bytes which a read of this project delivers; written once."""
        key = f"floor:get:{name}"
        if key not in self._held:
            self._held[key] = True
            self.client.set(key, make())
        return key

    def seconds(self, call: Callable[[], Any], *, awaited: bool) -> float:
        """Run one call and return how long it took; an awaited one is timed inside the running loop."""
        if awaited:
            return self.loop.run_until_complete(_awaited_seconds(call))
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def used_memory(client: redis.Redis) -> int:
    """Bytes that the server's allocator has given out."""
    return int(client.info("memory")["used_memory"])


async def _awaited_seconds(call: Callable[[], Awaitable[Any]]) -> float:
    start = time.perf_counter()
    await call()
    return time.perf_counter() - start


@contextmanager
def counted_trips() -> Iterator[list[int]]:
    """Count this process's round trips: redis-py sends a command, or a whole pipeline, with one call."""
    blocking: Any = redis.connection.AbstractConnection
    native: Any = redis.asyncio.connection.AbstractConnection
    send, asend = blocking.send_packed_command, native.send_packed_command
    trips = [0]

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        trips[0] += 1
        send(self, *args, **kwargs)

    async def acounted(self: Any, *args: Any, **kwargs: Any) -> None:
        trips[0] += 1
        await asend(self, *args, **kwargs)

    blocking.send_packed_command = counted
    native.send_packed_command = acounted
    try:
        yield trips
    finally:
        blocking.send_packed_command = send
        native.send_packed_command = asend
