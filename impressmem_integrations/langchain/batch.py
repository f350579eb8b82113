"""The batch of a LangGraph store as one flow: reads first, then the puts of each scope as one transaction."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

from langgraph.store.base import GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.chunks import MOST_PER_SCRIPT, chunks
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.commands.records import Facts, moment, rows_with_facts
from impressmem_integrations.core.effects import Command, Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.core.flows.recall import recall
from impressmem_integrations.core.text import normal_name, tokenise, tokenise_question
from impressmem_integrations.errors import InvalidInput, StalePlan
from impressmem_integrations.langchain.items import Kept, kept, prolong_operation, put_operation
from impressmem_integrations.langchain.namespaces import (
    Layout,
    Namespace,
    Place,
    clue_of,
    matches,
    passes,
    place_of,
    rest_of,
)
from impressmem_integrations.model import Impression
from impressmem_integrations.settings import Scope

_RECALL_UNITS: Final = 100_000
_PAGE: Final = 200
_PAGE_BYTES: Final = 1_000_000
_NAMES_PAGE: Final = 500
_REFRESHED_SHARE: Final = 100
"""A lifetime begins anew once this part of it has passed: reading an item again and again is not as many writes."""


@dataclass(slots=True)
class _Stream:
    """The records of one index, newest first, read in pages."""

    bound: Bound
    index: str
    name: str | None
    size: int
    cursor: read.Cursor | None = field(default_factory=read.Cursor)
    buffer: deque[tuple[Impression, Facts]] = field(default_factory=deque)

    @property
    def age(self) -> tuple[int, int]:
        """Orders the next record among those of other streams; within one memory no two are touched at one time."""
        facts = self.buffer[0][1]
        return -facts.updated, -facts.touched

    def fill(self) -> Flow[None]:
        while not self.buffer and self.cursor is not None:
            name = None if self.name is None else normal_name(self.name, "category")
            page = yield from ask(
                read.list_records(self.bound, self.index, name, True, self.cursor, self.size, _PAGE_BYTES)
            )
            self.buffer.extend(page.items)
            self.cursor = page.next


class Batch:
    """One batch of operations.

    Args:
        bound: The store's own scope, with its limits.
        layout: How namespaces are laid out.
        now_ms: The present, for lifetimes that begin anew.
    """

    def __init__(self, bound: Bound, layout: Layout, now_ms: float) -> None:
        self._bound = bound
        self._layout = layout
        self._now_ms = now_ms
        self._refresh: dict[tuple[str | None, str], Kept] = {}

    def run(self, ops: Sequence[Op]) -> Flow[list[Result]]:
        """Results in the order of the operations. Reads see what was there before the puts; the last put wins.

        Raises:
            InvalidInput: An operation is wrong; nothing was written.
        """
        results: list[Result] = [None] * len(ops)
        for op in ops:
            _check_read(op)
        changes = self._changes(ops)  # before anything else: what is wrong with one of them stops them all
        yield from self._gets(ops, results)
        for at, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[at] = yield from self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[at] = yield from self._list(op)
        yield from self._refreshed()
        for user, operations in changes.items():
            for chunk in chunks(operations, _size):
                yield from commit(self._of(user), chunk)
        return results

    def _of(self, user: str | None) -> Bound:
        if user is None:
            return self._bound
        return replace(self._bound, scope=Scope(self._bound.scope.bot, user))

    # --- puts -------------------------------------------------------------------------------------------------------

    def _changes(self, ops: Sequence[Op]) -> dict[str | None, list[write.Operation]]:
        last: dict[tuple[Place, str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                last[self._layout.place(op.namespace), op.key] = op
            elif not isinstance(op, GetOp | SearchOp | ListNamespacesOp):
                raise InvalidInput(f"unknown operation {type(op).__name__}")
        changes: dict[str | None, list[write.Operation]] = {}
        for (place, _), op in last.items():
            changes.setdefault(place.user, []).append(put_operation(self._bound, place.rest, op))
        return changes

    # --- reads ------------------------------------------------------------------------------------------------------

    def _gets(self, ops: Sequence[Op], results: list[Result]) -> Flow[None]:
        wanted: dict[str | None, dict[str, list[tuple[int, GetOp]]]] = {}
        for at, op in enumerate(ops):
            if isinstance(op, GetOp):
                place = self._layout.place(op.namespace)
                wanted.setdefault(place.user, {}).setdefault(clue_of(place.rest, op.key), []).append((at, op))
        for user, by_clue in wanted.items():
            clues = list(by_clue)
            for start in range(0, len(clues), MOST_PER_SCRIPT):
                names = [normal_name(clue, "clue") for clue in clues[start : start + MOST_PER_SCRIPT]]
                for record in (yield from ask(read.get(self._of(user), names))):
                    found = kept(record)
                    if found is None:
                        continue
                    for at, op in by_clue[record.clue]:
                        results[at] = Item(**self._fields(user, found))
                        self._read(user, found, refresh=op.refresh_ttl)

    def _fields(self, user: str | None, found: Kept) -> dict[str, Any]:
        return {
            "value": found.value,
            "key": found.key,
            "namespace": self._layout.namespace(Place(user, found.rest)),
            "created_at": found.record.created_at,
            "updated_at": found.record.updated_at,
        }

    def _read(self, user: str | None, found: Kept, *, refresh: bool) -> None:
        if refresh and found.ttl_minutes is not None:
            self._refresh[user, found.record.clue] = found

    def _search(self, op: SearchOp) -> Flow[list[SearchItem]]:
        prefix = tuple(op.namespace_prefix)
        users = yield from self._users([prefix])
        most = op.offset + op.limit

        def wanted(user: str | None, record: Impression) -> Kept | None:
            found = kept(record)
            if found is None or not passes(found.value, op.filter):
                return None
            whole = self._layout.namespace(Place(user, found.rest))
            return found if whole[: len(prefix)] == prefix else None

        hits: list[tuple[float | None, str | None, Kept]] = []
        terms = frozenset(tokenise_question(op.query) if op.query else ())
        if op.query and terms:
            for user in users:
                answer = yield from recall(self._of(user), op.query, budget_units=_RECALL_UNITS)
                hits += [
                    (item.score, user, found)
                    for item in answer.items
                    if item.impression is not None and (found := wanted(user, item.impression)) and _says(found, terms)
                ]
            hits.sort(key=lambda hit: -(hit[0] or 0.0))
        if len(hits) < most:
            scored = {(user, found.record.clue) for _, user, found in hits}
            rest = yield from self._newest(users, prefix, wanted, most - len(hits), scored, filtered=bool(op.filter))
            hits += [(None, user, found) for user, found in rest]
        page = hits[op.offset : most]
        for _, user, found in page:
            self._read(user, found, refresh=op.refresh_ttl)
        return [SearchItem(**self._fields(user, found), score=score) for score, user, found in page]

    def _users(self, beginnings: Sequence[Sequence[str]]) -> Flow[list[str | None]]:
        """Whose memories can hold what begins in all these ways; the registry is read only where the user is open."""
        reaches = [self._layout.reach(beginning) for beginning in beginnings]
        users: list[str | None] = [None] if all(reach.own for reach in reaches) else []
        named = {reach.user for reach in reaches if reach.user is not None}
        if not all(reach.user is not None or reach.users for reach in reaches):
            return users
        if len(named) == 1:
            users += named
        if not named:
            for shard in range(keys.SCOPE_SHARDS):
                cursor = "0"
                while True:
                    page = yield from ask(read.scopes(shard, cursor, _PAGE))
                    users += [one.user for one in page.scopes if one.bot == self._bound.scope.bot and one.user]
                    cursor = page.next
                    if cursor == "0":
                        break
        return list(dict.fromkeys(users))

    def _newest(
        self,
        users: Iterable[str | None],
        prefix: Namespace,
        wanted: Callable[[str | None, Impression], Kept | None],
        most: int,
        without: set[tuple[str | None, str]],
        *,
        filtered: bool,
    ) -> Flow[list[tuple[str | None, Kept]]]:
        size = _PAGE if filtered else min(_PAGE, most + len(without))
        streams: list[tuple[str | None, _Stream]] = []
        for user in users:
            for index, name in (yield from self._indexes(user, prefix)):
                streams.append((user, _Stream(self._of(user), index, name, size)))
        heap: list[tuple[tuple[int, int], int]] = []
        for at, (_, stream) in enumerate(streams):
            yield from stream.fill()
            if stream.buffer:
                heapq.heappush(heap, (stream.age, at))
        found: list[tuple[str | None, Kept]] = []
        while heap and len(found) < most:
            user, stream = streams[heap[0][1]]
            record, _ = stream.buffer.popleft()
            yield from stream.fill()
            if stream.buffer:
                heapq.heapreplace(heap, (stream.age, heap[0][1]))
            else:
                heapq.heappop(heap)
            one = wanted(user, record) if (user, record.clue) not in without else None
            if one is not None:
                found.append((user, one))
        return found

    def _indexes(self, user: str | None, prefix: Namespace) -> Flow[list[tuple[str, str | None]]]:
        """The indexes that together hold a prefix: all of a memory, or the categories that begin like it."""
        inside = prefix if user is None else prefix[len(self._layout.template) :]
        if not inside:
            return [("clues", None)]
        named = yield from self._namespaces(user)
        return [("category", category) for rest, category in named if rest[: len(inside)] == inside]

    def _namespaces(self, user: str | None) -> Flow[list[tuple[Namespace, str]]]:
        """The namespaces inside one memory, each with its category."""
        bound, offset = self._of(user), 0
        found: list[tuple[Namespace, str]] = []
        while True:
            page = yield from ask(read.list_names(bound, "categories", offset=offset, most=_NAMES_PAGE))
            for category, _ in page:
                rest = rest_of(category)
                if rest is None:
                    rest = yield from self._long(bound, category)
                if rest is not None:
                    found.append((rest, category))
            if len(page) < _NAMES_PAGE:
                return found
            offset += _NAMES_PAGE

    def _inhabited(self, user: str | None) -> Flow[list[Namespace]]:
        """The namespaces that hold an item which is not over. Only a memory's next write takes out what is over."""
        bound = self._of(user)
        named = yield from self._namespaces(user)
        over = read.list_names(bound, "expiry", newest_first=False, highest=str(int(self._now_ms)), most=_NAMES_PAGE)
        due = [clue for clue, _ in (yield from ask(over))]
        places = {place_of(clue) for clue in due}
        all_doubtful = None in places or len(due) == _NAMES_PAGE  # more may be over than that
        found = []
        for rest, category in named:
            if all_doubtful or category in places:
                stream = _Stream(bound, "category", category, 1)
                yield from stream.fill()
                if not stream.buffer:
                    continue
            found.append(rest)
        return found

    def _long(self, bound: Bound, category: str) -> Flow[Namespace | None]:
        """A namespace too long for a name: its items know it."""
        stream = _Stream(bound, "category", category, 1)
        yield from stream.fill()
        found = kept(stream.buffer[0][0]) if stream.buffer else None
        return found.rest if found else None

    def _list(self, op: ListNamespacesOp) -> Flow[list[Namespace]]:
        conditions = op.match_conditions or ()
        beginnings = [tuple(one.path) for one in conditions if one.match_type == "prefix"]
        users = yield from self._users(beginnings or [()])
        found: set[Namespace] = set()
        for user in users:
            for rest in (yield from self._inhabited(user)):
                whole = self._layout.namespace(Place(user, rest))
                if all(matches(one.match_type, tuple(one.path), whole) for one in conditions):
                    found.add(whole if op.max_depth is None else whole[: op.max_depth])
        return sorted(found)[op.offset : op.offset + op.limit]

    # --- lifetimes that begin anew when read ------------------------------------------------------------------------

    def _refreshed(self) -> Flow[None]:
        """Let the lifetimes of what was read begin anew; what somebody changes meanwhile is left to them."""
        for (user, clue), found in self._refresh.items():
            if found.ttl_minutes is None:
                continue
            bound, name = self._of(user), normal_name(clue, "clue")
            command = Command("get", (keys.meta_key(bound.scope),), (name.key,), _with_facts, writes=False)
            for record, facts in (yield from ask(command)):
                whole = timedelta(minutes=found.ttl_minutes)
                until = moment(self._now_ms) + whole
                if record.expires_at is None or record.expires_at + whole / _REFRESHED_SHARE >= until:
                    continue
                longer = found._replace(record=replace(record, expires_at=until))
                guards = [write.record_guard(name, record.version)]
                try:
                    yield from commit(bound, [prolong_operation(longer, facts)], guards=guards)
                except StalePlan:
                    continue


def _check_read(op: Op) -> None:
    """Refuse a search or listing with an argument of a wrong type.

    Raises:
        InvalidInput: It has one.
    """
    if isinstance(op, SearchOp):
        if op.query is not None and not isinstance(op.query, str):
            raise InvalidInput(f"query must be text or None, not {type(op.query).__name__}")
        if op.filter is not None and not isinstance(op.filter, Mapping):
            raise InvalidInput(f"filter must be a dict or None, not {type(op.filter).__name__}")
        if isinstance(op.namespace_prefix, str):
            raise InvalidInput("a namespace is a tuple of texts, not one text")
    if isinstance(op, SearchOp | ListNamespacesOp):
        for name in ("limit", "offset"):
            _require_count(getattr(op, name), name)
    if isinstance(op, ListNamespacesOp) and op.max_depth is not None:
        _require_count(op.max_depth, "max_depth")


def _require_count(value: object, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{name} must be a whole number of at least 0, not {value!r}")


def _says(found: Kept, terms: frozenset[str]) -> bool:
    """Whether an item itself says a word of the question: recall also finds what was put beside one that does."""
    return found.indexed and not terms.isdisjoint(tokenise(f"{found.key}\n{found.record.content}"))


def _with_facts(reply: Sequence[Any]) -> list[tuple[Impression, Facts]]:
    return list(rows_with_facts(reply))


def _size(operation: write.Operation) -> int:
    return sum(len(argument) for argument in operation.args if isinstance(argument, str | bytes))
