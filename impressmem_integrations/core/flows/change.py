"""Flows that change one scope: save, merge, pin, confirm, forget."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.chunks import MOST_PER_SCRIPT, chunks
from impressmem_integrations.core.commands import merges, read, write
from impressmem_integrations.core.commands.records import Draft, as_text, draft
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.text import Name, normal_content, normal_name
from impressmem_integrations.errors import CapacityError, InvalidInput
from impressmem_integrations.model import ForgetCertificate, MergeResult, PinResult, SaveResult

_log = logging.getLogger(__name__)

_PER_SCRIPT_OF_MANY = 200  # where there are more than one script carries, so that no other client waits long


def save(
    bound: Bound,
    clue: str,
    content: str,
    *,
    category: str,
    labels: Sequence[str],
    pin: bool | None = False,
    ttl_seconds: float | None = None,
    source: str | None = None,
    value: Any = None,
    said_at: datetime | None = None,
) -> Flow[SaveResult]:
    """Save one impression; the same clue again replaces it whole. One atomic script, one round trip.

    Args:
        bound: The scope.
        clue: Its identity, up to 1,024 UTF-8 bytes.
        content: The note, up to `max_content_bytes` UTF-8 bytes; line breaks are kept.
        category: The one domain it is filed under.
        labels: One to five attributes.
        pin: Never evict, expire or leave it out; saving again without it unpins. None leaves it as it is.
        ttl_seconds: Seconds after which it expires unless pinned; None takes the scope's `ttl_seconds`.
        source: Where it came from, e.g. a turn id.
        value: Any JSON value to keep beside the content.
        said_at: When it was said, with its zone; None: now.

    Returns:
        What became of it, with names that look alike and another clue of equal content, if any.

    Raises:
        InvalidInput: An argument is wrong; nothing was written.
        CapacityError: The scope is full of pinned impressions; nothing was written.
        StoreError: The server failed.
    """
    item = draft(
        bound,
        {
            "clue": clue,
            "content": content,
            "category": category,
            "labels": labels,
            "pin": pin,
            "ttl_seconds": ttl_seconds,
            "source": source,
            "value": value,
            "said_at": said_at,
        },
    )
    return (yield from _save_all(bound, [item]))[0]


def save_many(bound: Bound, items: Iterable[Mapping[str, Any]]) -> Flow[list[SaveResult]]:
    """Save any number of impressions: up to 1,000 are one script and one transaction, more go in chunks of 200.

    Where a scope cannot hold a chunk at once, it goes in halves: as in single saves, what is weakest leaves.

    Args:
        bound: The scope.
        items: Mappings with `clue`, `content`, `category`, `labels` and optionally `pin`, `ttl_seconds`, `source`,
            `value`, `said_at`.

    Returns:
        One result per item, in order. A bad item is `refused` with its error and stops no other.

    Raises:
        InvalidInput: `items` is no list of mappings at all.
        StoreError: The server failed; chunks before that are stored.
    """
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise InvalidInput(f"items must be a list of mappings, not {type(items).__name__}")
    results: list[SaveResult | None] = []
    good: list[tuple[int, Draft]] = []
    for at, item in enumerate(items):
        results.append(None)
        try:
            good.append((at, draft(bound, item)))
        except InvalidInput as error:
            clue = str(item.get("clue", "")) if isinstance(item, Mapping) else ""
            results[at] = SaveResult(clue[:100], "refused", error=str(error))
    most = MOST_PER_SCRIPT if len(good) <= MOST_PER_SCRIPT else _PER_SCRIPT_OF_MANY
    for chunk in chunks(good, lambda entry: len(entry[1].content), most=most):
        saved = yield from _save_chunk(bound, [item for _, item in chunk])
        for (at, _), result in zip(chunk, saved, strict=True):
            results[at] = result
    return [result for result in results if result is not None]


def _save_chunk(bound: Bound, items: Sequence[Draft]) -> Flow[list[SaveResult]]:
    """Save items at once; what a scope cannot hold at once in halves, so that the later ones push out the earlier."""
    try:
        return (yield from _save_all(bound, items))
    except CapacityError as error:
        if len(items) == 1:
            return [SaveResult(items[0].clue.shown, "refused", error=str(error))]
    half = len(items) // 2
    first = yield from _save_chunk(bound, items[:half])
    return first + (yield from _save_chunk(bound, items[half:]))


def _save_all(bound: Bound, items: Sequence[Draft]) -> Flow[list[SaveResult]]:
    sources = {item.source for item in items}
    source = sources.pop() if len(sources) == 1 else None
    done = yield from commit(bound, [write.save_operation(item) for item in items], source=source)
    return save_results(done)


def save_results(done: write.Transaction) -> list[SaveResult]:
    """The results of the `save` operations of a transaction; evictions are named on the last of them."""
    results = []
    saves = [reply for reply in done.replies if as_text(reply[0]) == "save"]
    for at, (_, clue, status, revision, twin, similar) in enumerate(saves):
        word: Literal["created", "changed", "unchanged"] = as_text(status)  # type: ignore[assignment]  # the script's words
        results.append(
            SaveResult(
                as_text(clue),
                word,
                done.id,
                int(revision),
                done.evicted if at == len(saves) - 1 else (),
                as_text(twin) or None,
                tuple(map(as_text, similar)),
            )
        )
    return results


def commit(bound: Bound, operations: Sequence[write.Operation], **options: Any) -> Flow[write.Transaction]:
    """Run one transaction, and see to it that the registry knows the scope."""
    if bound.scope not in bound.registered:
        policy = yield from ask(write.register(bound.scope, "add"))
        if not bound.registered and policy.startswith("allkeys-"):  # the others only evict keys that expire
            _log.warning("the server may evict memories: its maxmemory-policy is %s; set it to noeviction", policy)
        bound.registered[bound.scope] = -1
    done = yield from ask(write.transact(bound, operations, **options))
    if bound.registered.get(bound.scope, -1) not in (-1, done.generation):
        yield from ask(write.register(bound.scope, "add"))  # erased, and so taken out, by another process
    bound.registered[bound.scope] = done.generation
    return done


def merge_categories(bound: Bound, source: str, target: str, *, reason: str = "") -> Flow[MergeResult]:
    """Move everything filed under one category to another; the source is gone afterwards.

    Up to 1,000 impressions are one atomic script; more go in chunks under one transaction.

    Raises:
        NotFound: Source or target does not exist; nothing changed.
        InvalidInput: They are the same, the source is a list (several are merged by one call for each), or the reason
            is no text.
    """
    if not isinstance(source, str) and isinstance(source, Iterable):
        raise InvalidInput(
            f"source must be one category (text), not {type(source).__name__}; to merge several into one, call it once"
            " for each of them"
        )
    return (yield from _merge_names(bound, "category", [source], target, reason))


def merge_labels(bound: Bound, sources: Sequence[str], target: str, *, reason: str = "") -> Flow[MergeResult]:
    """Replace labels by another one wherever they stand; the sources are gone afterwards.

    Up to 1,000 impressions are one atomic script; more go in chunks under one transaction.

    Raises:
        NotFound: A source or the target does not exist; nothing changed.
        InvalidInput: Nothing is left to merge, `sources` is not a list of texts, or the reason is no text.
    """
    return (yield from _merge_names(bound, "label", sources, target, reason))


def _names(values: Sequence[str], what: str) -> list[Name]:
    if isinstance(values, str | bytes) or not isinstance(values, Sequence | set | frozenset):
        raise InvalidInput(f"{what} must be a list of texts")
    if not values:
        raise InvalidInput(f"{what} is empty")
    return [normal_name(value, what) for value in values]


def _text_or_none(value: str | None, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"{what} must be text or None, not {type(value).__name__}")
    return value


def _merge_names(
    bound: Bound, kind: Literal["category", "label"], sources: Sequence[str], target: str, reason: str
) -> Flow[MergeResult]:
    names, into = _names(sources, f"source {kind}"), normal_name(target, f"target {kind}")
    reason = _text_or_none(reason, "reason") or ""
    moved: list[str] = []
    labels_moved, transaction = 0, ""
    gone: tuple[str, ...] = ()
    while True:
        operation = merges.merge_names_operation(kind, into, names, MOST_PER_SCRIPT)
        done = yield from commit(bound, [operation], reason=reason, transaction=transaction)
        merged = merges.NamesMerged.parse(done.replies[0])
        moved += merged.moved
        labels_moved = max(labels_moved, merged.labels_moved)
        transaction = transaction or done.id or ""
        gone = gone or merged.sources
        if merged.left == 0:
            break
        names = yield from _still_there(bound, kind, names)
        if not names:  # what was left came along with another source
            break
    return MergeResult(kind, gone, merged.target, tuple(moved), labels_moved, transaction)


def _still_there(bound: Bound, kind: str, names: Sequence[Name]) -> Flow[list[Name]]:
    left = []
    for name in names:
        members = yield from ask(read.list_names(bound, kind, name=name, most=1))
        if members:
            left.append(name)
    return left


def merge_clues(
    bound: Bound, sources: Sequence[str], target: str, content: str, *, source: str | None = None, reason: str = ""
) -> Flow[MergeResult]:
    """Make one impression of several: the target gets the new content and keeps what belonged to the parts.

    It is pinned if any part was, carries their labels (its own first, up to the limit) and can be recalled by all their
    categories. One atomic script.

    Args:
        bound: The scope.
        sources: Clues to merge away; may name the target as well. At most 1,000.
        target: An existing clue.
        content: The text that replaces theirs.
        source: Where the new text came from.
        reason: Why, for the journal.

    Raises:
        NotFound: A clue does not exist; nothing changed.
        InvalidInput: Nothing is left to merge, the content is empty or too long, or source or reason is no text.
    """
    names = _names(sources, "source clue")
    source, reason = _text_or_none(source, "source"), _text_or_none(reason, "reason") or ""
    if len(names) > MOST_PER_SCRIPT:
        raise InvalidInput(f"{len(names):,} clues in one merge; {MOST_PER_SCRIPT:,} are allowed")
    into, text = normal_name(target, "target clue"), normal_content(content, bound.limits.max_content_bytes)
    operation = merges.merge_clues_operation(bound, into, text, names, source)
    done = yield from commit(bound, [operation], source=source, reason=reason)
    _, stands, merged = done.replies[0]
    clue = as_text(stands)
    return MergeResult("clue", tuple(map(as_text, merged)), clue, (clue,), 0, done.id or "")


def pin(bound: Bound, clue: str) -> Flow[PinResult]:
    """Pin an impression: never evicted, expired or left out of a context.

    Raises:
        NotFound: There is no such clue.
    """
    return (yield from _pin(bound, "pin", clue))


def unpin(bound: Bound, clue: str) -> Flow[PinResult]:
    """Take the pin off an impression.

    Raises:
        NotFound: There is no such clue.
    """
    return (yield from _pin(bound, "unpin", clue))


def _pin(bound: Bound, verb: str, clue: str) -> Flow[PinResult]:
    done = yield from commit(bound, [write.clue_operation(verb, normal_name(clue, "clue"))])
    _, name, changed = done.replies[0]
    return PinResult(as_text(name), verb == "pin", bool(int(changed)), done.id)


def confirm(bound: Bound, clues: Sequence[str]) -> Flow[tuple[int, ...]]:
    """Say that impressions were used and right: raises their `uses` by one and makes them stronger.

    Returns:
        Their `uses` now, in the order given.

    Raises:
        NotFound: A clue does not exist; nothing changed.
    """
    done = yield from commit(bound, [write.clue_operation("confirm", name) for name in _names(clues, "clue")])
    return tuple(int(reply[2]) for reply in done.replies)


def forget(bound: Bound, clue: str) -> Flow[ForgetCertificate]:
    """Erase one impression from the record, every index and the journal. It cannot be undone; a second time is fine."""
    done = yield from commit(bound, [write.clue_operation("forget", normal_name(clue, "clue"))])
    _, _, lived, scrubbed = done.replies[0]
    return ForgetCertificate(bound.scope.bot, bound.scope.user, int(lived), int(scrubbed), done.at, done.id)


def forget_everything(bound: Bound) -> Flow[ForgetCertificate]:
    """Erase the scope: readers see nothing from the first step on, then the keys go in chunks. A second time is fine.

    What stays is the scope's generation number and salted hashes of what was distilled, so that a replay of the old
    conversation is not learned again.
    """
    erased = yield from ask(write.forget_everything(bound))
    bound.registered.pop(bound.scope, None)
    yield from ask(write.register(bound.scope, "remove"))
    for generation in erased.pending:
        while (yield from ask(write.purge(bound, generation))):
            pass
    return ForgetCertificate(
        bound.scope.bot, bound.scope.user, erased.impressions, erased.journal_entries, erased.at, None
    )
