"""What a question may mean by a time: a date as far as it is named, a span of days, a day that may be meant too. Pure.

No clock: `today` is the server's, in UTC. Nobody tells where in the world a question is asked, so a day takes in the
14 hours before and after it; what lies within the day in UTC comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

_ELSEWHERE_HOURS = 14  # what is said on a day somewhere is said at most so far from it in UTC
_ELSEWHERE = timedelta(hours=_ELSEWHERE_HOURS)
_DAY = timedelta(days=1)
_YEARS = 10  # that a date without a year is looked for in: the last ones, the current one included


class Named(NamedTuple):
    """A date as far as it is named; None is any."""

    year: int | None
    month: int | None
    day: int | None

    @classmethod
    def of(cls, day: date) -> Named:
        """A day of the calendar."""
        return cls(day.year, day.month, day.day)

    def includes(self, at: datetime) -> bool:
        """Whether a UTC time may fall on this date somewhere in the world."""
        return any(map(self.holds, _elsewhere(at)))

    def holds(self, at: datetime) -> bool:
        """Whether a time falls on this date where it is given."""
        return self.year in (None, at.year) and self.month in (None, at.month) and self.day in (None, at.day)

    def covers(self, other: Named) -> bool:
        """Whether another date lies in this one; a day or month that is said without its year may."""
        year = self.year in (None, other.year) or (other.year is None and self.month is not None)
        return year and self.month in (None, other.month) and self.day in (None, other.day)

    def spans(self, today: date) -> Iterator[tuple[datetime, datetime]]:
        """When it was, in UTC, the end excluded: without a year the last ten times that it had begun, newest first."""
        years = (self.year,) if self.year else range(today.year, today.year - _YEARS, -1)
        for year in years:
            days = self.days_in(year)
            if days and (self.year or days[0] <= today):
                yield _midnight(days[0]), _midnight(days[1]) + _DAY

    def days_in(self, year: int) -> tuple[date, date] | None:
        """Its first and last day in a year; None where the calendar has none."""
        try:
            first = date(year, self.month or 1, self.day or 1)
        except ValueError:  # 29 February
            return None
        if self.day:
            return first, first
        after = 12 * year + (self.month or 12)
        return first, date(after // 12, after % 12 + 1, 1) - _DAY


class Span(NamedTuple):
    """Days from the first to the last."""

    first: date
    last: date

    def includes(self, at: datetime) -> bool:
        """Whether a UTC time may fall on one of these days somewhere in the world."""
        return any(map(self.holds, _elsewhere(at)))

    def holds(self, at: datetime) -> bool:
        """Whether a time falls on one of these days where it is given."""
        return self.first <= at.date() <= self.last

    def covers(self, other: Named) -> bool:
        """Whether all of another date lies in it; one that is said without its year may."""
        if other.year is None and other.month is None:
            return False
        years = (other.year,) if other.year else range(self.first.year, self.last.year + 1)
        return any(days and self.first <= days[0] and days[1] <= self.last for days in map(other.days_in, years))

    def spans(self, today: date) -> Iterator[tuple[datetime, datetime]]:
        """When it was, in UTC, the end excluded."""
        del today
        yield _midnight(self.first), _midnight(self.last) + _DAY


class Perhaps(NamedTuple):
    """A day that may be meant as well: what was said on it comes after the rest."""

    day: date

    def includes(self, at: datetime) -> bool:
        """Whether a UTC time may fall on this day somewhere in the world."""
        return Named.of(self.day).includes(at)

    def holds(self, at: datetime) -> bool:
        """Never: no time is surely on it."""
        del at
        return False

    def covers(self, other: Named) -> bool:
        """Whether another date lies in this day."""
        return Named.of(self.day).covers(other)

    def spans(self, today: date) -> Iterator[tuple[datetime, datetime]]:
        """None: see `spans_of`."""
        del today
        yield from ()


Time = Named | Span | Perhaps


def spans_of(times: Iterable[Time], today: date) -> list[tuple[datetime, datetime]]:
    """When these times were, none twice: the days in UTC, newest first, then what was their day elsewhere.

    Last come days that may be meant as well.
    """
    times = tuple(times)
    exact: list[tuple[datetime, datetime]] = []
    for start, end in sorted(span for one in times for span in one.spans(today)):
        if exact and start <= exact[-1][1]:
            start, end = exact[-1][0], max(end, exact.pop()[1])
        exact.append((start, end))
    exact.reverse()
    around = [span for start, end in exact for span in ((end, end + _ELSEWHERE), (start - _ELSEWHERE, start))]
    perhaps = [_midnight(one.day) for one in times if isinstance(one, Perhaps)]
    return exact + around + [(day - _ELSEWHERE, day + _DAY + _ELSEWHERE) for day in perhaps]


def hours_from(times: Sequence[Time], at: datetime) -> int:
    """How many hours a UTC time lies from the nearest of these; 15 for more than a day reaches elsewhere."""
    for hours in range(_ELSEWHERE_HOURS + 1):
        step = timedelta(hours=hours)
        if any(one.holds(at - step) or one.holds(at + step) for one in times):
            return hours
    return _ELSEWHERE_HOURS + 1


def _elsewhere(at: datetime) -> tuple[datetime, datetime, datetime]:
    return at, at - _ELSEWHERE, at + _ELSEWHERE


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
