"""The maintenance chain as one flow: cut, gate, ask, plan, review, apply in one transaction, report.

It is written once for blocking and asyncio code and for every framework: whoever drives it answers `AskModel` and
`AskReview`. A turn counts as distilled in the very transaction that applies its plan, so a crash at any point leaves it
either undone or done, never half.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.effects import Effect, Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.core.flows.contexts import shown_memory
from impressmem_integrations.core.flows.recollect import switch
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import ConfigurationError, InvalidInput, StalePlan, StoreUnavailable, tries_in_words
from impressmem_integrations.maintenance import json_mode, prompt
from impressmem_integrations.maintenance.account import Account
from impressmem_integrations.maintenance.apply import apply
from impressmem_integrations.maintenance.asking import Mode, ask_fallback, ask_model
from impressmem_integrations.maintenance.evidence import thread_of
from impressmem_integrations.maintenance.group import Group, as_new, not_distilled
from impressmem_integrations.maintenance.line import Line, StandInLine
from impressmem_integrations.maintenance.outage import unavailable
from impressmem_integrations.maintenance.plan import (
    NO_VERSION,
    Wish,
    named_clues,
    plan_id,
    steps_of,
    to_json,
    wishes,
    without_twins,
)
from impressmem_integrations.maintenance.request import fitted, user_texts
from impressmem_integrations.maintenance.settings import MOST_WAITING, Settings
from impressmem_integrations.model import Answer, Impression, Plan, PlanStep, Refusal, Report, Turn, Usage
from impressmem_integrations.turns import cut_turns

_log = logging.getLogger(__name__)

_STALE_TRIES = 3
_IN_VAIN = ("model_failed", "cut_off", "rejected")
_TWINS = "everything it asked to keep is remembered already, under another clue"
_DROPPED = "the review left no step of the plan"

Review = Literal["collect", "ask"] | None
"""What happens to a plan: applied at once (None), shown to a reviewer (`ask`), or kept for later (`collect`)."""


@dataclass(frozen=True, slots=True)
class AskReview(Effect[Plan | None]):
    """Show a plan to a reviewer: the plan to apply (the same, or with fewer steps), or None to reject it."""

    plan: Plan


class _Behind(Exception):
    """Others, whose answers were in vain, ask first."""


class _AskedInVain(Exception):
    """A plan was stale: what changed, and what the answer had cost."""

    def __init__(self, stale: StalePlan, usage: Usage) -> None:
        super().__init__(str(stale))
        self.stale = stale
        self.usage = usage


@dataclass(frozen=True, slots=True)
class _Job:
    """What stays the same during one call."""

    bound: Bound
    thread: str
    mode: Mode
    settings: Settings
    review: Review
    flush: bool


def maintain(
    bound: Bound,
    messages: Iterable[Any],
    *,
    thread_id: str | None = None,
    mode: Mode = "auto",
    review: Review = None,
    at: datetime | None = None,
    flush: bool = False,
    settings: Settings | None = None,
) -> Flow[Report]:
    """Distil the turns of a history that were not distilled yet, in requests of bounded size, oldest first.

    The driver counts the seconds and answers `AskModel` and `AskReview`. A failing model or server is a status.

    Raises:
        ConfigurationError: `settings` are none.
        InvalidInput: A message cannot be read, or an argument is wrong.
    """
    if mode not in ("auto", "tools", "json"):
        raise InvalidInput('mode must be "auto", "tools" or "json"')
    flush = switch(flush, "flush")
    settings = Settings() if settings is None else settings
    if not isinstance(settings, Settings):
        raise ConfigurationError(f"settings must be a Settings(...), not {type(settings).__name__}")
    turns = cut_turns(messages, at=at)
    if not turns:
        return Report("skipped", reason="the messages hold no turn of a user")
    job = _Job(bound, thread_of(thread_id), mode, settings, review, flush)
    with Line(job.bound.scope) as line:
        return (yield from _distil_all(job, turns, line))


def _distil_all(job: _Job, turns: Sequence[Turn], line: Line) -> Flow[Report]:
    done: list[Report] = []
    stale = 0
    spent = Usage()
    while True:
        try:
            report = yield from _next_group(job, turns, line)
        except _Behind:
            yield from ask(StandInLine(line))
            continue
        except (_AskedInVain, StalePlan) as vain:
            changed = vain.stale if isinstance(vain, _AskedInVain) else vain
            spent = spent + vain.usage if isinstance(vain, _AskedInVain) else spent
            stale += 1
            if stale == _STALE_TRIES:
                reason = "stale: memory kept changing while the model answered"
                refused = (Refusal(", ".join(changed.clues) or "memory", reason),)
                done.append(Report("rejected", refused=refused, reason=reason, passing=True))
                break
            yield from ask(StandInLine(line))
            continue
        except StoreUnavailable as error:
            done.append(unavailable(error))
            break
        if report is None:
            break
        done.append(report)
        if not report.turns and not report.given_up:
            break
    report = _combined(done) if done else Report("already_done", reason="every turn was dealt with before")
    return replace(report, usage=spent + report.usage)


def _combined(reports: Sequence[Report]) -> Report:
    """One report of several groups; the status of the last one that is not success, else the best."""
    if len(reports) == 1:
        return reports[0]
    order = ("stored", "nothing_to_store", "skipped")
    failed = [report for report in reports if report.status not in order]
    best = failed[-1] if failed else min(reports, key=lambda report: order.index(report.status))
    usage = reports[0].usage
    for report in reports[1:]:
        usage = usage + report.usage
    lost = [report.reason for report in reports if report.given_up]
    return replace(
        best,
        reason="; ".join(dict.fromkeys([*lost, best.reason])) if lost else best.reason,
        saved=tuple(dict.fromkeys(clue for report in reports for clue in report.saved)),
        changed=tuple(dict.fromkeys(clue for report in reports for clue in report.changed)),
        merged=tuple(merge for report in reports for merge in report.merged),
        refused=tuple(refusal for report in reports for refusal in report.refused),
        usage=usage,
        turns=tuple(turn for report in reports for turn in report.turns),
        warnings=tuple(warning for report in reports for warning in report.warnings),
        given_up=tuple(turn for report in reports for turn in report.given_up),
    )


def _next_group(job: _Job, turns: Sequence[Turn], line: Line) -> Flow[Report | None]:
    """Distil the oldest turns not distilled yet, as many as fit one request. None when none is left."""
    new = yield from not_distilled(job.bound, job.thread, turns)
    if not new.turns:
        return None
    settings = job.settings
    talking = [turn for turn in new.turns if settings.worth_asking(user_texts(turn))]
    if not talking:
        return (yield from _wait(new, "no turn says anything to keep"))
    if len(talking) < settings.batch_turns and len(new.turns) <= MOST_WAITING and not job.flush:
        return (yield from _wait(new, f"{len(talking)} of {settings.batch_turns} turns wait for a batch"))
    group, texts, left_out = _fitting(job, new)
    left_out += tuple(f"not kept as evidence: {reason}" for reason in group.not_kept)
    if left_out:
        _log.warning("maintenance of %s: %s", job.bound.scope, "; ".join(left_out))
    if not texts:
        yield from as_new(group, lambda now: commit(job.bound, now.noted, guards=now.guards))
        return Report("skipped", reason="too long for a request", warnings=left_out, turns=group.ids)
    if line.behind:  # what was read here is about to change
        raise _Behind
    report = yield from _distil(job, group, texts)
    if report.status in ("cut_off", "rejected") and settings.fallback is not None and _is_last_try(group, settings):
        report = yield from _distil_by_fallback(job, group, texts, report)
    if report.status in _IN_VAIN:
        report = yield from _failed(job, group.first(1), report)
    return replace(report, warnings=(*left_out, *report.warnings))


def _wait(new: Group, reason: str) -> Flow[Report]:
    """Leave turns for a later call, so that the next request covers them; too many are let go, and named."""
    surplus = new.first(max(0, len(new.turns) - MOST_WAITING))
    if not surplus.turns:
        return Report("skipped", reason=reason)
    yield from as_new(surplus, _let_go)
    count = len(surplus.turns)
    what = "the oldest turn that waited was" if count == 1 else f"the {count} oldest turns that waited were"
    warning = f"{what} let go without asking: {MOST_WAITING} turns of a thread wait, no more"
    _log.warning("maintenance of %s: %s", new.bound.scope, warning)
    return Report("skipped", reason=reason, warnings=(warning,))


def _let_go(group: Group) -> Flow[write.Transaction]:
    """Note turns that nobody was asked about, or in vain."""
    return commit(group.bound, [write.seen_operation(group.thread, group.ids)], guards=group.guards)


def _fitting(job: _Job, new: Group) -> tuple[Group, list[str], tuple[str, ...]]:
    """The oldest turns that fit one request, their texts, and what was left out of them.

    The turn that failed last goes alone, so that it takes no other down with it.
    """
    budget, count = job.settings.request_budget_units, job.bound.count_units
    taken = 0
    texts: list[str] = []
    left_out: list[str] = []
    for turn in new.turns:
        text, missing = fitted(turn, turn.at or new.seen.now, budget, count, tool_results=job.settings.tool_results)
        if taken and sum(map(count, texts)) + count(text) > budget:
            break
        taken += 1
        texts += [text] if text and user_texts(turn) else []
        left_out += missing
        if new.turns[0].id == new.seen.failed:
            break
    return new.first(taken), texts, tuple(left_out)


def _failed(job: _Job, first: Group, report: Report) -> Flow[Report]:
    """Count the failure of the oldest turn; give it up when it failed too often, so that later ones get their turn."""

    def count(now: Group) -> Flow[write.Transaction]:
        return commit(now.bound, [write.failed_operation(now.thread, now.ids[0])], guards=now.guards)

    try:
        done = yield from as_new(first, count)
        tries = int(done.replies[0][1])
        if tries < (job.settings.max_passing_tries if report.passing else job.settings.max_tries):
            return report
        yield from as_new(first, _let_go)
    except StalePlan as distilled:  # by another writer, meanwhile
        raise _AskedInVain(distilled, report.usage) from distilled
    reason = f"{report.reason} (given up after {tries_in_words(tries)})"
    return replace(report, reason=reason, given_up=first.ids, passing=False, after_seconds=None)


def _is_last_try(group: Group, settings: Settings) -> bool:
    """Whether the oldest turn is given up if it fails once more."""
    seen = group.seen
    return (seen.tries if seen.failed == group.ids[0] else 0) + 1 >= settings.max_tries


def _distil_by_fallback(job: _Job, group: Group, texts: Sequence[str], vain: Report) -> Flow[Report]:
    """Ask the fallback about turns whose answer was of no use, before the oldest of them is given up."""
    try:
        report = yield from _distil(job, group, texts, vain)
    except _AskedInVain as stale:
        raise _AskedInVain(stale.stale, vain.usage + stale.usage) from stale
    return replace(report, usage=vain.usage + report.usage, warnings=(*vain.warnings, *report.warnings))


def _distil(job: _Job, group: Group, texts: Sequence[str], vain: Report | None = None) -> Flow[Report]:
    """Ask about turns and carry the answer out; the fallback where the model's answer was in vain."""
    bound, settings = job.bound, job.settings
    memory, records = yield from shown_memory(bound, settings.memory_budget_units)
    shown = {normal_name(item.clue, "clue").key: item.version for item in records}
    messages = prompt.request(settings.instructions, memory, texts)
    if vain is None:
        asked = yield from ask_model(bound, messages, job.mode, settings, group.seen.now)
    else:
        asked = yield from ask_fallback(Account(bound, settings, group.seen.now), messages, vain.reason)
    answer, usage = asked.answer, asked.usage
    if answer is None:
        report = Report("skipped", reason=asked.reason, usage=usage, warnings=asked.notes)
        if (failure := asked.failure) is None:
            return report
        return replace(report, status="model_failed", passing=failure.passing, after_seconds=failure.after_seconds)
    if answer.cut_off:
        reason = "the output limit ended the answer; nothing of it was applied"
        return Report("cut_off", reason=reason, usage=usage, warnings=asked.notes)
    found, refused, warnings = wishes(answer, bound)
    if not found and refused:
        reason = "no call can be carried out"
        notes = (*asked.notes, *warnings)
        return Report("rejected", refused=tuple(refused), reason=reason, usage=usage, text=answer.text, warnings=notes)
    found, twins = without_twins(found, records)
    refused += twins
    now = yield from _records(bound, found)
    stale = [clue for key, clue in _keys(found) if key in shown and shown[key] != _version(now.get(key))]
    if stale:
        raise _AskedInVain(StalePlan(f"{stale[0]!r} changed while the model answered", tuple(stale)), usage)
    steps = tuple(steps_of(found, now))
    plan = _plan(group, steps)
    decision: Plan | None = plan
    if steps and job.review == "ask":
        decision = yield from ask(AskReview(plan))
    try:
        report = yield from as_new(group, lambda now: _settle(job, decision, now))
    except StalePlan as changed:
        raise _AskedInVain(changed, usage) from changed
    if report.status == "nothing_to_store":
        dropped = steps and decision is not None and not decision.steps
        why = _DROPPED if dropped else _TWINS if twins else _why_nothing(answer)
        report = replace(report, reason=report.reason or why, text=answer.text)
    warnings = [*asked.notes, *warnings, *report.warnings]
    return replace(report, usage=usage, refused=(*refused, *report.refused), warnings=tuple(warnings))


def _plan(group: Group, steps: tuple[PlanStep, ...]) -> Plan:
    ids = group.ids
    return Plan(plan_id(ids, steps), group.thread, ids, steps, group.seen.generation, group.turns[-1].at)


def _keys(found: Sequence[Wish]) -> list[tuple[str, str]]:
    return [(normal_name(clue, "clue").key, clue) for clue in named_clues(found)]


def _version(item: Impression | None) -> tuple[int, int]:
    return item.version if item else NO_VERSION


def _records(bound: Bound, found: Sequence[Wish]) -> Flow[dict[str, Impression]]:
    names = [normal_name(clue, "clue") for clue in named_clues(found)]
    if not names:
        return {}
    items = yield from ask(read.get(bound, names))
    return {normal_name(item.clue, "clue").key: item for item in items}


def _settle(job: _Job, plan: Plan | None, group: Group) -> Flow[Report]:
    """Collect a plan or apply it, or none where it was rejected; the turns are noted in the same transaction."""
    if plan is None:
        yield from commit(job.bound, group.noted, guards=group.guards)
        return Report("nothing_to_store", reason="the review rejected the plan", turns=group.ids)
    if plan.turns != group.ids:  # another writer has noted the same words, so that ours count as said once more
        plan = replace(plan, turns=group.ids, id=plan_id(group.ids, plan.steps))
    if plan.steps and job.review == "collect":
        operations = [write.collect_operation(plan.id, to_json(plan)), *group.noted]
        yield from commit(job.bound, operations, guards=[write.generation_guard(plan.generation), *group.guards])
        reason = "the plan waits for a decision: plans(), apply(), reject()"
        return Report("skipped", reason=reason, plan=plan.id, turns=group.ids)
    report = yield from apply(job.bound, plan, group.guards, group.noted)
    return report if report.status == "rejected" else replace(report, turns=group.ids)


def _why_nothing(answer: Answer) -> str:
    if json_mode.says_nothing(answer.text):
        return "the model found nothing to keep"
    if answer.text.strip():
        return "the model answered in words and used no tool"
    return "the model answered nothing and used no tool"
