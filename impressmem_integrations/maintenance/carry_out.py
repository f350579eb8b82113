"""Carrying out tool calls that a model sent to somebody else: a host that keeps its own request and its own turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import StalePlan, StoreUnavailable
from impressmem_integrations.maintenance.apply import apply
from impressmem_integrations.maintenance.plan import Wish, named_clues, plan_id, steps_of, wishes
from impressmem_integrations.model import Answer, Impression, Plan, Refusal, Report, ToolCall

_MOST_STEPS = 500
"""Steps of one transaction; a merge may bring more records along, and a script touches at most 1,000."""
_TRIES = 3


def carry_out(bound: Bound, calls: Sequence[ToolCall]) -> Flow[Report]:
    """Carry out save and organize calls in their order, as one transaction for each 500 steps.

    A call that cannot be carried out is refused with its reason and stops no other.

    Returns:
        A report of status `stored`, `nothing_to_store`, `rejected` or `store_unavailable`. Nothing is raised for what
        the model wrote or for a server that is away.

    Raises:
        StoreError: The server answered with an error.
    """
    found, refused, warnings = wishes(Answer("", tuple(calls)), bound)
    total = Report("nothing_to_store", refused=tuple(refused), warnings=tuple(warnings))
    try:
        for at in range(0, len(found), _MOST_STEPS):
            total = _sum(total, (yield from _chunk(bound, found[at : at + _MOST_STEPS])))
    except StoreUnavailable as error:
        return replace(total, status="store_unavailable", reason=str(error))
    if total.saved or total.changed or total.merged:
        return replace(total, status="stored", reason="")
    if total.refused:
        return replace(total, status="rejected", reason="no call can be carried out")
    return replace(total, reason="it is remembered already" if found else "no tool was called")


def _chunk(bound: Bound, found: Sequence[Wish]) -> Flow[Report]:
    names = [normal_name(clue, "clue") for clue in named_clues(found)]
    changed: tuple[str, ...] = ()
    for _ in range(_TRIES):
        generation = (yield from ask(read.stats(bound))).generation
        items: list[Impression] = (yield from ask(read.get(bound, names))) if names else []
        steps = tuple(steps_of(found, {normal_name(item.clue, "clue").key: item for item in items}))
        try:
            return (yield from apply(bound, Plan(plan_id((), steps), "", (), steps, generation)))
        except StalePlan as stale:
            changed = stale.clues
    reason = "stale: memory kept changing meanwhile"
    return Report("rejected", refused=(Refusal(", ".join(changed) or "memory", reason),), reason=reason)


def _sum(first: Report, then: Report) -> Report:
    return replace(
        first,
        saved=(*first.saved, *then.saved),
        changed=(*first.changed, *then.changed),
        merged=(*first.merged, *then.merged),
        refused=(*first.refused, *then.refused),
        transaction=then.transaction or first.transaction,
    )
