"""Dates of the calendar in a text: years, months and days, in words and as numbers. Pure.

Read in English (`in May`, `May 2023`, `7 May 2023`, `May 7th`, `in 2023`), German, French and Spanish (`im Mai`,
`7. Mai 2023`, `en mai 2023`, `7 de mayo de 2023`), as numbers (`2023-05-07`, `2023-05`, `7.5.2023`, `25/12/2023`,
`12/25/2023`) and in Chinese and Japanese (`2023年5月7日`, `5月`). Left alone is what may be read in two ways
(`05/07/2023`), and a month's name that nothing shows to be one (`may`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from impressmem_integrations.core.times import Named

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
_LATE_DAY = r"(?P<day>1[3-9]|2\d|3[01])"  # no month has that number
_DAY = rf"{_DAY_NUMBER}(?:st|nd|rd|th|er|\.)?"
_OF = r"(?:of\s+|de\s+)?"
_IN = r"(?:in|on|during|of|from)\s+(?:the\s+)?(?:early\s+|mid-?\s*|late\s+)?"
_NUMBERS = (
    rf"\b{_YEAR}[-/.]{_MONTH_NUMBER}(?:[-/.]{_DAY_NUMBER})?\b",
    rf"\b{_DAY_NUMBER}\.\s?{_MONTH_NUMBER}\.\s?{_YEAR}\b",
    rf"(?<![\d/-]){_LATE_DAY}(?P<line>[/-]){_MONTH_NUMBER}(?P=line){_YEAR}\b(?![/-])",
    rf"(?<![\d/-]){_MONTH_NUMBER}(?P<line>[/-]){_LATE_DAY}(?P=line){_YEAR}\b(?![/-])",
    r"(?<![\d/-])0?(?P<day>[1-9]|1[0-2])(?P<line>[/-])0?(?P<month>(?P=day))(?P=line)" rf"{_YEAR}\b(?![/-])",
)
_DENSE = (
    rf"{_YEAR}\s*年(?:\s*{_MONTH_NUMBER}\s*月(?:\s*{_DAY_NUMBER}\s*[日号])?)?",
    rf"(?<!\d){_MONTH_NUMBER}\s*月(?:\s*{_DAY_NUMBER}\s*[日号])?",
)
_DAY_AND_MONTH = (
    rf"\b{_DAY}\s+{_OF}{_MONTH}(?:,?\s+{_OF}{_YEAR})?\b",
    rf"\b{_ENGLISH_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
)
_MONTH_AND_YEAR = rf"\b{_MONTH},?\s+{_OF}{_YEAR}\b"
_FORMS = (
    *_NUMBERS,
    *_DENSE,
    *_DAY_AND_MONTH,
    _MONTH_AND_YEAR,
    rf"\b{_IN}{_ENGLISH_MONTH}(?![\w'’])",
    rf"\b(?:im|en|de|du)\s+{_OTHER_MONTH}(?![\w'’])",
    rf"\b(?:in|im|en|during|from|jahr|année|año)\s+(?:early\s+|late\s+)?{_YEAR}\b(?![-/.]\d)",
)
# As the end of a span, the most exact first: there a month, a year and a day may stand by themselves.
_END_FORMS = (
    *_NUMBERS,
    *_DENSE,
    rf"(?<!\d){_DAY_NUMBER}\s*[日号]",
    *_DAY_AND_MONTH,
    _MONTH_AND_YEAR,
    rf"\b{_MONTH}(?![\w'’])",
    rf"\b{_YEAR}\b(?![/.]\d|-\d(?!\d{{3}}))",
    rf"\b{_DAY},?\s+{_YEAR}\b",
    rf"\b{_DAY}(?!\w|[/:,.]\d|-\d+-)",
)


class Place(NamedTuple):
    """Where something stands in a text, the end excluded."""

    start: int
    end: int

    def is_free(self, taken: Iterable[Place]) -> bool:
        """Whether it meets none of others."""
        return not any(self.start < other.end and other.start < self.end for other in taken)


def find(text: str, taken: Iterable[Place] = ()) -> dict[Place, Named]:
    """The dates that a text names beside what is taken; the most exact reading of each place counts."""
    found: dict[Place, Named] = {}
    taken = tuple(taken)
    for form in _forms():
        for match in form.finditer(text):
            place = Place(*match.span())
            if place.is_free((*taken, *found)):
                found[place] = _named(match)
    return found


def ends_at(text: str, at: int) -> Iterator[tuple[int, Named]]:
    """How a date that begins at a place may be read as the end of a span, the most exact first, and where it ends."""
    for form in _end_forms():
        match = form.match(text, at)
        if match:
            yield match.end(), _named(match)


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Compiled when a question is first asked: it takes milliseconds, and most imports ask none."""
    return tuple(re.compile(form, re.IGNORECASE) for form in _FORMS)


@cache
def _end_forms() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form, re.IGNORECASE) for form in _END_FORMS)


def _named(match: re.Match[str]) -> Named:
    parts = match.groupdict()
    return Named(_number(parts.get("year")), _month(parts.get("month")), _number(parts.get("day")))


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(text: str | None) -> int | None:
    if text is None or text.isdecimal():
        return _number(text)
    return _NUMBER_OF[text.lower()]
