"""The numbers of the ranking, and how lanes are combined and a budget is filled: pure functions.

The index query (`lua/search.lua`) scores impressions and turns by the words of a question, by names and along the
label graph. What it returns becomes lanes; `fuse` makes one ranking of them, and `fill` chooses what a budget shows.

Equal inputs give equal outputs: ties go to the row that is nearer to the time that the question names, then to the
newer one, then to the key.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

Kind = Literal["impression", "turn"]


class Depth(NamedTuple):
    """How many rows are looked at for a budget of units: what a small one cannot show need not be read.

    Attributes:
        units: So many units of the budget call for one row more.
        less: Rows fewer than that.
        least: At least so many.
        most: At most so many.
    """

    units: int
    less: int
    least: int
    most: int

    def of(self, budget_units: int) -> int:
        """The number of rows."""
        return min(self.most, max(self.least, budget_units // self.units - self.less))


class Constants(NamedTuple):
    """Every number of the ranking. docs/ranking.md names the experiment that set each (E1 ... ).

    Attributes:
        k1: BM25: how soon repetitions stop to count (E2).
        b: BM25: how much long texts are held back (E2).
        average_length: Terms of a normal text; fixed, so that stored weights never have to be rewritten (E2).
        turn_neighbours: Share of a turn's match that the turns one and two places away get (E3).
        note_neighbours: The same for impressions, in the order of their creation (E3).
        neighbour_gap_ms: Rows further apart in time are no neighbours (E3).
        other_speaker: Factor for a turn by somebody else where the question names a speaker (E4).
        other_time: Factor for a row from outside the days, months or years that the question names (E5, E14).
        novelty: How much of its score a row loses when all its terms were shown often (E6).
        shown_often: Times after which a term is old news (E6).
        floor: Share of the best score under which a recall stops unless it is told to fill its budget (E9).
        names: Weight of a name of a category or label that the question says, where a word of a note weighs 1 (E15).
        links: Share of that which a label passes on to the labels it occurs with (E15).
        cap: Index entries the query reads before it turns to looking single members up (E8).
        hits: Best rows by words that neighbours are looked up for (E10).
        rows: Rows that are returned to be chosen from (E10).
        fresh: The most that a fresh touch adds to an impression's score, as a share of it; halves with its half-life.
        used: The most that confirmed use adds, as a share of it.
        often_used: Confirmations from which on more add nothing.
    """

    k1: float = 1.2
    b: float = 0.75
    average_length: float = 12.0
    turn_neighbours: tuple[float, ...] = (0.5, 0.25)
    note_neighbours: tuple[float, ...] = (0.2, 0.1)
    neighbour_gap_ms: int = 6 * 3600 * 1000
    other_speaker: float = 0.5
    other_time: float = 0.5
    novelty: float = 0.4
    shown_often: int = 3
    floor: float = 0.05
    names: float = 0.5
    links: float = 0.25
    cap: int = 500
    hits: Depth = Depth(15, 30, 30, 100)
    rows: Depth = Depth(10, 40, 40, 400)
    fresh: float = 0.05
    used: float = 0.05
    often_used: int = 10


CONSTANTS = Constants()


class Row(NamedTuple):
    """One row of a lane.

    Attributes:
        key: The clue, or the turn's id.
        position: Its place in the order of creation.
        text: What is shown of it; its terms decide how much news it brings.
        speaker: Who said it, "" where unknown.
        away: Hours from the time that the question names, up to 15; 0 where it names none.
    """

    key: str
    position: int
    text: str
    speaker: str = ""
    away: int = 0


class Scored(NamedTuple):
    """A row with its score in one lane or after fusion.

    Attributes:
        kind: `impression` or `turn`.
        row: The row.
        score: Higher is better, 0 where nothing speaks for it.
        receipt: Lane -> rank in it, from 1.
    """

    kind: Kind
    row: Row
    score: float
    receipt: Mapping[str, int] = MappingProxyType({})


class Filling(NamedTuple):
    """What a budget holds.

    Attributes:
        chosen: In the order in which they were chosen: the most telling first.
        left_out: What did not fit, best first.
        units: Units that `chosen` takes.
        weak: What is under the floor, best first.
    """

    chosen: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    units: int
    weak: tuple[Scored, ...] = ()


def fuse(lanes: Mapping[str, Sequence[Scored]]) -> list[Scored]:
    """Combine lanes into one ranking; a row's score is the sum of its scores, its receipt its ranks.

    Lanes come in any order of their rows. Whoever makes them makes their scores comparable: a lane scales its own to
    those of `lua/search.lua`.
    """
    scores: dict[tuple[Kind, str], float] = {}
    receipts: dict[tuple[Kind, str], dict[str, int]] = {}
    rows: dict[tuple[Kind, str], Row] = {}
    for lane, ranked in lanes.items():
        for rank, scored in enumerate(_ranked(ranked), 1):
            key = (scored.kind, scored.row.key)
            rows.setdefault(key, scored.row)
            scores[key] = scores.get(key, 0.0) + scored.score
            receipt = receipts.setdefault(key, {})
            if scored.score > 0:
                receipt[lane] = rank
    return _ranked([Scored(key[0], rows[key], score, receipts[key]) for key, score in scores.items()])


def beneath(ranked: Sequence[Scored], lane: str, rows: Sequence[Scored]) -> list[Scored]:
    """Add a lane that has an order and no scores: its rows come under all that have a score, which keep theirs.

    Args:
        ranked: What is ranked already, best first.
        lane: The lane's name in receipts.
        rows: Its rows, best first.
    """
    places = {(scored.kind, scored.row.key): rank for rank, scored in enumerate(rows, 1)}
    scored_already = [scored for scored in ranked if scored.score > 0]
    most = scored_already[-1].score if scored_already else 1.0
    made = {(scored.kind, scored.row.key): scored for scored in (*rows, *ranked)}
    for key, rank in places.items():
        scored = made[key]
        score = scored.score if scored.score > 0 else most * (1 - rank / (len(rows) + 1))
        made[key] = scored._replace(score=score, receipt={**scored.receipt, lane: rank})
    return _ranked(made.values())


def fill(
    ranked: Sequence[Scored],
    budget: int,
    cost: Callable[[Scored], int],
    terms_of: Callable[[Row], Iterable[str]],
    *,
    floor: float = 0.0,
    constants: Constants = CONSTANTS,
) -> Filling:
    """Choose rows for a budget: always the one that tells most beside what is already chosen, as long as it fits.

    Args:
        ranked: Best first.
        budget: Units.
        cost: Units that a row takes as it will be shown.
        terms_of: The terms of a row; only asked for rows that come near to being chosen.
        floor: Rows under this share of the best score are left out.
        constants: The table.
    """
    if not ranked:
        return Filling((), (), 0)
    least = floor * ranked[0].score
    terms: dict[int, frozenset[str]] = {}
    prices: dict[int, int] = {}
    often = constants.shown_often
    shown: dict[str, int] = {}  # how often each term was shown, up to `often`
    chosen: list[int] = []
    spent = 0

    def worth(index: int) -> float:
        own = terms.get(index)
        if own is None:
            own = terms[index] = frozenset(terms_of(ranked[index].row))
            for term in own:
                shown.setdefault(term, 0)
        old = sum(map(shown.__getitem__, own)) / (often * len(own)) if own else 0.0
        return ranked[index].score * (1 - constants.novelty * old)

    # Worth only falls while rows are chosen, so a stale entry of the heap is an upper bound: work out the first one
    # anew and take it if it still leads.
    heap = [(-scored.score, index, -1) for index, scored in enumerate(ranked) if scored.score >= least]
    heapq.heapify(heap)
    while heap:
        _, index, known = heap[0]
        if index not in prices:
            prices[index] = cost(ranked[index])
        if spent + prices[index] > budget:  # and never will it fit again
            heapq.heappop(heap)
        elif known != len(chosen):
            heapq.heapreplace(heap, (-worth(index), index, len(chosen)))
        else:
            heapq.heappop(heap)
            spent += prices[index]
            chosen.append(index)
            for term in terms[index]:
                shown[term] = min(often, shown[term] + 1)
    taken = set(chosen)
    left = [scored for index, scored in enumerate(ranked) if index not in taken]
    return Filling(
        tuple(ranked[index] for index in chosen),
        tuple(scored for scored in left if scored.score >= least),
        spent,
        tuple(scored for scored in left if scored.score < least),
    )


def _ranked(scored: Iterable[Scored]) -> list[Scored]:
    return sorted(scored, key=lambda one: (-one.score, one.row.away, -one.row.position, one.row.key))
