"""Where a history meets the turns that a thread has already seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def align(stored: Sequence[str], digests: Sequence[str], *, trimmed: bool = False) -> int:
    """Return how many of the history's leading turns are old.

    A history is a window of its thread: cut at the front by trimming or a summary, longer at the end by what is new.

    * A window that stands as a whole somewhere in the stored turns is a replay: all of it is old.
    * Otherwise the longest run at the history's start that ends the stored turns is old, and the rest is new.
    * Where there is no such run, others spoke in the same thread in between, in another framework or process: then the
      turns at the history's start that are stored in this order, with gaps, are old.

    Args:
        stored: Digests of the thread's turns, oldest first.
        digests: Digests of the history's turns, oldest first.
        trimmed: Whether older digests have left `stored`. Then the stored turns may begin in the middle of the history,
            and what stands before them is old too.

    Returns:
        A number from 0 to `len(digests)`.
    """
    known, window = list(stored), list(digests)
    size = len(window)
    if any(known[start : start + size] == window for start in range(len(known) - size + 1)):
        return size
    for end in range(size if trimmed else min(size, len(known)), 0, -1):
        run = min(end, len(known))
        if run and window[end - run : end] == known[-run:]:
            return end
    rest = iter(known)
    return next((place for place, digest in enumerate(window) if digest not in rest), size)


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
