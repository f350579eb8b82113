"""What a recall may show: rows in lanes, and what stands behind each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from impressmem_integrations.core import render
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import Facts
from impressmem_integrations.core.commands.search import Found, Heard, Noted
from impressmem_integrations.core.passages import passage
from impressmem_integrations.core.ranking import CONSTANTS, Kind, Row, Scored
from impressmem_integrations.core.times import Time, hours_from
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


class Reading(NamedTuple):
    """How what was found is read.

    Attributes:
        bound: The scope.
        terms: Of the question: of a long text the part that says them is shown.
        line_units: The most units of a text that is shown whole.
    """

    bound: Bound
    terms: Collection[str]
    line_units: int

    def note(self, note: Noted) -> tuple[Row, Candidate]:
        """An impression."""
        item, content = note.stored, note.stored.content
        line = render.short_line(self._part(content))
        return Row(item.clue, note.position, content), Candidate(line, item.shown_at, note.position, item.impression)

    def message(self, heard: Heard) -> tuple[Row, Candidate]:
        """A message kept as evidence."""
        row = Row(f"{heard.turn}.{heard.position}", heard.position, heard.text, heard.speaker)
        return row, Candidate(render.heard_line(heard.speaker, self._part(heard.text)), heard.at, heard.position)

    def _part(self, text: str) -> str:
        return passage(text, self.terms, self.line_units, self.bound.count_units)


def candidates(
    reading: Reading, found: Found, dates: Sequence[Time]
) -> tuple[dict[Key, Candidate], dict[str, list[Scored]]]:
    """What a question found, as lanes of rows in no order, and what stands behind each row.

    Args:
        reading: How it is read.
        found: By the index query.
        dates: That the question names.
    """
    behind: dict[Key, Candidate] = {}
    lanes: dict[str, list[Scored]] = {"notes": [], "names": [], "links": [], "turns": [], "beside": []}
    for note in found.impressions:
        row, one = _away(reading.note(note), dates)
        behind["impression", row.key] = one
        factor = _liveliness(reading.bound, note.stored.facts, found.now) * _timeliness(one.at, dates)
        words = "notes" if note.itself else "beside"
        for lane, score in ((words, note.words), ("names", note.names), ("links", note.links)):
            if score > 0:
                lanes[lane].append(Scored("impression", row, score * factor))
    for heard in found.turns:
        row, one = _away(reading.message(heard), dates)
        behind["turn", row.key] = one
        lane = "turns" if heard.itself else "beside"
        lanes[lane].append(Scored("turn", row, heard.score * _timeliness(heard.at, dates)))
    return behind, lanes


def _away(read: tuple[Row, Candidate], dates: Sequence[Time]) -> tuple[Row, Candidate]:
    row, one = read
    return (row._replace(away=hours_from(dates, one.at)), one) if dates else read


def of_their_time(reading: Reading, found: Found, dates: Sequence[Time], behind: dict[Key, Candidate]) -> list[Scored]:
    """What was said on dates, the newest first, those of the dates in UTC before what was their day elsewhere.

    What stands behind a row is added to `behind` where it is missing.
    """
    rows: list[Scored] = []
    kinds: tuple[tuple[Kind, Iterable[tuple[Row, Candidate]]], ...] = (
        ("impression", map(reading.note, found.impressions)),
        ("turn", map(reading.message, found.turns)),
    )
    for kind, read in kinds:
        for row, one in read:
            if any(date.includes(one.at) for date in dates):
                behind.setdefault((kind, row.key), one)
                rows.append(Scored(kind, row, 0.0))

    def order(scored: Scored) -> tuple[bool, datetime, bool, int]:
        one = behind[scored.kind, scored.row.key]
        return any(date.holds(one.at) for date in dates), one.at, scored.kind == "impression", one.position

    return sorted(rows, key=order, reverse=True)


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


def _timeliness(at: datetime, dates: Sequence[Time]) -> float:
    """1, or less for what was said at another time than the question names."""
    return CONSTANTS.other_time if dates and not any(date.includes(at) for date in dates) else 1.0
