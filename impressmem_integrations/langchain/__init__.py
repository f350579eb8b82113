"""Memory for LangChain and LangGraph. Needs the extra `langchain`; names load when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from impressmem_integrations.errors import MissingExtra

if TYPE_CHECKING:
    from impressmem_integrations.langchain.chain import context_chain, maintenance_chain
    from impressmem_integrations.langchain.memory import ImpressionMemory
    from impressmem_integrations.langchain.middleware import ImpressionMiddleware
    from impressmem_integrations.langchain.node import impression_nodes
    from impressmem_integrations.langchain.retriever import ImpressionRetriever
    from impressmem_integrations.langchain.store import ImpressionBaseStore
    from impressmem_integrations.langchain.tools import impression_tools

_HOMES = {
    "ImpressionBaseStore": "store",
    "ImpressionMemory": "memory",
    "ImpressionMiddleware": "middleware",
    "ImpressionRetriever": "retriever",
    "context_chain": "chain",
    "impression_nodes": "node",
    "impression_tools": "tools",
    "maintenance_chain": "chain",
}

__all__ = [
    "ImpressionBaseStore",
    "ImpressionMemory",
    "ImpressionMiddleware",
    "ImpressionRetriever",
    "context_chain",
    "impression_nodes",
    "impression_tools",
    "maintenance_chain",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("langchain", "langchain_core", "langgraph", "pydantic"):
            raise MissingExtra(f"{name} of impressmem_integrations.langchain", "langchain") from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
