"""The newest turns of the conversations that a classic memory object is used in."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from impressmem_integrations.model import Message

_WINDOW_TURNS: Final = 20
"""What maintenance is shown of a conversation; it knows which turns it has distilled."""
_MOST_HANDED: Final = 1_000
_MOST_TALKS: Final = 1_000


@dataclass(slots=True)
class _Talk:
    turns: deque[list[Message]] = field(default_factory=lambda: deque(maxlen=_WINDOW_TURNS))
    handed: deque[list[Message]] = field(default_factory=lambda: deque(maxlen=_MOST_HANDED))


class Talks:
    """Conversations by their key; of more than 1,000 the one that was silent longest is let go. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._talks: OrderedDict[Hashable, _Talk] = OrderedDict()

    def add(self, key: Hashable, turn: list[Message]) -> list[Message]:
        """Note a turn. Returns the newest turns up to this one, for a job: `clear` empties the list while it waits."""
        with self._lock:
            talk = self._talks.setdefault(key, _Talk())
            self._talks.move_to_end(key)
            if len(self._talks) > _MOST_TALKS:
                self._talks.popitem(last=False)
            talk.turns.append(turn)
            window = [message for turn in talk.turns for message in turn]
            talk.handed.append(window)
            return window

    def clear(self, key: Hashable) -> None:
        """Forget a conversation, also where a job waits that was handed it."""
        with self._lock:
            talk = self._talks.pop(key, None)
            for window in talk.handed if talk else ():
                window.clear()
