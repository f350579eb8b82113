"""Plain callables `(messages, tools) -> str | dict | message` in OpenAI form."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.models.results import tools_of


def takes(model: Any) -> bool:
    """Whether it can be called. A class is a mistake for its object."""
    return callable(model) and not isinstance(model, type)


def blocking(model: Any) -> Callable[[AskModel], Any]:
    """Call it as it is.

    Raises:
        ConfigurationError: It is async.
    """
    if _is_async(model):
        raise ConfigurationError("the model is an async callable: use amaintain, or give a blocking one")
    return lambda question: model(list(question.messages), tools_of(question))


def awaited(model: Any) -> Callable[[AskModel], Awaitable[Any]]:
    """Await it; a blocking one runs in a thread, so that the loop goes on while the model thinks."""
    twin = getattr(model, "acall", None)
    target: Any = twin if _is_async(twin) else model

    async def call(question: AskModel) -> Any:
        messages, tools = list(question.messages), tools_of(question)
        if _is_async(target):
            return await target(messages, tools)
        result = await asyncio.to_thread(target, messages, tools)
        return await result if inspect.isawaitable(result) else result

    return call


def left_aside(model: Any) -> tuple[str, ...]:
    """Nothing: what a callable sends is its own."""
    return ()


def _is_async(model: Any) -> bool:
    return inspect.iscoroutinefunction(model) or inspect.iscoroutinefunction(type(model).__call__)
