"""What a measurement is: targets, values and their words. Knows nothing of how anything is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Literal

Measure = Literal["floor", "described", "trips", "p95", "lowest", "median", "mean", "epoch"]

WORDS: dict[Measure, str] = {
    "floor": "{} × floor",
    "described": "{} × described",
    "trips": "{} trips",
    "p95": "p95 {} × floor",
    "lowest": "lowest {} %",
    "median": "median {} %",
    "mean": "mean {} %",
    "epoch": "{} saves an epoch",
}
"""How a measure's number is said; `{}` takes the number, in a target with its sign."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a row has to reach.

    Attributes:
        of: What is bounded.
        most: The highest value that is good enough.
        least: The lowest value that is good enough.
        smallest: The fewest impressions it is about.
        largest: The most impressions it is about.
    """

    of: Measure
    most: float = inf
    least: float = -inf
    smallest: float = 0
    largest: float = inf

    def __str__(self) -> str:
        if self.of == "trips":
            return f"{self.most:g} trip{'s' if self.most > 1 else ''}"
        bound = self.most if self.most < inf else self.least
        number = f"1/{1 / bound:g}" if 0 < bound < 1 else f"{bound:g}"
        return WORDS[self.of].format(f"{'≤' if self.most < inf else '≥'} {number}")


@dataclass(frozen=True, slots=True)
class Result:
    """One measured row. Values are medians, if the name says nothing else; ratios are medians of the pairs' own ratios.

    Attributes:
        name: The row's.
        size: Impressions in each system; None where it does not matter.
        unit: Of the three values that follow: `µs`, `ms`, `bytes` or `%`.
        floor: The floor; None where there is none.
        subject: This project; None where it could not be measured, and `note` says why.
        described: The described system, if measured.
        floor_name: What the floor is.
        values: What targets are about.
        pairs: How many pairs were measured.
        described_trips: Round trips of the described system.
        targets: What has to be reached.
        block: The heading it stands under; empty for that of its size.
        note: What else a reader has to know.
    """

    name: str
    size: int | None
    unit: str
    floor: float | None
    subject: float | None
    described: float | None
    floor_name: str
    values: dict[Measure, float]
    pairs: int
    described_trips: int | None = None
    targets: tuple[Target, ...] = field(default=())
    block: str = ""
    note: str = ""

    def reached(self, target: Target) -> bool | None:
        """Whether a target is reached; None where it could not be measured."""
        value = self.values.get(target.of)
        return None if value is None else target.least <= value <= target.most
