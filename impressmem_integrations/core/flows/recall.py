"""The flow behind `recall`: look a question up in one trip, weigh what was found, fill a budget.

Where a date is all that a question asks for, and where it names one and the budget is to be filled, what was said then
is brought by a second trip: what a date means is known by the server's clock, which the first one brings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from impressmem_integrations.core import ranking, render
from impressmem_integrations.core.bound import DEFAULT_RECALL_UNITS, Bound, bytes_to_read
from impressmem_integrations.core.candidates import (
    Candidate,
    Key,
    Reading,
    candidates,
    listed,
    of_their_time,
    ranked,
    whole_line,
)
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.records import asked_labels
from impressmem_integrations.core.commands.said import said_between
from impressmem_integrations.core.commands.search import search
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.recollect import positive, switch
from impressmem_integrations.core.ranking import CONSTANTS, Filling, Kind, Scored
from impressmem_integrations.core.text import Name, loose, normal_name, tokenise, tokenise_question
from impressmem_integrations.core.times import spans_of
from impressmem_integrations.core.when import names_one_of, read_dates
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Omission, Recall, Why

_MOST_RECALLED = 1_000
_NEAR = 5
_NAMED = 20
_NEWEST_PAGE = 200
_LINES_AT_LEAST = 3  # a budget shows: of a longer text only a part is shown
_AVERAGE_UNITS = 20  # of a note, where none was read
_WORDS = re.compile(r"\w+")
_MOST_QUESTION = 8_000  # characters; far more than the terms that are looked up
_MOST_COMPARED = 20


class _Answer(NamedTuple):
    """What is shown and what is not, what stands behind both, and how many were not even read, by reason and kind."""

    filling: Filling
    behind: Mapping[Key, Candidate]
    text: str
    unread: Mapping[tuple[Why, Kind], int]

    def units(self, bound: Bound, scored: Scored) -> int:
        """What a row takes as it is shown."""
        return bound.count_units(self.behind[scored.kind, scored.row.key].line + "\n")


def recall(
    bound: Bound,
    query: str | None = None,
    *,
    category: str | None = None,
    labels: Sequence[str] | None = (),
    budget_units: int = DEFAULT_RECALL_UNITS,
    fill: bool = False,
) -> Flow[Recall]:
    """What memory holds on a question, a category or labels.

    A question is looked up by its words in impressions and in messages kept as evidence; one that asks for a time alone
    (`What did I tell you yesterday?`, `what happened since Monday?`) by when they were said. Category and labels narrow
    it to impressions filed under any of them; without a question those filed under most of them come first, then the
    newest.

    Args:
        bound: The scope.
        query: A question in plain words, in any language; of a longer text the first 8,000 characters count.
        category: A category to look in.
        labels: Labels to look for, up to 1,000 different ones; any of them counts, more is better.
        budget_units: The most units of the text.
        fill: Use the budget up, with weaker items, those of a date that the question names, and then the newest,
            instead of stopping where evidence stops.

    Returns:
        Items best first, their text, what was left out, and close names where an asked one does not exist.

    Raises:
        InvalidInput: An argument is wrong.
    """
    budget = positive(budget_units, "budget_units")
    fill = switch(fill, "fill")
    if query is not None and not isinstance(query, str):
        raise InvalidInput("query must be text")
    within = normal_name(category, "category") if category is not None else None
    with_labels = asked_labels(labels)
    query = query.lstrip()[:_MOST_QUESTION] if query else query
    terms = tokenise_question(query) if query else []
    if within or with_labels or not (query and query.strip()):
        return (yield from _filed(bound, query, terms, within, with_labels, budget))
    answer = yield from _answer(bound, query or "", terms, budget, fill=fill)
    return _recall(bound, answer, budget)


def _answer(bound: Bound, query: str, terms: Sequence[str], budget: int, *, fill: bool = False) -> Flow[_Answer]:
    dated = read_dates(query)
    if dated.alone:  # words like `tell` and `2023` find much that has nothing to do with it
        terms = tokenise_question(f"{dated.words} {dated.weekdays}")
    found = yield from ask(search(bound, terms, _words(query), budget_units=budget, turns=True))
    today = found.now.date()
    dates = dated.on(today)
    reading = Reading(bound, terms, budget // _LINES_AT_LEAST)
    behind, lanes = candidates(reading, found, dates)
    by_words: Sequence[Scored] = ()
    if dated.alone:
        by_words = ranking.fuse({**lanes, "beside": ()}) if dated.weekdays else ()
        lanes = {name: [one for one in lane if names_one_of(one.row.text, dates)] for name, lane in lanes.items()}
    if fill:
        lanes["newest"] = yield from _newest(bound, budget, behind)
    rows = ranking.fuse(lanes)
    if dates and (dated.alone or fill):
        then = yield from ask(said_between(bound, spans_of(dates, today), budget_units=budget))
        rows = ranking.beneath(rows, "dates", of_their_time(reading, then, dates, behind))
    if by_words:  # what says `Monday` may be about another one, and still be wanted
        rows = ranking.beneath(rows, "weekday", [one._replace(score=0.0) for one in by_words])
    if not fill:
        rows = [scored for scored in rows if scored.score > 0]
    room = budget - bound.count_units(render.fenced([], render.SHORT_HEADING)) - 1

    def cost(scored: Scored) -> int:
        return bound.count_units(behind[scored.kind, scored.row.key].line + "\n")

    floor = 0.0 if fill or dated.alone else CONSTANTS.floor
    filling = ranking.fill(rows, room, cost, lambda row: _terms_of(row.text), floor=floor)
    unread: dict[tuple[Why, Kind], int] = {}
    if not dated.alone:
        unread = {("weak", "impression"): found.more_impressions, ("weak", "turn"): found.more_turns}
    return _answered(bound, filling, behind, budget, unread)


def _words(query: str | None) -> list[str]:
    return list(dict.fromkeys(_WORDS.findall((query or "").casefold())))


def _newest(bound: Bound, budget: int, behind: dict[Key, Candidate]) -> Flow[list[Scored]]:
    """The newest impressions as a lane without a score: what fills a budget when evidence has ended."""
    page = yield from ask(
        read.list_records(bound, "clues", None, True, read.Cursor(), _NEWEST_PAGE, bytes_to_read(budget, times=1))
    )
    lane = []
    for place, (item, _) in enumerate(page.items):
        row, one = listed(item, place)
        behind.setdefault(("impression", item.clue), one)
        lane.append(Scored("impression", row, 0.0))
    return lane


@lru_cache(maxsize=4_096)
def _terms_of(text: str) -> frozenset[str]:
    """The terms of a text; the notes that answer questions come up again and again."""
    return frozenset(tokenise(text))


def _text(filling: Filling, behind: Mapping[Key, Candidate]) -> str:
    shown = [behind[scored.kind, scored.row.key] for scored in filling.chosen]
    return render.by_date([(one.at, one.position, one.line) for one in shown]) if shown else ""


def _answered(
    bound: Bound,
    filling: Filling,
    behind: Mapping[Key, Candidate],
    budget: int,
    unread: Mapping[tuple[Why, Kind], int],
) -> _Answer:
    """The filling with its text, without its last rows where the dates above the lines pass the budget."""
    text = _text(filling, behind)
    while filling.chosen and bound.count_units(text) > budget:
        *chosen, last = filling.chosen
        filling = filling._replace(chosen=tuple(chosen), left_out=(last, *filling.left_out))
        text = _text(filling, behind)
    return _Answer(filling, behind, text, unread)


def _recall(
    bound: Bound,
    answer: _Answer,
    budget: int,
    *,
    labels: tuple[str, ...] | None = None,
    near: tuple[str, ...] = (),
) -> Recall:
    """The result: items in the order they were chosen, their text by date.

    Its labels are those of the items unless others are given.
    """
    filling, behind, text, _ = answer
    items = tuple(ranked(scored, behind[scored.kind, scored.row.key]) for scored in filling.chosen)
    if labels is None:
        records = (item.impression for item in items)
        labels = tuple(dict.fromkeys(label for record in records if record for label in record.labels))
    return Recall(items, text, tuple(_omissions(bound, answer)), labels, near, bound.count_units(text) if text else 0)


def _omissions(bound: Bound, answer: _Answer) -> Iterator[Omission]:
    """What a larger budget brings in, then what says too little of the question; what was not read counts as well."""
    filling = answer.filling
    grows = sum(_whole_units(bound, scored) - answer.units(bound, scored) for scored in filling.chosen)
    reasons: tuple[tuple[Why, tuple[Scored, ...]], ...] = (("budget", filling.left_out), ("weak", filling.weak))
    kinds: tuple[tuple[Kind, str], ...] = (("impression", "impressions"), ("turn", "turns"))
    for why, rows in reasons:
        for kind, what in kinds:
            some = [scored for scored in rows if scored.kind == kind and (scored.score > 0 or why == "weak")]
            extra = answer.unread.get((why, kind), 0)
            if some or extra:
                units = [_whole_units(bound, scored) for scored in some]
                average = sum(units) / len(units) if units else _AVERAGE_UNITS
                total = sum(units) + round(average * extra) + (grows if why == "budget" else 0)
                yield Omission(what, len(some) + extra, total, tuple(one.row.key for one in some[:_NAMED]), why)


def _whole_units(bound: Bound, scored: Scored) -> int:
    """What a row takes where all of its text is shown, as a larger budget does."""
    return bound.count_units(whole_line(scored) + "\n")


def _filed(
    bound: Bound,
    query: str | None,
    terms: Sequence[str],
    category: Name | None,
    labels: Sequence[Name],
    budget: int,
) -> Flow[Recall]:
    """By category and labels: those matching most of the names first, then newest; a question re-orders them."""
    filed = yield from ask(read.recall(bound, category, labels, bytes_to_read(budget), _MOST_RECALLED))
    scores: dict[str, float] = {}
    receipts: dict[str, Mapping[str, int]] = {}
    away: dict[str, int] = {}
    if terms:
        found = yield from ask(search(bound, terms, _words(query), budget_units=budget, turns=False))
        dates = read_dates(query or "").on(found.now.date())
        _, lanes = candidates(Reading(bound, terms, budget // _LINES_AT_LEAST), found, dates)
        for scored in ranking.fuse(lanes):
            key = scored.row.key
            scores[key], receipts[key], away[key] = scored.score, scored.receipt, scored.row.away
    behind: dict[Key, Candidate] = {}
    rows = []
    for place, (item, matches) in enumerate(zip(filed.items, filed.matches, strict=True)):
        row, behind["impression", item.clue] = listed(item, place)
        receipt = {"filed": place + 1, **receipts.get(item.clue, {})}
        row = row._replace(away=away.get(item.clue, 0))
        rows.append(Scored("impression", row, matches + scores.get(item.clue, 0.0), receipt))
    if scores:
        rows.sort(key=lambda scored: (-scored.score, scored.row.away, -scored.row.position))
    wanted = [name.shown for name in (*([category] if category else []), *labels)]
    unread: dict[tuple[Why, Kind], int] = {("budget", "impression"): filed.found - len(filed.items)}
    answer = _answered(bound, _in_order(bound, rows, behind, budget), behind, budget, unread)
    near = near_names(wanted, filed.names)
    return _recall(bound, answer, budget, labels=filed.labels, near=near)


def _in_order(bound: Bound, rows: Sequence[Scored], behind: Mapping[Key, Candidate], budget: int) -> Filling:
    """Fill a budget in rank order; one that does not fit is passed over."""
    left = budget - bound.count_units(render.fenced([], render.SHORT_HEADING)) - 1
    chosen, over = [], []
    for scored in rows:
        cost = bound.count_units(behind[scored.kind, scored.row.key].line + "\n")
        if cost <= left:
            left -= cost
            chosen.append(scored)
        else:
            over.append(scored)
    return Filling(tuple(chosen), tuple(over), 0)


def near_names(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Up to five existing names close to asked names; the first 20 of these are compared."""
    from difflib import get_close_matches  # only a near miss needs it

    by_loose = {loose(name): name for name in reversed(known)}
    found: dict[str, None] = {}
    for name in wanted[:_MOST_COMPARED]:
        short = loose(name)
        for other in by_loose:
            if other and short and (other in short or short in other):
                found[by_loose[other]] = None
        for other in get_close_matches(short, by_loose, n=_NEAR, cutoff=0.6):
            found[by_loose[other]] = None
    return tuple(name for name in found if name not in wanted)[:_NEAR]


def relevant(bound: Bound, query: str, budget_units: int, shown: Iterable[str]) -> Flow[str]:
    """Lines for the current question that a context does not show already; "" where there are none."""
    query = query.lstrip()[:_MOST_QUESTION]
    terms = tokenise_question(query)
    if not terms:
        return ""
    filling, behind, text, _ = yield from _answer(bound, query, terms, budget_units)
    known = {("impression", clue) for clue in shown}
    fresh = tuple(scored for scored in filling.chosen if (scored.kind, scored.row.key) not in known)
    return text if len(fresh) == len(filling.chosen) else _text(filling._replace(chosen=fresh), behind)
