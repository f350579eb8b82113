"""Where a history meets the turns that a thread has already seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def align(stored: Sequence[str], digests: Sequence[str], *, trimmed: bool = False) -> int:
    """Return how many of the history's leading turns are old.

    A history is a window of its thread: cut at the front by trimming or a summary, longer at the end by what is new,
    and without what others, in another framework or process, said in between. So the turns at its start that are stored
    in this order, with gaps or without, are old, and the rest is new. Where a turn may be either, because it equals an
    older one, it is old: nothing is distilled twice.

    Args:
        stored: Digests of the thread's turns, oldest first.
        digests: Digests of the history's turns, oldest first.
        trimmed: Whether older digests have left `stored`. Then the stored turns may begin in the middle of the history,
            and what stands before them is old too.

    Returns:
        A number from 0 to `len(digests)`.
    """
    known, window = list(stored), list(digests)
    rest = iter(known)
    old = next((place for place, digest in enumerate(window) if digest not in rest), len(window))
    if trimmed and known:
        ends = (end for end in range(len(window), old, -1) if _ends_with(window[:end], known))
        return next(ends, old)
    return old


def _ends_with(window: list[str], known: list[str]) -> bool:
    run = min(len(window), len(known))
    return window[-run:] == known[-run:]


def next_ids(known: Iterable[str], digests: Iterable[str]) -> list[str]:
    """Return ids for new turns of a thread, so that equal turns get different ones.

    Args:
        known: Ids of the thread's turns (`<digest>-<ordinal>`), in any order.
        digests: Digests of the new turns, oldest first.

    Returns:
        One id for each digest, with the ordinal after the highest one known. Where every equal turn has left the list
        that the caller keeps, counting starts at 1 again.
    """
    highest: dict[str, int] = {}
    for key in known:
        digest, _, ordinal = key.rpartition("-")
        highest[digest] = max(highest.get(digest, 0), int(ordinal))
    ids = []
    for digest in digests:
        highest[digest] = highest.get(digest, 0) + 1
        ids.append(f"{digest}-{highest[digest]}")
    return ids


def digest_of(turn_id: str) -> str:
    """Return the digest in a turn's id."""
    return turn_id.rpartition("-")[0]
