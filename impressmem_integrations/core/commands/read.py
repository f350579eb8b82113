"""Builds the read-only script calls and parses their replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import unquote

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import (
    UNIT,
    Facts,
    as_text,
    moment,
    rows,
    rows_with_facts,
    wire_name,
)
from impressmem_integrations.core.commands.write import Wire
from impressmem_integrations.core.effects import Command, R, Raw
from impressmem_integrations.core.text import Name
from impressmem_integrations.model import Impression, Stats
from impressmem_integrations.settings import Scope

MOST_PROFILES = 8


def _read(bound: Bound, script: str, args: Sequence[Wire], parse: Callable[[Any], R]) -> Command[R]:
    return Command(script, (keys.meta_key(bound.scope),), tuple(args), parse, writes=False)


def get(bound: Bound, clues: Sequence[Name]) -> Command[list[Impression]]:
    """Named records in the order asked; missing ones are left out."""
    return _read(bound, "get", [wire_name(clue) for clue in clues], rows)


class Cursor(NamedTuple):
    """Where a listing goes on: the last score and member, both looked at already."""

    score: str = ""
    member: str = ""


class RecordPage(NamedTuple):
    """One page of records with their facts, and where the next begins (None: the end)."""

    items: tuple[tuple[Impression, Facts], ...]
    next: Cursor | None


def list_records(
    bound: Bound, index: str, name: Name | None, newest_first: bool, cursor: Cursor, most: int, most_bytes: int
) -> Command[RecordPage]:
    """One page of records by `clues` (last touch), `created`, `pins`, `category` or `label`."""

    def parse(reply: Sequence[Raw]) -> RecordPage:
        score, member, more, *rest = reply
        following = Cursor(as_text(score), as_text(member)) if int(more) else None
        return RecordPage(tuple(rows_with_facts(rest)), following)

    direction = "new" if newest_first else "old"
    name_text = wire_name(name) if name else ""
    args: list[Wire] = [index, name_text, direction, cursor.score, cursor.member, most, most_bytes]
    return _read(bound, "list_records", args, parse)


def list_names(
    bound: Bound,
    kind: str,
    *,
    name: Name | None = None,
    newest_first: bool = True,
    lowest: str = "-inf",
    highest: str = "+inf",
    offset: int = 0,
    most: int = 500,
) -> Command[list[tuple[str, int]]]:
    """Names with the ms of their last touch; kinds as in `lua/list_names.lua`."""

    def parse(reply: Sequence[Raw]) -> list[tuple[str, int]]:
        flat = [as_text(item) for item in reply]
        return [(flat[at], int(float(flat[at + 1]))) for at in range(0, len(flat), 2)]

    name_text = wire_name(name) if name else ""
    args = (kind, name_text, "new" if newest_first else "old", lowest, highest, offset, most)
    return _read(bound, "list_names", args, parse)


class Filed(NamedTuple):
    """Records found by category and labels.

    Attributes:
        found: How many match, before the byte bound.
        items: Those matching most of the asked names first, then newest first.
        matches: Per item, how many of the asked names it is filed under.
        labels: Labels of the items, newest first.
        names: When an asked name does not exist, the existing ones of its kind.
    """

    found: int
    items: tuple[Impression, ...]
    matches: tuple[int, ...]
    labels: tuple[str, ...]
    names: tuple[str, ...]


def recall(bound: Bound, category: Name | None, labels: Sequence[Name], most_bytes: int, most: int) -> Command[Filed]:
    """Records filed under a category and labels."""

    def parse(reply: Sequence[Raw]) -> Filed:
        found, matches, names, near, *rest = reply
        return Filed(
            int(found),
            tuple(rows(rest)),
            tuple(map(int, matches)),
            tuple(map(as_text, names)),
            tuple(map(as_text, near)),
        )

    args: list[Wire] = [wire_name(category) if category else "", most_bytes, most, *map(wire_name, labels)]
    return _read(bound, "recall", args, parse)


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
        return cls(int(epoch), core[: int(kept)] + rest, included, about)


def _exact_text(raw: Raw) -> str:
    if raw is None:
        raise ValueError("a field of a stored context is missing")
    return raw.decode() if isinstance(raw, bytes) else str(raw)


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
        impressions: Impressions stored.
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

    return _read(bound, "context", (profile, most_bytes, most_names), parse)


def _behind(fields: Sequence[Raw]) -> Behind:
    generation, seq, stored_seq, epoch, *texts, count, gone, anew = fields[:12]
    core, kept, rest, core_about, delta_about = map(_exact_text, texts)
    return Behind(
        int(generation),
        int(seq),
        as_text(stored_seq),
        int(epoch),
        core,
        core[: int(kept)] + rest,
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
    return _read(bound, "context", args, lambda reply: _material(reply[1:]))


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
        _names(categories),
        _names(labels),
        items[: int(pinned)],
        items[int(pinned) :],
    )


def _names(joined: Raw) -> tuple[str, ...]:
    return tuple(as_text(joined).split(UNIT)) if joined else ()


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


_COUNTS = (
    "impressions",
    "categories",
    "labels",
    "pins",
    "journal_entries",
    "journal_bytes",
    "max_impressions",
    "generation",
    "seq",
    "content_bytes",
    "turns",
    "turn_bytes",
    "model_calls",
    "input_tokens",
    "output_tokens",
    "model_ms",
    "tokens_today",
    "reused_units",
    "fresh_units",
)


def stats(bound: Bound) -> Command[Stats]:
    """Counts of the scope."""

    def parse(reply: Sequence[Raw]) -> Stats:
        counts = dict(zip(_COUNTS, map(int, reply), strict=True))
        counts["max_impressions"] = counts["max_impressions"] or bound.limits.max_impressions
        return Stats(**counts)

    return _read(bound, "stats", (), parse)


class Seen(NamedTuple):
    """What a thread's maintenance has distilled.

    Attributes:
        generation: The scope's generation.
        distilled: Turns ever distilled.
        now: The server's time.
        failed: The turn that could not be distilled last, or "".
        tries: How often in a row it failed.
        turns: Ids of the newest 500, oldest first.
    """

    generation: int
    distilled: int
    now: datetime
    failed: str
    tries: int
    turns: tuple[str, ...]

    @property
    def trimmed(self) -> bool:
        """Whether older turns than those listed were distilled."""
        return self.distilled > len(self.turns)


def seen(bound: Bound, thread: str) -> Command[Seen]:
    """The distilled turns of a thread."""

    def parse(reply: Sequence[Raw]) -> Seen:
        generation, count, now, failed, tries, *turns = map(as_text, reply)
        return Seen(int(generation), int(count), moment(int(now)), failed, int(tries), tuple(turns))

    return _read(bound, "seen", (thread,), parse)


def plans(bound: Bound) -> Command[dict[str, bytes]]:
    """Plans that wait for a decision, by id, as they were written."""

    def parse(reply: Sequence[Raw]) -> dict[str, bytes]:
        return {as_text(reply[at]): reply[at + 1] for at in range(0, len(reply), 2)}

    return _read(bound, "plans", (), parse)


class ScopePage(NamedTuple):
    """Some known scopes, and the cursor to go on with ("0" at the end)."""

    scopes: tuple[Scope, ...]
    next: str


def scopes(shard: int, cursor: str, most: int) -> Command[ScopePage]:
    """One step through a shard of the registry."""

    def parse(reply: Sequence[Raw]) -> ScopePage:
        following, tags = reply
        found = []
        for tag in tags:
            bot, _, user = as_text(tag).partition("/")
            found.append(Scope(unquote(bot), unquote(user) or None))
        return ScopePage(tuple(found), as_text(following))

    return Command("scopes", (keys.registry_key(shard),), (cursor, most), parse, writes=False)
