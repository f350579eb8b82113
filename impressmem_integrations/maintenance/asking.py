"""Asking the model: with tools or in JSON, one repair round, within the day's tokens, with a cheaper one behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import AskModel, Flow
from impressmem_integrations.errors import ModelError, ToolsUnsupported
from impressmem_integrations.maintenance import json_mode
from impressmem_integrations.maintenance.account import Account, TokensSpent
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Answer, Message, Usage
from impressmem_integrations.tools.definitions import MAINTENANCE_TOOLS, openai_definition
from impressmem_integrations.tools.json_repair import UnreadableJson
from impressmem_integrations.tools.text_calls import attempts_calls

Mode = Literal["auto", "tools", "json"]

_Asking = Callable[[AskModel], Flow[Answer]]


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, or None with the reason why there is none; what was used, and notes for the report.

    Attributes:
        failure: How somebody who was asked failed; without it nobody was asked, or not to the end.
    """

    answer: Answer | None
    usage: Usage
    reason: str = ""
    notes: tuple[str, ...] = ()
    failure: ModelError | None = None


def ask_model(bound: Bound, messages: Sequence[Message], mode: Mode, settings: Settings, now: datetime) -> Flow[Asked]:
    """Ask the model; where the day's tokens are spent, or it fails, ask the fallback. A failure is no exception."""
    account = Account(bound, settings, now)
    failure: ModelError | None = None
    try:
        answer, notes = yield from _ask(account.ask, messages, mode)
    except TokensSpent as spent:
        if settings.fallback is None:
            return Asked(None, account.total, f"{spent}; the turn is asked about later")
        reason = str(spent)
    except ModelError as error:
        if settings.fallback is None:
            return Asked(None, account.total, str(error), failure=error)
        reason, failure = str(error), error
    else:
        return Asked(_without_empty_saves(answer), account.total, notes=notes)
    return (yield from ask_fallback(account, messages, reason, failure))


def ask_fallback(
    account: Account, messages: Sequence[Message], reason: str, failure: ModelError | None = None
) -> Flow[Asked]:
    """Ask the fallback in the model's place. A failure is no exception.

    Args:
        account: Of these questions; its settings name the fallback.
        messages: The request.
        reason: Why the model's answer will not do.
        failure: How the model failed, if it did.
    """
    note = f"the fallback was asked: {reason}"
    try:
        answer, notes = yield from _ask(account.ask_fallback, messages, "auto", account.settings.fallback)
    except ModelError as error:
        # What kept the model itself from answering may pass, whatever the fallback's failure is.
        worth_waiting = failure if failure is not None and failure.passing else error
        return Asked(None, account.total, str(error), (note,), failure=worth_waiting)
    return Asked(_without_empty_saves(answer), account.total, notes=(note, *notes))


def _without_empty_saves(answer: Answer) -> Answer:
    return replace(answer, calls=tuple(call for call in answer.calls if not json_mode.saves_nothing(call)))


def _ask(
    asking: _Asking, messages: Sequence[Message], mode: Mode, model: object = None
) -> Flow[tuple[Answer, tuple[str, ...]]]:
    notes: tuple[str, ...] = ()
    if mode != "json":
        tools = [openai_definition(tool) for tool in MAINTENANCE_TOOLS]
        try:
            answer = yield from asking(AskModel(messages, tools, model=model))
        except ToolsUnsupported as error:
            if mode == "tools":
                raise
            notes = (f"asked in JSON: {error}",)
        else:
            if answer.calls or answer.cut_off or not attempts_calls(answer.text):
                return answer, answer.notes
            reason = f"{answer.model} wrote its calls as text instead of using the tools"
            if mode == "tools":
                raise ModelError(f'{reason}; mode="json" reads them')
            notes = (f"asked in JSON: {reason}",)
    request = json_mode.described(messages, MAINTENANCE_TOOLS)
    answer = yield from asking(AskModel(request, None, model=model))
    notes = (*answer.notes, *notes)
    if answer.cut_off:
        return answer, notes
    try:
        return json_mode.read(answer), notes
    except UnreadableJson as error:
        again = yield from asking(AskModel(json_mode.corrected(request, answer, error), None, model=model))
    if again.cut_off:
        return again, notes
    try:
        repaired = json_mode.read(again)
    except UnreadableJson as error:
        raise ModelError(f"the answer is not the JSON that was asked for: {error}") from error
    if repaired.calls:
        return repaired, (*notes, "the first JSON answer was repaired")
    return repaired, (*notes, "the first JSON answer could not be read; asked again, the model asked for nothing")
