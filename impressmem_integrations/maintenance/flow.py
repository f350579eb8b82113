"""The maintenance chain as one flow: cut, gate, ask, plan, apply in one transaction, report.

It is written once for blocking and asyncio code and for every framework: whoever drives it answers `AskModel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from impressmem_integrations.core import render
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.commands.records import as_text
from impressmem_integrations.core.effects import AskModel, Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.errors import (
    CapacityError,
    InvalidInput,
    ModelError,
    NotFound,
    StalePlan,
    StoreUnavailable,
)
from impressmem_integrations.maintenance import prompt
from impressmem_integrations.maintenance.plan import Plan, Step, operations, read_plan, without_missing
from impressmem_integrations.model import Answer, MergeResult, Refusal, Report, ReportStatus, Turn, Usage
from impressmem_integrations.tools.arguments import OrganizeArguments
from impressmem_integrations.tools.definitions import MAINTENANCE_TOOLS, openai_definition
from impressmem_integrations.turns import align, cut_turns, digest_of, next_ids

DEFAULT_THREAD = "default"
MEMORY_BUDGET_UNITS = 4_000
_BYTES_PER_UNIT = 3
_MOST_NAMES = 500
_KEPT_TURNS = 500
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Settings:
    """How maintenance asks.

    Attributes:
        instructions: The system prompt; what is remembered is put after it.
        memory_budget_units: Units of memory shown to the model.
        tool_results: Show the model what tools returned (marked untrusted) instead of a marker.
    """

    instructions: str = prompt.INSTRUCTIONS
    memory_budget_units: int = MEMORY_BUDGET_UNITS
    tool_results: bool = False


def maintain(
    bound: Bound,
    messages: Iterable[Any],
    *,
    thread_id: str | None = None,
    at: datetime | None = None,
    settings: Settings | None = None,
) -> Flow[Report]:
    """Distil the turns of a history that were not distilled yet; the driver answers `AskModel`, counts the seconds."""
    settings = settings or Settings()
    if at is not None and at.tzinfo is None:
        raise InvalidInput("at needs a zone, e.g. datetime.now(timezone.utc)")
    turns = cut_turns(messages, at=at)
    if not turns:
        return Report("skipped", reason="the messages hold no turn of a user")
    usage = Usage()
    refusals: list[Refusal] = []
    try:
        for _ in range(_TRIES):
            try:
                report = yield from _attempt(bound, turns, thread_id or DEFAULT_THREAD, settings)
            except StalePlan as stale:
                refusals.append(Refusal(", ".join(stale.clues), str(stale)))
                continue
            return replace(report, usage=usage + report.usage)
    except StoreUnavailable as error:
        return Report("store_unavailable", reason=str(error))
    except ModelError as error:
        return Report("model_failed", reason=str(error), usage=Usage(calls=1))
    return Report("rejected", refused=tuple(refusals), reason="stale: memory kept changing while the model answered")


def _attempt(bound: Bound, turns: Sequence[Turn], thread: str, settings: Settings) -> Flow[Report]:
    seen = yield from ask(read.seen(bound, thread))
    old = align([digest_of(turn) for turn in seen.turns], [turn.digest for turn in turns], trimmed=seen.trimmed)
    ids = next_ids(seen.turns, [turn.digest for turn in turns[old:]])
    new = [replace(turn, id=turn_id) for turn, turn_id in zip(turns[old:], ids, strict=True)]
    if not new:
        return Report("already_done", reason="every turn was distilled before")
    guards = (write.generation_guard(seen.generation), write.seen_guard(thread, seen.count))
    noted = write.seen_operation(thread, [turn.id for turn in new])
    said = [turn for turn in new if any(_text(message) for message in turn.messages if message["role"] == "user")]
    done = tuple(turn.id for turn in new)
    if not said:
        yield from commit(bound, [noted], guards=guards)
        return Report("skipped", reason="the user said nothing in words", turns=done)
    material = yield from ask(
        read.context(bound, 2 * settings.memory_budget_units * _BYTES_PER_UNIT + 4096, _MOST_NAMES)
    )
    memory = render.context(material, settings.memory_budget_units, bound.count_units).text
    quoted = [prompt.turn_text(turn, turn.at or seen.now, tool_results=settings.tool_results) for turn in said]
    answer = yield from ask(
        AskModel(
            prompt.request(settings.instructions, memory, quoted),
            [openai_definition(tool) for tool in MAINTENANCE_TOOLS],
        )
    )
    usage = replace(answer.usage, calls=max(1, answer.usage.calls))
    if answer.cut_off:
        return Report("cut_off", reason="the output limit ended the answer; nothing of it was applied", usage=usage)
    plan = read_plan(answer, bound)
    if not plan.steps and plan.refused:
        return Report(
            "rejected", refused=plan.refused, reason="no call can be carried out", usage=usage, text=answer.text
        )
    report = yield from _apply(bound, plan, new[-1], guards, noted)
    if report.status == "nothing_to_store":
        report = replace(report, reason=report.reason or _why_nothing(answer), text=answer.text)
    return replace(report, usage=usage, turns=done if report.status != "rejected" else ())


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    return content.strip() if isinstance(content, str) else ""


def _why_nothing(answer: Answer) -> str:
    if answer.text.strip().strip(".\"'`").upper() == prompt.NOTHING:
        return "the model found nothing to keep"
    if answer.text.strip():
        return "the model answered in words and used no tool"
    return "the model answered nothing and used no tool"


def _apply(
    bound: Bound, plan: Plan, source: Turn, guards: Sequence[write.Guard], noted: write.Operation
) -> Flow[Report]:
    steps: Sequence[Step] = plan.steps
    steps, made, refused = operations(steps, bound, source)
    refused = [*plan.refused, *refused]
    while True:
        try:
            done = yield from commit(bound, [*made, noted], guards=guards, source=source.id, reason="maintenance")
            break
        except NotFound as missing:
            steps, more = without_missing(steps, missing)
        except CapacityError as full:
            return Report("rejected", refused=(*refused, Refusal("capacity", str(full))), reason=str(full))
        refused += more
        steps, made, also = operations(steps, bound, source)
        refused += also
    saved, changed, merged = _outcome(done, steps)
    status: ReportStatus = "stored" if saved or changed or merged else "nothing_to_store"
    known = "everything it asked to keep is remembered already"
    return Report(
        status,
        saved=tuple(saved),
        changed=tuple(changed),
        merged=tuple(merged),
        refused=tuple(refused),
        transaction=done.id,
        reason=known if status == "nothing_to_store" and steps else "",
    )


def _level(step: Step) -> str:
    return step.level if isinstance(step, OrganizeArguments) else ""


def _outcome(done: write.Transaction, steps: Sequence[Step]) -> tuple[list[str], list[str], list[MergeResult]]:
    saved: dict[str, None] = {}
    changed: dict[str, None] = {}
    merged: list[MergeResult] = []
    for step, reply in zip(steps, done.replies, strict=False):
        match as_text(reply[0]):
            case "save":
                clue, status = as_text(reply[1]), as_text(reply[2])
                if status == "created":
                    saved[clue] = None
                elif status == "changed" and clue not in saved:
                    changed[clue] = None
            case "merge-names":
                sources, moved = tuple(map(as_text, reply[2])), tuple(map(as_text, reply[3]))
                level: Literal["category", "label"] = "category" if _level(step) == "category" else "label"
                merged.append(MergeResult(level, sources, as_text(reply[1]), moved, int(reply[4]), done.id or ""))
            case "merge-clues":
                target = as_text(reply[1])
                sources = tuple(map(as_text, reply[2]))
                merged.append(MergeResult("clue", sources, target, (target,), 0, done.id or ""))
    return list(saved), list(changed), merged
