"""Contexts over many single saves: how much stays a prefix, and how much of the budget is used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from statistics import mean, median

from impressmem_integrations.core.text import units as count_units
from impressmem_integrations.model import Context, common_prefix
from tests.bench.measure import Effort
from tests.bench.results import Measure, Result, Target
from tests.bench.stage import Stage

STABLE = "stable prefix of a context, 10,000 units"
USED = "budget used by a context, {:,} units"
BUDGETS = (1_000, 10_000)
_STABLE_TARGETS = (Target("median", least=95), Target("mean", least=90), Target("epoch", least=30))
_USED_TARGET = Target("lowest", least=95)


def stability(stage: Stage, effort: Effort) -> Iterator[Result]:
    """Save notes one at a time in a copy of the stage's scope, and read the context of each budget after each."""
    made: defaultdict[int, list[Context]] = defaultdict(list)
    with stage.copy("stability") as store:
        for number in range(effort.saves + 1):
            if number:
                store.save(**asdict(stage.new_note()))
            for units in BUDGETS:
                made[units].append(store.context(budget_units=units))
    yield _stable(stage, made[max(BUDGETS)], _described_shares(stage, effort))
    for units in BUDGETS:
        yield _used(stage, units, made[units])


def _stable(stage: Stage, made: list[Context], theirs: list[float]) -> Result:
    shares = [after.stable_prefix(before) * 100 for before, after in pairwise(made)]
    # Epochs are counted over all budgets of a scope, so their numbers say only that they differ.
    epochs = len({context.epoch for context in made})  # the last one has not ended: never too good
    values: dict[Measure, float] = {"median": median(shares), "mean": mean(shares), "epoch": len(shares) / epochs}
    return Result(
        name=STABLE,
        size=stage.size,
        unit="%",
        floor=None,
        subject=values["median"],
        described=median(theirs) if theirs else None,
        floor_name="",
        values=values,
        pairs=len(shares),
        targets=_STABLE_TARGETS,
    )


def _described_shares(stage: Stage, effort: Effort) -> list[float]:
    if stage.described is None:
        return []
    texts = [stage.described.text(max(BUDGETS))]
    for _ in range(effort.described_calls // 4):  # its contexts take up to a second
        stage.described.load([[stage.new_note()]])
        texts.append(stage.described.text(max(BUDGETS)))
    return [100 * common_prefix(one, other) / len(other) for one, other in pairwise(texts)]


def _used(stage: Stage, units: int, made: list[Context]) -> Result:
    """The lowest share over all contexts that left an impression out."""
    short = [context for context in made if any(left.what == "impressions" for left in context.omitted)]
    lowest = min((100 * context.units / units for context in short), default=None)
    return Result(
        name=USED.format(units),
        size=stage.size,
        unit="%",
        floor=None,
        subject=None if lowest is None else median(100 * context.units / units for context in short),
        described=_described_used(stage, units),
        floor_name="",
        values={} if lowest is None else {"lowest": lowest},
        pairs=len(short),
        targets=(_USED_TARGET,),
        note="" if short else "every impression fits",
    )


def _described_used(stage: Stage, units: int) -> float | None:
    """The share of the budget that its impressions take; names stand outside, times are not counted by it."""
    if stage.described is None:
        return None
    *_, impressions, _ = stage.described.text(units).split("------\n")
    return 100 * count_units(impressions) / units
