"""Cutting work into pieces that one script may carry: no server is held up for long, no message grows without bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

MOST_PER_SCRIPT = 1_000
"""Records one script touches at the most; larger operations go in chunks under one transaction."""
MOST_BYTES_PER_SCRIPT = 8_000_000


def chunks(
    items: Iterable[T],
    weight: Callable[[T], int],
    most_weight: int = MOST_BYTES_PER_SCRIPT,
    most: int = MOST_PER_SCRIPT,
) -> Iterator[list[T]]:
    """Cut items, in order, into lists of at most `most` and `most_weight`; a heavier item stands alone.

    Items are taken as they are needed: no more than one chunk is held.
    """
    chunk: list[T] = []
    held = 0
    for item in items:
        more = weight(item)
        if chunk and (len(chunk) == most or held + more > most_weight):
            yield chunk
            chunk, held = [], 0
        chunk.append(item)
        held += more
    if chunk:
        yield chunk
