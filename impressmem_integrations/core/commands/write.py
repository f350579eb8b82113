"""Builds the one script call that every change is: guards, then operations, all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.names import wire_names
from impressmem_integrations.core.commands.records import (
    MOST_TTL_S,
    UNIT,
    Draft,
    Facts,
    as_text,
    days_ms,
    encode_record,
    half_life_ms,
    milliseconds,
    moment,
    one_digest,
    source_digest,
    wire_filing,
    wire_name,
)
from impressmem_integrations.core.commands.terms import wire_terms
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.core.text import Name, content_digest, normal_name, whole_characters
from impressmem_integrations.errors import (
    CapacityError,
    ConfigurationError,
    InvalidInput,
    NotFound,
    StalePlan,
    StoreError,
)
from impressmem_integrations.settings import LAYOUT_VERSION, Limits, Scope

if TYPE_CHECKING:
    from impressmem_integrations.model import Impression, Turn, Usage

Wire = bytes | str | int | float
_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})


class Operation(NamedTuple):
    """One operation of a transaction, as `lua/transact.lua` takes it.

    Attributes:
        name: What is done.
        args: Its arguments.
        names: Kind and name of each category and label that it may bring in.
    """

    name: str
    args: tuple[Wire, ...]
    names: tuple[tuple[str, Name], ...] = ()


class Guard(NamedTuple):
    """Something that must still hold, or nothing is written: `generation`, `record` or `seen`."""

    kind: str
    subject: str
    value: str


class Transaction(NamedTuple):
    """What a transaction did.

    Attributes:
        id: What `undo` takes; None where no record changed.
        at: The server's time.
        generation: The scope's generation.
        evicted: Clues that left because the scope is full.
        expired: Clues whose time was over.
        replies: One per operation, undecoded.
    """

    id: str | None
    at: datetime
    generation: int
    evicted: tuple[str, ...]
    expired: tuple[str, ...]
    replies: tuple[Sequence[Raw], ...]


def transact(
    bound: Bound,
    operations: Sequence[Operation],
    *,
    guards: Sequence[Guard] = (),
    source: str | None = None,
    reason: str = "",
    transaction: str = "",
) -> Command[Transaction]:
    """Build a transaction. Its parser raises CapacityError, NotFound, InvalidInput or StalePlan: nothing is written."""
    names = wire_names(name for operation in operations for name in operation.names)
    args: list[Wire] = [*_settings(bound.limits), bound.salt, source or "", reason, transaction, names, len(guards)]
    for guard in guards:
        args += (guard.kind, guard.subject, guard.value)
    for operation in operations:
        args += (operation.name, len(operation.args), *operation.args)
    script = "save" if all(operation.name == "save" for operation in operations) else "transact"
    return Command(script, (keys.meta_key(bound.scope),), tuple(args), _parse_transaction)


@lru_cache(maxsize=64)
def _settings(limits: Limits) -> tuple[Wire, ...]:
    return (
        LAYOUT_VERSION,
        limits.max_impressions,
        half_life_ms(limits.half_life_days),
        "" if limits.ttl_seconds is None else round(min(limits.ttl_seconds, MOST_TTL_S) * 1000),
        limits.max_journal_bytes,
        limits.max_journal_entries,
        days_ms(limits.max_journal_days),
    )


def _parse_transaction(reply: Sequence[Raw]) -> Transaction:
    if as_text(reply[0]) == "!":
        raise _refusal([as_text(part) for part in reply[1:]])
    _, transaction, now, generation, evicted, expired, replies = reply
    return Transaction(
        id=as_text(transaction) or None,
        at=moment(int(now)),
        generation=int(generation),
        evicted=tuple(map(as_text, evicted)),
        expired=tuple(map(as_text, expired)),
        replies=tuple(replies),
    )


def _refusal(parts: Sequence[str]) -> Exception:
    code, *detail = parts
    match code:
        case "capacity":
            return CapacityError(
                f"the scope holds {detail[0]} impressions, all pinned or just written; unpin or forget some,"
                " or raise max_impressions"
            )
        case "not-found":
            return NotFound(detail[0], detail[1], int(detail[2]))
        case "same":
            return InvalidInput(f"nothing to merge: {detail[0]!r} is source and target")
        case "stale":
            return _stale(*detail)
        case "too-many":
            return InvalidInput(f"{detail[0]} records are too many for one script")
        case "layout":
            return ConfigurationError(
                f"this scope was written with layout {detail[0]}; this version reads layout {LAYOUT_VERSION}"
            )
    return StoreError(f"the server refused the transaction: {code}")


def _stale(guard: str, subject: str) -> StalePlan:
    if guard == "generation":
        return StalePlan("the memory was erased since the plan was made")
    if guard == "thread":
        return StalePlan(f"turns of the thread {subject!r} were distilled meanwhile")
    return StalePlan(f"{subject!r} changed since the plan was made", (subject,))


def save_operation(item: Draft) -> Operation:
    """Save a checked item."""
    expires = "" if item.ttl_seconds is None else str(round(item.ttl_seconds * 1000))
    return Operation(
        "save",
        (
            wire_name(item.clue),
            wire_filing([item.category], item.labels),
            item.record(),
            "" if item.pin is None else int(item.pin),
            expires,
            content_digest(item.content),
            source_digest(item.source),
            wire_terms(item.content, clue=item.clue.shown),
        ),
        _names_of([item.category], item.labels),
    )


def _names_of(categories: Sequence[Name], labels: Sequence[Name]) -> tuple[tuple[str, Name], ...]:
    return (*(("category", name) for name in categories), *(("label", name) for name in labels))


def put_operation(item: Impression, facts: Facts) -> Operation:
    """Store a record as it was elsewhere, times and counters included."""
    categories = [normal_name(name, "category") for name in (item.category, *item.also)]
    labels = [normal_name(label, "label") for label in item.labels]
    return Operation(
        "put",
        (
            wire_name(normal_name(item.clue, "clue")),
            wire_filing(categories, labels),
            encode_record(item.content, item.source, item.value, item.said_at),
            facts.wire(),
            _optional_ms(item.pinned_at),
            _optional_ms(item.expires_at),
            wire_terms(item.content, clue=item.clue),
        ),
        _names_of(categories, labels),
    )


def _optional_ms(when: datetime | None) -> str:
    return "" if when is None else str(milliseconds(when))


def clue_operation(name: str, clue: Name) -> Operation:
    """`pin`, `unpin`, `confirm` or `forget` one clue."""
    return Operation(name, (wire_name(clue),))


def seen_operation(thread: str, digests: Sequence[str]) -> Operation:
    """Note turns of a thread as distilled."""
    return Operation("seen", (thread, *digests))


def remember_operation(bound: Bound, turn: Turn, thread: str, now: datetime) -> Operation | None:
    """Keep a turn's messages as evidence; None where nothing was said in it.

    Raises:
        InvalidInput: The turn alone is over a limit: the script would let all that is kept go, then the turn itself. Or
            it is from before 1970.
    """
    limits = bound.limits
    at = turn.at or now
    if milliseconds(at) < 0:
        raise InvalidInput(f"a turn cannot be from before 1970, and this one is of {at:%Y-%m-%d}")
    args: list[Wire] = [
        one_digest(turn.id),
        limits.max_turns,
        limits.max_turn_bytes,
        milliseconds(now) - days_ms(limits.max_turn_days),
    ]
    size = 0
    for message in turn.messages:
        text, role = message.get("content"), message["role"]
        if role not in ("user", "assistant") or not isinstance(text, str) or not text.strip():
            continue
        name = str(message.get("name") or "")
        fields = (str(milliseconds(at)), name.casefold(), one_digest(turn.id), thread, _speaker(role, name), text)
        value = whole_characters(UNIT.join(field.replace(UNIT, " ") for field in fields)).encode()
        size += len(value)
        args += (value, wire_terms(name, text))
    _check_turn(limits, (len(args) - 4) // 2, size)
    return Operation("remember", tuple(args)) if len(args) > 4 else None


def _check_turn(limits: Limits, messages: int, size: int) -> None:
    if size > limits.max_turn_bytes:
        raise InvalidInput(f"a turn of {size:,} bytes is over Limits.max_turn_bytes, {limits.max_turn_bytes:,}")
    if messages > limits.max_turns:
        raise InvalidInput(f"a turn of {messages:,} messages is over Limits.max_turns, {limits.max_turns:,}")


def _speaker(role: str, name: str) -> str:
    """The name, or the role; a name that is a role's does not stand for it."""
    if name.strip().casefold() in _ROLES and name != role:
        return f'{role} "{name}"'
    return name or role


def failed_operation(thread: str, turn: str) -> Operation:
    """Count a failure of a turn. The reply holds how often it failed in a row."""
    return Operation("failed", (thread, turn))


def collect_operation(plan_id: str, text: str) -> Operation:
    """Keep a plan until it is decided on."""
    return Operation("collect", (plan_id, text))


def settle_operation(plan_id: str) -> Operation:
    """Be done with a collected plan; goes with `plan_guard`."""
    return Operation("settle", (plan_id,))


def generation_guard(generation: int) -> Guard:
    """The scope was not erased since."""
    return Guard("generation", "", str(generation))


def record_guard(clue: Name, version: tuple[int, int]) -> Guard:
    """The record did not change since `Impression.version`; `(0, 0)` means there is none."""
    return Guard("record", wire_name(clue), "{} {}".format(*version))


def plan_guard(plan_id: str) -> Guard:
    """The collected plan still waits."""
    return Guard("plan", plan_id, "")


def seen_guard(thread: str, count: int) -> Guard:
    """Nobody distilled turns of the thread since."""
    return Guard("seen", thread, str(count))


class Erasure(NamedTuple):
    """What `forget_everything` removed: counts, the time, the new generation and generations still to purge."""

    pending: tuple[int, ...]
    impressions: int
    journal_entries: int
    at: datetime
    generation: int


def forget_everything(bound: Bound) -> Command[Erasure]:
    """Erase a scope: from here on readers see nothing."""

    def parse(reply: Sequence[Raw]) -> Erasure:
        pending, count, entries, now, generation = reply
        return Erasure(
            tuple(map(int, as_text(pending).split(","))), int(count), int(entries), moment(int(now)), int(generation)
        )

    return Command("forget_everything", (keys.meta_key(bound.scope),), (LAYOUT_VERSION, bound.salt), parse)


PURGE_STEP = 1_000


def purge(bound: Bound, generation: int) -> Command[bool]:
    """Unlink a bounded number of keys of an erased generation. Returns whether more is left."""
    return Command("purge", (keys.meta_key(bound.scope),), (generation, PURGE_STEP), bool)


def account(
    bound: Bound,
    day: str,
    *,
    reserve: int = 0,
    most: int | None = None,
    release: int = 0,
    usage: Usage | None = None,
    milliseconds: int = 0,
) -> Command[bool]:
    """Reserve tokens of a day (False where that would pass `most`), or settle what a call took."""
    args = (
        day,
        reserve,
        "" if most is None else most,
        release,
        usage.input_tokens if usage else 0,
        usage.output_tokens if usage else 0,
        usage.calls if usage else 0,
        milliseconds,
    )
    return Command("account", (keys.meta_key(bound.scope),), args, lambda reply: bool(int(reply[0])))


def register(scope: Scope, action: str) -> Command[str]:
    """Put a scope into the registry (`add`) or take it out (`remove`); tells the eviction policy, "" if unknown."""
    return Command("register", (keys.registry_key(keys.registry_shard(scope)),), (action, scope.tag), as_text)
