"""Builds the script calls of check and repair, and parses their replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Command, Raw

SCAN_STEP = 1_000
PAGE_ITEMS = 500
PAGE_BYTES = 500_000


def exact(raw: Raw) -> str:
    """A reply item as text that `exact_bytes` turns back into the same bytes, whatever they are."""
    return raw.decode("utf-8", "surrogateescape") if isinstance(raw, bytes | bytearray) else str(raw)


def exact_bytes(text: str) -> bytes:
    """The bytes that `exact` made this text of."""
    return text.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class KeyPage:
    """Some key names of a scope, without its tag, and the cursor to go on with ("0" at the end)."""

    names: tuple[str, ...]
    next: str


def scan_keys(bound: Bound, cursor: str) -> Command[KeyPage]:
    """One step through the names of the scope's keys."""

    def parse(reply: Sequence[Raw]) -> KeyPage:
        following, names = reply
        return KeyPage(tuple(map(exact, names)), exact(following))

    return Command("scan_keys", (keys.meta_key(bound.scope),), (cursor, SCAN_STEP), parse, writes=False)


@dataclass(frozen=True, slots=True)
class Part:
    """Some items of one key: its type, and per item the field or member and what belongs to it."""

    name: str
    kind: str
    items: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class DumpPage:
    """Parts of keys, read at one version of the scope; `left` names the keys to go on with, `cursor` where."""

    version: str
    parts: tuple[Part, ...]
    left: tuple[str, ...]
    cursor: str


def dump(bound: Bound, names: Sequence[str], cursor: str) -> Command[DumpPage]:
    """A bounded part of what the named keys hold, beginning at a cursor in the first of them."""

    def parse(reply: Sequence[Raw]) -> DumpPage:
        version, position, following, *parts = reply
        left = tuple(names[int(position) - 1 :]) if int(position) else ()
        return DumpPage(exact(version), tuple(map(part, parts)), left, exact(following))

    def part(reply: Sequence[Raw]) -> Part:
        position, kind, items = reply
        flat = list(map(exact, items))
        if exact(kind) == "stream":
            pairs = {flat[at]: f"{flat[at + 1]} {flat[at + 2]}" for at in range(0, len(flat), 3)}
        else:
            pairs = dict(zip(flat[::2], flat[1::2], strict=True))
        return Part(names[int(position) - 1], exact(kind), pairs)

    args: list[bytes | str | int] = [PAGE_ITEMS, PAGE_BYTES, cursor, *map(exact_bytes, names)]
    return Command("dump", (keys.meta_key(bound.scope),), tuple(args), parse, writes=False)


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a repair, as `lua/mend.lua` takes it; `key` is the name after the tag."""

    command: str
    key: str
    args: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Mended:
    """Whether the writes were carried out, and the scope's version now."""

    done: bool
    version: str


def mend(bound: Bound, version: str, writes: Sequence[Write]) -> Command[Mended]:
    """Carry out writes unless the scope changed since `version`."""

    def parse(reply: Sequence[Raw]) -> Mended:
        done, now = reply
        return Mended(bool(int(done)), exact(now))

    args: list[bytes | str | int] = [exact_bytes(version)]
    for write in writes:
        args += (write.command, exact_bytes(write.key), len(write.args), *map(exact_bytes, write.args))
    return Command("mend", (keys.meta_key(bound.scope),), tuple(args), parse)
