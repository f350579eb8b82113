"""Memory for LlamaIndex. Needs the extra `llama-index`; names load when first used.

memory       a memory around any other one: shows what is remembered, learns from each finished turn
block        a block for LlamaIndex' own `Memory`
tools        the memory tools for agents
retriever    recall as a retriever
events       what the instrumentation dispatcher hears of
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from impressmem_integrations.errors import MissingExtra

if TYPE_CHECKING:
    from impressmem_integrations.llama_index.block import ImpressionMemoryBlock
    from impressmem_integrations.llama_index.memory import ImpressionMemory
    from impressmem_integrations.llama_index.retriever import ImpressionRetriever
    from impressmem_integrations.llama_index.tools import ImpressionToolSpec

_HOMES = {
    "ImpressionMemory": "memory",
    "ImpressionMemoryBlock": "block",
    "ImpressionRetriever": "retriever",
    "ImpressionToolSpec": "tools",
}

__all__ = ["ImpressionMemory", "ImpressionMemoryBlock", "ImpressionRetriever", "ImpressionToolSpec"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("llama_index", "llama_index_instrumentation", "pydantic"):
            raise MissingExtra(f"{name} of impressmem_integrations.llama_index", "llama-index") from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
