"""Dates in English clauses."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

from impressmem_integrations.maintenance.distiller.dates import (
    When,
    calendar,
    day_from,
    month_from,
    nearest_weekday,
    qualified,
    week_from,
    weekday_in_week,
    year_from,
)

_WEEK_OF = "week of {}"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10, "twelve": 12}
_STEPS = {"last": -1, "this": 0, "next": 1}

_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)})(?!s)"
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_MONTHDAY = r"(?P<monthday>[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_STEP = r"(?P<step>last|this|next)"


def _month(match: re.Match[str]) -> int:
    return _MONTHS.index(match["month"][:3].lower()) + 1


def _count(match: re.Match[str]) -> int:
    count = match["count"].lower()
    return _NUMBERS.get(count) or int(count)


def _unit(match: re.Match[str], day: date | None, count: int) -> When:
    unit = match["unit"].lower()
    if unit.startswith("day"):
        return day_from(day, count)
    if unit.startswith("week"):
        return week_from(day, count, _WEEK_OF)
    return month_from(day, count) if unit.startswith("month") else year_from(day, count)


def _stepped_weekday(match: re.Match[str], day: date | None) -> When:
    weekday, step = _WEEKDAYS.index(match["weekday"].lower()), (match["step"] or "this").lower()
    if step == "next":  # of the coming week, not the one that is next to come
        return weekday_in_week(day, 1, weekday)
    return nearest_weekday(day, weekday, "past" if step == "last" else None)


def _calendar(match: re.Match[str], day: date | None) -> When:
    groups = match.groupdict()
    year = int(groups["year"]) if groups.get("year") else None
    monthday = int(groups["monthday"]) if groups.get("monthday") else None
    words = f"{match['month'].rstrip('.').capitalize()} {monthday}" if monthday else match["month"].capitalize()
    return calendar(day, year, _month(match), monthday, words)


def _stepped_month(match: re.Match[str], day: date | None) -> When:
    plain = calendar(day, None, _month(match), None, match["month"].capitalize())
    tense = {"last": "past", "next": "future"}.get(match["step"].lower())
    return When(lambda of_rule: plain.resolve("past" if tense == "past" else "future" if tense else of_rule))


_BEFORE = r"(?:on|in|at|by|around|during|early|late|back in|this coming|starting|from)"
# First fit wins, so the longer forms come first.
_FORMS: tuple[tuple[str, Callable[[re.Match[str], date | None], When]], ...] = (
    (r"\d{4}-\d\d-\d\d", lambda m, day: When(lambda tense: m["date"])),
    (r"the day after tomorrow", lambda m, day: day_from(day, 2)),
    (r"the day before yesterday", lambda m, day: day_from(day, -2)),
    (r"tomorrow(?: morning| afternoon| evening| night)?", lambda m, day: day_from(day, 1)),
    (r"yesterday(?: morning| afternoon| evening)?|last night", lambda m, day: day_from(day, -1)),
    (r"today|tonight|this (?:morning|afternoon|evening)", lambda m, day: day_from(day, 0)),
    (rf"{_STEP} weekend", lambda m, day: weekday_in_week(day, _STEPS[m["step"].lower()], 5)),
    (rf"{_STEP} (?P<unit>week|month|year)", lambda m, day: _unit(m, day, _STEPS[m["step"].lower()])),
    (rf"(?:{_STEP} |(?<=\bon )|(?<=\bcoming )|(?<=\bsince ))(?:the )?{_WEEKDAY}", _stepped_weekday),
    (rf"(?:the )?{_MONTHDAY} (?:of )?{_MONTH}(?:,? {_YEAR})?", _calendar),
    (rf"{_MONTH} {_MONTHDAY}(?!\d)(?:,? {_YEAR})?", _calendar),
    (rf"{_MONTH} (?:of )?{_YEAR}", _calendar),
    (rf"{_STEP} {_MONTH}", _stepped_month),
    (rf"(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bby )|(?<=\bearly )|(?<=\blate )){_MONTH}", _calendar),
    (rf"(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )){_YEAR}", lambda m, day: When(lambda tense: m["year"])),
    (rf"(?:(?<=\bin )|(?<=\bin about )){_COUNT} (?P<unit>days?|weeks?|months?|years?)(?! ago)(?:'? time)?",
     lambda m, day: _unit(m, day, _count(m))),
    (rf"(?:about )?{_COUNT} (?P<unit>days?|weeks?|months?|years?) ago", lambda m, day: _unit(m, day, -_count(m))),
)  # fmt: skip
_PATTERNS = tuple(
    (
        re.compile(
            rf"(?<!every )(?<!each )(?<![\w-])(?P<date>{form})(?![\w-])"
            r"(?P<clock> at \d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?\b)?",
            re.I,
        ),
        build,
    )
    for form, build in _FORMS
)
_QUALIFIER = re.compile(r"\b(since|until|till)\s*$", re.I)
_PREPOSITION = re.compile(rf"(?:\b{_BEFORE}\s+)*\b{_BEFORE}\s*$", re.I)


def find_date(clause: str, day: date | None) -> tuple[str, When | None]:
    """Return the clause without its first date and the preposition before it, and the date, or None."""
    for pattern, build in _PATTERNS:
        match = pattern.search(clause)
        if match is None:
            continue
        when, before = build(match, day), clause[: match.start()]
        if match["clock"]:
            when = qualified(when, "{}" + match["clock"])
        if qualifier := _QUALIFIER.search(before):
            when, before = (
                qualified(when, qualifier[1].lower() + " {}", "past" if qualifier[1].lower() == "since" else "future"),
                before[: qualifier.start()],
            )
        before = _PREPOSITION.sub("", before)
        rest = f"{before.rstrip()} {clause[match.end() :].lstrip()}".strip()
        return rest, when
    return clause, None
