"""What LlamaIndex' instrumentation dispatcher hears of."""

from __future__ import annotations

from llama_index.core.instrumentation import Dispatcher, get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.base import BaseEvent  # type: ignore[attr-defined]

from impressmem_integrations.model import Report

_dispatcher: Dispatcher = get_dispatcher(__name__)


class MemoryUpdatedEvent(BaseEvent):
    """Maintenance changed what is remembered. It names clues, never contents; it comes from a background thread.

    Attributes:
        user: Whose memory; None for the bot's own.
        thread_id: The conversation it was learnt from.
        saved: Clues that are new.
        changed: Clues whose note changed.
        merged: Names that others were merged into.
        transaction: What `ImpressionStore.undo` takes.
    """

    user: str | None
    thread_id: str
    saved: list[str]
    changed: list[str]
    merged: list[str]
    transaction: str | None

    @classmethod
    def class_name(cls) -> str:
        """Its name for handlers."""
        return "MemoryUpdatedEvent"


def tell(report: Report, user: str | None, thread_id: str) -> None:
    """Send the event where something changed."""
    if report.status != "stored":
        return
    _dispatcher.event(
        MemoryUpdatedEvent(
            user=user,
            thread_id=thread_id,
            saved=list(report.saved),
            changed=list(report.changed),
            merged=[merge.target for merge in report.merged],
            transaction=report.transaction,
        )
    )
