"""Impressions as lines of a JSONL file: what an export holds, and the strict reading of it. Pure.

The first line is a header: format, version, whose memory, how many impressions follow. Then comes one JSON object per
impression, oldest first, with every field; times are whole milliseconds since 1970 (UTC) or null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import Facts, draft, milliseconds, moment, source_digest
from impressmem_integrations.core.text import content_digest, normal_name
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Impression
from impressmem_integrations.settings import Scope

FORMAT = "impressmem-impressions"
VERSION = 1
_MOST_COUNT = 10**12
_TIMES = ("created_at", "updated_at", "touched_at")
_LATER_TIMES = ("expires_at", "pinned_at", "said_at")
_FIELDS = {
    "clue": str, "content": str, "category": str, "also": list, "labels": list, "pin": bool,
    "revision": int, "uses": int, "used_at": int, **dict.fromkeys(_TIMES, int),
}  # fmt: skip
_OPTIONAL = {"source": str, "origins": str, **dict.fromkeys(_LATER_TIMES, int)}
_ORIGINS = re.compile(r"-|[\w-]{1,20}(?:,[\w-]{1,20}){0,99}", re.ASCII)
_MOST_MS = 10**14  # the year 5138


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def header(scope: Scope, count: int) -> bytes:
    """The first line. Blanks at its end make it equally long for every count, since the count is known last."""
    fields = {"format": FORMAT, "version": VERSION, "bot": scope.bot, "user": scope.user}
    return _json({**fields, "count": count}).ljust(len(_json({**fields, "count": _MOST_COUNT}))) + b"\n"


def line(item: Impression, facts: Facts) -> bytes:
    """The line of one impression."""

    def ms(when: datetime | None) -> int | None:
        return None if when is None else milliseconds(when)

    fields = {
        "clue": item.clue,
        "content": item.content,
        "category": item.category,
        "also": list(item.also),
        "labels": list(item.labels),
        "pin": item.pin,
        "created_at": facts.created,
        "updated_at": facts.updated,
        "touched_at": facts.touched,
        "revision": facts.revision,
        "uses": facts.uses,
        "used_at": facts.used,
        "source": item.source,
        "origins": facts.origin,
        "value": item.value,
        "expires_at": ms(item.expires_at),
        "pinned_at": ms(item.pinned_at),
        "said_at": ms(item.said_at),
    }
    return _json(fields) + b"\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """One impression read from a file, checked; `facts.seq` is 0, so that it gets its place where it is stored."""

    item: Impression
    facts: Facts


def read(bound: Bound, lines: Iterable[bytes]) -> Iterator[Entry]:
    """The impressions of a file, in its order.

    Raises:
        InvalidInput: The file is not an export, is damaged, of a newer version, or holds what the limits forbid. The
            message names the line.
    """
    source = iter(lines)
    count = _read_header(bound, next(source, b""))
    clues: set[str] = set()
    number = 1
    for raw in source:
        number += 1
        try:
            entry = _read_line(bound, _object(raw), clues)
        except InvalidInput as error:
            raise InvalidInput(f"line {number} of the file: {error}; nothing was imported") from error
        yield entry
    if number - 1 != count:
        raise InvalidInput(f"the file holds {number - 1} impressions instead of {count}; nothing was imported")


def _object(raw: bytes) -> dict[str, Any]:
    if not raw.endswith(b"\n"):
        raise InvalidInput("is cut off")
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise InvalidInput("is no JSON") from error
    if not isinstance(value, dict):
        raise InvalidInput("is no JSON object")
    return value


def _read_header(bound: Bound, raw: bytes) -> int:
    try:
        found = _object(raw)
    except InvalidInput as error:
        raise InvalidInput("the file is no export of impressions; nothing was imported") from error
    version, count = found.get("version"), found.get("count")
    if found.get("format") != FORMAT or type(version) is not int or type(count) is not int:
        raise InvalidInput("the file is no export of impressions; nothing was imported")
    if version != VERSION:
        raise InvalidInput(f"the file has version {version}, this package reads {VERSION}; nothing was imported")
    if count > bound.limits.max_impressions:
        raise InvalidInput(
            f"the file holds {count} impressions, max_impressions is {bound.limits.max_impressions}; raise it."
            " Nothing was imported"
        )
    return count


def _read_line(bound: Bound, fields: Mapping[str, Any], clues: set[str]) -> Entry:
    """Check one line; its clue joins those that the file holds."""
    for name, kind in _FIELDS.items():
        if type(fields.get(name)) is not kind:
            raise InvalidInput(f"{name} is missing or of the wrong type")
    for name, kind in _OPTIONAL.items():
        if fields.get(name) is not None and type(fields[name]) is not kind:
            raise InvalidInput(f"{name} is of the wrong type")
    if unknown := sorted(set(fields) - {*_FIELDS, *_OPTIONAL, "value"}):
        raise InvalidInput(f"unknown field {unknown[0][:100]}")
    times = [fields[name] for name in (*_TIMES, "used_at")]
    times += [fields[name] for name in _LATER_TIMES if fields.get(name) is not None]
    if not all(0 <= at < _MOST_MS for at in times) or fields["revision"] < 1 or fields["uses"] < 0:
        raise InvalidInput("a time or a count is out of range")
    if fields["pin"] != (fields.get("pinned_at") is not None):
        raise InvalidInput("pin and pinned_at contradict each other")
    checked = draft(bound, {name: fields.get(name) for name in ("clue", "content", "category", "labels", "source")})

    def when(name: str) -> datetime | None:
        return None if fields.get(name) is None else moment(fields[name])

    if checked.clue.key in clues:
        raise InvalidInput("its clue stands in the file twice")
    clues.add(checked.clue.key)
    also = [normal_name(other, "category").shown for other in fields["also"]]
    item = Impression(
        clue=checked.clue.shown,
        content=checked.content,
        category=checked.category.shown,
        labels=tuple(label.shown for label in checked.labels),
        pin=fields["pin"],
        created_at=moment(fields["created_at"]),
        updated_at=moment(fields["updated_at"]),
        revision=fields["revision"],
        source=fields.get("source"),
        uses=fields["uses"],
        also=tuple(also),
        value=fields.get("value"),
        expires_at=when("expires_at"),
        pinned_at=when("pinned_at"),
        said_at=when("said_at"),
    )
    facts = Facts(
        created=fields["created_at"],
        updated=fields["updated_at"],
        touched=fields["touched_at"],
        revision=fields["revision"],
        seq=0,
        uses=fields["uses"],
        used=fields["used_at"],
        digest=content_digest(checked.content),
        origin=_origins(fields.get("origins"), item.source),
    )
    return Entry(item, facts)


def _origins(given: str | None, source: str | None) -> str:
    """The digests of all that a record came from; older exports name only its last source."""
    if given is None:
        return source_digest(source)
    if not _ORIGINS.fullmatch(given):
        raise InvalidInput("origins is of the wrong form")
    return given
