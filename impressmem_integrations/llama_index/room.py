"""How much of a model's window memory takes where nobody said so."""

from __future__ import annotations

from typing import Any

from impressmem_integrations.core.bound import DEFAULT_BUDGET_UNITS, DEFAULT_RECALL_UNITS, Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.core.flows.contexts import context, context_and_relevant
from impressmem_integrations.model import Context

_SHARE = 4
"""Memory takes at most this part of a window; a unit is about a token."""


def room_in(*windows: object) -> int | None:
    """The most units of memory text beside a conversation: a quarter of the smallest window that is known.

    Args:
        windows: Tokens; what is no number is not known.

    Returns:
        At least 1; None where no window is known.
    """
    known = [size for size in windows if isinstance(size, int) and not isinstance(size, bool) and size > 0]
    return max(1, min(known) // _SHARE) if known else None


def window_of(model: Any) -> object:
    """The context window that a LlamaIndex LLM states; None of anything else."""
    try:
        return getattr(model.metadata, "context_window", None)
    except Exception:  # noqa: BLE001 - a property of other people's: OpenAI's raises for a model it does not know
        return None


def shown(bound: Bound, query: str | None, budget_units: int | None, room: int | None) -> Flow[Context]:
    """The context for a call.

    Args:
        bound: The scope.
        query: The question.
        budget_units: The most units of its text as they were asked for; the lines for the question come on top.
        room: The most units of both together, where none were asked for; None for the defaults.
    """
    if budget_units is not None or room is None or room >= DEFAULT_BUDGET_UNITS + DEFAULT_RECALL_UNITS:
        return (yield from context(bound, query, budget_units))
    for_question = min(DEFAULT_RECALL_UNITS, room // _SHARE)
    return (yield from context_and_relevant(bound, query, room - for_question, for_question))
