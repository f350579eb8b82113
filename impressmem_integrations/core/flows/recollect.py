"""Flows that read a scope as it is: get, listings, history, stats. Recall and contexts have modules of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import journal as commands
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.records import MOST, moment
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import (
    Impression,
    JournalEntry,
    Named,
    Stats,
)
from impressmem_integrations.settings import Scope

T = TypeVar("T")


def get(bound: Bound, clue: str) -> Flow[Impression | None]:
    """The impression of a clue, or None."""
    found = yield from ask(read.get(bound, [normal_name(clue, "clue")]))
    return found[0] if found else None


def positive(value: int, what: str) -> int:
    """A whole number of at least 1; one that no server counts exactly, such as `sys.maxsize`, is the largest it does.

    Raises:
        InvalidInput: It is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidInput(f"{what} must be a whole number of at least 1")
    return min(value, MOST)


def switch(value: bool, what: str) -> bool:
    """True or False: any other value, such as the text "no", is more likely a slip than a yes.

    Raises:
        InvalidInput: It is anything else.
    """
    if not isinstance(value, bool):
        raise InvalidInput(f"{what} must be True or False, not {type(value).__name__}")
    return value


def stats(bound: Bound) -> Flow[Stats]:
    """Counts of the scope. Units of contexts are counted when a context changes, not when it is read unchanged."""
    return (yield from ask(read.stats(bound)))


def history(bound: Bound, clue: str) -> Flow[list[JournalEntry]]:
    """Journal entries that changed a clue, newest first, each with the record as it was before."""
    name = normal_name(clue, "clue")
    entries: list[JournalEntry] = []
    start = ""
    while True:
        page = yield from ask(commands.journal(bound, start, 200, name))
        entries += page.entries
        if not page.next:
            return entries
        start = page.next


def journal(bound: Bound, limit: int = 50) -> Flow[list[JournalEntry]]:
    """The newest journal entries, newest first."""
    return list((yield from ask(commands.journal(bound, "", positive(limit, "limit")))).entries)


# --- listings ---------------------------------------------------------------------------------------------------


class Pages(NamedTuple, Generic[T]):
    """A listing as a flow per page: `page(cursor)` gives items and the next cursor, None at the end."""

    page: Callable[[object], Flow[tuple[Sequence[T], object | None]]]
    first: object
    limit: int | None = None


_PAGE = 200
_PAGE_BYTES = 1_000_000


def impressions(
    bound: Bound, *, category: str | None = None, label: str | None = None, limit: int | None = None
) -> Pages[Impression]:
    """Impressions, newest first, read in pages as they are asked for.

    Args:
        bound: The scope.
        category: Only those filed under this category.
        label: Only those with this label; with a category, only those with both.
        limit: At most so many.

    Raises:
        InvalidInput: An argument is wrong.
    """
    in_category = normal_name(category, "category") if category is not None else None
    with_label = normal_name(label, "label") if label is not None else None
    index = "category" if in_category else "label" if with_label else "clues"

    def page(cursor: object) -> Flow[tuple[Sequence[Impression], object | None]]:
        assert isinstance(cursor, read.Cursor)
        got = yield from ask(
            read.list_records(bound, index, in_category or with_label, True, cursor, _PAGE, _PAGE_BYTES)
        )
        items = [item for item, _ in got.items]
        if in_category and with_label:
            keys_of = {normal_name(name, "label").key: name for item in items for name in item.labels}
            wanted = keys_of.get(with_label.key)
            items = [item for item in items if wanted in item.labels]
        return items, got.next

    return Pages(page, read.Cursor(), _limit(limit))


def categories(bound: Bound, *, limit: int | None = None) -> Pages[Named]:
    """Categories in use, newest first."""
    return _names(bound, "categories", limit)


def labels(bound: Bound, *, limit: int | None = None) -> Pages[Named]:
    """Labels in use, newest first."""
    return _names(bound, "labels", limit)


def _names(bound: Bound, kind: str, limit: int | None) -> Pages[Named]:
    def page(cursor: object) -> Flow[tuple[Sequence[Named], object | None]]:
        assert isinstance(cursor, int)
        got = yield from ask(read.list_names(bound, kind, offset=cursor, most=_PAGE))
        items = [Named(name, moment(at)) for name, at in got]
        return items, cursor + _PAGE if len(got) == _PAGE else None

    return Pages(page, 0, _limit(limit))


def scopes(bound: Bound) -> Pages[Scope]:
    """Known scopes of the whole server, in no order."""

    def page(cursor: object) -> Flow[tuple[Sequence[Scope], object | None]]:
        assert isinstance(cursor, tuple)
        shard, at = cursor
        got = yield from ask(read.scopes(shard, at, _PAGE))
        if got.next != "0":
            return got.scopes, (shard, got.next)
        return got.scopes, (shard + 1, "0") if shard + 1 < keys.SCOPE_SHARDS else None

    return Pages(page, (0, "0"))


def _limit(limit: int | None) -> int | None:
    return None if limit is None else positive(limit, "limit")
