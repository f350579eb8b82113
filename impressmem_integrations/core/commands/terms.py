"""The terms of a record or message as they are stored and indexed."""

from __future__ import annotations

from impressmem_integrations.core.ranking import CONSTANTS
from impressmem_integrations.core.text import TOKENIZER_VERSION, term_weights, tokenise

WEIGHT_SCALE = 57
"""Stored term weights are whole numbers: BM25's share times this, which keeps sorted sets small (docs/ranking.md)."""
_MOST_WEIGHT = 125
_UNIT = "\x1f"


def wire_terms(*texts: str) -> str:
    """The terms of a record as they are stored and indexed: version, then term and weight in turn."""
    tokens = [token for text in texts for token in tokenise(text)]
    weights = term_weights(tokens, CONSTANTS.k1, CONSTANTS.b, CONSTANTS.average_length)
    parts = [str(TOKENIZER_VERSION)]
    for term, weight in weights.items():
        parts += (term, str(min(_MOST_WEIGHT, max(1, round(WEIGHT_SCALE * weight)))))
    return _UNIT.join(parts)
