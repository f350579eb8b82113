"""The part of a long text that bears on a question. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from impressmem_integrations.core.render import CUT, cut
from impressmem_integrations.core.text import tokenise

_SENTENCE = r"[^.!?。！？\n]*[.!?。！？\n]+\s*|[^.!?。！？\n]+"
_LEAD = 60  # characters shown before the first word that counts, where not even one sentence fits
_MOST_READ = 65_536


def passage(text: str, terms: Collection[str], units: int, count: Callable[[str], int]) -> str:
    """A text as it is where it fits, else its sentences around the one that says most of the terms.

    Args:
        text: The text; of a longer one the first 65,536 characters are looked at.
        terms: Of the question, as `tokenise_question` gives them.
        units: The most units.
        count: Measures a text.
    """
    if len(text) <= units or count(text) <= units:  # a character takes about a unit at the most
        return text
    sentences = re.findall(_SENTENCE, text[:_MOST_READ])
    wanted = frozenset(terms)
    said = [len(wanted.intersection(tokenise(sentence))) for sentence in sentences]
    first = last = max(range(len(sentences)), key=lambda at: (said[at], -at))
    if count(CUT + sentences[first] + CUT) > units:
        return _beginning(sentences[first], wanted, units, count, within=first > 0)
    spent = count(CUT + sentences[first] + CUT)
    grown = True
    while grown:
        grown = False
        for at in (last + 1, first - 1):
            if 0 <= at < len(sentences) and spent + count(sentences[at]) <= units:
                spent += count(sentences[at])
                first, last, grown = min(first, at), max(last, at), True
    shown = "".join(sentences[first : last + 1]).strip()
    before = CUT.lstrip() + " " if first > 0 else ""
    return before + shown + (CUT if last + 1 < len(sentences) or len(text) > _MOST_READ else "")


def _beginning(sentence: str, wanted: frozenset[str], units: int, count: Callable[[str], int], *, within: bool) -> str:
    """A sentence from a little before the first word that counts, as far as it fits."""
    at = next((word.start() for word in re.finditer(r"\w+", sentence) if not wanted.isdisjoint(tokenise(word[0]))), 0)
    start = max(0, at - _LEAD)
    before = CUT.lstrip() + " " if within or start else ""
    return cut(before + sentence[start:].strip(), 0, units, count) or ""
