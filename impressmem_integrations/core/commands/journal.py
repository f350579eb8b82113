"""Reading the journal: entries with the records as they were before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import (
    Facts,
    Stored,
    as_text,
    moment,
    read_netstrings,
    read_record,
    wire_name,
)
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.core.text import Name, content_digest
from impressmem_integrations.model import JournalEntry

IMAGE = 6  # parts of one before-image: clue, record, filing, facts, pinned at, expires at


class JournalPage(NamedTuple):
    """Journal entries, newest first, and the id to go on from ("" at the end)."""

    entries: tuple[JournalEntry, ...]
    next: str


def journal(bound: Bound, start: str, most: int, clue: Name | None = None) -> Command[JournalPage]:
    """One page of the journal, newest first; with a clue only entries that name it."""

    def parse(reply: Sequence[Raw]) -> JournalPage:
        return JournalPage(tuple(_entry(fields) for fields in reply[1:]), as_text(reply[0]))

    args = (start, most, wire_name(clue) if clue else "")
    return Command("journal", (keys.meta_key(bound.scope),), args, parse, writes=False)


def _entry(flat: Sequence[Raw]) -> JournalEntry:
    fields = {as_text(flat[at]): flat[at + 1] for at in range(0, len(flat), 2)}
    listed = as_text(fields["clues"]).strip("\x1f")
    parts = read_netstrings(fields["before"])
    images = {}
    left_out = read_netstrings(fields["records"])
    records = dict(zip(left_out[::2], left_out[1::2], strict=True))
    for at in range(0, len(parts), IMAGE):
        clue, record, filing, facts, pinned, expires = parts[at : at + IMAGE]
        name = as_text(clue)
        held = record or records.get(clue, b"")
        if not held:
            continue
        counted = Facts.parse(as_text(facts))
        read = Stored(name, as_text(filing), counted, as_text(pinned), as_text(expires), read_record(as_text(held)))
        if record or content_digest(read.content) == counted.digest:  # else the entry that held its content was erased
            images[name] = read.impression()
    clues = tuple(listed.split("\x1f")) if listed else ()
    return JournalEntry(
        transaction=as_text(fields["transaction"]),
        operation=as_text(fields["operation"]),
        at=moment(int(fields["at"])),
        clues=clues,
        source=as_text(fields["source"]) or None,
        reason=as_text(fields["reason"]) or None,
        before=tuple(images.get(clue) for clue in clues),
    )
