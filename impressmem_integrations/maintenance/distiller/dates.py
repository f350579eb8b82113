"""Dates found in talk, and the calendar arithmetic that both languages share. Weeks begin on Monday."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

Tense = Literal["past", "future"]


@dataclass(frozen=True, slots=True)
class When:
    """A date found in a clause.

    Attributes:
        resolve: Gives its text (`2026-03-12`, `week of 2026-03-02`) for a fact that lies in the past or future, or
            None where the day of the talk is needed and unknown.
    """

    resolve: Callable[[Tense | None], str | None]


def day_from(day: date | None, days: int) -> When:
    """The day so many days from the day of the talk."""
    return When(lambda tense: (day + timedelta(days=days)).isoformat() if day else None)


def week_from(day: date | None, weeks: int, week_of: str) -> When:
    """The week so many weeks from the current one; `week_of` is the template for its Monday."""
    return When(lambda tense: week_of.format(monday(day, weeks).isoformat()) if day else None)


def weekday_in_week(day: date | None, weeks: int, weekday: int) -> When:
    """A weekday (0 is Monday) of the week so many weeks from the current one."""
    return When(lambda tense: (monday(day, weeks) + timedelta(days=weekday)).isoformat() if day else None)


def nearest_weekday(day: date | None, weekday: int, tense: Tense | None = None) -> When:
    """The next such weekday, or the last one for the past; never the day itself."""

    def resolve(of_rule: Tense | None) -> str | None:
        if day is None:
            return None
        if (tense or of_rule) == "past":
            return (day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)).isoformat()
        return (day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)).isoformat()

    return When(resolve)


def month_from(day: date | None, months: int) -> When:
    """The month so many months from the current one."""

    def resolve(tense: Tense | None) -> str | None:
        if day is None:
            return None
        year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
        return f"{year:04}-{month + 1:02}"

    return When(resolve)


def year_from(day: date | None, years: int) -> When:
    """The year so many years from the current one."""
    return When(lambda tense: f"{day.year + years:04}" if day else None)


def calendar(day: date | None, year: int | None, month: int, monthday: int | None, words: str) -> When:
    """A month or a day of it. Without a year, the nearest one of the fact's tense; without a tense, the words said."""

    def resolve(tense: Tense | None) -> str | None:
        chosen = year
        if chosen is None:
            if tense is None or day is None:
                return words
            asked, now = (month, monthday or 0), (day.month, day.day if monthday else 0)
            chosen = day.year
            if tense == "past" and asked > now:
                chosen -= 1
            elif tense == "future" and asked < now:
                chosen += 1
        if monthday is None:
            return f"{chosen:04}-{month:02}"
        try:
            return date(chosen, month, monthday).isoformat()
        except ValueError:  # 30 February: nothing to resolve
            return words

    return When(resolve)


def qualified(when: When, template: str, tense: Tense | None = None) -> When:
    """The same date inside a template such as `since {}`, which may say on which side it lies."""

    def resolve(of_rule: Tense | None) -> str | None:
        text = when.resolve(tense or of_rule)
        return template.format(text) if text else None

    return When(resolve)


def monday(day: date, weeks: int) -> date:
    """The Monday of the week so many weeks from the day's own."""
    return day + timedelta(days=7 * weeks - day.weekday())


def lies_in(text: str, day: date) -> Tense | None:
    """Which side of the day of the talk a resolved date lies on; None for the same day, week, month or year."""
    found = re.search(r"\d{4}(?:-\d\d){0,2}", text)
    if found is None:
        return None
    now = (monday(day, 0) if "week of" in text or "那周" in text else day).isoformat()[: len(found[0])]
    if found[0] == now:
        return None
    return "past" if found[0] < now else "future"
