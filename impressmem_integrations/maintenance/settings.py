"""How maintenance asks and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.maintenance.gate import worth_asking
from impressmem_integrations.maintenance.prompt import INSTRUCTIONS

MOST_WAITING = 100
"""Turns of one thread that wait to be asked about, those that say nothing to keep included."""

_LEAST_REQUEST_UNITS = 40
"""Takes a turn of one short sentence with the lines around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How maintenance asks and what it may cost. A value that cannot work is a `ConfigurationError` when it is made.

    Attributes:
        instructions: The system prompt; what is remembered is put after it.
        memory_budget_units: Units of memory shown to the model.
        request_budget_units: Units of quoted turns in one request, at least 40; more turns go into further requests.
        tool_results: Show the model what tools returned (marked untrusted) instead of a marker.
        batch_turns: Ask only when so many turns wait that may hold something, 1 to 100; `flush=True` asks for fewer,
            and so does a call that finds more than 100 turns of any kind waiting.
        worth_asking: Whether the user's words of one turn may hold anything to keep; turns without wait unasked.
        max_tokens_per_day: Tokens of one scope and (UTC) day; None for no bound. Not passed, also by many writers at
            once, while requests have two bytes to a token or more and answers keep to `answer_tokens`; what goes
            beyond is charged in full.
        answer_tokens: Tokens reserved for one answer under that bound; give the model the same output limit.
        fallback: A model asked when the bound is reached or the model fails, e.g. the rule distiller; None: later.
            After a cut-off or rejected answer it is asked at the last try, before the turn is given up. Its tokens
            are counted, but the bound does not hold it back.
        max_tries: Calls of `maintain` in a row in which one turn may fail before it is given up.
        max_passing_tries: The same where the failure is one that may pass: a rate limit, an overload, a timeout.
    """

    instructions: str = INSTRUCTIONS
    memory_budget_units: int = 4_000
    request_budget_units: int = 12_000
    tool_results: bool = False
    batch_turns: int = 1
    worth_asking: Callable[[Sequence[str]], bool] = worth_asking
    max_tokens_per_day: int | None = None
    answer_tokens: int = 1_024
    fallback: Any = None
    max_tries: int = 3
    max_passing_tries: int = 30

    def __post_init__(self) -> None:
        for name in (
            "memory_budget_units",
            "request_budget_units",
            "batch_turns",
            "answer_tokens",
            "max_tries",
            "max_passing_tries",
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} must be a whole number of at least 1, not {value!r}")
        if self.request_budget_units < _LEAST_REQUEST_UNITS:
            what = f"request_budget_units must be at least {_LEAST_REQUEST_UNITS}, not {self.request_budget_units!r}"
            raise ConfigurationError(f"{what}: no turn fits into less, so none would be asked about")
        if not isinstance(self.instructions, str) or not self.instructions.strip():
            raise ConfigurationError("instructions must be a text that is not empty")
        if not callable(self.worth_asking):
            raise ConfigurationError(f"worth_asking must be a function of the user's words, not {self.worth_asking!r}")
        if not isinstance(self.tool_results, bool):
            raise ConfigurationError(f"tool_results must be True or False, not {self.tool_results!r}")
        if self.fallback is not None:
            _check_fallback(self.fallback)
        if self.batch_turns > MOST_WAITING:
            raise ConfigurationError(f"batch_turns must be at most {MOST_WAITING}, not {self.batch_turns!r}")
        most = self.max_tokens_per_day
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
            raise ConfigurationError(f"max_tokens_per_day must be a whole number of at least 0 or None, not {most!r}")


def _check_fallback(fallback: object) -> None:
    from impressmem_integrations.maintenance.models import aanswering  # loads only where there is a fallback

    try:
        aanswering(fallback)
    except ConfigurationError as error:
        raise ConfigurationError(f"fallback: {error}") from None
