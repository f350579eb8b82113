"""Asking the model: with tools or in JSON, one repair round, within the day's tokens, with a cheaper one behind it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import write
from impressmem_integrations.core.effects import AskModel, Command, Flow, ask
from impressmem_integrations.errors import ModelError, ToolsUnsupported
from impressmem_integrations.maintenance import json_mode
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Answer, Message, Usage
from impressmem_integrations.tools.definitions import MAINTENANCE_TOOLS, openai_definition
from impressmem_integrations.tools.json_repair import UnreadableJson

Mode = Literal["auto", "tools", "json"]


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, or None with the reason why there is none; what was used, and notes for the report.

    Attributes:
        failed: Somebody was asked and failed; without it nobody was asked.
    """

    answer: Answer | None
    usage: Usage
    reason: str = ""
    notes: tuple[str, ...] = ()
    failed: bool = False


def ask_model(bound: Bound, messages: Sequence[Message], mode: Mode, settings: Settings, now: datetime) -> Flow[Asked]:
    """Ask the model; where the day's tokens are spent, or it fails, ask the fallback. A failure is no exception."""
    day = now.astimezone(UTC).date().isoformat()
    reserved = 0
    if settings.max_tokens_per_day is not None:
        reserved = _most_tokens(messages, settings)
        granted = yield from ask(write.account(bound, day, reserve=reserved, most=settings.max_tokens_per_day))
        if not granted:
            reason = "the tokens of the day are spent"
            if settings.fallback is None:
                return Asked(None, Usage(), f"{reason}; the turn is asked about later")
            return (yield from _fallback(messages, settings, reason, Usage()))
    used: list[Answer] = []
    try:
        answer, notes = yield from _ask(messages, mode, used)
    except ModelError as error:
        yield from ask(_settled(bound, day, reserved, used))
        if settings.fallback is None:
            return Asked(None, _total(used), str(error), failed=True)
        return (yield from _fallback(messages, settings, str(error), _total(used)))
    yield from ask(_settled(bound, day, reserved, used))
    return Asked(answer, _total(used), notes=notes)


def _total(used: Sequence[Answer]) -> Usage:
    total = Usage()
    for answer in used:
        total = total + replace(answer.usage, calls=max(1, answer.usage.calls))
    return total


def _settled(bound: Bound, day: str, reserved: int, used: Sequence[Answer]) -> Command[bool]:
    milliseconds = round(1000 * sum(answer.seconds for answer in used))
    return write.account(bound, day, release=reserved, usage=_total(used), milliseconds=milliseconds)


def _most_tokens(messages: Sequence[Message], settings: Settings) -> int:
    """A generous bound of what two rounds may take: a token has two bytes at least in practice."""
    size = sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in messages)
    size += len(json.dumps(_definitions(), ensure_ascii=False).encode())
    return size // 2 + settings.answer_tokens


def _definitions() -> list[dict[str, Any]]:
    return [openai_definition(tool) for tool in MAINTENANCE_TOOLS]


def _ask(
    messages: Sequence[Message], mode: Mode, used: list[Answer], model: Any = None
) -> Flow[tuple[Answer, tuple[str, ...]]]:
    if mode != "json":
        try:
            answer = yield from ask(AskModel(messages, _definitions(), model=model))
        except ToolsUnsupported:
            if mode == "tools":
                raise
        else:
            used.append(answer)
            return answer, ()
    request = json_mode.described(messages, MAINTENANCE_TOOLS)
    answer = yield from ask(AskModel(request, None, model=model))
    used.append(answer)
    if answer.cut_off:
        return answer, ()
    try:
        return json_mode.read(answer), ()
    except UnreadableJson as error:
        again = yield from ask(AskModel(json_mode.corrected(request, answer, error), None, model=model))
        used.append(again)
    try:
        return (again if again.cut_off else json_mode.read(again)), ("the first JSON answer was repaired",)
    except UnreadableJson as error:
        raise ModelError(f"the answer is not the JSON that was asked for: {error}") from error


def _fallback(messages: Sequence[Message], settings: Settings, reason: str, spent: Usage) -> Flow[Asked]:
    used: list[Answer] = []
    note = f"the fallback was asked: {reason}"
    try:
        answer, notes = yield from _ask(messages, "auto", used, settings.fallback)
    except ModelError as error:
        return Asked(None, _sum(spent, used), str(error), (note,), failed=True)
    return Asked(answer, _sum(spent, used), notes=(note, *notes))


def _sum(spent: Usage, used: Sequence[Answer]) -> Usage:
    # A fallback that tells of no usage, as the rule distiller, costs nothing and is no call.
    for answer in used:
        told = answer.usage.input_tokens + answer.usage.output_tokens
        spent = spent + replace(answer.usage, calls=min(1, told))
    return spent
