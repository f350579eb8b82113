"""LLMs of LlamaIndex: function calling ones with tools, all others for text.

What a model called is read from its message as it stands there, never with LlamaIndex' own parser: that one completes
arguments which were cut off.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ModelError, ToolsUnsupported
from impressmem_integrations.maintenance.models import tool_options
from impressmem_integrations.maintenance.models.results import tools_of


def takes(model: Any) -> bool:
    """Whether it is an LLM object."""
    return hasattr(type(model), "metadata") and all(callable(getattr(model, name, None)) for name in ("chat", "achat"))


def blocking(model: Any) -> Callable[[AskModel], Any]:
    """Ask with `chat_with_tools`, or `chat` for text. It needs no loop, so a background thread may use it."""

    def call(question: AskModel) -> Any:
        asked, options = _plain(model), _options(model, question)
        return asked.chat_with_tools(**options) if "tools" in options else asked.chat(options["chat_history"])

    return call


def awaited(model: Any) -> Callable[[AskModel], Awaitable[Any]]:
    """Ask with the awaitable twins."""

    async def call(question: AskModel) -> Any:
        asked, options = _plain(model), _options(model, question)
        if "tools" in options:
            return await asked.achat_with_tools(**options)
        return await asked.achat(options["chat_history"])

    return call


def left_aside(model: Any) -> tuple[str, ...]:
    """What of the user's own options is not used, in words."""
    return tool_options.notes(tool_options.left_aside(model=model))


def _plain(model: Any) -> Any:
    """The model, or a copy without the options that would come before ours."""
    update = tool_options.cleaned(model)
    return model.model_copy(update=update) if update else model


def _options(model: Any, question: AskModel) -> dict[str, Any]:
    message = _message_class()
    history = [message(role=given["role"], content=given["content"]) for given in question.messages]
    tools = tools_of(question)
    if tools is None:
        return {"chat_history": history}
    name = type(model).__name__
    if not callable(getattr(model, "chat_with_tools", None)):
        raise ToolsUnsupported(f"{name} is no function calling LLM")
    if not model.metadata.is_function_calling_model:
        raise ToolsUnsupported(f"{name} says that its model is not for function calling (is_function_calling_model)")
    # Without the last option all calls but the first are dropped.
    return {"chat_history": history, "tools": [_Tool(tool) for tool in tools], "allow_parallel_tool_calls": True}


def _message_class() -> Any:
    """LlamaIndex' message: its LLMs take no other, and whoever has such an LLM has loaded the module."""
    module = sys.modules.get("llama_index.core.base.llms.types")
    if module is None:
        raise ModelError("this LLM looks like one of LlamaIndex, but llama_index.core is not loaded")
    return module.ChatMessage


class _Tool:
    """A definition in OpenAI form as what LlamaIndex reads of a tool."""

    def __init__(self, definition: dict[str, Any]) -> None:
        self.metadata = _Metadata(definition)


class _Metadata:
    """The description side of a LlamaIndex tool."""

    return_direct = False

    def __init__(self, definition: dict[str, Any]) -> None:
        self._definition = definition
        self.name: str = definition["function"]["name"]
        self.description: str = definition["function"]["description"]

    def get_name(self) -> str:
        return self.name

    def get_parameters_dict(self) -> dict[str, Any]:
        parameters: dict[str, Any] = self._definition["function"]["parameters"]
        return parameters

    def to_openai_tool(self, skip_length_check: bool = False) -> dict[str, Any]:
        return self._definition
