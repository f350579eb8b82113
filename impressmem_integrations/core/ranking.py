"""How lanes are combined and a budget is filled: pure functions over what the index query returns.

The index query (`lua/search.lua`) looks the terms of a question up and returns `Row`s: the best hits and the rows
beside them. Everything that weighs evidence happens here, so that it can be read, measured and changed in one place:

    terms -> query -> rows -> `score_rows` -> one ranked lane -> `fuse` lanes -> `fill` a budget

Equal inputs give equal outputs: ties go to the newer row, then to the key.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

Kind = Literal["impression", "turn"]


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
        other_time: Factor for a row from outside the days or months that the question names (E5).
        novelty: How much of its score a row loses when all its terms were shown often (E6).
        shown_often: Times after which a term is old news (E6).
        feedback_rows: Best rows that a question is expanded from (E7).
        feedback_terms: Terms it is expanded by (E7).
        feedback_weight: Weight of the best of these, where the question's own terms weigh 1 (E7).
        floor: Share of the best score under which a recall stops unless it is told to fill its budget (E9).
        names: Weight of a name of a category or label that the question says, where a word of a note weighs 1 (E14).
        links: Share of that which a label passes on to the labels it occurs with (E14).
        cap: Index entries the query reads before it turns to looking single members up (E8).
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
    feedback_rows: int = 8
    feedback_terms: int = 10
    feedback_weight: float = 0.2
    floor: float = 0.1
    names: float = 0.5
    links: float = 0.25
    cap: int = 500
    fresh: float = 0.05
    used: float = 0.05
    often_used: int = 10


CONSTANTS = Constants()


class Row(NamedTuple):
    """One row of the index query's reply: a hit, or a row beside one.

    Attributes:
        key: The clue, or the turn's id.
        position: Its place in the order of creation; neighbours differ by one.
        at: When it was said or first saved, in ms.
        weights: Its stored term weight for each term of the query, in that order; 0.0 where it lacks the term.
        text: What is shown of it; its terms decide how much news it brings.
        speaker: Who said it, "" where unknown.
        sources: Ids of the turns an impression came from.
    """

    key: str
    position: int
    at: int
    weights: tuple[float, ...]
    text: str
    speaker: str = ""
    sources: tuple[str, ...] = ()


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
        left_out: What did not fit or was under the floor, best first.
        units: Units that `chosen` takes.
    """

    chosen: tuple[Scored, ...]
    left_out: tuple[Scored, ...]
    units: int


def idf(size: int, frequency: int) -> float:
    """Return how much a term tells that stands in `frequency` of `size` rows; never negative."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def score_rows(
    rows: Sequence[Row],
    idfs: Sequence[float],
    kind: Kind,
    *,
    speakers: Iterable[str] = (),
    times: Sequence[tuple[int, int]] = (),
    constants: Constants = CONSTANTS,
) -> list[Scored]:
    """Rank the rows of one lane, best first.

    A row's score is the sum over the terms of idf times the *largest* of its own weight and its neighbours' weights at
    a discount: what is said in an answer is often only named in the question before it, but saying a word again brings
    nothing new. Rows by another speaker than the question names, and from other times, are held back, not dropped.

    Args:
        rows: Hits and the rows beside them, each once, in any order.
        idfs: One per term of the query, times the term's weight in the question.
        kind: What the rows are.
        speakers: Speakers that the question names; none means that it names nobody who speaks.
        times: Spans in ms (first, last) that the question names.
        constants: The table.
    """
    discounts = constants.turn_neighbours if kind == "turn" else constants.note_neighbours
    at_position = {row.position: index for index, row in enumerate(rows)}
    best = [list(row.weights) for row in rows]
    for row in rows:
        terms = [(term, weight) for term, weight in enumerate(row.weights) if weight]
        if not terms:
            continue
        for distance, discount in enumerate(discounts, 1):
            for position in (row.position - distance, row.position + distance):
                index = at_position.get(position)
                if index is None or abs(rows[index].at - row.at) > constants.neighbour_gap_ms:
                    continue
                weights = best[index]
                for term, weight in terms:
                    if weight * discount > weights[term]:
                        weights[term] = weight * discount
    named = frozenset(speakers)
    scored = []
    for row, weights in zip(rows, best, strict=True):
        score = sum(map(float.__mul__, weights, idfs))
        if named and row.speaker and row.speaker not in named:
            score *= constants.other_speaker
        if times and not any(first <= row.at <= last for first, last in times):
            score *= constants.other_time
        scored.append(Scored(kind, row, score))
    return _ranked(scored)


def expand(
    terms: Mapping[str, float],
    best: Sequence[Scored],
    terms_of: Callable[[Row], Mapping[str, float]],
    idf_of: Callable[[str], float],
    *,
    leave_out: Iterable[str] = (),
    constants: Constants = CONSTANTS,
) -> dict[str, float]:
    """Return the question's terms and the most telling terms of its best rows, for a second query.

    Args:
        terms: The question's terms and their weights.
        best: One ranked lane.
        terms_of: A row's terms and their stored weights.
        idf_of: A term's idf.
        leave_out: Terms that must not be added, e.g. the speakers' names.
        constants: The table.
    """
    top = [scored for scored in best[: constants.feedback_rows] if scored.score > 0]
    total = sum(scored.score for scored in top)
    gathered: Counter[str] = Counter()
    for scored in top:
        for term, weight in terms_of(scored.row).items():
            gathered[term] += weight * scored.score / total  # type: ignore[assignment]
    unwanted = {*terms, *leave_out}
    value = {term: weight * idf_of(term) for term, weight in gathered.items() if term not in unwanted}
    added = sorted(value, key=lambda term: (-value[term], term))[: constants.feedback_terms]
    strongest = max((value[term] for term in added), default=1.0) or 1.0
    return {**terms, **{term: constants.feedback_weight * value[term] / strongest for term in added}}


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
    return Filling(
        tuple(ranked[index] for index in chosen),
        tuple(scored for index, scored in enumerate(ranked) if index not in taken),
        spent,
    )


def _ranked(scored: Iterable[Scored]) -> list[Scored]:
    return sorted(scored, key=lambda one: (-one.score, -one.row.position, one.row.key))
