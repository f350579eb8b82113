"""LangChain chat models and runnables around them: `.bind()`, `.with_config()`, `.with_fallbacks()`, `.with_retry()`.

Tools are bound to the innermost models and the wrappings laid around them again: `bind_tools` of a wrapping would lose
its options, and a retry has none.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ToolsUnsupported
from impressmem_integrations.maintenance.models import tool_options
from impressmem_integrations.maintenance.models.results import tools_of


def takes(model: Any) -> bool:
    """Whether it is a runnable."""
    return not isinstance(model, type) and all(callable(getattr(model, name, None)) for name in ("invoke", "ainvoke"))


def blocking(model: Any) -> Callable[[AskModel], Any]:
    """Ask with `invoke`."""

    def call(question: AskModel) -> Any:
        with _apart():
            return _prepared(model, tools_of(question)).invoke(list(question.messages), config=_quiet())

    return call


def awaited(model: Any) -> Callable[[AskModel], Awaitable[Any]]:
    """Ask with `ainvoke`."""

    async def call(question: AskModel) -> Any:
        with _apart():
            return await _prepared(model, tools_of(question)).ainvoke(list(question.messages), config=_quiet())

    return call


def left_aside(model: Any) -> tuple[str, ...]:
    """What of the user's own options is not used, in words."""
    return tool_options.notes(_choices(model))


def _choices(model: Any) -> Iterator[str]:
    parts = vars(model) if hasattr(model, "__dict__") else {}
    if "bound" in parts and isinstance(parts.get("kwargs"), Mapping):
        yield from tool_options.left_aside(model.kwargs)
        yield from _choices(model.bound)
    elif "runnable" in parts and "fallbacks" in parts:
        for one in (model.runnable, *model.fallbacks):
            yield from _choices(one)
    else:
        yield from tool_options.left_aside(model=model)


def _quiet() -> dict[str, Any]:
    """Keep maintenance out of the user's stream and traces. Callbacks that the model was given itself still hear it."""
    return {"tags": ["nostream"], "callbacks": []}


@contextmanager
def _apart() -> Iterator[None]:
    """Leave the run around us: bound runnables take its callbacks even where they are told to use none."""
    module = sys.modules.get("langchain_core.runnables.config")
    around: ContextVar[Any] | None = getattr(module, "var_child_runnable_config", None)
    if around is None:
        yield
        return
    token = around.set(None)
    try:
        yield
    finally:
        around.reset(token)


def _prepared(model: Any, tools: list[dict[str, Any]] | None) -> Any:
    """The same runnable around models that have these tools and do not stream."""
    parts = vars(model) if hasattr(model, "__dict__") else {}
    if "bound" in parts and isinstance(parts.get("kwargs"), Mapping):
        kwargs = tool_options.without(model.kwargs)
        return model.model_copy(update={"bound": _prepared(model.bound, tools), "kwargs": kwargs})
    if "runnable" in parts and "fallbacks" in parts:
        fallbacks = [_prepared(fallback, tools) for fallback in model.fallbacks]
        return model.model_copy(update={"runnable": _prepared(model.runnable, tools), "fallbacks": fallbacks})
    model = _whole(model)
    if tools is None:
        return model
    bind = getattr(model, "bind_tools", None)
    if bind is None:
        raise ToolsUnsupported(f"{type(model).__name__} cannot bind tools")
    try:
        return bind(tools)
    except NotImplementedError as error:
        raise ToolsUnsupported(f"{type(model).__name__} does not support tools") from error


def _whole(model: Any) -> Any:
    """A copy that neither streams nor adds tool options of the user's own.

    From streamed pieces arguments that were cut off are completed and pass as whole.
    """
    fields = getattr(type(model), "model_fields", ())
    # ChatOpenAI asks for a stream wherever `streaming` is set, also when streaming is disabled.
    off = {name: value for name, value in (("disable_streaming", True), ("streaming", False)) if name in fields}
    update = {**off, **tool_options.cleaned(model)}
    return model.model_copy(update=update) if update else model
