"""Turns kept as evidence: their messages, secrets masked, found by recall."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read, write
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.flows.change import commit
from impressmem_integrations.core.secrets import masked
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Message, Turn
from impressmem_integrations.turns import cut_turns

DEFAULT_THREAD = "default"
_TURNS_PER_SCRIPT = 100


def remember_turns(
    bound: Bound, messages: Iterable[Any], *, thread_id: str | None = None, at: datetime | None = None
) -> Flow[int]:
    """Keep whole turns as evidence, without asking a model; recall finds their messages, each an item of kind `turn`.

    Secrets are masked. A turn that is kept already is not kept twice. What is kept is bounded by `Limits.max_turns`,
    `max_turn_bytes` and `max_turn_days`; the oldest leave, also of the turns given here.

    Args:
        bound: The scope.
        messages: A history, oldest first, in any shape.
        thread_id: Whose history it is, text or a whole number; `default` where None.
        at: When it was said, with its zone, for messages that carry no time; None means now.

    Returns:
        How many turns are new.

    Raises:
        InvalidInput: A message cannot be read, one turn alone is over `Limits.max_turn_bytes` or `max_turns`,
            `thread_id` or `at` is wrong, or turns are switched off. Nothing was written.
    """
    if not bound.limits.keep_turns:
        raise InvalidInput("turns are not kept here: Limits(keep_turns=False)")
    turns = cut_turns(messages, at=at)
    if turns and turns[0].background:  # nobody's question is before it, but somebody said it
        turns[0] = replace(turns[0], messages=(*turns[0].background, *turns[0].messages))
    thread = thread_of(thread_id)
    seen = yield from ask(read.seen(bound, thread))
    operations, too_large = keep_operations(bound, turns, thread, seen.now)
    if too_large:
        raise InvalidInput(too_large[0])
    kept = 0
    for first in range(0, len(operations), _TURNS_PER_SCRIPT):
        done = yield from commit(bound, operations[first : first + _TURNS_PER_SCRIPT])
        kept += sum(int(reply[1]) for reply in done.replies)
    return kept


def thread_of(thread_id: object) -> str:
    """The name of a thread: text as it is, a number as its text, `default` for None or "".

    Raises:
        InvalidInput: It is of another type.
    """
    if thread_id is None:
        return DEFAULT_THREAD
    if isinstance(thread_id, bool) or not isinstance(thread_id, str | int):
        raise InvalidInput(f"thread_id must be text or a whole number, not {type(thread_id).__name__}")
    return str(thread_id) or DEFAULT_THREAD


def keep_operations(
    bound: Bound, turns: Sequence[Turn], thread: str, now: datetime
) -> tuple[list[write.Operation], tuple[str, ...]]:
    """Operations that keep turns, and why any turn cannot be kept; nothing where turns are switched off."""
    made: list[write.Operation] = []
    too_large: list[str] = []
    for turn in turns if bound.limits.keep_turns else ():
        try:
            operation = write.remember_operation(bound, _without_secrets(turn), thread, now)
        except InvalidInput as error:
            too_large.append(str(error))
            continue
        made += [operation] if operation else []
    return made, tuple(too_large)


def _without_secrets(turn: Turn) -> Turn:
    return replace(turn, messages=tuple(_masked(message) for message in turn.messages))


def _masked(message: Message) -> Message:
    content = message.get("content")
    return {**message, "content": masked(content)} if isinstance(content, str) else message
