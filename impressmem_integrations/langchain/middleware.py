"""`ImpressionMiddleware`: memory for agents made with `langchain.agents.create_agent`.

Each hook stands twice, blocking and awaitable, as one or two lines; what they do is computed by shared pure helpers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import TracebackType
from typing import Annotated, Any, Final, Literal, NotRequired, Self

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest, ToolRuntime
from langgraph.runtime import Runtime
from langgraph.types import Command

from impressmem_integrations.availability import DEFAULT_LIMIT_SECONDS, availability_of
from impressmem_integrations.errors import ConfigurationError, JobError
from impressmem_integrations.langchain import window
from impressmem_integrations.langchain.identity import FROM_STORE, Filled, Identity, Run, Template, User, thread_of
from impressmem_integrations.langchain.injection import (
    UNAVAILABLE,
    Shown,
    query_of,
    shown,
    with_relevant,
    with_text,
)
from impressmem_integrations.langchain.reading import OnError, Reader, faults_to
from impressmem_integrations.langchain.tools import (
    RecallImpressionsTool,
    impression_tools,
    name_of,
    require_own_names,
)
from impressmem_integrations.langchain.upkeep import Job, Upkeep, event_of
from impressmem_integrations.maintenance.models import aanswering, answering
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Context, Report
from impressmem_integrations.options import check_options
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.tools.definitions import RECALL_IMPRESSIONS

Maintenance = Literal["background", "inline", "off"]

MEMORY_SWITCH: Final = "impression_memory"
"""The key of the run's context or `configurable` that switches memory for one run: `on`, `read-only` or `off`."""
_STATE: Final = "impressmem"


class ImpressionState(AgentState[Any]):
    """What a thread remembers between hooks, for each middleware by its name; never memory text.

    `memory`, `user` and `thread` of the newest run; `marks`, ids of the last messages of up to three turns; `words`,
    the texts of the turn's user messages while a run goes on. It is in no schema and no result, but a checkpointer
    keeps it, and the streams `values` and `updates` and `get_state` show it.
    """

    impressmem: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


class ImpressionMiddleware(AgentMiddleware[ImpressionState, Any, Any]):
    """Gives an agent a memory of each user.

    Each model call sees the user's memory, in copies that the conversation's state never holds; after the turn a model
    decides what of it to keep. One compiled agent serves many users at once. Put it after middleware that replaces the
    system prompt (`dynamic_prompt`).

    Attributes:
        name: Distinguishes several of them in one agent.
        tools: The memory tools, where the agent gets them.
    """

    state_schema = ImpressionState

    def __init__(
        self,
        store: ImpressionStore,
        *,
        user: User = FROM_STORE,
        model: Any = None,
        maintenance: Maintenance = "background",
        tools: bool = True,
        on_error: OnError = "log",
        name: str = "ImpressionMiddleware",
        thread: Template | None = None,
        budget_units: int | None = None,
        on_report: Callable[[Report], object] | None = None,
        settings: Settings | None = None,
        runner: Runner | None = None,
        limit_seconds: float = DEFAULT_LIMIT_SECONDS,
    ) -> None:
        """Set memory up; nothing is opened before the first run.

        Args:
            store: The memory.
            user: Whose memory, per run: a text with fields such as `"{user_id}"`, filled from the run's context, then
                from `configurable`; a fixed id; a function of the `Run`; None for the bot's own shared memory. Not
                given: the store's own user if it has one, else `"{user_id}"`.
            model: Decides what to keep: a chat model, a name for `init_chat_model`, or a callable as for
                `ImpressionStore.maintain`; None takes the model that the agent called last.
            maintenance: `background` never delays the answer; `inline` runs before it is returned; `off`.
            tools: Whether the agent gets the tools to save, recall and organize.
            on_error: What a fault of the store or the maintenance model does: `log`; `raise`; or a function that gets
                the error. In the background nothing can be raised: `flush` returns the errors.
            name: Distinguishes several of them in one agent.
            thread: Whose turns are counted together, as a template or function; None takes `thread_id`, or one common
                thread for each user where there is none.
            budget_units: The most units of memory text; 10,000 by default.
            on_report: Gets the `Report` of each maintenance; in the background, in another thread.
            settings: How maintenance asks and what it may cost.
            runner: A background runner to share with others; it is not closed here.
            limit_seconds: How long a model call waits for memory at most.

        Raises:
            ConfigurationError: An argument is wrong.
        """
        super().__init__()
        if maintenance not in ("background", "inline", "off"):
            raise ConfigurationError('maintenance must be "background", "inline" or "off"')
        check_options(
            {
                "tools": tools,
                "name": name,
                "budget_units": budget_units,
                "on_report": on_report,
                "settings": settings,
                "runner": runner,
                "limit_seconds": limit_seconds,
            }
        )
        self._name = name
        self._identity = Identity(store, user)
        self._thread = None if thread is None else Filled("thread", thread)
        self._budget_units = budget_units
        self._maintenance = maintenance
        self._model = _chat_model(model, maintenance)
        self._called: Any = None
        self._fault = faults_to(on_error)
        self._reader = Reader(store, limit_seconds, self._fault)
        self._upkeep = Upkeep(availability_of(store), self._fault, on_report, settings, runner)
        self._owns_runner = runner is None
        self.tools = impression_tools(store, user) if tools else []

    @property
    def name(self) -> str:
        """The name that distinguishes it from others of its kind."""
        return self._name

    # --- the beginning of a run: whose it is ------------------------------------------------------------------------

    def before_agent(self, state: ImpressionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Find out whose memory this run may touch, before any model is called."""
        return self._begin(state, runtime)

    async def abefore_agent(self, state: ImpressionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """The awaitable twin of `before_agent`."""
        return self._begin(state, runtime)

    def _begin(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        run = Run.of(get_config(), runtime.context)
        messages = state["messages"]
        words = window.newest_words(messages)
        entry = self._resolved(run)
        before = self._kept(state)
        # What was said while memory was off, or by another user of the thread, is not for this one to learn.
        goes_on = before is not None and (before["memory"], before["user"]) == ("on", entry["user"])
        marks = before["marks"] if before and goes_on else window.mark_before(messages, words)
        return self._update(state, entry | {"words": window.noted(words), "marks": marks})

    def _resolved(self, run: Run) -> dict[str, Any]:
        memory = run.get(MEMORY_SWITCH, "on")
        if memory not in ("on", "read-only", "off"):
            raise ConfigurationError(f'{MEMORY_SWITCH} must be "on", "read-only" or "off", not {memory!r}')
        user = None if memory == "off" else self._identity.user(run)
        thread = thread_of(run) if self._thread is None else self._thread.of(run)
        return {"memory": memory, "user": user, "thread": thread}

    def _kept(self, state: Any) -> dict[str, Any] | None:
        kept: dict[str, dict[str, Any]] = state.get(_STATE) or {}
        return kept.get(self._name)

    def _update(self, state: Any, entry: dict[str, Any]) -> dict[str, Any]:
        return {_STATE: {**(state.get(_STATE) or {}), self._name: entry}}

    def _entry(self, state: Any, runtime: Runtime[Any] | ToolRuntime[Any, Any]) -> dict[str, Any]:
        """What the run's beginning left; anew for a thread that was interrupted before this middleware was added."""
        return self._kept(state) or self._resolved(Run.of(get_config(), runtime.context)) | {"words": [], "marks": []}

    # --- a model call: memory is shown ------------------------------------------------------------------------------

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        """Show the user's memory to this call."""
        call = self._reading(request)
        return handler(self._prepared(request, self._reader.read(call) if call else None))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        """The awaitable twin of `wrap_model_call`."""
        call = self._reading(request)
        return await handler(self._prepared(request, await self._reader.aread(call) if call else None))

    def _reading(self, request: ModelRequest[Any]) -> Callable[[], Context] | None:
        entry = self._entry(request.state, request.runtime)
        if entry["memory"] == "off":
            return None
        memory = self._identity.view(entry["user"])
        query = query_of(request.messages) or query_of(window.as_messages(entry["words"]))
        return lambda: memory.context(query, self._budget_units)

    def _missed(self, error: Exception) -> None:
        if isinstance(error, ConfigurationError):
            raise error
        self._fault(error)

    def _prepared(self, request: ModelRequest[Any], context: Context | None) -> ModelRequest[Any]:
        self._called = request.model
        require_own_names(request.tools, self.tools)
        memory = self._entry(request.state, request.runtime)["memory"]
        ours = [tool for tool in request.tools if self._withheld(tool, memory)]
        tools = [tool for tool in request.tools if not any(tool is one for one in ours)]
        if memory == "off":
            return request.override(tools=tools)
        bound = any(name_of(tool) == RECALL_IMPRESSIONS.name for tool in tools)
        seen = Shown(UNAVAILABLE) if context is None else shown(context, recall_bound=bound)
        return request.override(
            system_message=with_text(request.system_message, seen.text),
            messages=with_relevant(request.messages, seen.relevant),
            tools=tools,
        )

    def _withheld(self, tool: Any, memory: str) -> bool:
        """Whether it is a tool of ours that this run must not use."""
        if not any(tool is one for one in self.tools):
            return False
        return memory == "off" or (memory == "read-only" and not isinstance(tool, RecallImpressionsTool))

    # --- a tool call: ours get the run's user -----------------------------------------------------------------------

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Carry out a memory tool for the user that the run began with, also when it is resumed without a context."""
        ready = self._ready(request)
        return ready if isinstance(ready, ToolMessage) else handler(ready)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """The awaitable twin of `wrap_tool_call`."""
        ready = self._ready(request)
        return ready if isinstance(ready, ToolMessage) else await handler(ready)

    def _ready(self, request: ToolCallRequest) -> ToolCallRequest | ToolMessage:
        tool = request.tool
        require_own_names([tool], self.tools)
        if tool is None or not any(tool is one for one in self.tools):
            return request
        entry = self._entry(request.state, request.runtime)
        if self._withheld(tool, entry["memory"]):
            return ToolMessage(
                f"Memory is {entry['memory']} in this run; nothing was done.",
                tool_call_id=request.tool_call["id"],
                name=request.tool_call["name"],
                status="error",
            )
        return request.override(tool=tool.for_user(entry["user"]))  # type: ignore[attr-defined]  # it is one of ours

    # --- the end of a run: maintenance ------------------------------------------------------------------------------

    def after_agent(self, state: ImpressionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """Hand the turn to maintenance."""
        try:
            job = self._job(state, runtime)
            if job is not None and self._inline:
                self._emit(runtime, self._upkeep.inline(job))
            elif job is not None:
                self._upkeep.submit(job)
        except Exception as error:  # noqa: BLE001 - the answer is there; on_error decides
            self._missed(error)
        return self._ended(state, runtime)

    async def aafter_agent(self, state: ImpressionState, runtime: Runtime[Any]) -> dict[str, Any]:
        """The awaitable twin of `after_agent`."""
        try:
            job = self._job(state, runtime)
            if job is not None and self._inline:
                self._emit(runtime, await self._upkeep.ainline(job))
            elif job is not None:
                self._upkeep.submit(job)
        except Exception as error:  # noqa: BLE001 - as above
            self._missed(error)
        return self._ended(state, runtime)

    @property
    def _inline(self) -> bool:
        return self._maintenance == "inline"

    def _job(self, state: Any, runtime: Runtime[Any]) -> Job | None:
        entry = self._entry(state, runtime)
        model = self._called if self._model is None else self._model
        if self._maintenance == "off" or entry["memory"] != "on" or model is None:
            return None
        said = window.to_distil(state["messages"], entry["marks"], entry["words"])
        if not said:
            return None
        before = window.earlier(state["messages"], entry["marks"])
        return Job(self._identity.view(entry["user"]), said, model, entry["thread"], datetime.now(UTC), before)

    def _emit(self, runtime: Runtime[Any], report: Report) -> None:
        event = event_of(report)
        if event is not None:
            runtime.stream_writer(event)

    def _ended(self, state: Any, runtime: Runtime[Any]) -> dict[str, Any]:
        entry = self._entry(state, runtime)
        marks = window.marks_after(entry["marks"], state["messages"])
        return self._update(state, entry | {"words": [], "marks": marks})

    # --- background work --------------------------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait for background maintenance, e.g. before a script or a serverless call ends.

        Args:
            timeout: Seconds at most; None waits without limit.

        Returns:
            What failed since the last flush, oldest first. A failed turn is tried again with the thread's next turn.

        Raises:
            TimeoutError: Not all was done in time; it goes on.
        """
        return self._upkeep.runner.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `flush`."""
        return await self._upkeep.runner.aflush(timeout)

    def close(self, timeout: float | None = None) -> list[JobError]:
        """Finish background maintenance and take no more of it; a shared runner is only flushed. As `flush` else."""
        return self._upkeep.runner.close(timeout) if self._owns_runner else self.flush(timeout)

    async def aclose(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `close`."""
        return await (self._upkeep.runner.aclose(timeout) if self._owns_runner else self.aflush(timeout))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.aclose()


def _chat_model(model: Any, maintenance: Maintenance) -> Any:
    """The maintenance model, checked; None stands for the agent's."""
    if isinstance(model, str):
        from langchain.chat_models import init_chat_model

        model = init_chat_model(model)
    if model is not None:
        (answering if maintenance == "background" else aanswering)(model)
    return model
