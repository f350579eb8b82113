"""The turns of one conversation on their way to maintenance. No threads, no store: whoever uses it holds a lock."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from impressmem_integrations.model import Message
from impressmem_integrations.turns import align, canonical_history, turn_digest

_MOST_WAITING = 100
_MOST_HEARD = 8


@dataclass(slots=True)
class _Turn:
    """A finished turn in canonical form."""

    messages: list[Message]
    digest: str


@dataclass(slots=True)
class TurnLog:
    """What was said and is not distilled yet.

    Only what is put counts. A history that is set is taken as known: its end may be the beginning of a turn, the rest
    is background.

    Attributes:
        open: The turn that goes on.
        learns: Whether the open turn is to be distilled.
        waiting: Finished turns that the store has not noted, oldest first.
        heard: The newest of those it has noted.
        before: The assistant's last answer before all of these, or None.
        begun: Whether a user has spoken here.
        fronted: How many of `heard` stood in front of the last window.
        lost: How many turns had to be dropped because too many waited.
    """

    open: list[Message] = field(default_factory=list)
    learns: bool = True
    waiting: deque[_Turn] = field(default_factory=deque)
    heard: deque[_Turn] = field(default_factory=lambda: deque(maxlen=_MOST_HEARD))
    before: Message | None = None
    begun: bool = False
    fronted: int = 0
    lost: int = 0

    def add(self, messages: Iterable[Any], at: datetime, learns: bool) -> bool:
        """Take what was put.

        Args:
            messages: LlamaIndex messages; they are not changed.
            at: When they were put.
            learns: Whether turns that begin with them are to be distilled.

        Returns:
            Whether a turn that is to be distilled has ended.

        Raises:
            InvalidInput: A message cannot be read.
        """
        ended = False
        for message in canonical_history(messages):
            if message["role"] == "system":
                continue
            if not self.open:
                if message["role"] != "user":
                    continue  # an answer to nobody: a greeting, or a second answer
                self.learns, self.begun = learns, True
            said: Any = {**message, "timestamp": at.isoformat()}
            self.open.append(said)
            if _answers(message):
                ended |= self._end()
        return ended

    def _end(self) -> bool:
        turn = _Turn(self.open, turn_digest(self.open))
        self.open = []
        if not self.learns:
            return False
        if len(self.waiting) == _MOST_WAITING:
            self.waiting.popleft()
            self.lost += 1
        self.waiting.append(turn)
        return True

    def restart(self, history: Iterable[Any], at: datetime, learns: bool) -> None:
        """Go on from a history that was set: nothing of it is distilled but the turn that it leaves open.

        Raises:
            InvalidInput: A message cannot be read.
        """
        finished, rest = _split(history)
        if not self._knows(finished):
            self.heard.clear()
            self.fronted = 0
            self.before = finished[-1] if finished and not self.waiting else None
        self.open = []
        self.add(rest, at, learns)

    def _knows(self, finished: Sequence[Message]) -> bool:
        """Whether a history ends with the turn that ended last here."""
        newest = [*self.heard, *self.waiting][-1:]
        return bool(newest) and turn_digest(finished[-len(newest[0].messages) :]) == newest[0].digest

    def adopt(self, history: Iterable[Any], at: datetime, learns: bool) -> None:
        """Open the turn that a stored history leaves open, where this log has not seen its beginning.

        Raises:
            InvalidInput: A message cannot be read.
        """
        _, rest = _split(history)
        self.add(rest, at, learns)

    def window(self, seen: Sequence[str]) -> list[Message]:
        """The messages to distil, given the digests of the turns that the store has noted for the thread.

        Turns that ended here before go along, as many of the newest as stand in the thread in this order: so a turn
        that repeats an older one word for word is not taken for a replay of it, also where others spoke in between.

        Returns:
            The messages, oldest first; [] where nothing waits.
        """
        if not self.waiting:
            return []
        known = list(self.heard)
        while known and not _in_order([turn.digest for turn in known], seen):
            known.pop(0)
        self.fronted = len(known)
        front = [self.before] if self.before is not None and not self.heard else []
        return [*front, *(message for turn in (*known, *self.waiting) for message in turn.messages)]

    def note(self, seen: Sequence[str], trimmed: bool) -> None:
        """Let go of the turns of the last window that the store has noted by now."""
        front = [turn.digest for turn in self.heard][len(self.heard) - self.fronted :]
        old = align(seen, [*front, *(turn.digest for turn in self.waiting)], trimmed=trimmed) - self.fronted
        for _ in range(max(0, old)):
            self.heard.append(self.waiting.popleft())


def _in_order(part: Sequence[str], whole: Sequence[str]) -> bool:
    rest = iter(whole)
    return all(digest in rest for digest in part)


def _split(history: Iterable[Any]) -> tuple[list[Message], list[Message]]:
    """What a history finished and what it leaves open, in canonical form."""
    spoken = [message for message in canonical_history(history) if message["role"] != "system"]
    answers = [place for place, message in enumerate(spoken) if _answers(message)]
    end = answers[-1] + 1 if answers else 0
    return spoken[:end], spoken[end:]


def _answers(message: Message) -> bool:
    return message["role"] == "assistant" and "tool_calls" not in message
