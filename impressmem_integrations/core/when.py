"""Dates that a question names, and whether something was said on one of them. Pure, and without a clock.

Read are years, months and days in English (`in May`, `May 2023`, `7 May 2023`, `May 7th`, `in 2023`), German, French
and Spanish (`im Mai`, `7. Mai 2023`, `en mai 2023`, `7 de mayo de 2023`), as numbers (`2023-05-07`, `2023-05`,
`7.5.2023`) and in Chinese and Japanese (`2023年5月7日`, `5月`). Left alone are words that need a clock
(`yesterday`), spans (`between May and June`, `since 2020`) and what may be read in two ways (`05/07/2023`).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

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
    spans, forms = _patterns()
    if spans.search(question):
        return ()
    found: dict[Named, None] = {}
    taken: list[tuple[int, int]] = []
    for form in forms:
        for match in form.finditer(question):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            parts = match.groupdict()
            found[Named(_number(parts.get("year")), _month(parts.get("month")), _number(parts.get("day")))] = None
    return tuple(found)


@cache
def _patterns() -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    """Compiled when a question is first asked: it takes milliseconds, and most imports ask none."""
    return re.compile(_SPAN, re.IGNORECASE), tuple(re.compile(form, re.IGNORECASE) for form in _FORMS)


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _month(text: str | None) -> int | None:
    if text is None or text.isdecimal():
        return _number(text)
    return _NUMBER_OF[text.lower()]
