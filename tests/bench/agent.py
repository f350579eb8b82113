"""A turn of a LangChain agent with an instant model: what memory adds to it, here and with LangMem's tools."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tests.bench.corpus import QUESTIONS, note
from tests.bench.measure import Effort, measure
from tests.bench.results import Result
from tests.bench.rows import Call, Row, Side
from tests.bench.stage import Stage

if TYPE_CHECKING:
    from impressmem_integrations import ImpressionStore

NAMES = (
    "agent turn, memory shown",
    "agent turn, memory shown, maintenance behind",
    "agent turn, memory shown, recall tool called",
    "agent turn, LangMem's tools, none called",
    "agent turn, LangMem's tools, search called",
)
_MISSING = "not installed: pip install -e '.[dev]'"
_QUESTION = {"messages": [("user", QUESTIONS[1])]}


def turns(stage: Stage, effort: Effort) -> Iterator[Result]:
    """Measure turns of agents that differ in their memory alone; the floor is the agent without one."""
    if find_spec("langchain") is None:
        yield from (_unmeasured(stage, name, "langchain") for name in NAMES)
        return
    with ExitStack() as stack:
        store = stack.enter_context(stage.copy("agent"))
        agents = {name: stack.enter_context(made) for name, made in _ours(store).items()}
        if find_spec("langmem") is not None:
            agents |= _langmem(stage.size)
        plain = _Agent()
        for name in NAMES:
            if name not in agents:
                yield _unmeasured(stage, name, "langmem")
                continue
            row = Row(name, Side(agents[name].prepare), Side(plain.prepare, "no memory"))
            yield measure(stage, row, effort)


def _unmeasured(stage: Stage, name: str, missing: str) -> Result:
    note = f"{missing} is {_MISSING}"
    return Result(name, stage.size, "µs", None, None, None, "no memory", {}, 0, note=note)


class _Agent:
    """An agent whose model answers at once; `called` is the tool that it uses first in each turn."""

    def __init__(self, *, called: str = "", tools: tuple[Any, ...] = (), middleware: Any = None) -> None:
        from langchain.agents import create_agent

        self._middleware = middleware
        used = () if middleware is None else (middleware,)
        self._agent = create_agent(_instant_model(called), tools=list(tools), middleware=used)

    def __enter__(self) -> _Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self._middleware.close()

    def prepare(self, _: Stage) -> Call:
        """Wait for the work behind the turn before, which is no part of this one's time."""
        if self._middleware is not None:
            self._middleware.flush()
        return lambda: self._agent.invoke(_QUESTION)


def _instant_model(called: str) -> Any:
    from langchain_core.messages import BaseMessage, HumanMessage

    from tests.langchain.chat import ScriptedChat, use

    class Instant(ScriptedChat):
        def _next(self, messages: list[BaseMessage]) -> Any:
            self.replies = (
                [use(called, query=QUESTIONS[1])] if called and isinstance(messages[-1], HumanMessage) else []
            )
            self._requests.clear()  # what was asked is of no interest here, and grows
            return super()._next(messages)

    return Instant(fallback="IGNORE")


def _ours(store: ImpressionStore) -> dict[str, _Agent]:
    from impressmem_integrations.langchain import ImpressionMiddleware

    def agent(called: str = "", maintenance: Any = "off") -> _Agent:
        middleware = ImpressionMiddleware(store, user=None, maintenance=maintenance)
        return _Agent(called=called, middleware=middleware)

    return dict(zip(NAMES, (agent(), agent(maintenance="background"), agent("recall_impressions")), strict=False))


def _langmem(size: int) -> dict[str, _Agent]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # LangMem's own imports
        from langmem import create_manage_memory_tool, create_search_memory_tool
    from langgraph.store.memory import InMemoryStore

    namespace, store = ("memories",), InMemoryStore()
    for number in range(size):
        store.put(namespace, str(number), {"content": note(number, size).content})
    tools = (create_manage_memory_tool(namespace, store=store), create_search_memory_tool(namespace, store=store))
    return {NAMES[3]: _Agent(tools=tools), NAMES[4]: _Agent(tools=tools, called="search_memory")}
