"""The terms of a record or message as they are stored and indexed."""

from __future__ import annotations

from impressmem_integrations.core.commands.records import RECORD, UNIT
from impressmem_integrations.core.ranking import CONSTANTS
from impressmem_integrations.core.text import TOKENIZER_VERSION, term_weights, tokenise

WEIGHT_SCALE = 57
"""Stored term weights are whole numbers: BM25's share times this, which keeps sorted sets small (docs/ranking.md)."""
_MOST_WEIGHT = 125


def wire_terms(*texts: str, clue: str = "") -> str:
    """The terms of a record or message as they are stored and indexed, those of a weight together.

    The form is `<version>[RECORD<weight>UNIT<term>[UNIT<term>...]...]`, the largest weight first.

    Args:
        texts: What it says.
        clue: What it is called; each of its words counts once more.
    """
    named = tokenise(clue)
    tokens = named + [token for text in texts for token in tokenise(text)]
    weights = term_weights(tokens, CONSTANTS.k1, CONSTANTS.b, CONSTANTS.average_length, stressed=set(named))
    groups: dict[int, list[str]] = {}
    for term, weight in weights.items():
        groups.setdefault(min(_MOST_WEIGHT, max(1, round(WEIGHT_SCALE * weight))), []).append(term)
    parts = [UNIT.join([str(weight), *groups[weight]]) for weight in sorted(groups, reverse=True)]
    return RECORD.join([str(TOKENIZER_VERSION), *parts])


def read_terms(text: str) -> dict[str, int]:
    """Terms and weights of the stored form; what cannot be read is left out."""
    found = {}
    for part in text.split(RECORD)[1:]:
        weight, *terms = part.split(UNIT)
        if weight.isdecimal() and 0 < int(weight) <= _MOST_WEIGHT:
            found.update({term: int(weight) for term in terms if term})
    return found
