"""Looking a question's terms up in impressions and in messages kept as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import RECORD, UNIT, Stored, as_text, moment, stored
from impressmem_integrations.core.commands.terms import WEIGHT_SCALE
from impressmem_integrations.core.commands.write import Wire
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.core.ranking import CONSTANTS

_MOST_TERMS = 40
_RECORD = RECORD.encode()


class Heard(NamedTuple):
    """A message kept as evidence that a question found.

    Attributes:
        score: By its own words and its neighbours'.
        itself: Whether it says a word of the question.
        position: Its place among the kept messages.
        at: When it was said.
        turn: Digest of its turn's id.
        thread: Its thread.
        speaker: Its role or name.
        text: What was said.
    """

    score: float
    itself: bool
    position: int
    at: datetime
    turn: str
    thread: str
    speaker: str
    text: str


class Noted(NamedTuple):
    """An impression that a question found.

    Attributes:
        words: Its score by its own words and its neighbours'.
        itself: Whether it says a word of the question; what does not stands beside one that does.
        names: Its score by the names it is filed under.
        links: Its score by labels that occur with labels the question names.
        position: Its place in creation order.
        stored: The record.
    """

    words: float
    itself: bool
    names: float
    links: float
    position: int
    stored: Stored


class Found(NamedTuple):
    """What a question found, best first, with scores of the two indexes that can be compared.

    Attributes:
        now: The server's time.
        impressions: What was found by words, by names of categories and labels, or along links of labels.
        turns: What was said.
        more_impressions: How many others say a word of the question, at least; they say less of it.
        more_turns: The same of what was said.
    """

    now: datetime
    impressions: tuple[Noted, ...]
    turns: tuple[Heard, ...]
    more_impressions: int = 0
    more_turns: int = 0


def search(
    bound: Bound, terms: Sequence[str], words: Iterable[str], *, budget_units: int, turns: bool
) -> Command[Found]:
    """Look terms up in one trip.

    Args:
        bound: The scope.
        terms: Of the question; the first 40 count.
        words: The question's words, casefolded: a speaker that it names is told by them.
        budget_units: What is to be filled: a large budget wants more hits and rows.
        turns: Search the kept messages as well.
    """
    args: tuple[Wire, ...] = (
        CONSTANTS.cap,
        CONSTANTS.hits.of(budget_units),
        CONSTANTS.rows.of(budget_units),
        int(turns),
        " ".join(map(str, CONSTANTS.note_neighbours)),
        " ".join(map(str, CONSTANTS.turn_neighbours)),
        CONSTANTS.neighbour_gap_ms,
        CONSTANTS.other_speaker,
        CONSTANTS.names * WEIGHT_SCALE,
        CONSTANTS.links,
        UNIT.join(words),
        *terms[:_MOST_TERMS],
    )
    return Command("search", (keys.meta_key(bound.scope),), args, found, writes=False)


def found(reply: Sequence[Raw]) -> Found:
    """Read a reply of `lua/search.lua`, or of another script that answers in its form."""
    now, impressions, turns, say_it, said_it = reply
    noted, heard = tuple(map(_noted, impressions)), tuple(map(_heard, turns))
    return Found(
        moment(int(now)),
        noted,
        heard,
        max(0, int(say_it) - sum(one.itself for one in noted)),
        max(0, int(said_it) - sum(one.itself for one in heard)),
    )


def _noted(raw: Raw) -> Noted:
    words, itself, names, links, position, rest = raw.split(_RECORD, 5)
    return Noted(float(words), itself == b"1", float(names), float(links), int(position), stored(rest))


def _heard(raw: Raw) -> Heard:
    score, itself, position, value = as_text(raw).split(RECORD, 3)
    said, _, turn, thread, speaker, text = value.split(UNIT, 5)
    return Heard(float(score), itself == "1", int(position), moment(int(said)), turn, thread, speaker, text)
