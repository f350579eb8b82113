"""Who answers a maintenance flow: server, model, reviewer and those in line, in blocking and in asyncio code."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from impressmem_integrations.core.effects import AskModel, Command, Effect
from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.maintenance.flow import AskReview, Review
from impressmem_integrations.maintenance.given_plan import check_given
from impressmem_integrations.maintenance.line import StandInLine
from impressmem_integrations.maintenance.models import aanswering, answering
from impressmem_integrations.model import Plan


def review_kind(review: Any) -> Review:
    """What a `review` argument asks for.

    Raises:
        ConfigurationError: It is neither None, `"collect"` nor a callable.
    """
    if review is None or review == "collect":
        return "collect" if review else None
    if callable(review):
        return "ask"
    raise ConfigurationError('review must be a callable or "collect"')


def blocking_answers(model: Any, review: Any, send: Callable[[Command[Any]], Any]) -> Callable[[Effect[Any]], Any]:
    """Answers for `drive`.

    Raises:
        ConfigurationError: The model or the review cannot be used, or only in asyncio code.
    """
    review_kind(review)
    if inspect.iscoroutinefunction(review):
        raise ConfigurationError("the review is async: use amaintain, or give a blocking one")
    ask = answering(model)

    def answer(effect: Effect[Any]) -> Any:
        if isinstance(effect, AskModel):
            started = perf_counter()
            answered = answering(effect.model)(effect) if effect.model is not None else ask(effect)
            return replace(answered, seconds=perf_counter() - started)
        if isinstance(effect, AskReview):
            return _decision(effect.plan, review(effect.plan))
        if isinstance(effect, StandInLine):
            return effect.line.wait()
        assert isinstance(effect, Command)
        return send(effect)

    return answer


def awaited_answers(
    model: Any, review: Any, send: Callable[[Command[Any]], Awaitable[Any]]
) -> Callable[[Effect[Any]], Awaitable[Any]]:
    """Answers for `adrive`; raises like `blocking_answers`."""
    review_kind(review)
    ask = aanswering(model)

    async def answer(effect: Effect[Any]) -> Any:
        if isinstance(effect, AskModel):
            started = perf_counter()
            answered = await (aanswering(effect.model)(effect) if effect.model is not None else ask(effect))
            return replace(answered, seconds=perf_counter() - started)
        if isinstance(effect, AskReview):
            decision = review(effect.plan)
            return _decision(effect.plan, await decision if inspect.isawaitable(decision) else decision)
        if isinstance(effect, StandInLine):
            return await effect.line.await_()
        assert isinstance(effect, Command)
        return await send(effect)

    return answer


def _decision(plan: Plan, decision: Any) -> Plan | None:
    if isinstance(decision, Plan):
        try:
            check_given(decision)
        except InvalidInput as error:
            raise ConfigurationError(f"the review returned a plan that is none: {error}") from None
        return decision
    if isinstance(decision, bool):
        return plan if decision else None
    raise ConfigurationError("a review must return the plan, True or False")
