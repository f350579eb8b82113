"""Values of the upkeep of a whole memory: what check and import return."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `check()` found: the key (without its scope tag), the member, and what is wrong."""

    key: str
    member: str
    message: str


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did, in numbers of impressions.

    Attributes:
        created: New here.
        changed: Replaced something older here.
        unchanged: Here already, just so.
        kept: Left alone, since what is here is newer.
        forgotten: Refused, since they were forgotten here after they had been written.
        transaction: The id that `undo` takes; None where nothing was written.
    """

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    kept: int = 0
    forgotten: int = 0
    transaction: str | None = None
