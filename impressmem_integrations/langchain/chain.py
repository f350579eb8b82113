"""Memory as steps of a runnable chain: `context_chain` reads it, `maintenance_chain` keeps what was said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.runnables.config import merge_configs
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from impressmem_integrations.availability import DEFAULT_LIMIT_SECONDS
from impressmem_integrations.errors import InvalidInput, ModelError, StoreUnavailable
from impressmem_integrations.langchain.identity import FROM_STORE, Identity, Run, User, current_context, thread_of
from impressmem_integrations.langchain.injection import as_text, query_of
from impressmem_integrations.langchain.reading import OnError, Reader, faults_to
from impressmem_integrations.maintenance.answers import review_kind
from impressmem_integrations.maintenance.asking import Mode
from impressmem_integrations.maintenance.models import aanswering
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Context, Report
from impressmem_integrations.options import check_options
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.turns import canonical_history

_UNSTREAMED: Final = "nostream"
"""LangGraph keeps the tokens of calls with this tag out of a user's stream."""


def maintenance_chain(
    store: ImpressionStore,
    model: Any,
    *,
    user: User = FROM_STORE,
    mode: Mode = "auto",
    review: Any = None,
    settings: Settings | None = None,
    on_error: Literal["report", "raise"] = "report",
) -> MaintenanceChain:
    """Distilling as a runnable: messages in, a `Report` out.

    The input is a list of messages in any shape, a prompt value, or a mapping with `messages` and optionally
    `thread_id`, `at` and `flush` as for `ImpressionStore.maintain`. Without a `thread_id` the config's counts. It is
    one span of a trace, with the model's calls as its children; their tokens do not reach a graph's message stream.

    Args:
        store: The memory.
        model: A LangChain chat model, or a callable as for `ImpressionStore.maintain`.
        user: Whose memory, per run, from the run's context or `configurable`; as for `ImpressionMiddleware`.
        mode: As for `ImpressionStore.maintain`.
        review: As for `ImpressionStore.maintain`.
        settings: How to ask and what it may cost.
        on_error: A failing model or store is a status of the `report`, or `raise`d as `ModelError` or
            `StoreUnavailable`: what `with_retry` and `with_fallbacks` need.

    Raises:
        ConfigurationError: An argument is wrong.
    """
    return MaintenanceChain(
        store=store, model=model, user=user, mode=mode, review=review, settings=settings, on_error=on_error
    )


def context_chain(
    store: ImpressionStore,
    *,
    user: User = FROM_STORE,
    budget_units: int | None = None,
    on_error: OnError = "log",
    limit_seconds: float = DEFAULT_LIMIT_SECONDS,
) -> ContextChain:
    """Reading as a runnable: the question in, what is remembered out, as text for a prompt.

    The input is a question, or messages as for `maintenance_chain`, of which the newest of the user is the question.
    The text ends with what bears on it; it is "" while nothing is remembered. Where memory cannot be read in time, the
    text says that it is unavailable, not empty.

    Args:
        store: The memory.
        user: Whose memory, per run; as for `maintenance_chain`.
        budget_units: The most units of the text; 10,000 where None.
        on_error: What a read that fails does: `log`; `raise`; or a function that gets the error.
        limit_seconds: How long memory is waited for at most.

    Raises:
        ConfigurationError: An argument is wrong.
    """
    return ContextChain(
        store=store, user=user, budget_units=budget_units, on_error=on_error, limit_seconds=limit_seconds
    )


class _Scoped(BaseModel):
    """What the two steps share: whose memory a run may touch."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    store: Any = Field(exclude=True, repr=False)
    user: Any = Field(default=FROM_STORE, exclude=True, repr=False)

    _identity: Identity = PrivateAttr()

    def __init__(self, **options: Any) -> None:
        # Not a validator: pydantic would bury our errors in its own, with the arguments spelled out.
        check_options(options)
        super().__init__(**options)
        self._identity = Identity(self.store, self.user)

    def _memory(self, config: RunnableConfig) -> tuple[ImpressionStore, Run]:
        run = Run.of(config, current_context())
        return self._identity.of(run), run


class ContextChain(_Scoped, RunnableSerializable[Any, str]):
    """See `context_chain`."""

    name: str | None = "impression_context"
    budget_units: int | None = None
    on_error: Any = Field(default="log", exclude=True, repr=False)
    limit_seconds: float = DEFAULT_LIMIT_SECONDS

    _reader: Reader = PrivateAttr()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._reader = Reader(self.store, self.limit_seconds, faults_to(self.on_error))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """What is remembered, as text.

        Raises:
            InvalidInput: The input is no question.
            ConfigurationError: The run does not say whose memory it is.
            StoreError: With `on_error="raise"`.
        """
        return self._call_with_config(self._read, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """The awaitable twin of `invoke`."""
        return await self._acall_with_config(self._aread, input, config, **kwargs)

    def _read(self, given: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> str:
        return as_text(self._reader.read(self._reading(given, config)))

    async def _aread(self, given: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> str:
        return as_text(await self._reader.aread(self._reading(given, config)))

    def _reading(self, given: Any, config: RunnableConfig) -> Callable[[], Context]:
        memory, _ = self._memory(config)
        question = _question(given)
        return lambda: memory.context(question, self.budget_units)


def _question(given: Any) -> str | None:
    said = canonical_history([given] if isinstance(given, str) else _messages(given))
    newest = next((one["content"] for one in reversed(said) if one["role"] == "user"), "")
    return query_of([HumanMessage(newest)])


class MaintenanceChain(_Scoped, RunnableSerializable[Any, Report]):
    """See `maintenance_chain`."""

    name: str | None = "impression_maintenance"
    model: Any = Field(exclude=True, repr=False)
    mode: Mode = "auto"
    review: Any = Field(default=None, exclude=True, repr=False)
    settings: Any = Field(default=None, exclude=True, repr=False)
    on_error: Literal["report", "raise"] = "report"

    def __init__(self, **options: Any) -> None:
        # Not a validator: pydantic would bury our errors in its own, with the arguments spelled out.
        super().__init__(**options)
        aanswering(self.model)
        review_kind(self.review)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Report:
        """Distil what was not distilled yet.

        Raises:
            InvalidInput: The input holds no messages, or one that cannot be read.
            ConfigurationError: The run does not say whose memory it is, or its thread_id is no id.
            ModelError, StoreUnavailable: With `on_error="raise"`.
        """
        return self._call_with_config(self._keep, input, config, **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Report:
        """The awaitable twin of `invoke`."""
        return await self._acall_with_config(self._akeep, input, config, **kwargs)

    # The config that these two get is the span's: what is called with it is its child.

    def _keep(self, given: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> Report:
        memory, how = self._prepared(given, config)
        return self._judged(memory.maintain(_messages(given), _child(self.model, config), **how))

    async def _akeep(self, given: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> Report:
        memory, how = self._prepared(given, config)
        return self._judged(await memory.amaintain(_messages(given), _child(self.model, config), **how))

    def _prepared(self, given: Any, config: RunnableConfig) -> tuple[ImpressionStore, dict[str, Any]]:
        memory, run = self._memory(config)
        said: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        return memory, {
            "thread_id": thread_of(run, said.get("thread_id")),
            "at": said.get("at"),
            "flush": bool(said.get("flush", False)),
            "mode": self.mode,
            "review": self.review,
            "settings": self.settings,
        }

    def _judged(self, report: Report) -> Report:
        if self.on_error == "raise" and report.status == "model_failed":
            raise ModelError(report.reason)
        if self.on_error == "raise" and report.status == "store_unavailable":
            raise StoreUnavailable(report.reason)
        return report


def _child(model: Any, config: RunnableConfig) -> Any:
    """The model, called as a child of the span; a plain callable is called as it is."""
    return _Child(model, config) if callable(getattr(model, "invoke", None)) else model


class _Child:
    """A chat model whose calls belong to a span: maintenance itself would call it outside of every trace."""

    def __init__(self, model: Any, config: RunnableConfig) -> None:
        self._model = model
        self._config = merge_configs(config, {"tags": [_UNSTREAMED]})

    def __getattr__(self, name: str) -> Any:
        if name != "bind_tools":
            raise AttributeError(name)
        bind = self._model.bind_tools  # whoever has none has none here either
        return lambda tools: _Child(bind(tools), self._config)

    def invoke(self, messages: Any, config: Any = None) -> Any:
        return self._model.invoke(messages, config=self._config)

    async def ainvoke(self, messages: Any, config: Any = None) -> Any:
        return await self._model.ainvoke(messages, config=self._config)


def _messages(given: Any) -> list[Any]:
    """The messages of an input.

    Raises:
        InvalidInput: It holds none.
    """
    if isinstance(given, Mapping) and "messages" in given:
        given = given["messages"]
    if callable(to_messages := getattr(given, "to_messages", None)):
        given = to_messages()
    if not isinstance(given, list | tuple):
        raise InvalidInput(
            f"messages expected, or a mapping with messages and thread_id, not {type(given).__name__}"
            + (f" with the keys {sorted(map(str, given))}" if isinstance(given, Mapping) else "")
        )
    return list(given)
