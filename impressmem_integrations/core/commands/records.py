"""Records on the wire: what is stored for an impression, and how a row of a reply becomes one."""

from __future__ import annotations

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Raw
from impressmem_integrations.core.text import Name, normal_content, normal_name
from impressmem_integrations.errors import CorruptStore, InvalidInput
from impressmem_integrations.model import Impression

UNIT, RECORD, GROUP = "\x1f", "\x1e", "\x1d"
SOURCES = ", "
MOST = 2**53
"""The largest whole number that the server counts exactly."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def as_text(raw: Raw) -> str:
    """A reply item as text, whether the client decodes or not."""
    return raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)


def moment(milliseconds: float) -> datetime:
    """Milliseconds since 1970 as an aware UTC time."""
    return _EPOCH + timedelta(milliseconds=milliseconds)


def milliseconds(when: datetime) -> int:
    """An aware time as whole milliseconds since 1970.

    Raises:
        InvalidInput: It is no time or has no zone.
    """
    if not isinstance(when, datetime):
        raise InvalidInput(f"a time must be a datetime with its zone, not {type(when).__name__}")
    if when.tzinfo is None:
        raise InvalidInput("a time needs a zone, e.g. datetime.now(timezone.utc)")
    return (when - _EPOCH) // timedelta(milliseconds=1)


_remembered_name = lru_cache(maxsize=4_096)(normal_name)


MOST_TTL_S = 1e11
"""Some 3,000 years: what expires later than that has no date."""
_NO_DECAY_MS = 10**16  # so long that only the order of touches is left of time


def half_life_ms(days: float | None) -> int:
    """A half-life as scripts take it; None is no decay, and so is more than they count."""
    return _NO_DECAY_MS if days is None else round(min(days * 86_400_000, _NO_DECAY_MS))


def days_ms(days: float) -> int:
    """Days as whole milliseconds."""
    return round(days * 86_400_000)


def known_name(raw: object, what: str) -> Name:
    """`normal_name`, but quick for a text that was seen lately: categories and labels come again and again."""
    return _remembered_name(raw, what) if type(raw) is str else normal_name(raw, what)


def wire_name(name: Name) -> str:
    """A name as scripts take it: the folded form, and the spelling where it differs."""
    return name.key if name.key == name.shown else f"{name.key}{RECORD}{name.shown}"


def source_digest(source: str | None) -> str:
    """What `facts` keep of a source: enough to recognise it after an erasure. Several stand joined by `", "`."""
    if source is None:
        return "-"
    return ",".join(one_digest(part) for part in source.split(SOURCES))


def one_digest(source: str) -> str:
    """The digest of one source: 11 characters of which the first is no `-`."""
    digest = hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return "s" + urlsafe_b64encode(digest).decode("ascii")[:10]


class Draft(NamedTuple):
    """A checked item, ready to be sent."""

    clue: Name
    content: str
    category: Name
    labels: tuple[Name, ...]
    pin: bool | None = False
    source: str | None = None
    value: Any = None
    ttl_seconds: float | None = None
    said_at: datetime | None = None

    def record(self) -> bytes:
        """The bytes kept for it."""
        return encode_record(self.content, self.source, self.value, self.said_at)


_FIELDS = frozenset({"clue", "content", "category", "labels", "pin", "source", "value", "ttl_seconds", "said_at"})


def draft(bound: Bound, item: Mapping[str, Any]) -> Draft:
    """Check one item against the limits.

    Args:
        bound: The scope and its limits.
        item: `clue`, `content`, `category`, `labels`, and optionally `pin`, `source`, `value`, `ttl_seconds`,
            `said_at`. A `pin` of None leaves a pin as it is; without one it is False.

    Raises:
        InvalidInput: A field is missing, unknown, of the wrong type or over its limit.
    """
    if not isinstance(item, Mapping):
        raise InvalidInput(f"an item must be a mapping with clue, content, category, labels, not {type(item).__name__}")
    if missing := [name for name in ("clue", "content", "category", "labels") if item.get(name) is None]:
        raise InvalidInput(f"{', '.join(missing)} missing")
    if unknown := [str(name) for name in item if name not in _FIELDS]:
        raise InvalidInput(f"unknown field {', '.join(sorted(unknown))}; known are {', '.join(sorted(_FIELDS))}")
    limits, pin, ttl = bound.limits, item.get("pin", False), item.get("ttl_seconds")
    if pin is not None and not isinstance(pin, bool):
        raise InvalidInput("pin must be True, False, or None for as it is")
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 < ttl <= MOST_TTL_S):
        raise InvalidInput("ttl_seconds must be a number above 0, of at most 3,000 years")
    source = item.get("source")
    if source is not None and not isinstance(source, str):
        raise InvalidInput("source must be text or None")
    made = Draft(
        known_name(item["clue"], "clue"),
        normal_content(item["content"], limits.max_content_bytes),
        known_name(item["category"], "category"),
        draft_labels(bound, item["labels"]),
        pin,
        source,
        item.get("value"),
        ttl,
        item.get("said_at"),
    )
    if made.value is not None or made.said_at is not None or source is not None:
        made.record()  # what cannot be written is an error of this item, not of all that are sent with it
    return made


def draft_labels(bound: Bound, labels: object) -> tuple[Name, ...]:
    """Check labels: a list of texts, without duplicates, within the limit."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence | set | frozenset):
        raise InvalidInput("labels must be a list of texts")
    names: dict[str, Name] = {}
    for label in labels:
        name = known_name(label, "label")
        names.setdefault(name.key, name)  # the first spelling stands
    if not bound.limits.min_labels <= len(names) <= bound.limits.max_labels:
        raise InvalidInput(
            f"{len(names)} labels given; {bound.limits.min_labels} to {bound.limits.max_labels} are allowed"
        )
    return tuple(names.values())


_MOST_ASKED = 1_000


def asked_labels(labels: object) -> list[Name]:
    """The labels of a question, each once; none for None.

    Raises:
        InvalidInput: They are no list of texts, or more than 1,000 different ones.
    """
    if labels is None:
        return []
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InvalidInput("labels must be a list of texts")
    names = {name.key: name for name in (known_name(label, "label") for label in labels)}
    if len(names) > _MOST_ASKED:
        raise InvalidInput(f"{len(names):,} different labels in one question; {_MOST_ASKED:,} are allowed")
    return list(names.values())


_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def encode_record(content: str, source: str | None, value: Any, said_at: datetime | None = None) -> bytes:
    """The bytes kept for an impression: its content on the lines after the first.

    On the first stands, as JSON, whatever else there is: most notes have nothing else. All of it is opaque to the
    server but for the time at the end of the first line.

    Raises:
        InvalidInput: The value is not JSON, or the time has no zone.
    """
    record: dict[str, Any] = {}
    if source is not None:
        record["s"] = source
    if value is not None:
        record["v"] = value
    if said_at is not None:
        record["t"] = milliseconds(said_at)  # last, where lua/said_between.lua reads it
    try:
        return f"{_write_json(record) if record else ''}\n{content}".encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"value must be JSON: {error}") from error
    except RecursionError:
        raise InvalidInput("value must be JSON of fewer levels: it is nested too deeply") from None


def wire_filing(categories: Sequence[Name], labels: Sequence[Name]) -> str:
    """A filing as scripts take it."""
    return UNIT.join([GROUP.join(map(wire_name, categories)), *map(wire_name, labels)])


class Facts(NamedTuple):
    """What the server counts for a record; times in whole milliseconds."""

    created: int
    updated: int
    touched: int
    revision: int
    seq: int
    uses: int
    used: int
    digest: str
    origin: str

    @classmethod
    def parse(cls, text: str) -> Facts:
        """Read the stored form, which `lua/lib/scope.lua` describes.

        Raises:
            ValueError: It is none.
        """
        digest, first, after, later, revision, seq, *rest = text.split(" ")
        created = int(first)
        updated = created + int(after)
        uses = used = 0
        if len(rest) > 1:
            count, since, *rest = rest
            uses, used = int(count), created + int(since)
        (origin,) = rest or ("-",)
        return cls(created, updated, updated + int(later), int(revision), int(seq), uses, used, digest, origin)

    def wire(self) -> str:
        """The stored form."""
        numbers = [self.created, self.updated - self.created, self.touched - self.updated, self.revision, self.seq]
        if self.uses or self.used:
            numbers += (self.uses, self.used - self.created)
        return " ".join([self.digest, *map(str, numbers), *([] if self.origin == "-" else [self.origin])])


class Stored(NamedTuple):
    """A record as it was read, of which the whole impression is made where it is wanted.

    Attributes:
        clue: Its clue.
        filing: Categories and labels, joined.
        facts: What the server counts for it.
        pinned_at: Since when, in ms; "" where it is not pinned.
        expires_at: When, in ms, or "".
        held: What the record holds.
    """

    clue: str
    filing: str
    facts: Facts
    pinned_at: str
    expires_at: str
    held: Mapping[str, Any]

    @property
    def content(self) -> str:
        """Its content."""
        return str(self.held["c"])

    @property
    def shown_at(self) -> datetime:
        """When it was said, else last saved."""
        try:
            return moment(self.held.get("t", self.facts.updated))
        except (TypeError, OverflowError) as error:
            raise _unreadable() from error

    def impression(self) -> Impression:
        """The whole of it.

        Raises:
            CorruptStore: A time of it is none.
        """
        try:
            return self._impression()
        except (ValueError, TypeError, OverflowError) as error:
            raise _unreadable() from error

    def _impression(self) -> Impression:
        groups, *labels = self.filing.split(UNIT)
        category, *also = groups.split(GROUP)
        held, facts = self.held, self.facts
        return Impression(
            clue=self.clue,
            content=held["c"],
            category=category,
            labels=tuple(labels),
            pin=bool(self.pinned_at),
            created_at=moment(facts.created),
            updated_at=moment(facts.updated),
            revision=facts.revision,
            source=held.get("s"),
            uses=facts.uses,
            also=tuple(also),
            seq=facts.seq,
            expires_at=moment(float(self.expires_at)) if self.expires_at else None,
            pinned_at=moment(float(self.pinned_at)) if self.pinned_at else None,
            value=held.get("v"),
            said_at=moment(held["t"]) if "t" in held else None,
        )


def read_record(record: str) -> Mapping[str, Any]:
    """What a record holds: its content under `c`, source `s`, value `v` and the time it was said, `t`.

    Raises:
        CorruptStore: It is not one of ours.
    """
    try:
        rest, content = record.split("\n", 1)
        return {**json.loads(rest or "{}"), "c": content}
    except (ValueError, TypeError) as error:
        raise _unreadable() from error


def _unreadable() -> CorruptStore:
    return CorruptStore("a record of this scope cannot be read; run check() and repair()")


def names(joined: Raw) -> tuple[str, ...]:
    """Names that came as one text, with a mark between them: a list of many takes a client far longer to read."""
    return tuple(as_text(joined).split(UNIT)) if joined else ()


def rows(reply: Sequence[Raw]) -> list[Impression]:
    """The rows of a reply, in its order."""
    return [item for item, _ in rows_with_facts(reply)]


def rows_with_facts(reply: Sequence[Raw]) -> Iterator[tuple[Impression, Facts]]:
    """The rows of a reply with what the server counts for each."""
    for raw in reply:
        read = stored(raw)
        yield read.impression(), read.facts


def stored(raw: Raw) -> Stored:
    """One row of `lua/lib/rows.lua`.

    Raises:
        CorruptStore: The record is not one of ours.
    """
    try:
        text = raw.decode() if isinstance(raw, bytes) else raw
        clue, filing, counted, pinned, expires, record = text.split(RECORD, 5)
        return Stored(clue, filing, Facts.parse(counted), pinned, expires, read_record(record))
    except ValueError as error:  # UnicodeDecodeError is one
        raise _unreadable() from error


def read_netstrings(data: bytes) -> list[bytes]:
    """The parts of a journal entry's before-images."""
    parts, at = [], 0
    while at < len(data):
        colon = data.index(b":", at)
        start = colon + 1
        end = start + int(data[at:colon])
        parts.append(data[start:end])
        at = end + 1
    return parts
