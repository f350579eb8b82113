"""Posting lists as the server holds them; the rules are those of `lua/lib/postings` and `lua/lib/posting_writes`."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import StrEnum

BUCKETS = 16
_MOST_FEW, _MOST_MANY, _LEAST_SET, _LONGEST_FIELD = 12, 500, 250, 64
_POSTING = struct.Struct("<IB")
_ABOVE_DOCUMENTS = 2**32


class Form(StrEnum):
    """Where the list of a term stands: a field of a small hash, a field of a large one, or a sorted set of its own."""

    FEW = "few"
    MANY = "many"
    SET = "set"


def bucket(term: str) -> int:
    """Which of the small hashes holds a short list: told by the last three bytes of the term."""
    one, two, three, *_ = *term.encode("utf-8", "surrogateescape")[-3:], 0, 0
    return (one + 7 * two + 3 * three) % BUCKETS


def forms(term: str, count: int) -> tuple[Form, ...]:
    """The forms that a list of `count` postings may have, the one it gets when written anew first."""
    if count > _MOST_MANY:
        return (Form.SET,)
    if count > _LEAST_SET:
        return (Form.MANY, Form.SET)
    short = count <= _MOST_FEW and len(term.encode("utf-8", "surrogateescape")) <= _LONGEST_FIELD
    return (Form.FEW,) if short else (Form.MANY,)


def score(document: int, weight: int) -> int:
    """The score of a posting in a sorted set: of equal weights the newest document has the largest."""
    return weight * _ABOVE_DOCUMENTS + document


def weight_of(scored: int) -> int:
    """The weight that a score was made of."""
    return scored // _ABOVE_DOCUMENTS


def pack(postings: Mapping[int, int]) -> bytes:
    """Document -> weight as bytes, five a posting."""
    return b"".join(_POSTING.pack(document, weight) for document, weight in postings.items())


def unpack(packed: bytes) -> dict[int, int] | None:
    """Document -> weight, or None for what `pack` never makes."""
    if len(packed) % _POSTING.size:
        return None
    pairs = list(_POSTING.iter_unpack(packed))
    found = dict(pairs)
    return found if len(found) == len(pairs) else None
