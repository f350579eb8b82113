"""Any chat model as the one who answers `AskModel`: found out by shape, no framework is imported."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ConfigurationError, ModelError
from impressmem_integrations.model import Answer
from impressmem_integrations.tools.calls import read_answer


def answering(model: Any) -> Callable[[AskModel], Answer]:
    """A function that asks the model in blocking code.

    Args:
        model: A LangChain chat model (or a runnable made from one with tools bound), or a callable
            `(messages, tools) -> str | dict | message`.

    Raises:
        ConfigurationError: It is neither.
    """
    if _is_langchain(model):
        return lambda question: _read(_langchain(model, question).invoke, question.messages, config=_quiet())
    if callable(model):
        if inspect.iscoroutinefunction(model) or inspect.iscoroutinefunction(type(model).__call__):
            raise ConfigurationError("the model is an async callable: use amaintain, or give a blocking one")
        return lambda question: _read(model, list(question.messages), _tools(question))
    raise _unusable(model)


def aanswering(model: Any) -> Callable[[AskModel], Awaitable[Answer]]:
    """A function that asks the model in asyncio code; blocking callables are called as they are.

    Raises:
        ConfigurationError: It is no chat model.
    """
    if _is_langchain(model):

        async def by_langchain(question: AskModel) -> Answer:
            return await _aread(_langchain(model, question).ainvoke, question.messages, config=_quiet())

        return by_langchain
    if callable(model):

        async def by_callable(question: AskModel) -> Answer:
            return await _aread(model, list(question.messages), _tools(question))

        return by_callable
    raise _unusable(model)


def _unusable(model: Any) -> ConfigurationError:
    return ConfigurationError(
        f"{type(model).__name__} is no chat model: give a LangChain chat model, or a callable (messages, tools)"
    )


def _is_langchain(model: Any) -> bool:
    return callable(getattr(model, "invoke", None)) and callable(getattr(model, "ainvoke", None))


def _langchain(model: Any, question: AskModel) -> Any:
    """The model with the tools bound; one that cannot bind has them bound already or takes none."""
    bind = getattr(model, "bind_tools", None)
    tools = _tools(question)
    if bind is None or tools is None:
        return model
    try:
        return bind(tools)
    except NotImplementedError as error:
        raise ModelError(f"{type(model).__name__} does not support tools") from error


def _quiet() -> dict[str, Any]:
    """Keep maintenance out of the user's stream and traces."""
    return {"tags": ["nostream"], "callbacks": []}


def _tools(question: AskModel) -> list[dict[str, Any]] | None:
    return None if question.tools is None else [dict(tool) for tool in question.tools]


def _read(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Answer:
    try:
        return read_answer(call(*args, **kwargs))
    except Exception as error:
        raise _failed(error) from error


async def _aread(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Answer:
    try:
        answer = call(*args, **kwargs)
        return read_answer(await answer if inspect.isawaitable(answer) else answer)
    except Exception as error:
        raise _failed(error) from error


def _failed(error: Exception) -> ModelError:
    """Whatever a model raises, as one error; its own words are the provider's and may help."""
    if isinstance(error, ModelError):
        return error
    return ModelError(f"the model failed: {type(error).__name__}: {str(error)[:300]}")
