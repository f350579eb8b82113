"""Collected plans: list, apply, reject."""

from __future__ import annotations

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.errors import InvalidInput, NotFound
from impressmem_integrations.maintenance.apply import apply as apply_plan
from impressmem_integrations.maintenance.given_plan import check_given
from impressmem_integrations.maintenance.plan import from_json
from impressmem_integrations.model import Plan, Report


def plans(bound: Bound) -> Flow[list[Plan]]:
    """Plans that wait for a decision, by thread and id."""
    kept = yield from ask(read.plans(bound))
    return sorted((from_json(text) for text in kept.values()), key=lambda plan: (plan.thread, plan.id))


def apply(bound: Bound, plan: Plan | str) -> Flow[Report]:
    """Apply a waiting plan: all of it in one transaction, or nothing.

    Its clues must be as they were when it was made. A merge of categories or labels is not held to that: it moves what
    is filed there now.

    Args:
        bound: The scope.
        plan: One of `plans()`, perhaps with fewer steps than it had; or its id, as in `Report.plan`.

    Raises:
        StalePlan: A record that it was made from changed since; the plan goes on waiting.
        NotFound: It is not waiting (any more).
        InvalidInput: It is neither a plan nor an id, or a field of it is of another type.
    """
    if isinstance(plan, Plan):
        check_given(plan)
    else:
        plan_id = _id_of(plan)
        kept = yield from ask(read.plans(bound))
        if plan_id not in kept:
            raise NotFound("plan", plan_id)
        plan = from_json(kept[plan_id])
    return (yield from apply_plan(bound, plan, [write.plan_guard(plan.id)], [write.settle_operation(plan.id)]))


def reject(bound: Bound, plan: Plan | str) -> Flow[None]:
    """Be done with a waiting plan without applying it. Its turns are not asked about again.

    Args:
        bound: The scope.
        plan: One of `plans()`, or its id.

    Raises:
        NotFound: It is not waiting (any more).
        InvalidInput: It is neither a plan nor an id, or a field of it is of another type.
    """
    if isinstance(plan, Plan):
        check_given(plan)
    plan_id = _id_of(plan)
    yield from commit(bound, [write.settle_operation(plan_id)], guards=[write.plan_guard(plan_id)])


def _id_of(plan: object) -> str:
    if isinstance(plan, Plan):
        return plan.id
    if isinstance(plan, str):
        return plan
    raise InvalidInput(f"plan must be one of plans(), or its id, not {type(plan).__name__}")
