"""Builds the script calls for stored contexts and what they are made from, and parses their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import MOST, as_text, names, rows
from impressmem_integrations.core.commands.write import Wire
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.model import Impression

MOST_PROFILES = 8


class Material(NamedTuple):
    """What a context is rendered from: names newest first, pinned records oldest first, others newest first."""

    generation: int
    seq: int
    stored_seq: str
    epoch: int
    impressions: int
    categories_stored: int
    labels_stored: int
    categories: tuple[str, ...]
    labels: tuple[str, ...]
    pinned: tuple[Impression, ...]
    others: tuple[Impression, ...]


class Same(NamedTuple):
    """A stored context that is up to date."""

    epoch: int
    text: str
    included: str
    about: str

    @classmethod
    def parse(cls, fields: Sequence[Raw]) -> Same:
        """Read it from a reply.

        Raises:
            ValueError: It is none: somebody else wrote to it.
        """
        epoch, core, kept, rest, included, about = map(_exact_text, fields)
        return cls(_count(epoch), _shown(core, kept) + rest, included, about)


def _exact_text(raw: Raw) -> str:
    if raw is None:
        raise ValueError("a field of a stored context is missing")
    return raw.decode() if isinstance(raw, bytes) else str(raw)


def _count(text: str) -> int:
    if not 0 <= int(text) <= MOST:
        raise ValueError("a number of a stored context is out of range")
    return int(text)


def _shown(core: str, kept: str) -> str:
    """As much of a core as its context shows: whole lines."""
    end = _count(kept)
    if end > len(core) or (end and core[end : end + 1] not in ("", "\n")):
        raise ValueError("a stored context ends within a line")
    return core[:end]


class Damaged(NamedTuple):
    """A stored context that cannot be read, and its counter when it was stored, or "" where that is the scope's."""

    stored_seq: str = ""


class Behind(NamedTuple):
    """A stored context, and what changed since.

    Attributes:
        generation, seq: The scope's, now.
        stored_seq: Its counter when the context was stored.
        epoch: Number of the frozen core.
        core: The core's text.
        text: The context's.
        core_about, delta_about: What is stored beside the lines of core and changes.
        impressions: Impressions that readers see.
        gone: Clues that left since, expired ones too.
        changed: Records that changed since, oldest change first.
        anew: Where a new epoch may be due, what it is made from.
    """

    generation: int
    seq: int
    stored_seq: str
    epoch: int
    core: str
    text: str
    core_about: str
    delta_about: str
    impressions: int
    gone: tuple[str, ...]
    changed: tuple[Impression, ...]
    anew: Material | None


def context(
    bound: Bound, profile: str, most_bytes: int, most_names: int
) -> Command[Same | Behind | Damaged | Material]:
    """The stored context of a profile if it is up to date, else what it takes to bring it up to date or make it anew.

    Without a profile ("") always what it takes to make one of about that many bytes.
    """

    def parse(reply: Sequence[Raw]) -> Same | Behind | Damaged | Material:
        kind, *fields = reply
        match as_text(kind):
            case "same":
                try:
                    return Same.parse(fields)
                except ValueError:
                    return Damaged()
            case "delta":
                try:
                    return _behind(fields)
                except ValueError:
                    return Damaged(as_text(fields[2]))
        return _material(fields)

    args = (profile, most_bytes, most_names)
    return Command("context", (keys.meta_key(bound.scope),), args, parse, writes=False)


def _behind(fields: Sequence[Raw]) -> Behind:
    generation, seq, stored_seq, epoch, *texts, count, gone, anew = fields[:12]
    core, kept, rest, core_about, delta_about = map(_exact_text, texts)
    return Behind(
        int(generation),
        int(seq),
        as_text(stored_seq),
        _count(_exact_text(epoch)),
        core,
        _shown(core, kept) + rest,
        core_about,
        delta_about,
        int(count),
        tuple(map(as_text, gone)),
        tuple(rows(fields[12:])),
        _material(anew[1:]) if anew else None,
    )


def material(bound: Bound, most_bytes: int, most_names: int) -> Command[Material]:
    """What a context of about that many bytes is made from, in one trip."""
    args = ("", most_bytes, most_names)
    return Command("context", (keys.meta_key(bound.scope),), args, lambda reply: _material(reply[1:]), writes=False)


def _material(fields: Sequence[Raw]) -> Material:
    generation, seq, stored, epoch, count, category_count, label_count, categories, labels, pinned, *rest = fields
    items = tuple(rows(rest))
    return Material(
        int(generation),
        int(seq),
        as_text(stored),
        int(epoch),
        int(count),
        int(category_count),
        int(label_count),
        names(categories),
        names(labels),
        items[: int(pinned)],
        items[int(pinned) :],
    )


class Kept(NamedTuple):
    """What became of a context offered for keeping: kept, or another one to show in its place, or neither."""

    kept: bool
    other: Same | None


def keep_snapshot(
    bound: Bound,
    profile: str,
    found: Behind | Material,
    epoch: int,
    reused_units: int,
    fresh_units: int,
    fields: Mapping[str, Wire],
) -> Command[Kept]:
    """Keep the fields of a rendered context for all processes, by compare-and-set."""

    def parse(reply: Sequence[Raw]) -> Kept:
        kind = as_text(reply[0])
        try:
            return Kept(kind == "kept", Same.parse(reply[1:]) if kind == "other" else None)
        except ValueError:
            return Kept(False, None)

    args: list[Wire] = [profile, found.generation, found.seq, found.stored_seq, epoch]
    args += [reused_units, fresh_units, MOST_PROFILES, *chain.from_iterable(fields.items())]
    return Command("keep_snapshot", (keys.meta_key(bound.scope),), tuple(args), parse)
