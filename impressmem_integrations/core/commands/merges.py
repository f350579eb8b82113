"""The operations that merge categories, labels or clues, and what the first two reply."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import as_text, encode_record, names, source_digest, wire_name
from impressmem_integrations.core.commands.terms import wire_terms
from impressmem_integrations.core.commands.write import Operation
from impressmem_integrations.core.effects import Raw
from impressmem_integrations.core.text import Name, content_digest


def merge_names_operation(kind: str, target: Name, sources: Sequence[Name], most: int) -> Operation:
    """Move everything filed under the sources to the target; at most `most` records."""
    return Operation("merge-names", (kind, wire_name(target), most, *map(wire_name, sources)))


class NamesMerged(NamedTuple):
    """What the merge of categories or labels did.

    Attributes:
        target: The name that stays, as stored.
        sources: Those that are gone.
        moved: Clues of the records refiled, in the order they were first saved.
        labels_moved: How many labels these records carry.
        left: Records that were too many for one script.
    """

    target: str
    sources: tuple[str, ...]
    moved: tuple[str, ...]
    labels_moved: int
    left: int

    @classmethod
    def parse(cls, reply: Sequence[Raw]) -> NamesMerged:
        """Read the reply of its operation."""
        _, target, sources, moved, labels_moved, left = reply
        return cls(as_text(target), tuple(map(as_text, sources)), names(moved), int(labels_moved), int(left))


def merge_clues_operation(
    bound: Bound,
    target: Name,
    content: str,
    sources: Sequence[Name],
    source: str | None,
    said_at: datetime | None = None,
) -> Operation:
    """Make one record of several."""
    return Operation(
        "merge-clues",
        (
            wire_name(target),
            encode_record(content, source, None, said_at),
            content_digest(content),
            source_digest(source),
            wire_terms(content, clue=target.shown),
            bound.limits.max_labels,
            *map(wire_name, sources),
        ),
    )
