"""LlamaIndex' own `Memory` over a list: its default store never closes its SQLite connections, which warns at exit.

The matrix runs the default store too, in programs of its own.
"""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus

ACTIVE = MessageStatus.ACTIVE


class ListStore(AsyncDBChatStore):
    """Keeps copies of messages, as a database does."""

    rows: list[tuple[str, MessageStatus, ChatMessage]] = []  # noqa: RUF012 - pydantic copies it for each object

    async def get_messages(
        self, key: str, status: Any = ACTIVE, limit: int | None = None, offset: int | None = None
    ) -> list[ChatMessage]:
        found = [message.model_copy(deep=True) for at, state, message in self.rows if at == key and _is(state, status)]
        return found[offset or 0 :][:limit]

    async def count_messages(self, key: str, status: Any = ACTIVE) -> int:
        return len(await self.get_messages(key, status))

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = ACTIVE) -> None:
        self.rows.append((key, status, message.model_copy(deep=True)))

    async def add_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = ACTIVE) -> None:
        for message in messages:
            await self.add_message(key, message, status)

    async def set_messages(self, key: str, messages: list[ChatMessage], status: MessageStatus = ACTIVE) -> None:
        await self.delete_messages(key)
        await self.add_messages(key, messages, status)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:
        raise NotImplementedError

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:
        self.rows = [row for row in self.rows if row[0] != key or not _is(row[1], status)]

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        raise NotImplementedError

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        found = []
        for place, (at, status, message) in enumerate(self.rows):
            if at == key and status == ACTIVE and len(found) < n:
                self.rows[place] = (at, MessageStatus.ARCHIVED, message)
                found.append(message)
        return found

    async def get_keys(self) -> list[str]:
        return sorted({row[0] for row in self.rows})


def _is(state: MessageStatus, wanted: MessageStatus | None) -> bool:
    return wanted is None or state == wanted


def stock(*blocks: Any, **options: Any) -> Memory:
    """A stock memory with these blocks."""
    return Memory.from_defaults(chat_store=ListStore(), memory_blocks=list(blocks), **options)
