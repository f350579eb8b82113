"""Carrying out a plan in one transaction, or not at all, and saying what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import write
from impressmem_integrations.core.commands.merges import NamesMerged
from impressmem_integrations.core.commands.records import as_text
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.errors import CapacityError, NotFound
from impressmem_integrations.maintenance.plan import MOST_MOVED, guards, operations, sources_of
from impressmem_integrations.model import MergeResult, Plan, PlanStep, Refusal, Report

_KNOWN = "everything it asked to keep is remembered already"


def apply(
    bound: Bound, plan: Plan, extra_guards: Sequence[write.Guard] = (), extra: Sequence[write.Operation] = ()
) -> Flow[Report]:
    """Apply a plan together with `extra` operations (turns seen, plan settled).

    Merges that name something that does not exist are refused and the rest is applied.

    Returns:
        A report of status `stored`, `nothing_to_store`, or `rejected` where the scope is full or all was refused.

    Raises:
        StalePlan: A record that the plan was made from changed; nothing was written.
        NotFound: The plan to settle is not waiting; nothing was written.
    """
    refused: list[Refusal] = []
    while True:
        kept, made, unfit = operations(plan, bound)
        checks = [write.generation_guard(plan.generation), *extra_guards, *guards(plan.steps)]
        if plan.steps and not made and unfit:
            return Report("rejected", refused=(*refused, *unfit), reason="no step can be carried out")
        source = sources_of(plan)
        try:
            done = yield from commit(bound, [*made, *extra], guards=checks, source=source, reason="maintenance")
        except NotFound as missing:
            if missing.kind == "plan":
                raise
            at = kept[missing.place]
            refused.append(Refusal(f"merge into {plan.steps[at].clue}", str(missing)))
            plan = replace(plan, steps=(*plan.steps[:at], *plan.steps[at + 1 :]))
            if not plan.steps:
                return Report("rejected", refused=tuple(refused), reason="no step can be carried out")
        except CapacityError as full:
            return Report("rejected", refused=(*refused, *unfit, Refusal("capacity", str(full))), reason=str(full))
        else:
            break
    report = replace(_outcome(done, [plan.steps[at] for at in kept]), refused=(*refused, *unfit), transaction=done.id)
    if report.saved or report.changed or report.merged:
        return report
    return replace(report, status="nothing_to_store", reason=_KNOWN if plan.steps else "")


def _outcome(done: write.Transaction, steps: Sequence[PlanStep]) -> Report:
    saved: dict[str, None] = {}
    changed: dict[str, None] = {}
    merged: list[MergeResult] = []
    warnings: list[str] = []
    for step, reply in zip(steps, done.replies, strict=False):
        kind, name = as_text(reply[0]), as_text(reply[1])
        if kind == "save":
            status = as_text(reply[2])
            if status == "created":
                saved[name] = None
            elif status == "changed" and name not in saved:
                changed[name] = None
        elif kind == "merge-names":
            _, sources, moved, labels_moved, _ = NamesMerged.parse(reply)
            if len(moved) == MOST_MOVED:
                warnings.append(f"the merge into {name!r} stopped after {MOST_MOVED:,} impressions; merge again")
            merged.append(MergeResult(step.level, sources, name, moved, labels_moved, done.id or ""))
        elif kind == "merge-clues":
            merged.append(MergeResult("clue", tuple(map(as_text, reply[2])), name, (name,), 0, done.id or ""))
    return Report("stored", saved=tuple(saved), changed=tuple(changed), merged=tuple(merged), warnings=tuple(warnings))
