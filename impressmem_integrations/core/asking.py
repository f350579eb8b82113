"""Whether what stands beside the dates of a question only asks what was then. Pure.

It only asks where nothing is left but function words of one language and words like `happened`
(`core/asking_words.py`). Beside today, this week, month and year, which stand in many a sentence about what is (`How
are you today?`), that is not enough: there nothing may be left at all, or it has to hold a word of saying or doing, or
a verb in the past.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from impressmem_integrations.core import asking_words as words
from impressmem_integrations.core.function_words import FUNCTION_WORDS


class _Rest(NamedTuple):
    """What stands beside the dates: words, a language they all belong to, and what was taken out of dense scripts."""

    said: frozenset[str]
    language: str
    dense: frozenset[str]

    @property
    def is_empty(self) -> bool:
        return not self.said and not self.dense

    @property
    def tells(self) -> bool:
        """Whether it has a verb in the past, or a word of saying and doing."""
        return self.holds(words.PAST_WORDS) or self.holds(words.SAYING_WORDS) or bool(self.dense & words.DENSE_SAYING)

    def holds(self, of_language: dict[str, frozenset[str]]) -> bool:
        return bool(self.said & of_language.get(self.language, frozenset()))


def asks_for_a_time(rest: str, *, current: bool) -> bool:
    """Whether a question asks for nothing beside its dates.

    Args:
        rest: The question without its dates.
        current: Whether it names no time but today, this week, month or year.
    """
    return any(not current or one.is_empty or one.tells for one in _read(rest))


def asks_for_the_past(rest: str) -> bool:
    """Whether a question asks for nothing beside its dates, and surely for what was, not for what will be."""
    for one in _read(rest):
        if one.dense & words.DENSE_PAST or (one.holds(words.PAST_WORDS) and not one.holds(words.FUTURE_WORDS)):
            return True
    return False


def _read(rest: str) -> list[_Rest]:
    """The rest in each language that all of it belongs to."""
    dense = frozenset(match[0] for match in _patterns().dense.finditer(rest))
    said = frozenset(_patterns().word.findall(_patterns().dense.sub(" ", rest).casefold()))
    return [
        _Rest(said, language, dense)
        for language in words.SAYING_WORDS
        if said
        <= FUNCTION_WORDS[language]
        | words.PAST_WORDS[language]
        | words.SAYING_WORDS[language]
        | words.OTHER_WORDS[language]
    ]


class _Patterns(NamedTuple):
    dense: re.Pattern[str]
    word: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    """Compiled when a question is first asked."""
    return _Patterns(re.compile(words.ASKING_DENSE), re.compile(r"\w+"))
