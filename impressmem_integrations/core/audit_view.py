"""What the parts of an audit see of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from impressmem_integrations.core.commands.keep import Write
from impressmem_integrations.core.truth import Record


class Looking(Protocol):
    """An audit: what it read, and where it is told what is wrong.

    Attributes:
        noted: The fields of `meta` as they stand there.
        meta: Those of them that are counters which can be read.
        records: The records that can be read.
        generation: The scope's.
        seq: The largest counter that anything in the scope tells of.
    """

    noted: dict[str, str]
    meta: dict[str, int]
    records: dict[str, Record]
    generation: str
    seq: int

    def key(self, name: str) -> str:
        """The name of a key of this generation, after the tag."""

    def table(self, name: str, kind: str | None = None) -> dict[str, str]:
        """What a key of this generation holds; nothing where it is of another type."""

    def names(self, *families: str) -> Iterable[str]:
        """The keys of this generation that begin so."""

    def living(self, kind: str) -> Iterable[str]:
        """The names of a kind that records have."""

    def compare(self, name: str, expected: Mapping[str, float]) -> None:
        """Report what a sorted set holds otherwise than it should."""

    def contexts_anew(self) -> list[Write]:
        """Writes after which no context goes on from before."""

    def report(self, key: str, member: str, message: str, *writes: Write) -> None:
        """Tell of a problem, and of the writes that end it."""

    def remove_others(self, key: str, found: Iterable[str], known: Mapping[str, object], message: str) -> None:
        """Report members that are not known."""

    def check_length(self, key: str, found: Mapping[str, str], most: int, *also: Write) -> None:
        """Report the oldest members beyond a number."""
