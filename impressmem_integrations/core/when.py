"""Dates that a question names, whether something was said on one of them, and the times to look through. Pure.

Read are years, months and days in English (`in May`, `May 2023`, `7 May 2023`, `May 7th`, `in 2023`), German, French
and Spanish (`im Mai`, `7. Mai 2023`, `en mai 2023`, `7 de mayo de 2023`), as numbers (`2023-05-07`, `2023-05`,
`7.5.2023`) and in Chinese and Japanese (`2023年5月7日`, `5月`); and, in the same languages, times from today on
(`yesterday`, `last week`, `3 days ago`: `core/relative_dates.py`), which mean something once the day is given. Left
alone are spans (`between May and June`, `since 2020`), weekdays, and what may be read in two ways (`05/07/2023`).

No clock: `today` is the server's, in UTC. Nobody tells where in the world a question is asked, so a date takes in the
14 hours before and after it; what lies within the date in UTC comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

from impressmem_integrations.core import relative_dates
from impressmem_integrations.core.asking_words import ASKING_DENSE, ASKING_WORDS
from impressmem_integrations.core.function_words import FUNCTION_WORDS
from impressmem_integrations.core.relative_dates import Back

_ENGLISH = "january february march april may june july august september october november december"
_OTHERS = (
    "januar februar märz april mai juni juli august september oktober november dezember",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
)
_NUMBER_OF = {name: at for names in (_ENGLISH, *_OTHERS) for at, name in enumerate(names.split(), 1)}
_NUMBER_OF |= {name[:3]: at for at, name in enumerate(_ENGLISH.split(), 1)} | {"sept": 9}


def _one_of(names: set[str]) -> str:
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


_ENGLISH_MONTH = rf"(?P<month>{_one_of({*_ENGLISH.split(), *(name[:3] for name in _ENGLISH.split()), 'sept'})})\b\.?"
_OTHER_MONTH = rf"(?P<month>{_one_of({name for names in _OTHERS for name in names.split()})})\b"
_MONTH = rf"(?P<month>{_one_of(set(_NUMBER_OF))})\b\.?"
_MONTH_NUMBER = r"(?P<month>1[0-2]|0?[1-9])"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY_NUMBER = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_DAY = rf"{_DAY_NUMBER}(?:st|nd|rd|th|er|\.)?"
_OF = r"(?:of\s+|de\s+)?"
_IN = r"(?:in|on|during|of|from)\s+(?:the\s+)?(?:early\s+|mid-?\s*|late\s+)?"
_FORMS = (
    rf"\b{_YEAR}[-/.]{_MONTH_NUMBER}(?:[-/.]{_DAY_NUMBER})?\b",
    rf"\b{_DAY_NUMBER}\.\s?{_MONTH_NUMBER}\.\s?{_YEAR}\b",
    rf"{_YEAR}\s*年(?:\s*{_MONTH_NUMBER}\s*月(?:\s*{_DAY_NUMBER}\s*[日号])?)?",
    rf"(?<!\d){_MONTH_NUMBER}\s*月(?:\s*{_DAY_NUMBER}\s*[日号])?",
    rf"\b{_DAY}\s+{_OF}{_MONTH}(?:,?\s+{_OF}{_YEAR})?\b",
    rf"\b{_ENGLISH_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
    rf"\b{_MONTH},?\s+{_OF}{_YEAR}\b",
    rf"\b{_IN}{_ENGLISH_MONTH}(?![\w'’])",
    rf"\b(?:im|en|de|du)\s+{_OTHER_MONTH}(?![\w'’])",
    rf"\b(?:in|im|en|during|from|jahr|année|año)\s+(?:early\s+|late\s+)?{_YEAR}\b(?![-/.]\d)",
)
_SPAN = (
    r"\b(?:between|since|until|till|before|after|zwischen|seit|bis|vor|nach"
    r"|entre|depuis|jusqu|avant|après|desde|hasta)\b"
)
_ELSEWHERE = timedelta(hours=14)  # what is said on a day somewhere is said at most so far from it in UTC
_MOST_DATES = 40
_MOST_READ = 8_000
_YEARS = 10  # that a date without a year is looked for in: the last ones, the current one included


class Named(NamedTuple):
    """A date as far as it is named; None is any."""

    year: int | None
    month: int | None
    day: int | None

    def includes(self, at: datetime) -> bool:
        """Whether a UTC time may fall on this date somewhere in the world."""
        return any(map(self.holds, (at, at - _ELSEWHERE, at + _ELSEWHERE)))

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
            try:
                start = datetime(year, self.month or 1, self.day or 1, tzinfo=UTC)
            except ValueError:  # 29 February
                continue
            if self.day:
                end = start + timedelta(days=1)
            else:
                after = 12 * year + (self.month or 12)
                end = datetime(after // 12, after % 12 + 1, 1, tzinfo=UTC)
            if self.year or start.date() <= today:
                yield start, end


class Dated(NamedTuple):
    """What a question says of time.

    Attributes:
        absolute: Dates that it names, each once.
        relative: Times that it names from today on.
        words: The words of its absolute dates, and its days as notes often write them.
        alone: Whether it asks for nothing beside its dates.
    """

    absolute: tuple[Named, ...] = ()
    relative: tuple[Back, ...] = ()
    words: str = ""
    alone: bool = False

    def on(self, today: date) -> tuple[Named, ...]:
        """Its dates as they are meant on a day: the first 40, more of them stand only in what was pasted."""
        relative = (Named(*parts) for back in self.relative for parts in back.parts(today))
        return tuple(dict.fromkeys((*self.absolute, *relative)))[:_MOST_DATES]


def read_dates(question: str) -> Dated:
    """The dates that a question names; the most exact reading of each place counts."""
    absolute, relative, places = _found(question)
    if not places:
        return Dated()
    rest, end = "", 0
    for start, following in sorted(places):
        rest += question[end:start] + " "
        end = following
    rest += question[end:]
    if _patterns().span.search(rest):
        return Dated()
    days = (
        f"{one.year}-{one.month:02}-{one.day:02}" for one in absolute.values() if one.year and one.month and one.day
    )
    words = " ".join((*(question[start:end] for start, end in absolute), *days))
    alone = _asks_nothing_else(rest)
    return Dated(tuple(dict.fromkeys(absolute.values())), tuple(dict.fromkeys(relative)), words, alone)


def names_one_of(text: str, dates: Sequence[Named]) -> bool:
    """Whether a text names one of these dates itself, or a part of one, in its first 8,000 characters."""
    said = _absolute(text[:_MOST_READ]).values()
    return any(asked.covers(one) for asked in dates for one in said)


def spans_of(dates: Iterable[Named], today: date) -> list[tuple[datetime, datetime]]:
    """When these dates were, none twice: the dates in UTC, newest first, then what was their day elsewhere."""
    exact: list[tuple[datetime, datetime]] = []
    for start, end in sorted(span for one in dates for span in one.spans(today)):
        if exact and start <= exact[-1][1]:
            start, end = exact[-1][0], max(end, exact.pop()[1])
        exact.append((start, end))
    exact.reverse()
    around = [span for start, end in exact for span in ((end, end + _ELSEWHERE), (start - _ELSEWHERE, start))]
    return exact + around


def _found(question: str) -> tuple[dict[tuple[int, int], Named], list[Back], list[tuple[int, int]]]:
    """Absolute dates by their places, relative ones, and all places."""
    absolute = _absolute(question)
    relative, places = [], list(absolute)
    for place, back in relative_dates.find(question):
        if _is_free(place, places):
            places.append(place)
            relative.append(back)
    return absolute, relative, places


def _absolute(text: str) -> dict[tuple[int, int], Named]:
    found: dict[tuple[int, int], Named] = {}
    for form in _patterns().forms:
        for match in form.finditer(text):
            if _is_free(match.span(), found):
                parts = match.groupdict()
                named = Named(_number(parts.get("year")), _month(parts.get("month")), _number(parts.get("day")))
                found[match.span()] = named
    return found


def _is_free(place: tuple[int, int], taken: Iterable[tuple[int, int]]) -> bool:
    return not any(place[0] < end and start < place[1] for start, end in taken)


def _asks_nothing_else(rest: str) -> bool:
    """Whether what stands beside the dates only asks: function words of one language, and words like `happened`."""
    words = set(_patterns().word.findall(_patterns().asking.sub(" ", rest).casefold()))
    return any(words <= FUNCTION_WORDS[language] | asking for language, asking in ASKING_WORDS.items())


class _Patterns(NamedTuple):
    span: re.Pattern[str]
    forms: tuple[re.Pattern[str], ...]
    asking: re.Pattern[str]
    word: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled when a question is first asked: it takes milliseconds, and most imports ask none."""
    return _Patterns(
        re.compile(_SPAN, re.IGNORECASE),
        tuple(re.compile(form, re.IGNORECASE) for form in _FORMS),
        re.compile(ASKING_DENSE),
        re.compile(r"\w+"),
    )


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(text: str | None) -> int | None:
    if text is None or text.isdecimal():
        return _number(text)
    return _NUMBER_OF[text.lower()]
