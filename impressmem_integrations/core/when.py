"""What a question says of time: its dates, whether it asks for them alone, whether a text names one of them. Pure.

Read are dates of the calendar (`core/named_dates.py`), times from today on, which mean something once the day is given
(`core/relative_dates.py`), and spans of both (`core/date_spans.py`). A weekday by itself counts where a question names
no other time, asks for nothing else, and speaks of the past (`What did I say on Monday?`): `the class on Monday` may be
any, so words decide there. Left alone is what reaches without an end (`before May`, `until 2020`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from typing import NamedTuple

from impressmem_integrations.core import date_spans, named_dates, relative_dates
from impressmem_integrations.core.asking import asks_for_a_time, asks_for_the_past
from impressmem_integrations.core.date_spans import Between, Since
from impressmem_integrations.core.named_dates import Place
from impressmem_integrations.core.relative_dates import Back, Relative
from impressmem_integrations.core.times import Named, Time

_SPAN = (
    r"\b(?:between|since|until|till|before|after|zwischen|seit|bis|vor|nach"
    r"|entre|depuis|jusqu|avant|après|desde|hasta)\b"
)
_MOST_DATES = 40
_MOST_READ = 8_000


class Dated(NamedTuple):
    """What a question says of time.

    Attributes:
        times: What it names, each once: dates, and what has a meaning once the day is given.
        words: The words of its dates of the calendar, and its days as notes often write them.
        weekdays: The words of weekdays that stand alone: what says one may be about it, or about any other.
        alone: Whether it asks for nothing beside its dates.
    """

    times: tuple[Named | Relative | Since | Between, ...] = ()
    words: str = ""
    weekdays: str = ""
    alone: bool = False

    def on(self, today: date) -> tuple[Time, ...]:
        """Its dates as they are meant on a day: the first 40, more of them stand only in what was pasted."""
        meant: dict[Time, None] = {}
        for one in self.times:
            meant.update(dict.fromkeys((one,) if isinstance(one, Named) else one.on(today)))
        return tuple(meant)[:_MOST_DATES]


def read_dates(question: str) -> Dated:
    """The dates that a question names; the most exact reading of each place counts."""
    spans = date_spans.find(question)
    absolute = named_dates.find(question, spans)
    relative: dict[Place, Relative] = {}
    for place, meaning in relative_dates.find(question):
        if place.is_free((*spans, *absolute, *relative)):
            relative[place] = meaning
    rest = _without(question, (*spans, *absolute, *relative))
    if _span_words().search(rest):
        return Dated()
    if not (spans or absolute or relative):
        return _of_weekdays(question)
    days = (
        f"{one.year}-{one.month:02}-{one.day:02}" for one in absolute.values() if one.year and one.month and one.day
    )
    calendar = (*(place for place, span in spans.items() if _is_of_the_calendar(span)), *absolute)
    words = " ".join((*(question[start:end] for start, end in calendar), *days))
    times = tuple(dict.fromkeys((*absolute.values(), *spans.values(), *relative.values())))
    return Dated(times, words, alone=asks_for_a_time(rest, current=all(map(_is_current, times))))


def names_one_of(text: str, times: Sequence[Time]) -> bool:
    """Whether a text names one of these times itself, or a part of one, in its first 8,000 characters."""
    said = named_dates.find(text[:_MOST_READ]).values()
    return any(asked.covers(one) for asked in times for one in said)


def _of_weekdays(question: str) -> Dated:
    """A question that names weekdays and no other time."""
    found = dict(relative_dates.weekdays(question))
    if not found or not asks_for_the_past(_without(question, found)):
        return Dated()
    words = " ".join(question[start:end] for start, end in found)
    return Dated(tuple(dict.fromkeys(found.values())), weekdays=words, alone=True)


def _is_of_the_calendar(span: Since | Between) -> bool:
    return any(isinstance(end, Named) for end in span)


def _is_current(time: object) -> bool:
    return isinstance(time, Back) and not time.steps


def _without(question: str, places: Iterable[Place]) -> str:
    rest, end = "", 0
    for start, following in sorted(places):
        rest += question[end:start] + " "
        end = following
    return rest + question[end:]


@cache
def _span_words() -> re.Pattern[str]:
    """Compiled when a question is first asked."""
    return re.compile(_SPAN, re.IGNORECASE)
