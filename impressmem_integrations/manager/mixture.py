"""Choosing what a mixed reading holds. Pure: a budget in, the chosen notes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from impressmem_integrations.model import Impression

T = TypeVar("T")

RECENT_SHARE = 5
"""One part in so many is kept for what is newest, whatever its category; the rest goes round the categories."""


@dataclass(frozen=True, slots=True)
class Note:
    """An impression and the time of its last touch in milliseconds."""

    impression: Impression
    touched: float


@dataclass(slots=True)
class _Budget:
    left: int
    most: int
    cost: Callable[[Note], int]
    chosen: dict[str, Note] = field(default_factory=dict)

    def take(self, notes: Iterable[Note], share: int) -> None:
        """Take what fits into a share; what is too long is passed over and stops nothing."""
        for note in notes:
            if len(self.chosen) == self.most:
                return
            cost = self.cost(note)
            if note.impression.clue not in self.chosen and cost <= share:
                self.chosen[note.impression.clue] = note
                share -= cost
                self.left -= cost


def mix(
    pinned: Sequence[Note], others: Sequence[Note], budget_units: int, most: int, cost: Callable[[Note], int]
) -> list[Note]:
    """Fill a budget: pinned notes, a share of the newest, then round after round the next of each category.

    Args:
        pinned: In the order in which they have a claim.
        others: In any order.
        budget_units: The most units of all together.
        most: The most notes.
        cost: Units of one note.

    Returns:
        The chosen notes, newest first.
    """
    budget = _Budget(budget_units, most, cost)
    budget.take(pinned, budget.left)
    newest = sorted(others, key=_newest)
    budget.take(newest, budget.left // RECENT_SHARE)
    by_category: dict[str, list[Note]] = {}
    for note in newest:
        by_category.setdefault(note.impression.category, []).append(note)
    budget.take(rounds(list(by_category.values())), budget.left)
    return sorted(budget.chosen.values(), key=_newest)


def mix_names(
    recent: Sequence[tuple[str, float]], by_category: Sequence[Sequence[tuple[str, float]]], limit: int
) -> list[tuple[str, float]]:
    """Names in the same way: a share of the newest, rounds over the categories, and the newest up to the limit.

    Args:
        recent: Names with times, newest first.
        by_category: The same for each category, newest category first.
        limit: The most names.

    Returns:
        Names with times, newest first.
    """
    chosen: dict[str, float] = {}
    known: Mapping[str, float] = dict(recent)
    for name, at in (*recent[: limit // RECENT_SHARE], *rounds(by_category), *recent):
        if len(chosen) < limit:
            chosen.setdefault(name, known.get(name, at))
    return sorted(chosen.items(), key=lambda item: (-item[1], item[0]))


def rounds(lanes: Sequence[Sequence[T]]) -> Iterable[T]:
    """The first of each lane, then the second of each, and so on."""
    for place in range(max(map(len, lanes), default=0)):
        yield from (lane[place] for lane in lanes if place < len(lane))


def _newest(note: Note) -> tuple[float, str]:
    return -note.touched, note.impression.clue
