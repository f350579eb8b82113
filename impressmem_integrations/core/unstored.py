"""Contexts that were shown and not stored: what this process remembers of them, which is never their text.

Storing a context after each small change would be a second round trip and kilobytes of writes for every turn of a talk.
So one that differs little from the stored one is only shown. Reading it again unchanged stores it, so that those who
read often find it ready; and its units are counted with the next one that is stored.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from impressmem_integrations.settings import Scope

_MOST = 4_096


class State(NamedTuple):
    """What a context was made of: the scope's generation and change counter."""

    generation: int
    seq: int


class Units(NamedTuple):
    """Units of contexts that repeated the text before, and those that did not."""

    reused: int
    fresh: int


class Unstored:
    """Shared by the views of a store and by threads; where two of them meet, a count may be lost and nothing else."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[Scope, str], tuple[State, Units]] = OrderedDict()

    def show(self, scope: Scope, profile: str, state: State, units: Units) -> bool:
        """Note that a context is shown. Returns whether it is the first time for this state."""
        held = self._held.get((scope, profile))
        if held and held[0] == state:
            return False
        before = held[1] if held else Units(0, 0)
        self._held[scope, profile] = state, Units(before.reused + units.reused, before.fresh + units.fresh)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        return True

    def take(self, scope: Scope, profile: str) -> Units:
        """The units of what was shown since the last one that was stored."""
        held = self._held.pop((scope, profile), None)
        return held[1] if held else Units(0, 0)
