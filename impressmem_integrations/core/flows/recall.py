"""The flow behind `recall`: look a question up in one trip, weigh what was found, fill a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from impressmem_integrations.core import ranking, render
from impressmem_integrations.core.bound import DEFAULT_RECALL_UNITS, Bound, bytes_to_read
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.records import Facts, asked_labels
from impressmem_integrations.core.commands.search import Found, search
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.recollect import positive, switch
from impressmem_integrations.core.ranking import CONSTANTS, Filling, Row, Scored
from impressmem_integrations.core.text import Name, loose, normal_name, tokenise, tokenise_question
from impressmem_integrations.core.when import Named, named_dates
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Impression, Omission, Ranked, Recall

_MOST_RECALLED = 1_000
_NEAR = 5
_NAMED = 20
_NEWEST_PAGE = 200
_WORDS = re.compile(r"\w+")
_MOST_QUESTION = 8_000  # characters; far more than the terms that are looked up
_MOST_COMPARED = 20


class _Held(NamedTuple):
    """What stands behind a ranked row: a record or a message.

    Attributes:
        line: The line it is shown as.
        at: The time it is shown under.
        position: Its place among those of that time.
        whole: Makes the impression, for a record; most of what a question finds is not shown.
    """

    line: str
    at: datetime
    position: int = 0
    whole: Callable[[], Impression] | None = None


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

    A question is looked up by its words in impressions and in messages kept as evidence. Category and labels narrow it
    to impressions filed under any of them; without a question those filed under most of them come first, then the
    newest.

    Args:
        bound: The scope.
        query: A question in plain words, in any language; of a longer text the first 8,000 characters count.
        category: A category to look in.
        labels: Labels to look for, up to 1,000 different ones; any of them counts, more is better.
        budget_units: The most units of the text.
        fill: Use the budget up, with weaker and then the newest items, instead of stopping where evidence stops.

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
    if within or with_labels or not terms:
        return (yield from _filed(bound, query, terms, within, with_labels, budget))
    found = yield from ask(search(bound, terms, _words(query), budget_units=budget, turns=True))
    held, lanes = _lanes(bound, found, named_dates(query or ""))
    if fill:
        lanes["newest"] = yield from _newest(bound, budget, held)
    ranked = ranking.fuse(lanes)
    if not fill:
        ranked = [scored for scored in ranked if scored.score > 0]
    filling = _fill(bound, ranked, held, budget, 0.0 if fill else CONSTANTS.floor)
    return _recall(bound, filling, held, budget)


def _words(query: str | None) -> list[str]:
    return list(dict.fromkeys(_WORDS.findall((query or "").casefold())))


def _lanes(
    bound: Bound, found: Found, dates: Sequence[Named]
) -> tuple[dict[tuple[str, str], _Held], dict[str, list[Scored]]]:
    """The found rows as lanes, and what stands behind each."""
    held: dict[tuple[str, str], _Held] = {}
    lanes: dict[str, list[Scored]] = {"notes": [], "names": [], "links": [], "turns": []}
    for note in found.impressions:
        item, facts, content = note.stored, note.stored.facts, note.stored.content
        one = _Held(render.short_line(content), item.shown_at, note.position, item.impression)
        held["impression", item.clue] = one
        row = Row(item.clue, note.position, content)
        factor = _liveliness(bound, facts, found.now) * _timeliness(one.at, dates)
        for lane, score in (("notes", note.words), ("names", note.names), ("links", note.links)):
            if score > 0:
                lanes[lane].append(Scored("impression", row, score * factor))
    for score, message in found.turns:
        key = f"{message.turn}.{message.position}"
        line = render.heard_line(message.speaker, message.text)
        held["turn", key] = _Held(line, message.at, message.position)
        row = Row(key, message.position, message.text, message.speaker)
        lanes["turns"].append(Scored("turn", row, score * _timeliness(message.at, dates)))
    return held, lanes


def _held(item: Impression, place: int) -> _Held:
    return _Held(render.short_line(item.content), item.said_at or item.updated_at, -place, lambda: item)


def _liveliness(bound: Bound, facts: Facts, now: datetime) -> float:
    """A bounded factor, 1 to 1.1: a little for being fresh, a little for having been confirmed as used and right."""
    half_life = bound.limits.half_life_days
    age_days = max(0, int((now.timestamp() * 1000 - facts.touched) / 86_400_000))  # whole: the same all day long
    fresh = 0.5 ** (age_days / half_life) if half_life else 0.0
    return 1 + CONSTANTS.fresh * fresh + CONSTANTS.used * min(1.0, facts.uses / CONSTANTS.often_used)


def _timeliness(at: datetime, dates: Sequence[Named]) -> float:
    """1, or less for what was said at another time than the question names."""
    return CONSTANTS.other_time if dates and not any(date.includes(at) for date in dates) else 1.0


def _newest(bound: Bound, budget: int, held: dict[tuple[str, str], _Held]) -> Flow[list[Scored]]:
    """The newest impressions as a lane without a score: what fills a budget when evidence has ended."""
    page = yield from ask(
        read.list_records(bound, "clues", None, True, read.Cursor(), _NEWEST_PAGE, bytes_to_read(budget, times=1))
    )
    lane = []
    for place, (item, _) in enumerate(page.items):
        held.setdefault(("impression", item.clue), _held(item, place))
        lane.append(Scored("impression", Row(item.clue, -place, item.content), 0.0))
    return lane


def _fill(
    bound: Bound, ranked: Sequence[Scored], held: Mapping[tuple[str, str], _Held], budget: int, floor: float
) -> Filling:
    room = budget - bound.count_units(render.fenced([], render.SHORT_HEADING)) - 1

    def cost(scored: Scored) -> int:
        return bound.count_units(held[scored.kind, scored.row.key].line + "\n")

    return ranking.fill(ranked, room, cost, lambda row: _terms_of(row.text), floor=floor)


@lru_cache(maxsize=4_096)
def _terms_of(text: str) -> frozenset[str]:
    """The terms of a text; the notes that answer questions come up again and again."""
    return frozenset(tokenise(text))


def _recall(
    bound: Bound,
    filling: Filling,
    held: Mapping[tuple[str, str], _Held],
    budget: int,
    *,
    labels: tuple[str, ...] | None = None,
    near: tuple[str, ...] = (),
    more: int = 0,
) -> Recall:
    """The result: items in the order they were chosen, their text by date within the budget.

    Its labels are those of the items unless others are given.
    """
    chosen = list(filling.chosen)
    left = list(filling.left_out)

    def text_of(items: Iterable[Scored]) -> str:
        shown = [held[scored.kind, scored.row.key] for scored in items]
        return render.by_date([(one.at, one.position, one.line) for one in shown])

    text = text_of(chosen) if chosen else ""
    while chosen and bound.count_units(text) > budget:  # the dates take a little more
        left.insert(0, chosen.pop())
        text = text_of(chosen) if chosen else ""
    items = tuple(_item(scored, held) for scored in chosen)
    if labels is None:
        records = (item.impression for item in items)
        labels = tuple(dict.fromkeys(label for record in records if record for label in record.labels))
    return Recall(
        items,
        text,
        _omissions(bound, left, held, more),
        labels,
        near,
        bound.count_units(text) if text else 0,
    )


def _item(scored: Scored, held: Mapping[tuple[str, str], _Held]) -> Ranked:
    one = held[scored.kind, scored.row.key]
    return Ranked(
        scored.row.key,
        scored.kind,
        scored.row.text,
        one.whole() if one.whole else None,
        scored.score,
        dict(scored.receipt),
        one.at,
        scored.row.speaker,
    )


def _omissions(
    bound: Bound, left: Sequence[Scored], held: Mapping[tuple[str, str], _Held], more: int
) -> tuple[Omission, ...]:
    found = []
    for kind, what in (("impression", "impressions"), ("turn", "turns")):
        some = [scored for scored in left if scored.kind == kind and scored.score > 0]
        extra = more if kind == "impression" else 0
        if some or extra:
            units = sum(bound.count_units(held[kind, scored.row.key].line + "\n") for scored in some)
            found.append(Omission(what, len(some) + extra, units, tuple(one.row.key for one in some[:_NAMED])))
    return tuple(found)


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
    if terms:
        found = yield from ask(search(bound, terms, _words(query), budget_units=budget, turns=False))
        scores = {note.stored.clue: note.words + note.names + note.links for note in found.impressions}
    held: dict[tuple[str, str], _Held] = {}
    ranked = []
    for place, (item, matches) in enumerate(zip(filed.items, filed.matches, strict=True)):
        held["impression", item.clue] = _held(item, place)
        row = Row(item.clue, -place, item.content)
        receipt = {"filed": place + 1}
        ranked.append(Scored("impression", row, matches + scores.get(item.clue, 0.0), receipt))
    if scores:
        ranked.sort(key=lambda scored: (-scored.score, -scored.row.position))
    wanted = [name.shown for name in (*([category] if category else []), *labels)]
    filling = _in_order(bound, ranked, held, budget)
    more = filed.found - len(filed.items)
    near = near_names(wanted, filed.names)
    return _recall(bound, filling, held, budget, labels=filed.labels, near=near, more=more)


def _in_order(bound: Bound, ranked: Sequence[Scored], held: Mapping[tuple[str, str], _Held], budget: int) -> Filling:
    """Fill a budget in rank order; one that does not fit is passed over. If not even one fits, it is cut."""
    left = budget - bound.count_units(render.fenced([], render.SHORT_HEADING)) - 1
    chosen, over = [], []
    for scored in ranked:
        cost = bound.count_units(held[scored.kind, scored.row.key].line + "\n")
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
    found = yield from recall(bound, query, budget_units=budget_units)
    known = set(shown)
    fresh = [item for item in found.items if not (item.kind == "impression" and item.clue in known)]
    if not fresh:
        return ""
    if len(fresh) == len(found.items):
        return found.text
    kept = {render.short_line(item.content) for item in found.items if item.kind == "impression" and item.clue in known}
    return render.without_lines(found.text, kept)
