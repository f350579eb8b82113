"""Turns that are noted as distilled together, and stay so while others note turns of the same thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.errors import StalePlan
from impressmem_integrations.maintenance.evidence import keep_operations
from impressmem_integrations.model import Turn
from impressmem_integrations.turns import align, digest_of, next_ids

R = TypeVar("R")

_OVERTAKEN = 100
"""How often others may note turns between our look at the thread and our transaction, a moment later."""


@dataclass(frozen=True)
class Group:
    """Turns of a history that were not distilled when the thread was looked at.

    Attributes:
        bound: The scope.
        thread: Whose turns they are.
        history: All turns of the call.
        seen: The thread when it was looked at.
        turns: The oldest turns not distilled, with their ids.
    """

    bound: Bound
    thread: str
    history: Sequence[Turn]
    seen: read.Seen
    turns: tuple[Turn, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the turns."""
        return tuple(turn.id for turn in self.turns)

    @property
    def guards(self) -> list[write.Guard]:
        """What must still hold when the turns are noted: that nobody has noted any since the thread was looked at."""
        return [write.seen_guard(self.thread, self.seen.distilled)]

    @property
    def noted(self) -> list[write.Operation]:
        """The operations that note the turns as distilled and keep them as evidence."""
        return [write.seen_operation(self.thread, self.ids), *self._evidence[0]]

    @property
    def not_kept(self) -> tuple[str, ...]:
        """Why any of the turns cannot be kept as evidence."""
        return self._evidence[1]

    @cached_property
    def _evidence(self) -> tuple[list[write.Operation], tuple[str, ...]]:
        return keep_operations(self.bound, self.turns, self.thread, self.seen.now)

    def first(self, count: int) -> Group:
        """The group of its oldest turns."""
        return replace(self, turns=self.turns[:count])


def not_distilled(bound: Bound, thread: str, history: Sequence[Turn]) -> Flow[Group]:
    """Look at the thread: all turns of a history that were not distilled yet."""
    seen = yield from ask(read.seen(bound, thread))
    digests = [turn.digest for turn in history]
    old = align([digest_of(turn) for turn in seen.turns], digests, trimmed=seen.trimmed)
    ids = next_ids(seen.turns, digests[old:])
    new = tuple(replace(turn, id=turn_id) for turn, turn_id in zip(history[old:], ids, strict=True))
    return Group(bound, thread, history, seen, new)


def as_new(group: Group, change: Callable[[Group], Flow[R]]) -> Flow[R]:
    """Carry out a change under the guards of a group; again where merely other turns of the thread were noted since.

    So two processes on one thread cost each other a round trip, not another question to the model.

    Args:
        group: The turns.
        change: Gets the group, with the ids and guards of the newest look.

    Raises:
        StalePlan: Something else changed, or one of the turns was distilled meanwhile.
    """
    for _ in range(_OVERTAKEN):
        try:
            return (yield from change(group))
        except StalePlan:
            now = yield from not_distilled(group.bound, group.thread, group.history)
            now = now.first(len(group.turns))
            overtaken = now.seen.distilled != group.seen.distilled
            if not overtaken or [turn.digest for turn in now.turns] != [turn.digest for turn in group.turns]:
                raise
            group = now
    return (yield from change(group))
