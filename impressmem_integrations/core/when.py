"""Dates that a question names, and whether something was said on one of them. Pure, and without a clock.

Read are years, months and days in English (`in May`, `May 2023`, `7 May 2023`, `May 7th`, `in 2023`), as numbers
(`2023-05-07`, `2023-05`) and in Chinese and Japanese (`2023年5月7日`, `5月`). Words that need a clock (`yesterday`) are
left alone.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"
_IN = r"(?:in|on|during|of|from)\s+(?:the\s+)?(?:early\s+|mid-?\s*|late\s+)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\b(?P<year>(?:19|20)\d\d)[-/.](?P<month>1[0-2]|0?[1-9])(?:[-/.](?P<day>[12]\d|3[01]|0?[1-9]))?\b",
        r"(?P<year>(?:19|20)\d\d)\s*年(?:\s*(?P<month>1[0-2]|0?[1-9])\s*月(?:\s*(?P<day>[12]\d|3[01]|0?[1-9])\s*[日号])?)?",
        r"(?<!\d)(?P<month>1[0-2]|0?[1-9])\s*月(?:\s*(?P<day>[12]\d|3[01]|0?[1-9])\s*[日号])?",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?\b",
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b{_IN}{_MONTH}(?![\w'’])",
        rf"\b(?:in|during|from)\s+(?:early\s+|late\s+)?{_YEAR}\b(?![-/.]\d)",
    )
)
_ELSEWHERE = timedelta(hours=14)  # what is said on a day somewhere is said at most so far from it in UTC


class Named(NamedTuple):
    """A date as far as it is named; None is any."""

    year: int | None
    month: int | None
    day: int | None

    def includes(self, at: datetime) -> bool:
        """Whether a UTC time may fall on this date somewhere in the world."""
        return any(
            self.year in (None, there.year) and self.month in (None, there.month) and self.day in (None, there.day)
            for there in (at, at - _ELSEWHERE, at + _ELSEWHERE)
        )


def named_dates(question: str) -> tuple[Named, ...]:
    """The dates that a question names, each once, in no order; the most exact reading of each place counts."""
    found: dict[Named, None] = {}
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(question):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            parts = match.groupdict()
            found[Named(_number(parts.get("year")), _month(parts.get("month")), _number(parts.get("day")))] = None
    return tuple(found)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(text: str | None) -> int | None:
    if text is None or text.isdecimal():
        return _number(text)
    return _MONTHS.index(text[:3].lower()) + 1
