"""What records say on their own: the readers that check and repair use, which answer None instead of raising."""

from __future__ import annotations

import math
from dataclasses import dataclass

from impressmem_integrations.core.commands.records import GROUP, UNIT, Facts, read_record
from impressmem_integrations.core.text import content_digest, normal_name
from impressmem_integrations.errors import CorruptStore, InvalidInput


@dataclass(slots=True)
class Record:
    """A record as far as indexes depend on it."""

    facts: Facts
    categories: list[str]
    labels: list[str]


def read_content(record: str | None) -> tuple[str | None, str] | None:
    """The source and the content's digest of a stored record, or None where it cannot be read."""
    try:
        held = read_record(record or "")
        return held.get("s"), content_digest(held["c"])
    except CorruptStore:
        return None


def read_filing(text: str | None) -> tuple[list[str], list[str]] | None:
    """Categories and labels of a stored filing, or None where there is none."""
    if not text:
        return None
    categories, *labels = text.split(UNIT)
    return (categories.split(GROUP), labels) if categories else None


def read_facts(text: str | None) -> Facts | None:
    """Stored facts, or None where they cannot be read."""
    try:
        return Facts.parse(text or "")
    except (ValueError, TypeError):
        return None


def folded(name: str) -> str | None:
    """What decides whether two names are the same, or None for what cannot be a name."""
    try:
        return normal_name(name, "name").key
    except (InvalidInput, UnicodeEncodeError):
        return None


def is_strong(facts: Facts) -> bool:
    """Whether an unpinned clue stands in `strength`; else its strength is its touch / half-life, as in `clues`."""
    return facts.uses > 0 or facts.used > facts.touched


def strength(facts: Facts, half_life: float) -> float:
    """The score of an unpinned clue for a half-life in ms; the same formula as in `lua/lib/images.lua`."""
    return math.log(1 + math.log(1 + facts.uses)) / math.log(2) + max(facts.touched, facts.used) / half_life
