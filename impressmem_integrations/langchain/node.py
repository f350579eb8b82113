"""Memory for hand-written LangGraph graphs: a node that reads it before the model, one that keeps the turn after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from impressmem_integrations.availability import DEFAULT_LIMIT_SECONDS
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.langchain.chain import context_chain, maintenance_chain
from impressmem_integrations.langchain.identity import FROM_STORE, User
from impressmem_integrations.langchain.reading import OnError
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report
from impressmem_integrations.options import check_options
from impressmem_integrations.store import ImpressionStore


class ImpressionNodes(NamedTuple):
    """The two nodes; unpack them, or use them by name.

    Attributes:
        read: Puts what is remembered into the state, as text for the system prompt; "" while there is nothing.
        keep: Distils the turns of the state's messages that were not distilled yet.
    """

    read: Runnable[Any, dict[str, Any]]
    keep: Runnable[Any, dict[str, Any]]


def impression_nodes(
    store: ImpressionStore,
    model: Any,
    *,
    user: User = FROM_STORE,
    messages_key: str = "messages",
    memory_key: str = "memory",
    report_key: str | None = None,
    budget_units: int | None = None,
    settings: Settings | None = None,
    on_error: OnError = "log",
    limit_seconds: float = DEFAULT_LIMIT_SECONDS,
) -> ImpressionNodes:
    """Two nodes for `StateGraph.add_node`, for graphs that are invoked and awaited.

    Declare the memory's key as `Annotated[str, UntrackedValue]` (`langgraph.channels`): then no checkpoint holds what
    is remembered. A failing model or store does not fail `keep`: the report says so, and the turn is distilled later.
    Where `read` cannot read memory in time, the text says that it is unavailable, not empty.

    Args:
        store: The memory.
        model: Decides what to keep, as for `maintenance_chain`.
        user: Whose memory, per run, from the run's context or `configurable`; as for `ImpressionMiddleware`.
        messages_key: Where the state has its messages.
        memory_key: Where the state gets what is remembered.
        report_key: Where the state gets the `Report`; None keeps it out.
        budget_units: The most units of memory text; 10,000 where None.
        settings: How to ask and what it may cost.
        on_error: What a `read` that fails does: `log`; `raise`; or a function that gets the error.
        limit_seconds: How long `read` waits for memory at most.

    Raises:
        ConfigurationError: An argument is wrong.
    """
    check_options({"messages_key": messages_key, "memory_key": memory_key, "report_key": report_key})
    context = context_chain(store, user=user, budget_units=budget_units, on_error=on_error, limit_seconds=limit_seconds)
    maintenance = maintenance_chain(store, model, user=user, settings=settings)

    def said(state: Any) -> Any:
        found = state.get(messages_key) if isinstance(state, Mapping) else getattr(state, messages_key, None)
        if found is None:
            raise InvalidInput(f"the state has no {messages_key!r}; name its messages with messages_key=")
        return found

    def told(report: Report) -> dict[str, Any]:
        return {} if report_key is None else {report_key: report}

    def read(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {memory_key: context.invoke(said(state), config)}

    async def aread(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return {memory_key: await context.ainvoke(said(state), config)}

    def keep(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return told(maintenance.invoke(said(state), config))

    async def akeep(state: Any, config: RunnableConfig) -> dict[str, Any]:
        return told(await maintenance.ainvoke(said(state), config))

    return ImpressionNodes(
        RunnableLambda(read, aread, name="read_memory"), RunnableLambda(keep, akeep, name="keep_memory")
    )
