"""One memory, called in any of the three ways; tests are written once, with `await memory.save(...)`."""

from __future__ import annotations

from typing import Any

from impressmem_integrations import ImpressionStore


class Memory:
    """Calls a store's blocking methods, or their awaitable twins.

    Attributes:
        store: The store itself.
        way: `blocking`, `threads` (awaited over the blocking client) or `native` (an asyncio client).
    """

    def __init__(self, store: ImpressionStore, way: str) -> None:
        self.store, self.way = store, way

    def of(self, **scope: Any) -> Memory:
        """The memory of another scope, called the same way."""
        return Memory(self.store.scoped(**scope), self.way)

    async def list(self, name: str, **arguments: Any) -> list[Any]:
        """A whole listing."""
        if self.way == "blocking":
            return list(getattr(self.store, name)(**arguments))
        return [item async for item in getattr(self.store, "a" + name)(**arguments)]

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **arguments: Any) -> Any:
            if self.way == "blocking":
                return getattr(self.store, name)(*args, **arguments)
            return await getattr(self.store, "a" + name)(*args, **arguments)

        return call
