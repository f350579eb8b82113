"""Looking a question's terms up in impressions and in messages kept as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import ROW, UNIT, Facts, as_text, moment, row
from impressmem_integrations.core.commands.write import Wire
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.core.ranking import CONSTANTS
from impressmem_integrations.model import Impression

_MOST_TERMS = 40
_HITS = (40, 100)
_ROWS = (40, 400)
_UNITS_PER_HIT = 20
_UNITS_PER_ROW = 12


class Heard(NamedTuple):
    """A message kept as evidence.

    Attributes:
        position: Its place among the kept messages.
        at: When it was said.
        turn: Digest of its turn's id.
        thread: Its thread.
        speaker: Its role or name.
        text: What was said.
    """

    position: int
    at: datetime
    turn: str
    thread: str
    speaker: str
    text: str


class Found(NamedTuple):
    """What a question found, best first, with scores of the two indexes that can be compared.

    Attributes:
        now: The server's time.
        stored: Impressions in the index.
        impressions: (score, position in creation order, record, what the server counts for it).
        turns: (score, message).
    """

    now: datetime
    stored: int
    impressions: tuple[tuple[float, int, Impression, Facts], ...]
    turns: tuple[tuple[float, Heard], ...]


_IMPRESSION_ROW = 2 + ROW
_TURN_ROW = 3


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
    hits = min(_HITS[1], max(_HITS[0], budget_units // _UNITS_PER_HIT))
    rows = min(_ROWS[1], max(_ROWS[0], budget_units // _UNITS_PER_ROW))

    def parse(reply: Sequence[Raw]) -> Found:
        now, impressions, heard = reply
        return Found(
            moment(int(now)),
            int(impressions[0]),
            tuple(_impression_row(impressions, at) for at in range(2, len(impressions), _IMPRESSION_ROW)),
            tuple(_turn_row(heard, at) for at in range(2, len(heard), _TURN_ROW)),
        )

    args: tuple[Wire, ...] = (
        CONSTANTS.cap,
        hits,
        rows,
        int(turns),
        " ".join(map(str, CONSTANTS.note_neighbours)),
        " ".join(map(str, CONSTANTS.turn_neighbours)),
        CONSTANTS.neighbour_gap_ms,
        CONSTANTS.other_speaker,
        UNIT.join(words),
        *terms[:_MOST_TERMS],
    )
    return Command("search", (keys.meta_key(bound.scope),), args, parse, writes=False)


def _impression_row(reply: Sequence[Raw], at: int) -> tuple[float, int, Impression, Facts]:
    score, position, *parts = reply[at : at + _IMPRESSION_ROW]
    return float(score), int(position), *row(parts)


def _turn_row(reply: Sequence[Raw], at: int) -> tuple[float, Heard]:
    score, position, value = reply[at : at + _TURN_ROW]
    said, _, turn, thread, speaker, text = as_text(value).split(UNIT, 5)
    return float(score), Heard(int(position), moment(int(said)), turn, thread, speaker, text)
