"""Spans from one time to another, or from one to now, in a text. Pure.

Read in English, German, French, Spanish, Chinese and Japanese: `between 3 and 9 May 2023`, `from May to July`,
`vom 3. bis 9. Mai`, `3-9 May`, `5月3日から9日まで`; `since Monday`, `depuis 2020`, `从5月3日以来`. An end takes
from the other what it does not say itself. Where neither says the year, the newest such span that has begun is meant.
Left alone is what is open to the past (`before May`, `until 2020`) or begins with an event (`after the concert in
May`), and what has an end that cannot be read: such a question names no time at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from impressmem_integrations.core import named_dates, relative_dates
from impressmem_integrations.core.named_dates import Place
from impressmem_integrations.core.relative_dates import Relative, Weekday
from impressmem_integrations.core.times import Named, Span

End = Named | Relative

# What stands before the first end, and what may stand between the two.
_DASH = r"(?:\s*[-–—]\s*|\s+(?:to|through|bis(?:\s+zu[mr])?|au|al)\s+)"
_BETWEEN = (
    (r"\b(?:between|zwischen|entre)\s+", r"\s+(?:and|und|et|y)\s+"),
    (
        r"\b(?:from|von|vom|du|de|del|desde)\s+",
        r"\s+(?:to|till|until|through|bis(?:\s+zu[mr])?|au|à|jusqu['’](?:au|en|à)|a|al|hasta)\s+",
    ),
    (rf"(?<![\w.,:/-])(?=\w[\w.-]*(?:,?\s+[\w.]+){{0,2}}?{_DASH}\w)", _DASH),
)
# In scripts without blanks; a time begins with one of these.
_DENSE_START = r"(?=[\d今昨前去上本先这這周週星礼禮月火水木金土日一二三四五六七八九十两兩おき])"
_BETWEEN_DENSE = (rf"(?:从|從|自)?{_DENSE_START}", r"\s*(?:到|至|~|〜|～|から|[-–—])\s*")
_TELLING_DENSE = r"[到至~〜～起\-–—]|から|以来|以來|以降|开始|開始"
_SINCE = r"\b(?:(?:ever\s+)?since|seit|depuis|desde)\s+"
_SINCE_DENSE = r"\s*(?:以来|以來|至今|到现在|到現在|から(?:今まで)?|以降)(?!\w*(?:まで|到|至))"
_SINCE_FROM = rf"(?P<from>从|從|自)?{_DENSE_START}"
_SINCE_BEGUN = r"\s*(?:开始|開始|起)"
_ARTICLE = r"(?:(?:the|de[mnr]|el|la|le)\s+)?"
_AFTER = r"(?:まで|为止|為止)?(?:之?间|之?間|の間)?"
_MORE = r"[-/.:]?\d"  # a number goes on
_MOST_READ = 2_000  # characters: each place where a time may begin is tried


class Since(NamedTuple):
    """From a time on, today included."""

    start: End

    def on(self, today: date) -> Iterator[Span]:
        """The span on a day; none where it has not begun."""
        days = _days(self.start, today)
        if days and days[0] <= today:
            yield Span(days[0], today)


class Between(NamedTuple):
    """From one time to another, both included."""

    start: End
    end: End

    def on(self, today: date) -> Iterator[Span]:
        """The span on a day; none where it ends before it begins."""
        start, end = self.start, self.end
        if isinstance(start, Named) and isinstance(end, Named) and start.year is None and end.year is None:
            over = _month(start) > _month(end)  # from December to February
            for year in (today.year, today.year - 1):
                span = _between(start._replace(year=year - over), end._replace(year=year), today)
                if span and span.first <= today:
                    yield span
                    return
            return
        span = _between(start, end, today)
        if span:
            yield span


def find(text: str) -> dict[Place, Since | Between]:
    """Where a text names a span, and which."""
    lower = relative_dates.small(text)[:_MOST_READ]
    found: dict[Place, Since | Between] = {}
    for read in (_read_between, _read_since):
        for place, span in read(lower):
            if place.is_free(found):
                found[place] = span
    return found


def _read_between(text: str) -> Iterator[tuple[Place, Between]]:
    patterns = _patterns()
    for opener, connector in patterns.between if _has_dense(text) else patterns.between[:-1]:
        reached = 0
        for match in opener.finditer(text):
            if match.start() < reached:
                continue
            pair = _pair_at(text, match.end(), connector)
            if pair:
                reached, span = pair
                yield Place(match.start(), reached), span


def _pair_at(text: str, at: int, connector: re.Pattern[str]) -> tuple[int, Between] | None:
    """Two ends with what may stand between them, the most exact readings that go together."""
    patterns = _patterns()
    for between, start in _ends_at(text, at):
        joined = connector.match(text, between)
        for after, end in _ends_at(text, joined.end()) if joined else ():
            pair = _completed(start, end)
            if pair and not patterns.more.match(text, after):
                closed = patterns.after.match(text, after)
                return (closed.end() if closed else after), Between(*pair)
    return None


def _read_since(text: str) -> Iterator[tuple[Place, Since]]:
    patterns = _patterns()
    for match in patterns.since.finditer(text):
        for end, start in _ends_at(text, match.end()):
            if _stands_alone(start):
                yield Place(match.start(), end), Since(start)
                break
    for match in patterns.since_from.finditer(text) if _has_dense(text) else ():
        for end, start in _ends_at(text, match.end()):
            closed = patterns.since_dense.match(text, end) or (match["from"] and patterns.since_begun.match(text, end))
            if closed and _stands_alone(start):
                yield Place(match.start(), closed.end()), Since(start)
                break


def _has_dense(text: str) -> bool:
    return not text.isascii() and bool(re.search(_TELLING_DENSE, text))


def _ends_at(text: str, at: int) -> Iterator[tuple[int, End]]:
    article = _patterns().article.match(text, at)
    begins = article.end() if article else at
    for reading in (*relative_dates.ends_at(text, begins), *named_dates.ends_at(text, begins)):
        if not text.startswith(("'", "’"), reading[0]):  # since Friday's lunch: an event
            yield reading


def _stands_alone(end: End) -> bool:
    return not isinstance(end, Named) or end.year is not None or end.month is not None


def _completed(start: End, end: End) -> tuple[End, End] | None:
    """Two ends, each with what it takes from the other; None where no month or year shows that they are dates."""
    if not isinstance(start, Named) or not isinstance(end, Named):
        return (start, end) if _stands_alone(start) and _stands_alone(end) else None
    if not _stands_alone(start) and not _stands_alone(end):
        return None
    if start.day and start.month is None:
        start = start._replace(month=end.month)
    if end.day and end.month is None:
        end = end._replace(month=start.month)
    if start.year is None and end.year is not None:
        start = start._replace(year=end.year - (_month(start) > _month(end)))
    elif end.year is None and start.year is not None:
        end = end._replace(year=start.year + (_month(start) > _month(end)))
    both = (start, end)
    return both if all(one.day is None or one.month is not None for one in both) else None


def _month(named: Named) -> int:
    return named.month or 0


def _between(start: End, end: End, today: date) -> Span | None:
    first, last = _days(start, today), _days(end, today)
    if first and last and first > last and isinstance(start, Weekday):
        first = (first[0] - timedelta(days=7), first[1])  # from Monday to Wednesday, asked on a Tuesday
    return Span(first[0], last[1]) if first and last and first[0] <= last[1] else None


def _days(end: End, today: date) -> tuple[date, date] | None:
    """The first and last day of an end; of one without its year those of the newest that has begun."""
    times = (end,) if isinstance(end, Named) else tuple(end.on(today))
    spans = [span for one in times for span in one.spans(today)]
    if not spans:
        return None
    spans = spans[:1] if isinstance(end, Named) else spans
    return min(spans)[0].date(), (max(stop for _, stop in spans) - timedelta(days=1)).date()


class _Patterns(NamedTuple):
    between: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]
    since: re.Pattern[str]
    since_dense: re.Pattern[str]
    since_from: re.Pattern[str]
    since_begun: re.Pattern[str]
    article: re.Pattern[str]
    after: re.Pattern[str]
    more: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled when a question is first asked."""
    return _Patterns(
        tuple((re.compile(opener), re.compile(connector)) for opener, connector in (*_BETWEEN, _BETWEEN_DENSE)),
        *map(re.compile, (_SINCE, _SINCE_DENSE, _SINCE_FROM, _SINCE_BEGUN, _ARTICLE, _AFTER, _MORE)),
    )
