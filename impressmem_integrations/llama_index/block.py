"""A block for LlamaIndex' own `Memory`."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.memory import BaseMemory, BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from impressmem_integrations.errors import ConfigurationError, InvalidInput, JobError, ModelError
from impressmem_integrations.llama_index.attachment import FROM_STORE, Attachment, User
from impressmem_integrations.llama_index.checks import check_fields
from impressmem_integrations.llama_index.reading import DEFAULT_LIMIT_SECONDS, aread
from impressmem_integrations.llama_index.room import room_in, shown
from impressmem_integrations.llama_index.showing import query_of, text_of
from impressmem_integrations.llama_index.switch import Switch, in_force, switched
from impressmem_integrations.llama_index.truncation import shortened
from impressmem_integrations.llama_index.upkeep import Conversation, OnReport, Upkeep
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.turns import canonical_history

_MOST_SESSIONS = 256
_DEFAULT_THREAD = "default"


class ImpressionMemoryBlock(BaseMemoryBlock[str]):
    """Shows what is remembered in LlamaIndex' `Memory`, and learns from what that memory hands over.

    `Memory` hands messages to its blocks only when its queue overflows: call `end_session` when a conversation is over,
    or use `ImpressionMemory`, which learns from every turn. Reading changes nothing and is one round trip.

    Attributes:
        name: The block's name in the prompt.
        description: For people.
        priority: 0 is never shortened; 1, the default, is shortened last.
        accept_short_term_memory: Whether it learns from what the queue hands over.
        switch: `on`, `read-only` or `off`.
        budget_units: The most units (about tokens) of the text, and up to 1,000 more for the question. None: both
            together take at most a quarter of the model's context window, where it is known, and at most 10,000 and
            1,000. `Memory` shortens it further where it has no room.
        limit_seconds: How long a read waits at most.
    """

    name: str = "impressions"
    description: str | None = "What is remembered from earlier conversations."
    priority: int = 1
    switch: Switch = "on"
    budget_units: int | None = None
    limit_seconds: float = DEFAULT_LIMIT_SECONDS

    _attachment: Attachment = PrivateAttr()
    _upkeep: Upkeep = PrivateAttr()
    _sessions: _Sessions = PrivateAttr()
    _tokenize: Callable[[str], list[Any]] | None = PrivateAttr(default=None)

    def __init__(
        self,
        store: ImpressionStore | str,
        *,
        user: User = FROM_STORE,
        model: Any = None,
        tokenizer_fn: Callable[[str], list[Any]] | None = None,
        settings: Settings | None = None,
        runner: Runner | None = None,
        on_report: OnReport | None = None,
        **fields: Any,
    ) -> None:
        """Set the block up; nothing is opened before the first read.

        Args:
            store: The memory, or its URL.
            user: Whose: one id; None for the bot's own shared memory; or, for a block in the memories of several
                users, a mapping or function from session id to user. Not given: the store's own user.
            model: Decides what to keep; None for `Settings.llm` if the application has set it.
            tokenizer_fn: Measures tokens when the block is shortened; give the one of the `Memory` if it has its own.
            settings: How maintenance asks and what it may cost.
            runner: A background runner to use; None for one that all share.
            on_report: Gets the `Report` of each maintenance, in a background thread.
            **fields: The attributes of the block.

        Raises:
            ConfigurationError: An argument is wrong, it is not said whose memory it is, or no model is known although
                the block is switched on and accepts short-term memory.
        """
        unknown = sorted(fields.keys() - type(self).model_fields)
        if unknown:
            raise ConfigurationError(f"{', '.join(unknown)}: a block has {', '.join(type(self).model_fields)}")
        check_fields(
            {**fields, "tokenizer_fn": tokenizer_fn, "settings": settings, "runner": runner, "on_report": on_report}
        )
        attachment = Attachment(store, user, model, sessions=True)
        if fields.get("accept_short_term_memory", True):
            attachment.must_learn(fields.get("switch", "on"))
        super().__init__(**fields)
        self._attachment = attachment
        self._upkeep = Upkeep(attachment, settings, runner, on_report)
        self._sessions = _Sessions(attachment, self._upkeep)
        self._tokenize = tokenizer_fn

    def switched(self, switch: Switch) -> AbstractContextManager[None]:
        """Switch memory `on`, `read-only` or `off` for the calls inside the `with` block."""
        return switched(switch)

    # --- what Memory calls ------------------------------------------------------------------------------------------

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The memory text for a call.

        Args:
            messages: The conversation; its newest user message is the question.
            **block_kwargs: `session_id` says who asks; all else is ignored.

        Raises:
            ConfigurationError: The session belongs to no user.
        """
        if in_force(self.switch) == "off":
            return ""
        memory = self._attachment.memory(block_kwargs.get("session_id"))
        query, room = query_of(messages or []), room_in(self._attachment.window)
        context = await aread(
            memory,
            lambda store: store.perform(lambda bound: shown(bound, query, self.budget_units, room)),
            self.limit_seconds,
        )
        return text_of(context)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Learn from messages in the background; `Memory` has written the session into each."""
        learns = in_force(self.switch) == "on"
        for session, given in _by_session(messages):
            self._sessions.of(session).put(given, learns)

    async def atruncate(self, content: Any, tokens_to_truncate: int) -> str | None:
        """Shorten the text by so many tokens, to whole entries: pinned, then the most useful. None where none fits."""
        if not isinstance(content, str) or not content:
            return None  # an empty block comes as a list
        tokenize = self._tokenize or get_tokenizer()

        def count(text: str) -> int:
            return len(tokenize(text))

        return shortened(content, count(content) - tokens_to_truncate, count)

    # --- the end of a session ---------------------------------------------------------------------------------------

    def end_session(self, memory: BaseMemory, *, session_id: str | None = None) -> Report:
        """Learn now from all of a conversation that was not learnt from, and wait for it.

        Args:
            memory: Holds the conversation, and this block.
            session_id: Its session; None for the memory's own.

        Returns:
            What was saved or why nothing was; a failing model or store is a status.

        Raises:
            ConfigurationError: The session belongs to no user.
            InvalidInput: It is no memory with this block (or a copy of it).
        """
        self._must_be_in(memory)
        return self._end(memory.get_all(), _session_of(memory, session_id))

    async def aend_session(self, memory: BaseMemory, *, session_id: str | None = None) -> Report:
        """The awaitable twin of `end_session`."""
        self._must_be_in(memory)
        history = await memory.aget_all()
        return await asyncio.to_thread(self._end, history, _session_of(memory, session_id))

    def _must_be_in(self, memory: object) -> None:
        blocks = getattr(memory, "memory_blocks", None) if isinstance(memory, BaseMemory) else None
        if not any(getattr(block, "_attachment", None) is self._attachment for block in blocks or ()):
            raise InvalidInput(
                "end_session needs the memory in whose memory_blocks this block stands, or a user would learn from "
                f"another's talk; not {'such a' if isinstance(memory, BaseMemory) else 'a'} {type(memory).__name__}"
            )

    def _end(self, history: list[ChatMessage], session: str | None) -> Report:
        store, thread = self._attachment.memory(session), session or _DEFAULT_THREAD
        self._upkeep.wait()
        try:
            report = store.maintain(
                canonical_history(history),
                self._attachment.model(),
                thread_id=thread,
                flush=True,
                settings=self._upkeep.settings,
            )
        except (ModelError, InvalidInput) as error:
            report = Report("model_failed", reason=str(error))
        self._sessions.drop(session)
        self._upkeep.tell(report, store.scope.user, thread)
        return report

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait until what was handed over is learnt from; the errors since the last time.

        Raises:
            TimeoutError: It was not done in time; it goes on.
        """
        return self._upkeep.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `flush`."""
        return await asyncio.to_thread(self.flush, timeout)

    def close(self) -> None:
        """Close a store that was opened here by its URL."""
        self._attachment.close()

    def __setattr__(self, name: str, value: Any) -> None:
        check_fields({name: value})
        super().__setattr__(name, value)


class _Sessions:
    """The conversations of a block, the ones used last."""

    def __init__(self, attachment: Attachment, upkeep: Upkeep) -> None:
        self._attachment = attachment
        self._upkeep = upkeep
        self._lock = threading.Lock()
        self._known: OrderedDict[str | None, Conversation] = OrderedDict()

    def of(self, session: str | None) -> Conversation:
        with self._lock:
            found = self._known.get(session)
            if found is None:
                found = Conversation(self._attachment, self._upkeep, session or _DEFAULT_THREAD, session)
                self._known[session] = found
            self._known.move_to_end(session)
            if len(self._known) > _MOST_SESSIONS:
                self._known.popitem(last=False)
            return found

    def drop(self, session: str | None) -> None:
        with self._lock:
            self._known.pop(session, None)

    def __deepcopy__(self, memo: dict[int, Any]) -> _Sessions:
        return _Sessions(self._attachment, self._upkeep)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Sessions, (self._attachment, self._upkeep)


def _by_session(messages: Iterable[ChatMessage]) -> list[tuple[str | None, list[ChatMessage]]]:
    """The messages of each session, in order."""
    found: dict[str | None, list[ChatMessage]] = {}
    for message in messages:
        found.setdefault(message.additional_kwargs.get("session_id"), []).append(message)
    return list(found.items())


def _session_of(memory: BaseMemory, session_id: str | None) -> str | None:
    own: str | None = getattr(memory, "session_id", None)
    return session_id or own
