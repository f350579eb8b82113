"""Whether a plan that comes back from the caller's code is one: dataclasses take any value. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Plan, PlanStep

_KINDS = ("add", "change", "pin", "unpin", "nothing", "merge")
_LEVELS = ("category", "label", "clue")


def check_given(plan: Plan) -> None:
    """Check what the types of a plan promise. Names and contents are checked step by step where it is carried out.

    Raises:
        InvalidInput: A field of the plan or of a step is of another type; the message names it.
    """
    for name in ("id", "thread"):
        _must(isinstance(getattr(plan, name), str), name, "text", getattr(plan, name))
    _must(_holds(plan.turns, str), "turns", "a tuple of texts", plan.turns)
    _must(_holds(plan.steps, PlanStep), "steps", "a tuple of PlanStep(...)", plan.steps)
    _must(_is_whole(plan.generation), "generation", "a whole number", plan.generation)
    _must(plan.said_at is None or isinstance(plan.said_at, datetime), "said_at", "a datetime or None", plan.said_at)
    for step in plan.steps:
        _must(step.kind in _KINDS, "kind of a step", f"one of {', '.join(_KINDS)}", step.kind)
        _must(step.level in _LEVELS, "level of a step", f"one of {', '.join(_LEVELS)}", step.level)
        _must(_holds(step.sources, str), "sources of a step", "a tuple of names", step.sources)
        _must(
            _holds(step.base, Sequence) and all(map(_is_base, step.base)),
            "base of a step",
            "pairs of a clue and its Impression.version",
            step.base,
        )


def _must(holds: bool, what: str, words: str, given: object) -> None:
    if not holds:
        raise InvalidInput(f"{what} in a plan must be {words}, not {type(given).__name__}")


def _holds(values: Any, kind: type) -> bool:
    return isinstance(values, tuple | list) and all(isinstance(value, kind) for value in values)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_base(pair: Sequence[Any]) -> bool:
    if len(pair) != 2 or not isinstance(pair[0], str):
        return False
    return isinstance(pair[1], tuple | list) and len(pair[1]) == 2 and all(map(_is_whole, pair[1]))
