"""Flows that carry impressions out of a scope and into one. They meet lines of bytes; files are opened elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from impressmem_integrations.core import lines
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.chunks import chunks
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.commands.records import as_text
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.model import ImportResult

_PAGE = 500
_PAGE_BYTES = 1_000_000


def export_lines(bound: Bound, put: Callable[[bytes], object]) -> Flow[int]:
    """Give the line of each impression to `put`, in creation order. Returns how many there were.

    What others write meanwhile may or may not be in it; each impression is whole and comes once.
    """
    cursor: read.Cursor | None = read.Cursor()
    count = 0
    while cursor is not None:
        page = yield from ask(read.list_records(bound, "created", None, False, cursor, _PAGE, _PAGE_BYTES))
        for item, facts in page.items:
            put(lines.line(item, facts))
            count += 1
        cursor = page.next
    return count


def import_lines(bound: Bound, entries: Iterable[lines.Entry]) -> Flow[ImportResult]:
    """Store checked impressions: one script for each 1,000 of them, all under one transaction."""
    statuses: Counter[str] = Counter()
    transaction = ""
    for chunk in chunks(entries, lambda entry: len(entry.item.content)):
        operations = [write.put_operation(entry.item, entry.facts) for entry in chunk]
        done = yield from commit(bound, operations, transaction=transaction)
        statuses.update(as_text(reply[2]) for reply in done.replies)
        transaction = transaction or done.id or ""
    return ImportResult(**statuses, transaction=transaction or None)
