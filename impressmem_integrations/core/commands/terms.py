"""The terms of a record or message as they are stored and indexed."""

from __future__ import annotations

from impressmem_integrations.core.commands.records import RECORD, UNIT
from impressmem_integrations.core.ranking import CONSTANTS
from impressmem_integrations.core.text import TOKENIZER_VERSION, term_weights, tokenise

WEIGHT_SCALE = 57
"""Stored term weights are whole numbers: BM25's share times this, which keeps sorted sets small (docs/ranking.md)."""
_MOST_WEIGHT = 125


def wire_terms(*texts: str, clue: str = "") -> str:
    """The terms of a record or message as they are stored and indexed: `<version>[RECORD<term>UNIT<weight>...]`.

    Args:
        texts: What it says.
        clue: What it is called; each of its words counts once more.
    """
    named = tokenise(clue)
    tokens = named + [token for text in texts for token in tokenise(text)]
    weights = term_weights(tokens, CONSTANTS.k1, CONSTANTS.b, CONSTANTS.average_length, stressed=set(named))
    parts = [str(TOKENIZER_VERSION)]
    for term, weight in weights.items():
        parts.append(f"{term}{UNIT}{min(_MOST_WEIGHT, max(1, round(WEIGHT_SCALE * weight)))}")
    return RECORD.join(parts)


def read_terms(text: str) -> dict[str, float]:
    """Terms and weights of the stored form; what cannot be read is left out."""
    found = {}
    for part in text.split(RECORD)[1:]:
        term, _, weight = part.partition(UNIT)
        if term and weight.isdecimal():
            found[term] = float(weight)
    return found
