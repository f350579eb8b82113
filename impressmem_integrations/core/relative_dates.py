"""Days, weeks, months and years that are named from today on: tables, and what they mean on a day. Pure.

Read in English, German, French, Spanish, Chinese and Japanese: today, yesterday and the day before; this and last week,
month and year; so many of them ago, the number in digits or as a word up to ten. A week is one from Monday to Sunday,
also `two weeks ago`. Left alone is what reaches from then to now (`in the last week`, `the past days`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Literal, NamedTuple

from impressmem_integrations.core.text import language_of

Unit = Literal["day", "week", "month", "year"]


class Back(NamedTuple):
    """So many units back from now; the current one is none back."""

    unit: Unit
    steps: int

    def parts(self, today: date) -> Iterator[tuple[int, int | None, int | None]]:
        """Year, month and day of what it names: None where it names the whole; a week is seven days."""
        if self.unit in ("day", "week"):
            days, back = (1, self.steps) if self.unit == "day" else (7, self.steps * 7 + today.weekday())
            for step in range(days):
                day = today - timedelta(days=back - step)
                yield day.year, day.month, day.day
        elif self.unit == "month":
            year, month = divmod(today.year * 12 + today.month - 1 - self.steps, 12)
            yield year, month + 1, None
        else:
            yield today.year - self.steps, None, None


# Each: unit, how many of it back (None where {n} says it), and the words; a blank stands for any blanks.
_LATIN: tuple[tuple[Unit, int | None, str], ...] = (
    ("day", 2, r"(?:the )?day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer"),
    ("day", 1, r"yesterday|last night|gestern|hier soir|ayer|anoche"),
    ("day", 0, r"today|tonight|this (?:morning|afternoon|evening)|heute|aujourd['’]hui|ce (?:matin|soir)"),
    ("day", 0, r"cet après-midi|hoy(?! en d[ií]a\b)|esta (?:mañana|tarde|noche)"),
    ("week", 0, r"this week|diese[rn]? woche|cette semaine|esta semana"),
    ("week", 1, r"(?<!the\s)last week|(?:letzte|vergangene|vorige)[rn]? woche"),
    ("week", 1, r"la semaine (?:dernière|passée)|la semana pasada"),
    ("month", 0, r"this month|diese[nm] monat|ce mois(?:-ci)?|este mes"),
    ("month", 1, r"(?<!the\s)last month|(?:letzte|vergangene|vorige)[nm] monat"),
    ("month", 1, r"le mois (?:dernier|passé)|el mes pasado"),
    ("year", 0, r"this year|diese[sm] jahr|cette année|este año"),
    ("year", 1, r"(?<!the\s)last year|(?:letzte|vergangene|vorige)[sn] jahr"),
    ("year", 1, r"l['’]an(?:née)? derni(?:er|ère)|el año pasado"),
    ("day", None, r"{n} days? ago|vor {n} tag(?:en)?|il y a {n} jours?|hace {n} d[ií]as?"),
    ("week", None, r"{n} weeks? ago|vor {n} wochen?|il y a {n} semaines?|hace {n} semanas?"),
    ("month", None, r"{n} months? ago|vor {n} monat(?:en)?|il y a {n} mois|hace {n} mes(?:es)?"),
    ("year", None, r"{n} years? ago|vor {n} jahr(?:en)?|il y a {n} an(?:née)?s?|hace {n} años?"),
)
_DENSE: tuple[tuple[Unit, int | None, str], ...] = (
    ("day", 2, r"(?<![以目之大])前天(?![天气氣空])|一昨日|おととい"),
    ("day", 1, r"昨[天日晚夜]|きのう"),
    ("day", 0, r"今[天日早晚晩夜朝]|本日"),
    ("week", 0, r"[这這本](?:个|個)?(?:[周週]|星期|礼拜|禮拜)|今週"),
    ("week", 1, r"(?<![以晚])上(?:个|個)?(?:[周週]|星期|礼拜|禮拜)|先週"),
    ("month", 0, r"[这這](?:个|個)月|本月|今月"),
    ("month", 1, r"上(?:个|個)月|先月"),
    ("year", 0, r"今年"),
    ("year", 1, r"去年|昨年"),
    ("day", None, r"{n}[天日]之?前"),
    ("week", None, r"{n}(?:个|個)?(?:[周週]間?|星期|礼拜|禮拜)之?前"),
    ("month", None, r"{n}[个個かヶカヵ箇]月之?前"),
    ("year", None, r"{n}年之?前"),
)
# One of these stands in each of the Latin forms: most questions hold none, and that is told twenty times sooner.
_TELLING = (
    r"\b(?:afternoon|ago|anoche|anteayer|après|aujourd|avant|ayer|année|año|derni(?:er|ère)|evening|gestern|hace|heute"
    r"|hier|hoy|jahr|matin|mañana|mes|mois|monat|month|morning|night|noche|semaine|semana|soir|tarde|today|tonight|vor"
    r"|vorgestern|week|woche|y|year|yesterday)\b"
)
_FRENCH_YESTERDAY = r"(?<![\w-])hier(?!\w)"  # in German and Dutch it is `here`
_DENSE_NUMBERS = "一二三四五六七八九十两兩"
_TENS = (
    "one two three four five six seven eight nine ten",
    "ein zwei drei vier fünf sechs sieben acht neun zehn",
    "un deux trois quatre cinq six sept huit neuf dix",
    "un dos tres cuatro cinco seis siete ocho nueve diez",
)
_NUMBER_OF = {word: n for words in _TENS for n, word in enumerate(words.split(), 1)}
_NUMBER_OF |= dict.fromkeys(("a", "an", "eine", "einem", "einer", "einen", "une", "una"), 1)
_NUMBER_OF_DENSE = {number: n for n, number in enumerate(_DENSE_NUMBERS[:10], 1)} | {"两": 2, "兩": 2}


class _Forms(NamedTuple):
    """Forms, the pattern of all of them, and what their words for numbers mean."""

    forms: tuple[tuple[Unit, int | None, str], ...]
    pattern: re.Pattern[str]
    numbers: dict[str, int]

    def find(self, text: str) -> Iterator[tuple[tuple[int, int], Back]]:
        """Where a text in small letters says one of them, and what it means."""
        for match in self.pattern.finditer(text):
            unit, count, _ = self.forms[int(str(match.lastgroup)[1:])]
            if count is None:
                number = next(filter(None, match.groups()[match.lastindex :]))
                count = self.numbers.get(number) or int(number)
            yield match.span(), Back(unit, count)


def find(text: str) -> Iterator[tuple[tuple[int, int], Back]]:
    """Where a text names a time from today on, and which."""
    lower = text.lower()
    if len(lower) != len(text):  # a letter that has no small form of its own: places would move
        lower = text
    if re.search(_TELLING, lower):
        yield from _latin().find(lower)
    if not text.isascii():
        yield from _dense().find(lower)
    if "hier" in lower and language_of(text) == "french":
        for match in re.finditer(_FRENCH_YESTERDAY, lower):
            yield match.span(), Back("day", 1)


@cache
def _latin() -> _Forms:
    """Compiled when the first question needs it."""
    pattern = _alternatives(_LATIN, rf"\d{{1,3}}|{'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))}")
    blanks = pattern.replace(" ", r"\s+")
    return _Forms(_LATIN, re.compile(rf"\b(?<!-)(?:{blanks})(?!\w)"), _NUMBER_OF)


@cache
def _dense() -> _Forms:
    """For scripts without blanks between words; compiled when the first question needs it."""
    number = rf"(?<![\d月百千{_DENSE_NUMBERS}])(?:\d{{1,3}}|[{_DENSE_NUMBERS}])"
    return _Forms(_DENSE, re.compile(_alternatives(_DENSE, number)), _NUMBER_OF_DENSE)


def _alternatives(forms: Sequence[tuple[Unit, int | None, str]], number: str) -> str:
    """The forms as one pattern; the last group that closes is the form's, numbers stand in groups inside of it."""
    return "|".join(f"(?P<f{at}>{words.replace('{n}', f'({number})')})" for at, (_, _, words) in enumerate(forms))
