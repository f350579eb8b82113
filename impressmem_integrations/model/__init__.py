"""The values that cross the public API: frozen, comparable, without behaviour that touches a server.

They load when first used: those of a conversation and of upkeep are not needed to save and recall.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from impressmem_integrations.model.memory import (
        Context,
        ForgetCertificate,
        Impression,
        JournalEntry,
        MergeResult,
        Named,
        Omission,
        PinResult,
        Ranked,
        Recall,
        SaveResult,
        Stats,
        Why,
        common_prefix,
    )
    from impressmem_integrations.model.talk import (
        Answer,
        Message,
        Plan,
        PlanStep,
        Refusal,
        Report,
        ReportStatus,
        ToolCall,
        Turn,
        Usage,
    )
    from impressmem_integrations.model.upkeep import ImportResult, Problem

_HOMES = {
    **dict.fromkeys(
        (
            "Answer",
            "Message",
            "Plan",
            "PlanStep",
            "Refusal",
            "Report",
            "ReportStatus",
            "ToolCall",
            "Turn",
            "Usage",
        ),
        "talk",
    ),
    **dict.fromkeys(("ImportResult", "Problem"), "upkeep"),
}
"""Where a name stands; all others stand in `memory`."""

__all__ = [
    "Answer",
    "Context",
    "ForgetCertificate",
    "ImportResult",
    "Impression",
    "JournalEntry",
    "MergeResult",
    "Message",
    "Named",
    "Omission",
    "PinResult",
    "Plan",
    "PlanStep",
    "Problem",
    "Ranked",
    "Recall",
    "Refusal",
    "Report",
    "ReportStatus",
    "SaveResult",
    "Stats",
    "ToolCall",
    "Turn",
    "Usage",
    "Why",
    "common_prefix",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'memory')}"), name)
    globals()[name] = value
    return value
