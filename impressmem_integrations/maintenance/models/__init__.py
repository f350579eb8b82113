"""Any chat model as the one who answers `AskModel`: found out by shape, no framework is imported.

langchain     chat models and runnables around them
llama_index   LLMs of LlamaIndex
callables     functions, and objects such as `OpenAIChat` that have an awaitable twin `acall`
tool_options  a tool choice of the user's own is left aside
results       what came back as an `Answer`, what was raised as a `ModelError`
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.models import callables, langchain, llama_index
from impressmem_integrations.maintenance.models.results import aanswer, answer
from impressmem_integrations.model import Answer

__all__ = ["aanswering", "answering"]


def answering(model: Any) -> Callable[[AskModel], Answer]:
    """A function that asks the model in blocking code.

    Args:
        model: A LangChain chat model (or a runnable around one), a LlamaIndex LLM, an `OpenAIChat`, or a callable
            `(messages, tools) -> str | dict | message`.

    Returns:
        The function; it raises `ToolsUnsupported` for a question with tools where the model takes none, and
        `ModelError` for whatever else goes wrong.

    Raises:
        ConfigurationError: It is none of these, or an async callable.
    """
    way = _way(model)
    call, notes, name = way.blocking(model), way.left_aside(model), _name(model)
    return lambda question: replace(answer(call, question), notes=notes, model=name)


def aanswering(model: Any) -> Callable[[AskModel], Awaitable[Answer]]:
    """The twin of `answering` for asyncio code; a blocking callable is called in a thread.

    Raises:
        ConfigurationError: It is no chat model.
    """
    way = _way(model)
    call, notes, name = way.awaited(model), way.left_aside(model), _name(model)

    async def ask(question: AskModel) -> Answer:
        return replace(await aanswer(call, question), notes=notes, model=name)

    return ask


def _way(model: Any) -> Any:
    """The module that knows this kind of model."""
    for way in (langchain, llama_index, callables):
        if way.takes(model):
            return way
    raise ConfigurationError(
        f"{type(model).__name__} is no chat model: give a LangChain chat model, a LlamaIndex LLM, "
        "OpenAIChat(client, model=...), or a callable (messages, tools)"
    )


def _name(model: Any) -> str:
    """The model in messages. Runnables around it are looked through."""
    for place in ("bound", "runnable"):
        if langchain.takes(inner := getattr(model, place, None)):
            return _name(inner)
    kind = getattr(model, "__name__", None) or type(model).__name__
    named = (getattr(model, field, None) for field in ("model_name", "model"))
    return next((f"{kind} {name}" for name in named if isinstance(name, str) and name), str(kind))
