"""Collected plans: list, apply, reject."""

from __future__ import annotations

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.maintenance.apply import apply as apply_plan
from impressmem_integrations.maintenance.plan import from_json
from impressmem_integrations.model import Plan, Report


def plans(bound: Bound) -> Flow[list[Plan]]:
    """Plans that wait for a decision, by thread and id."""
    kept = yield from ask(read.plans(bound))
    return sorted((from_json(text) for text in kept.values()), key=lambda plan: (plan.thread, plan.id))


def apply(bound: Bound, plan: Plan) -> Flow[Report]:
    """Apply a waiting plan, perhaps with fewer steps than it had: all of it in one transaction, or nothing.

    Raises:
        StalePlan: A record that it was made from changed since; the plan goes on waiting.
        NotFound: It is not waiting (any more).
    """
    return (yield from apply_plan(bound, plan, [write.plan_guard(plan.id)], [write.settle_operation(plan.id)]))


def reject(bound: Bound, plan: Plan) -> Flow[None]:
    """Be done with a waiting plan without applying it; its turns are not asked about again.

    Raises:
        NotFound: It is not waiting (any more).
    """
    yield from commit(bound, [write.settle_operation(plan.id)], guards=[write.plan_guard(plan.id)])
