"""The notes that both systems are filled with: made from their number, so every run measures the same ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

LABELS_PER_NOTE = 3
_NOTES_PER_CATEGORY = 20
_MOST_CATEGORIES = 500
_NOTES_PER_LABEL = 5
_MOST_LABELS = 2_000
_PEOPLE = ("Ines", "Bruno", "Mei", "Oleg", "Priya", "Jonas", "Aiko", "Marta", "Samir", "Lucia", "Wren")
_FACTS = (
    "keeps a greenhouse behind the house and grows eleven kinds of chilli there",
    "moved the quarterly review to Thursday afternoon because the auditors come on Wednesday",
    "is allergic to penicillin and carries a card that says so",
    "prefers short answers with the number first and the reasoning after it",
    "is learning the cello and practises between six and seven in the morning",
    "wants the invoices as one file per supplier, named by date",
    "drives to the coast in August and cannot be reached there",
)


@dataclass(frozen=True, slots=True)
class Note:
    """What both systems are given to save."""

    clue: str
    content: str
    category: str
    labels: list[str]

    @property
    def payload(self) -> bytes:
        """All that a save has to carry, as one value for the floor."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()


def categories(size: int) -> int:
    """How many categories a store of `size` notes has."""
    return max(2, min(_MOST_CATEGORIES, size // _NOTES_PER_CATEGORY))


def labels(size: int) -> int:
    """How many labels a store of `size` notes has."""
    return max(LABELS_PER_NOTE, min(_MOST_LABELS, size // _NOTES_PER_LABEL))


def note(number: int, size: int, *, clue: str = "", label: str = "") -> Note:
    """Make a note.

    Args:
        number: Decides everything; numbers at and above `size` give further notes.
        size: How many notes the store holds.
        clue: Another clue.
        label: A label to carry in place of its first.
    """
    person = _PEOPLE[number % len(_PEOPLE)]
    kinds = labels(size)
    carried = [f"topic {(number * 7 + step * 13 + step) % kinds}" for step in range(LABELS_PER_NOTE)]
    if label:
        carried[0] = label
    return Note(
        clue=clue or f"{person} note {number}",
        content=f"{person} {_FACTS[number % len(_FACTS)]} (said in talk {number}).",
        category=f"domain {number % categories(size)}",
        labels=list(dict.fromkeys(carried)),
    )


def chunks(size: int, step: int = 1_000) -> Iterator[list[Note]]:
    """All notes of a store, `step` at a time."""
    for start in range(0, size, step):
        yield [note(number, size) for number in range(start, min(size, start + step))]
