"""The index query in plain Python, for scopes so small that nothing is cut: what `lua/search.lua` must agree with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Row(NamedTuple):
    """A row of an index, in its order.

    Attributes:
        weights: Term -> stored weight.
        at: When it was said, in ms.
        speaker: Who said it.
    """

    weights: dict[str, float]
    at: int = 0
    speaker: str = ""


def idf(size: int, frequency: int) -> float:
    """How much a term tells that stands in `frequency` of `size` rows."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def scores(
    rows: Sequence[Row], terms: Sequence[str], shares: Sequence[float], gap: int, named: Sequence[str] = (), other=1.0
) -> list[float]:
    """The score of each row: per term the largest of its own weight and its neighbours' at their share, times idf.

    Args:
        rows: All rows, neighbours side by side.
        terms: Of the question.
        shares: What a neighbour at distance 1, 2 ... passes on.
        gap: Milliseconds beyond which rows are no neighbours.
        named: Speakers that the question names.
        other: Factor for rows of other speakers than these.
    """
    found = [0.0] * len(rows)
    for term in terms:
        frequency = sum(term in row.weights for row in rows)
        for place, row in enumerate(rows):
            best = row.weights.get(term, 0.0)
            for distance, share in enumerate(shares, 1):
                for beside in (place - distance, place + distance):
                    if 0 <= beside < len(rows) and abs(rows[beside].at - row.at) <= gap:
                        best = max(best, share * rows[beside].weights.get(term, 0.0))
            found[place] += best * idf(len(rows), frequency)
    return [
        score * other if named and row.speaker and row.speaker not in named else score
        for score, row in zip(found, rows, strict=True)
    ]
