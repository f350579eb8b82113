"""Long-term memory for assistants in plain Redis or Valkey. Names load when first used; no framework is imported."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from impressmem_integrations.settings import Limits, Scope, Tokenizer
    from impressmem_integrations.store import ImpressionStore

_HOMES = {
    "ImpressionStore": "store",
    "Limits": "settings",
    "Scope": "settings",
    "Tokenizer": "settings",
}

__all__ = ["ImpressionStore", "Limits", "Scope", "Tokenizer"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
