"""Categories and labels by the words of their names: what an index keeps of a name, and how scripts take it.

Kept apart from the terms of impressions, so that a merge of names never has to write its members' words anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from impressmem_integrations.core.commands.records import GROUP, UNIT
from impressmem_integrations.core.text import Name, tokenise

KINDS = ("category", "label")
_MOST_TERMS = 20


def name_terms(name: str) -> str:
    """The terms of a name as they are stored, each once: `<term>[UNIT<term>...]`; of a long name the first 20."""
    return UNIT.join(list(dict.fromkeys(tokenise(name)))[:_MOST_TERMS])


def name_words(kind: str, name: str, terms: str) -> list[str]:
    """The members of the index for one name: `<term>UNIT<number of terms>UNIT<kind>UNIT<name>`."""
    split = terms.split(UNIT) if terms else []
    return [UNIT.join((term, str(len(split)), kind, name)) for term in split]


def wire_names(names: Iterable[tuple[str, Name]]) -> str:
    """Names that a change may bring in, with their terms, as scripts take them."""
    return GROUP.join(_wire_name_terms(kind, name) for kind, name in dict.fromkeys(names))


@lru_cache(maxsize=4_096)
def _wire_name_terms(kind: str, name: Name) -> str:
    return UNIT.join((kind, name.key, name_terms(name.shown)))
