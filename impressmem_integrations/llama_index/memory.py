"""A memory around any other one: each call sees what is remembered, each finished turn is learnt from."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import BaseModel, PrivateAttr, SerializeAsAny
from llama_index.core.memory import BaseMemory, Memory

from impressmem_integrations.errors import ConfigurationError, JobError
from impressmem_integrations.llama_index.attachment import FROM_STORE, Attachment, User
from impressmem_integrations.llama_index.checks import check_fields, message_given, messages_given, thread_named
from impressmem_integrations.llama_index.reading import DEFAULT_LIMIT_SECONDS, aread, read
from impressmem_integrations.llama_index.room import room_in, shown
from impressmem_integrations.llama_index.showing import Insert, query_of, text_of, with_memory
from impressmem_integrations.llama_index.switch import Switch, in_force, switched
from impressmem_integrations.llama_index.upkeep import Conversation, OnReport, Upkeep
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Context
from impressmem_integrations.store import ImpressionStore


class ImpressionMemory(BaseMemory):
    """Gives a chat engine or agent a memory of its user that outlasts the conversation.

    The conversation itself stays in the primary memory, to which every method is passed on. `get` and `aget` put what
    is remembered in front of the newest user message, in copies: it is never stored. When an assistant message without
    tool calls ends a turn, a model decides in the background what of it to keep, once for each turn. It works in plain
    scripts, after `asyncio.run`, and in a running event loop.

    Attributes:
        primary: The memory that holds the conversation.
        thread_id: Whose turns are counted together; the same id in another process or framework goes on with it.
        insert: Where memory is shown: `user`, or `system` for models that take several system messages.
        switch: `on`, `read-only` (nothing is learnt) or `off`; `switched` changes it for single calls.
        budget_units: The most units (about tokens) of memory text, and up to 1,000 more for the question. None: both
            together take at most a quarter of the primary's `token_limit` and of the model's context window, as far as
            they are known, and at most 10,000 and 1,000.
        limit_seconds: How long a call waits for memory at most.
    """

    primary: SerializeAsAny[BaseMemory]
    thread_id: str
    insert: Insert = "user"
    switch: Switch = "on"
    budget_units: int | None = None
    limit_seconds: float = DEFAULT_LIMIT_SECONDS

    _attachment: Attachment = PrivateAttr()
    _upkeep: Upkeep = PrivateAttr()
    _conversation: Conversation = PrivateAttr()

    def __init__(
        self,
        store: ImpressionStore | str,
        *,
        user: User = FROM_STORE,
        primary: BaseMemory | None = None,
        model: Any = None,
        thread_id: str | None = None,
        insert: Insert = "user",
        switch: Switch = "on",
        budget_units: int | None = None,
        limit_seconds: float = DEFAULT_LIMIT_SECONDS,
        settings: Settings | None = None,
        runner: Runner | None = None,
        on_report: OnReport | None = None,
    ) -> None:
        """Set memory up; nothing is opened before the first call.

        Args:
            store: The memory, or its URL, e.g. `embedded` or `redis://localhost:6379/0`.
            user: Whose; None for the bot's own shared memory. Not given: the store's own user.
            primary: Holds the conversation; None for LlamaIndex' `Memory` with its defaults.
            model: Decides what to keep: a LlamaIndex LLM or whatever `ImpressionStore.maintain` takes; None for
                `Settings.llm` if the application has set it. The engine's LLM is not known here, and LlamaIndex'
                default is never asked.
            thread_id: Whose turns are counted together; None for the primary's `session_id`, or a new one.
            insert: Where memory is shown.
            switch: Whether it shows and learns.
            budget_units: The most units of memory text; None for a quarter of the window, see above.
            limit_seconds: How long a call waits for memory at most.
            settings: How maintenance asks and what it may cost.
            runner: A background runner to use; None for one that all share.
            on_report: Gets the `Report` of each maintenance, in a background thread.

        Raises:
            ConfigurationError: An argument is wrong, it is not said whose memory it is, or no model is known although
                memory is switched on.
        """
        held = primary if primary is not None else Memory.from_defaults()
        if thread_id is None:
            thread_id = getattr(held, "session_id", None) or uuid.uuid4().hex
        fields: dict[str, Any] = {
            "primary": held,
            "thread_id": thread_named(thread_id),
            "insert": insert,
            "switch": switch,
            "budget_units": budget_units,
            "limit_seconds": limit_seconds,
        }
        _check({**fields, "settings": settings, "runner": runner, "on_report": on_report})
        attachment = Attachment(store, user, model)
        attachment.must_learn(switch)
        super().__init__(**fields)
        self._attachment = attachment
        self._upkeep = Upkeep(attachment, settings, runner, on_report)
        self._conversation = Conversation(attachment, self._upkeep, self.thread_id)

    @classmethod
    def class_name(cls) -> str:
        """Its name in LlamaIndex."""
        return "ImpressionMemory"

    @classmethod
    def from_defaults(cls, store: ImpressionStore | str = "embedded", **options: Any) -> Self:
        """The same as the constructor, with the embedded server as the default store."""
        return cls(store, **options)

    def switched(self, switch: Switch) -> AbstractContextManager[None]:
        """Switch memory `on`, `read-only` or `off` for the calls inside the `with` block.

        A turn that began inside keeps to it.
        """
        return switched(switch)

    # --- what a call sees -------------------------------------------------------------------------------------------

    def get(self, input: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """The conversation as the primary memory gives it, with what is remembered."""
        messages = self.primary.get(input=input, **kwargs)
        if in_force(self.switch) == "off":
            return messages
        context = read(self._attachment.memory(), self._call(query_of(messages, input)), self.limit_seconds)
        return with_memory(messages, text_of(context), self.insert, input)

    async def aget(self, input: Any = None, **kwargs: Any) -> list[ChatMessage]:
        """The awaitable twin of `get`."""
        messages = await self.primary.aget(input=input, **kwargs)
        if in_force(self.switch) == "off":
            return messages
        context = await aread(self._attachment.memory(), self._call(query_of(messages, input)), self.limit_seconds)
        return with_memory(messages, text_of(context), self.insert, input)

    def _call(self, query: str | None) -> Callable[[ImpressionStore], Context]:
        """The read that a call needs."""
        room = room_in(getattr(self.primary, "token_limit", None), self._attachment.window)
        return lambda memory: memory.perform(lambda bound: shown(bound, query, self.budget_units, room))

    def get_all(self, **kwargs: Any) -> list[ChatMessage]:
        """The conversation as it is stored."""
        return self.primary.get_all(**kwargs)

    async def aget_all(self, **kwargs: Any) -> list[ChatMessage]:
        """The awaitable twin of `get_all`."""
        return await self.primary.aget_all(**kwargs)

    # --- what is said -----------------------------------------------------------------------------------------------

    def put(self, message: ChatMessage) -> None:
        """Store a message; the one that ends a turn has it learnt from.

        Raises:
            InvalidInput: It is no `ChatMessage`.
        """
        message_given(message)
        if self._joins_in([message]):
            self._conversation.adopt(self.primary.get_all(), self._learns)
        self.primary.put(message)
        self._conversation.put([message], self._learns)

    async def aput(self, message: ChatMessage) -> None:
        """The awaitable twin of `put`."""
        message_given(message)
        if self._joins_in([message]):
            self._conversation.adopt(await self.primary.aget_all(), self._learns)
        await self.primary.aput(message)
        self._conversation.put([message], self._learns)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Store messages; turns that end with them are learnt from.

        Raises:
            InvalidInput: They are no list of `ChatMessage`.
        """
        messages = messages_given(messages)
        if self._joins_in(messages):
            self._conversation.adopt(self.primary.get_all(), self._learns)
        self.primary.put_messages(messages)
        self._conversation.put(messages, self._learns)

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """The awaitable twin of `put_messages`."""
        messages = messages_given(messages)
        if self._joins_in(messages):
            self._conversation.adopt(await self.primary.aget_all(), self._learns)
        await self.primary.aput_messages(messages)
        self._conversation.put(messages, self._learns)

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the conversation; nothing of it is learnt from but a turn that it leaves open.

        Raises:
            InvalidInput: It is no list of `ChatMessage`.
        """
        messages = messages_given(messages)
        self.primary.set(messages)
        self._conversation.restart(messages, self._learns)

    async def aset(self, messages: list[ChatMessage]) -> None:
        """The awaitable twin of `set`."""
        messages = messages_given(messages)
        await self.primary.aset(messages)
        self._conversation.restart(messages, self._learns)

    def reset(self, **kwargs: Any) -> None:
        """Empty the conversation; what is remembered stays."""
        self.primary.reset(**kwargs)
        self._conversation.restart([], self._learns)

    async def areset(self, **kwargs: Any) -> None:
        """The awaitable twin of `reset`."""
        await self.primary.areset(**kwargs)
        self._conversation.restart([], self._learns)

    @property
    def _learns(self) -> bool:
        return in_force(self.switch) == "on"

    def _joins_in(self, messages: list[ChatMessage]) -> bool:
        """Whether a turn goes on that began before this object was made, e.g. in another process."""
        return bool(messages) and not self._conversation.begun and messages[0].role != MessageRole.USER

    # --- the background ---------------------------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait until every turn that has ended is learnt from, batches that are not full included.

        A turn that failed is asked about again by the next turn, or by the flush after the one that returned its error.

        Args:
            timeout: Seconds to wait at most; None waits without limit.

        Returns:
            What went wrong since the last flush; each error is returned once.

        Raises:
            TimeoutError: It was not done in time; it goes on.
        """
        return self._conversation.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `flush`."""
        return await asyncio.to_thread(self.flush, timeout)

    def close(self, timeout: float | None = None) -> list[JobError]:
        """`flush` that asks about no failed turn again; then close a store that was opened here by its URL."""
        errors = self._conversation.flush(timeout, again=False)
        self._attachment.close()
        return errors

    async def aclose(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `close`."""
        return await asyncio.to_thread(self.close, timeout)

    # --- options ----------------------------------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "thread_id":
            raise ConfigurationError("thread_id is set when the memory is built: build another one, it is cheap")
        _check({name: value})
        if name == "switch":
            self._attachment.must_learn(value)
        super().__setattr__(name, value)

    # --- what else the primary memory has ---------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it from type checkers
        except AttributeError:
            primary = self.__dict__.get("primary")
            if primary is None or name.startswith("_"):
                raise
            return getattr(primary, name)

    # LlamaIndex' own way drops what it cannot pickle without an error, and makes the object anew from its fields.
    def __getstate__(self) -> dict[Any, Any]:
        return BaseModel.__getstate__(self)

    def __setstate__(self, state: dict[Any, Any]) -> None:
        BaseModel.__setstate__(self, state)


def _check(options: Mapping[str, Any]) -> None:
    check_fields(options)
    if isinstance(options.get("primary"), ImpressionMemory):
        raise ConfigurationError("primary is an ImpressionMemory already: memory would stand twice in each call")
