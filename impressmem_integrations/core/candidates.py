"""What a recall may show: rows in lanes, and what stands behind each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from impressmem_integrations.core import render
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import Facts
from impressmem_integrations.core.commands.search import Found
from impressmem_integrations.core.passages import passage
from impressmem_integrations.core.ranking import CONSTANTS, Kind, Row, Scored
from impressmem_integrations.core.when import Named
from impressmem_integrations.model import Impression, Ranked

Key = tuple[Kind, str]


class Candidate(NamedTuple):
    """What stands behind a ranked row: a record or a message.

    Attributes:
        line: The line it is shown as.
        at: The time it is shown under.
        position: Its place among those of that time.
        whole: Makes the impression, for a record; most of what a question finds is not shown.
    """

    line: str
    at: datetime
    position: int
    whole: Callable[[], Impression] | None = None


def listed(item: Impression, place: int) -> tuple[Row, Candidate]:
    """An impression of a listing, newest first."""
    line = render.short_line(item.content)
    return Row(item.clue, -place, item.content), Candidate(line, item.shown_at, -place, lambda: item)


def candidates(
    bound: Bound, found: Found, terms: Collection[str], dates: Sequence[Named], line_units: int
) -> tuple[dict[Key, Candidate], dict[str, list[Scored]]]:
    """What a question found, as lanes of rows in no order, and what stands behind each row.

    Args:
        bound: The scope.
        found: By the index query.
        terms: Of the question: of a long text the part that says them is shown.
        dates: That the question names.
        line_units: The most units of a text that is shown whole.
    """
    behind: dict[Key, Candidate] = {}
    lanes: dict[str, list[Scored]] = {"notes": [], "names": [], "links": [], "turns": [], "beside": []}

    def part(text: str) -> str:
        return passage(text, terms, line_units, bound.count_units)

    for note in found.impressions:
        item, content = note.stored, note.stored.content
        one = Candidate(render.short_line(part(content)), item.shown_at, note.position, item.impression)
        behind["impression", item.clue] = one
        row = Row(item.clue, note.position, content)
        factor = _liveliness(bound, item.facts, found.now) * _timeliness(one.at, dates)
        words = "notes" if note.itself else "beside"
        for lane, score in ((words, note.words), ("names", note.names), ("links", note.links)):
            if score > 0:
                lanes[lane].append(Scored("impression", row, score * factor))
    for heard in found.turns:
        key = f"{heard.turn}.{heard.position}"
        line = render.heard_line(heard.speaker, part(heard.text))
        behind["turn", key] = Candidate(line, heard.at, heard.position)
        row = Row(key, heard.position, heard.text, heard.speaker)
        lane = "turns" if heard.itself else "beside"
        lanes[lane].append(Scored("turn", row, heard.score * _timeliness(heard.at, dates)))
    return behind, lanes


def whole_line(scored: Scored) -> str:
    """The line of a row with all of its text."""
    row = scored.row
    return render.short_line(row.text) if scored.kind == "impression" else render.heard_line(row.speaker, row.text)


def ranked(scored: Scored, one: Candidate) -> Ranked:
    """A chosen row as an item of a recall."""
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


def _liveliness(bound: Bound, facts: Facts, now: datetime) -> float:
    """A bounded factor, 1 to 1.1: a little for being fresh, a little for having been confirmed as used and right."""
    half_life = bound.limits.half_life_days
    age_days = max(0, int((now.timestamp() * 1000 - facts.touched) / 86_400_000))  # whole: the same all day long
    fresh = 0.5 ** (age_days / half_life) if half_life else 0.0
    return 1 + CONSTANTS.fresh * fresh + CONSTANTS.used * min(1.0, facts.uses / CONSTANTS.often_used)


def _timeliness(at: datetime, dates: Sequence[Named]) -> float:
    """1, or less for what was said at another time than the question names."""
    return CONSTANTS.other_time if dates and not any(date.includes(at) for date in dates) else 1.0
