"""Times that are named from today on: tables, and what they mean on a day. Pure.

Read in English, German, French, Spanish, Chinese and Japanese: today, yesterday and the day before; this and last week,
month and year; so many of them ago, the number in digits or as a word up to ten; the last so many of them; weekdays. A
week is one from Monday to Sunday, also `two weeks ago`; but `the last two weeks` reach from fourteen days ago to today,
and so does `the last week` in English from seven: with the article it is no week of the calendar. Left alone is what
gives no number (`the past days`).

`last Monday`, `lundi dernier` is the newest Monday before today; `上周一`, `先週の月曜日` is that of the week before. A
weekday alone may be any Monday that was or will be: `weekdays` finds it for whoever knows that the past is meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import cache, partial
from typing import Literal, NamedTuple

from impressmem_integrations.core.named_dates import Place
from impressmem_integrations.core.text import language_of
from impressmem_integrations.core.times import Named, Perhaps, Span, Time

Unit = Literal["day", "week", "month", "year"]


class Back(NamedTuple):
    """So many units back from now; the current one is none back."""

    unit: Unit
    steps: int

    def on(self, today: date) -> Iterator[Time]:
        """What it names on a day; a week is seven days."""
        if self.unit in ("day", "week"):
            days, back = (1, self.steps) if self.unit == "day" else (7, self.steps * 7 + today.weekday())
            for step in range(days):
                yield Named.of(today - timedelta(days=back - step))
        elif self.unit == "month":
            year, month = _months_before(today, self.steps)
            yield Named(year, month, None)
        else:
            yield Named(today.year - self.steps, None, None)


class Last(NamedTuple):
    """So many units up to now, the day they begin on and today included."""

    unit: Unit
    many: int

    def on(self, today: date) -> Iterator[Time]:
        """The span on a day."""
        if self.unit in ("day", "week"):
            yield Span(today - timedelta(days=self.many * (1 if self.unit == "day" else 7)), today)
            return
        year, month = _months_before(today, self.many * (1 if self.unit == "month" else 12))
        days = Named(year, month, None).days_in(year)
        if days:
            yield Span(days[0].replace(day=min(today.day, days[1].day)), today)


class Weekday(NamedTuple):
    """The newest such day before today, 0 for Monday. Where today is one, it may be meant too: elsewhere it is over."""

    number: int

    def on(self, today: date) -> Iterator[Time]:
        """The day, seen from another."""
        yield Named.of(today - timedelta(days=(today.weekday() - self.number - 1) % 7 + 1))
        if today.weekday() == self.number:
            yield Perhaps(today)


class OfLastWeek(NamedTuple):
    """A weekday of the week before, 0 for Monday."""

    number: int

    def on(self, today: date) -> Iterator[Time]:
        """The day, seen from another."""
        yield Named.of(today - timedelta(days=today.weekday() + 7 - self.number))


Relative = Back | Last | Weekday | OfLastWeek


def _months_before(day: date, months: int) -> tuple[int, int]:
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return year, month + 1


_WEEKDAYS = (
    "monday|montag|lundi|lunes",
    "tuesday|dienstag|mardi|martes",
    "wednesday|mittwoch|mercredi|mi[eé]rcoles",
    "thursday|donnerstag|jeudi|jueves",
    "friday|freitag|vendredi|viernes",
    "saturday|samstag|sonnabend|samedi|s[aá]bado",
    "sunday|sonntag|dimanche|domingo",
)
_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_NO_COUNT = "(?![气氣起些直点點样樣共般次个個天])"  # 上周三次 is three times last week
_DENSE_WEEKDAYS = ("一月", "二火", "三水", "四木", "五金", "六土", "日天日")  # in Chinese, last in Japanese

# A form: what it means of a number, the number (None where {n} says it), and the words; a blank is any blanks.
_Form = tuple[Callable[[int], Relative], int | None, str]
_day, _week, _month, _year = (partial(Back, unit) for unit in ("day", "week", "month", "year"))
_days, _weeks, _months, _years = (partial(Last, unit) for unit in ("day", "week", "month", "year"))
_PAST_DAY = r"last {day}|(?:letzte|vergangene|vorige)[nr]? {day}|{day} (?:dernier|passé|pasado)|pasado {day}"
_LATIN: tuple[_Form, ...] = (
    (_day, 2, r"(?:the )?day before yesterday|vorgestern|avant-hier|anteayer|antes de ayer"),
    (_day, 1, r"yesterday|last night|gestern|hier soir|ayer|anoche"),
    (_day, 0, r"today|tonight|this (?:morning|afternoon|evening)|heute|aujourd['’]hui|ce (?:matin|soir)"),
    (_day, 0, r"cet après-midi|hoy(?! en d[ií]a\b)|esta (?:mañana|tarde|noche)"),
    (_week, 0, r"this week|diese[rn]? woche|cette semaine|esta semana"),
    (_week, 1, r"(?<!the\s)last week|(?:letzte|vergangene|vorige)[rn]? woche"),
    (_week, 1, r"la semaine (?:dernière|passée)|la semana pasada"),
    (_month, 0, r"this month|diese[nm] monat|ce mois(?:-ci)?|este mes"),
    (_month, 1, r"(?<!the\s)last month|(?:letzte|vergangene|vorige)[nm] monat"),
    (_month, 1, r"le mois (?:dernier|passé)|el mes pasado"),
    (_year, 0, r"this year|diese[sm] jahr|cette année|este año"),
    (_year, 1, r"(?<!the\s)last year|(?:letzte|vergangene|vorige)[sn] jahr"),
    (_year, 1, r"l['’]an(?:née)? derni(?:er|ère)|el año pasado"),
    (_day, None, r"{n} days? ago|vor {n} tag(?:en)?|il y a {n} jours?|hace {n} d[ií]as?"),
    (_week, None, r"{n} weeks? ago|vor {n} wochen?|il y a {n} semaines?|hace {n} semanas?"),
    (_month, None, r"{n} months? ago|vor {n} monat(?:en)?|il y a {n} mois|hace {n} mes(?:es)?"),
    (_year, None, r"{n} years? ago|vor {n} jahr(?:en)?|il y a {n} an(?:née)?s?|hace {n} años?"),
    (_days, None, r"(?:last|past) {n} days|(?:letzten?|vergangenen?) {n} tagen?"),
    (_days, None, r"(?:l|c|d)es {n} derniers jours|[uú]ltimos {n} d[ií]as"),
    (_weeks, None, r"(?:last|past) {n} weeks|(?:letzten?|vergangenen?) {n} wochen"),
    (_weeks, None, r"(?:l|c|d)es {n} dernières semaines|[uú]ltimas {n} semanas"),
    (_months, None, r"(?:last|past) {n} months|(?:letzten?|vergangenen?) {n} monaten?"),
    (_months, None, r"(?:l|c|d)es {n} derniers mois|[uú]ltimos {n} meses"),
    (_years, None, r"(?:last|past) {n} years|(?:letzten?|vergangenen?) {n} jahren?"),
    (_years, None, r"(?:l|c|d)es {n} dernières années|[uú]ltimos {n} años"),
    (_weeks, 1, r"(?:the (?:last|past)|past) week(?! of)"),
    (_months, 1, r"(?:the (?:last|past)|past) month(?! of)"),
    (_years, 1, r"(?:the (?:last|past)|past) year(?! of)"),
    *((Weekday, at, _PAST_DAY.replace("{day}", f"(?:{names})")) for at, names in enumerate(_WEEKDAYS)),
)
_DENSE: tuple[_Form, ...] = (
    *(
        (OfLastWeek, at, rf"(?<![以晚])上(?:个|個)?{_WEEK}[{names[:-1]}]{_NO_COUNT}|先週の?{names[-1]}曜日?")
        for at, names in enumerate(_DENSE_WEEKDAYS)
    ),
    (_day, 2, r"(?<![以目之大])前天(?![天气氣空])|一昨日|おととい"),
    (_day, 1, r"昨[天日晚夜]|きのう"),
    (_day, 0, r"今[天日早晚晩夜朝]|本日"),
    (_week, 0, r"[这這本](?:个|個)?(?:[周週]|星期|礼拜|禮拜)|今週"),
    (_week, 1, r"(?<![以晚])上(?:个|個)?(?:[周週]|星期|礼拜|禮拜)|先週"),
    (_month, 0, r"[这這](?:个|個)月|本月|今月"),
    (_month, 1, r"上(?:个|個)月|先月"),
    (_year, 0, r"今年"),
    (_year, 1, r"去年|昨年"),
    (_day, None, r"{n}[天日]之?前"),
    (_week, None, r"{n}(?:个|個)?(?:[周週]間?|星期|礼拜|禮拜)之?前"),
    (_month, None, r"{n}[个個かヶカヵ箇]月之?前"),
    (_year, None, r"{n}年之?前"),
    (_days, None, r"(?:最近|过去|過去|近|ここ|この)的?{n}(?:[天日]間?)"),
    (_weeks, None, r"(?:最近|过去|過去|近|ここ|この)的?{n}(?:个|個)?(?:[周週]間?|星期|礼拜|禮拜)"),
    (_months, None, r"(?:最近|过去|過去|近|ここ|この)的?{n}[个個かヶカヵ箇]月間?"),
    (_years, None, r"(?:最近|过去|過去|近|ここ|この)的?{n}年間?"),
)
# A weekday with nothing that says which. `le lundi`, `los lunes`, 下周一, 来週の月曜日 are others.
_LATIN_WEEKDAYS: tuple[_Form, ...] = tuple(
    (Weekday, at, rf"(?<!\ble\s)(?<!\blos\s)(?:{names})") for at, names in enumerate(_WEEKDAYS)
)
_DENSE_WEEKDAY_FORMS: tuple[_Form, ...] = tuple(
    (Weekday, at, rf"(?<![上下每这這本个個第]){_WEEK}[{names[:-1]}]{_NO_COUNT}|(?<![週月]の){names[-1]}曜日?")
    for at, names in enumerate(_DENSE_WEEKDAYS)
)
# One of these stands in each of the Latin forms: most questions hold none, and that is told twenty times sooner.
_TELLING = (
    r"\b(?:afternoon|ago|anoche|anteayer|après|aujourd|avant|ayer|année|año|derni(?:er|ère)s?|evening|gestern|hace|heute"
    r"|hier|hoy|jahr|last|letzten?r?|matin|mañana|mes|mois|monat|month|morning|night|noche|pasado|passé|past|semaine"
    r"|semana|soir|tarde|today|tonight|[uú]ltim[ao]s|vergangenen?r?|vor|vorgestern|vorige[nr]?|week|woche|y|year"
    r"|yesterday)\b"
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

    forms: tuple[_Form, ...]
    pattern: re.Pattern[str]
    numbers: dict[str, int]

    def find(self, text: str) -> Iterator[tuple[Place, Relative]]:
        """Where a text in small letters says one of them, and what it means."""
        for match in self.pattern.finditer(text):
            yield Place(*match.span()), self.meaning(match)

    def meaning(self, match: re.Match[str]) -> Relative:
        """What a match of the pattern means."""
        made, count, _ = self.forms[int(str(match.lastgroup)[1:])]
        if count is None:
            number = next(filter(None, match.groups()[match.lastindex or 0 :]))
            count = self.numbers.get(number) or int(number)
        return made(count)


def find(text: str) -> Iterator[tuple[Place, Relative]]:
    """Where a text names a time from today on, and which."""
    lower = small(text)
    if re.search(_TELLING, lower):
        yield from _latin().find(lower)
    if not text.isascii():
        yield from _dense().find(lower)
    if "hier" in lower and language_of(text) == "french":
        for match in re.finditer(_FRENCH_YESTERDAY, lower):
            yield Place(*match.span()), Back("day", 1)


def weekdays(text: str) -> Iterator[tuple[Place, Weekday]]:
    """Where a text says a weekday with nothing that tells which, and the one that is past."""
    lower = small(text)
    for forms in (_latin_weekdays(), _dense_weekdays()):
        for place, meaning in forms.find(lower):
            if isinstance(meaning, Weekday):
                yield place, meaning


def ends_at(text: str, at: int) -> Iterator[tuple[int, Relative]]:
    """How a time from today on that begins at a place of a text in small letters may be read, and where it ends."""
    for forms in (_latin(), _dense(), _latin_weekdays(), _dense_weekdays()):
        match = forms.pattern.match(text, at)
        if match:
            yield match.end(), forms.meaning(match)
    match = re.compile(_FRENCH_YESTERDAY).match(text, at)
    if match and language_of(text) not in ("german", "dutch"):
        yield match.end(), Back("day", 1)


def small(text: str) -> str:
    """A text in small letters, as it is where a letter has no small form of its own: places would move."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text


@cache
def _latin() -> _Forms:
    """Compiled when the first question needs it."""
    return _latin_forms(_LATIN)


@cache
def _latin_weekdays() -> _Forms:
    return _latin_forms(_LATIN_WEEKDAYS)


def _latin_forms(forms: tuple[_Form, ...]) -> _Forms:
    pattern = _alternatives(forms, rf"\d{{1,3}}|{'|'.join(sorted(_NUMBER_OF, key=len, reverse=True))}")
    blanks = pattern.replace(" ", r"\s+")
    return _Forms(forms, re.compile(rf"\b(?<!-)(?:{blanks})(?!\w)"), _NUMBER_OF)


@cache
def _dense() -> _Forms:
    """For scripts without blanks between words; compiled when the first question needs it."""
    return _dense_forms(_DENSE)


@cache
def _dense_weekdays() -> _Forms:
    return _dense_forms(_DENSE_WEEKDAY_FORMS)


def _dense_forms(forms: tuple[_Form, ...]) -> _Forms:
    number = rf"(?<![\d月百千{_DENSE_NUMBERS}])(?:\d{{1,3}}|[{_DENSE_NUMBERS}])"
    return _Forms(forms, re.compile(_alternatives(forms, number)), _NUMBER_OF_DENSE)


def _alternatives(forms: Sequence[_Form], number: str) -> str:
    """The forms as one pattern; the last group that closes is the form's, numbers stand in groups inside of it."""
    return "|".join(f"(?P<f{at}>{words.replace('{n}', f'({number})')})" for at, (_, _, words) in enumerate(forms))
