"""Dates in Chinese clauses."""

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

_WEEK_OF = "{}那周"
_DAYS = {"大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "今天": 0, "今晚": 0, "今早": 0, "明天": 1, "明晚": 1,
         "明早": 1, "后天": 2, "大后天": 3}  # fmt: skip
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_STEPS = {"上": -1, "这": 0, "本": 0, "下": 1}
_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

_NUMBER = "(?:[0-9]{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九])"
_WEEKDAY = "(?P<weekday>[一二三四五六日天])"
_WEEK = "(?:周|星期|礼拜)"
_STEP = "(?P<step>[上下这本])"
_YEAR_WORD = f"(?:(?P<year>(?:19|20)[0-9]{{2}})年|(?P<step>{'|'.join(_YEARS)}))"


def number(text: str) -> int:
    """Return the value of a number below 100 in Chinese or Arabic digits."""
    if text.isascii():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


def _weekday(match: re.Match[str]) -> int:
    return 6 if match["weekday"] in "日天" else _DIGITS[match["weekday"]] - 1


def _calendar(match: re.Match[str], day: date | None) -> When:
    groups = match.groupdict()
    year = int(groups["year"]) if groups.get("year") else None
    if step := groups.get("step"):
        if day is None:
            return When(lambda tense: None)
        year = day.year + _YEARS[step]
    monthday = number(groups["monthday"]) if groups.get("monthday") else None
    return calendar(day, year, number(match["month"]), monthday, match["date"])


def _year(match: re.Match[str], day: date | None) -> When:
    return year_from(day, _YEARS[match["step"]]) if match["step"] else When(lambda tense: match["year"])


def _distance(match: re.Match[str], day: date | None) -> When:
    count = number(match["count"]) * (-1 if "前" in match["side"] else 1)
    unit = match["unit"]
    if unit == "天":
        return day_from(day, count)
    if unit in ("周", "个星期", "个礼拜"):
        return week_from(day, count, _WEEK_OF)
    return month_from(day, count) if unit == "个月" else year_from(day, count)


# First fit wins, so the longer forms come first.
_FORMS: tuple[tuple[str, Callable[[re.Match[str], date | None], When]], ...] = (
    (r"\d{4}-\d\d-\d\d", lambda m, day: When(lambda tense: m["date"])),
    (f"{_YEAR_WORD}?(?P<month>{_NUMBER})月(?:份)?(?:(?P<monthday>{_NUMBER})[日号])?", _calendar),
    (_YEAR_WORD, _year),
    (f"(?P<count>{_NUMBER})(?P<unit>天|周|个星期|个礼拜|个月|年)(?P<side>之前|以前|前|之后|以后|后)", _distance),
    ("|".join(sorted(_DAYS, key=len, reverse=True)), lambda m, day: day_from(day, _DAYS[m["date"]])),
    (f"{_STEP}个?{_WEEK}末", lambda m, day: weekday_in_week(day, _STEPS[m["step"]], 5)),
    (f"{_STEP}个?{_WEEK}{_WEEKDAY}", lambda m, day: weekday_in_week(day, _STEPS[m["step"]], _weekday(m))),
    (f"{_STEP}个?{_WEEK}", lambda m, day: week_from(day, _STEPS[m["step"]], _WEEK_OF)),
    (f"(?<![每周期]){_WEEK}{_WEEKDAY}", lambda m, day: nearest_weekday(day, _weekday(m))),
    (f"{_STEP}个月", lambda m, day: month_from(day, _STEPS[m["step"]])),
)  # fmt: skip
_PATTERNS = tuple(
    (
        re.compile(
            f"(?P<since>从|自从|自)?(?:在|于)?(?<!每)(?P<date>{form})(?:底|初|中旬)?"
            f"(?P<clock>(?:早上|上午|中午|下午|晚上|傍晚)?(?:{_NUMBER}点半?)?)的?(?P<on>开始|起|以来)?"
        ),
        build,
    )
    for form, build in _FORMS
)


def find_date(clause: str, day: date | None) -> tuple[str, When | None]:
    """Return the clause without its first date and the words around it, and the date, or None."""
    for pattern, build in _PATTERNS:
        match = pattern.search(clause)
        if match is None:
            continue
        when = build(match, day)
        if match["clock"]:
            when = qualified(when, "{} " + match["clock"])
        if match["since"] or match["on"]:
            when = qualified(when, "{}起", "past")
        return (clause[: match.start()] + clause[match.end() :]).strip(), when
    return clause, None
