"""Turns that are equal word for word, of a client that sends its whole history and has no checkpointer. Pure.

A run's window is its newest turn alone, and a turn that stands among those distilled is taken for a replay. Where the
history of the same run holds the turns before, they tell a repetition from a replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import dropwhile

from impressmem_integrations.model import Message
from impressmem_integrations.turns import cut_turns, digest_of


def in_their_history(messages: Sequence[Message], earlier: Sequence[Message], seen: Iterable[str]) -> list[Message]:
    """The messages to distil, with the earlier turns before them where one of them looks like a replay.

    Only turns that were distilled are put before them: what was said while memory was off stays unknown.

    Args:
        messages: Those to distil, in canonical form.
        earlier: The run's history before them.
        seen: Ids of the thread's distilled turns.
    """
    known = {digest_of(turn) for turn in seen}
    if known.isdisjoint(turn.digest for turn in cut_turns(messages)):
        return list(messages)
    before = [part for turn in cut_turns(earlier) if turn.digest in known for part in turn.messages]
    if not before:
        return list(messages)
    return [*before, *dropwhile(lambda message: message["role"] != "user", messages)]
