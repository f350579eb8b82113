"""What a model was set up with for the user's own tools. It says nothing about ours, whose choice stays auto.

Thinking models refuse any other choice, and nothing to keep must be a possible answer. So a choice is left aside
wherever a framework keeps options that it adds to each request, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_OPTIONS = frozenset(
    {"tools", "tool_choice", "tool_config", "functions", "function_call", "parallel_tool_calls", "stream"}
)
_CHOICES = ("tool_choice", "function_call", "tool_config")
_FIELDS = ("model_kwargs", "extra_body", "additional_kwargs")
"""Fields of model objects whose entries the framework adds to each request."""


def without(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those about tools and streams."""
    return {name: value for name, value in options.items() if name not in _OPTIONS}


def cleaned(model: Any) -> dict[str, Any]:
    """The fields of a model object that hold such options, without them: an update for `model_copy`."""
    return {name: without(held) for name, held in _held(model) if not _OPTIONS.isdisjoint(held)}


def left_aside(*settings: Mapping[str, Any], model: Any = None) -> Iterator[str]:
    """The names of choices other than auto in options and in a model object's fields."""
    for options in (*settings, *(held for _, held in _held(model))):
        yield from (name for name in _CHOICES if not _is_auto(options.get(name)))


def notes(names: Iterable[str]) -> tuple[str, ...]:
    """What the report says of choices that were left aside, once each."""
    return tuple(
        f"the model's own {name} was left aside: maintenance asks with tool choice auto"
        for name in dict.fromkeys(names)
    )


def _held(model: Any) -> list[tuple[str, Mapping[str, Any]]]:
    found = ((name, getattr(model, name, None)) for name in _FIELDS)
    return [(name, held) for name, held in found if isinstance(held, Mapping)]


def _is_auto(choice: Any) -> bool:
    if isinstance(choice, Mapping):
        choice = choice.get("function_calling_config", choice)  # Gemini
        choice = (choice.get("mode") or choice.get("type")) if isinstance(choice, Mapping) else choice
    return choice is None or choice is False or (isinstance(choice, str) and choice.lower() == "auto")
