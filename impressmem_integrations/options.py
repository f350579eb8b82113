"""Options that the adapters share, checked when an adapter is made: a wrong one would only show in a run, or never."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.maintenance.settings import Settings


class _Rule(NamedTuple):
    allows: Callable[[Any], bool]
    words: str


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_listener(value: Any) -> bool:
    return callable(value) and not inspect.iscoroutinefunction(value)


_COUNT: Final = _Rule(
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 1,
    "a whole number of at least 1",
)
_SWITCH: Final = _Rule(lambda value: isinstance(value, bool), "True or False")
_NAME: Final = _Rule(_is_name, "a text that is not empty")


def _or_none(rule: _Rule) -> _Rule:
    return _Rule(lambda value: value is None or rule.allows(value), f"{rule.words}, or None")


_RULES: Final[Mapping[str, _Rule]] = {
    "budget_units": _or_none(_COUNT),
    "fill": _SWITCH,
    "input_key": _or_none(_NAME),
    "k": _COUNT,
    "limit_seconds": _Rule(
        lambda value: _is_number(value) and 0 < value <= threading.TIMEOUT_MAX, "a number of seconds above 0"
    ),
    "memory_key": _NAME,
    "messages_key": _NAME,
    "name": _NAME,
    "on_report": _or_none(_Rule(_is_listener, "a blocking function of the report")),
    "output_key": _or_none(_NAME),
    "report_key": _or_none(_NAME),
    "return_messages": _SWITCH,
    "runner": _or_none(_Rule(lambda value: isinstance(value, Runner), "a Runner(...)")),
    "settings": _or_none(
        _Rule(lambda value: isinstance(value, Settings), "a Settings(...) of impressmem_integrations.maintenance")
    ),
    "shared": _SWITCH,
    "tools": _SWITCH,
}


def check_options(options: Mapping[str, Any]) -> None:
    """Check those options that have the same meaning in every adapter; others are left to whoever knows them.

    Known are `budget_units`, `limit_seconds`, `on_report`, `runner`, `settings`, `tools`, names of keys, and the like.

    Raises:
        ConfigurationError: One is of the wrong type or out of range. The message names it and says what is allowed.
    """
    for name, value in options.items():
        rule = _RULES.get(name)
        if rule is not None and not rule.allows(value):
            shown = repr(value) if value is None or isinstance(value, int | float | str) else type(value).__name__
            raise ConfigurationError(f"{name} must be {rule.words}, not {shown}")
