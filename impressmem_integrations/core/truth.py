"""What records say on their own: the readers that check and repair use, which answer None instead of raising."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

from impressmem_integrations.core.commands.records import GROUP, MOST, UNIT, Facts, moment, read_record
from impressmem_integrations.core.text import content_digest, normal_name
from impressmem_integrations.errors import CorruptStore, InvalidInput

LAST_MS = 253_402_300_799_999
"""The last millisecond that is a time."""
LAST_SEQ = 2**32 - 1
"""The last place in an order of creation that posting lists can hold."""
_NO_NAME = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and bytes that are no UTF-8
_WHOLE = re.compile(r"0|[1-9][0-9]{0,16}", re.ASCII)


def whole(text: str | None, most: int = MOST) -> int | None:
    """A whole number of 0 to `most` as this package writes it, or None for anything else."""
    return int(text) if text is not None and _WHOLE.fullmatch(text) and int(text) <= most else None


def whole_score(text: str | None, most: int = MOST) -> int | None:
    """The score of a sorted set, where it is a whole number of 0 to `most`; else None."""
    score = float(text) if text else math.nan
    return int(score) if 0 <= score <= most and score == int(score) else None


def is_time(score: str) -> bool:
    """Whether the score of a sorted set is a time in ms."""
    return 0 <= float(score) <= LAST_MS


@dataclass(slots=True)
class Record:
    """A record as far as indexes depend on it."""

    facts: Facts
    categories: list[str]
    labels: list[str]


def read_content(record: str | None) -> tuple[str | None, str] | None:
    """The source and the content's digest of a stored record, or None where it cannot be read."""
    try:
        (record or "").encode()  # of bytes that are no UTF-8 `keep.exact` makes lone surrogates
        held = read_record(record or "")
        moment(held.get("t", 0))
    except (CorruptStore, UnicodeEncodeError, TypeError, OverflowError):
        return None
    source = held.get("s")
    return (source, content_digest(held["c"])) if source is None or isinstance(source, str) else None


def read_filing(text: str | None) -> tuple[list[str], list[str]] | None:
    """Categories and labels of a stored filing, or None where there is none or one of them cannot be a name."""
    if not text:
        return None
    groups, *labels = text.split(UNIT)
    categories = groups.split(GROUP)
    return (categories, labels) if all(map(folded, (*categories, *labels))) else None


def read_facts(text: str | None) -> Facts | None:
    """Stored facts, or None where they cannot be read."""
    try:
        facts = Facts.parse(text or "")
    except (ValueError, TypeError):
        return None
    times = (facts.created, facts.updated, facts.touched, facts.used)
    sound = all(0 <= at <= LAST_MS for at in times) and 0 <= facts.seq <= LAST_SEQ
    sound = sound and all(0 <= count <= MOST for count in (facts.uses, facts.revision))
    return facts if sound and facts.wire() == text else None


@lru_cache(maxsize=4_096)
def folded(name: str) -> str | None:
    """What decides whether two stored names are the same, or None for what cannot be a name."""
    if _NO_NAME.search(name):
        return None
    try:
        return normal_name(name, "name").key
    except InvalidInput:
        return None


def is_strong(facts: Facts) -> bool:
    """Whether an unpinned clue stands in `strength`; else its strength is its touch / half-life, as in `clues`."""
    return facts.uses > 0 or facts.used > facts.touched


def strength(facts: Facts, half_life: float) -> float:
    """The score of an unpinned clue for a half-life in ms; the same formula as in `lua/lib/images.lua`."""
    return math.log(1 + math.log(1 + facts.uses)) / math.log(2) + max(facts.touched, facts.used) / half_life
