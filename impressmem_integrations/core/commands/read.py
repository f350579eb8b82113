"""Builds the read-only script calls and parses their replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import unquote

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import (
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
