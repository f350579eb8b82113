"""Long-term memory for assistants in plain Redis or Valkey. Names load when first used; no framework is imported."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from impressmem_integrations.manager import (
        ImpressMemConfig,
        ImpressMemManager,
        OrganizeImpressionsTool,
        RecallImpressionsTool,
        SaveImpressionsTool,
        SaveImpressionTool,
    )
    from impressmem_integrations.settings import Limits, Scope, Tokenizer
    from impressmem_integrations.store import ImpressionStore
    from impressmem_integrations.turns import slice_new_turn_messages

_HOMES = {
    "ImpressMemConfig": "manager",
    "ImpressMemManager": "manager",
    "ImpressionStore": "store",
    "Limits": "settings",
    "OrganizeImpressionsTool": "manager",
    "RecallImpressionsTool": "manager",
    "SaveImpressionTool": "manager",
    "SaveImpressionsTool": "manager",
    "Scope": "settings",
    "Tokenizer": "settings",
    "slice_new_turn_messages": "turns",
}

__all__ = [
    "ImpressMemConfig",
    "ImpressMemManager",
    "ImpressionStore",
    "Limits",
    "OrganizeImpressionsTool",
    "RecallImpressionsTool",
    "SaveImpressionTool",
    "SaveImpressionsTool",
    "Scope",
    "Tokenizer",
    "slice_new_turn_messages",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
