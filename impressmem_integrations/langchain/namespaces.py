"""Namespaces of a LangGraph store: whose memory they name, and how they are written as names of impressions. Pure.

The first segments say whose memory it is, by a template such as `("users", "{user}")`; the rest is the category that
an item is filed under. Every segment is percent-encoded, so that no two namespaces or keys ever share a name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.settings import MAX_NAME_BYTES, given_identity

Namespace = tuple[str, ...]

USER_FIELD: Final = "{user}"
ANY: Final = "*"
_HASHED: Final = "#"
"""Begins a name that is too long to be written out. Percent-encoding never leaves one."""


class Place(NamedTuple):
    """Where a namespace is kept: a user's memory or (None) the store's own, and the segments inside it."""

    user: str | None
    rest: Namespace


class Reach(NamedTuple):
    """Whose memories a beginning of namespaces can reach.

    Attributes:
        user: The one user it names, or None.
        users: Whether it leaves the user open, so that each of them may be meant.
        own: Whether namespaces in the store's own memory may begin like this.
    """

    user: str | None
    users: bool
    own: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """How namespaces are laid out over memories.

    Attributes:
        template: The first segments; one of them is `{user}`. Empty: everything is in the store's own memory.
        shared: Whether namespaces that do not begin like the template are kept in the store's own memory.
    """

    template: Namespace
    shared: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.template, str) or not all(isinstance(part, str) and part for part in self.template):
            raise ConfigurationError('template must be a tuple of segments, e.g. ("users", "{user}")')
        fields = [part for part in self.template if "{" in part]
        if self.template and fields != [USER_FIELD]:
            raise ConfigurationError(f"template={self.template!r} must hold the segment {USER_FIELD} exactly once")

    def place(self, namespace: Sequence[str]) -> Place:
        """Where a whole namespace is kept.

        Raises:
            InvalidInput: It begins otherwise than the template and is not shared, or a segment is empty or no text.
            ConfigurationError: What names the user can be no id.
        """
        if isinstance(namespace, str):
            raise InvalidInput("a namespace is a tuple of texts, not one text")
        parts = tuple(namespace)
        if not all(isinstance(part, str) and part for part in parts):
            raise InvalidInput(f"namespace {parts!r}: every segment must be a text that is not empty")
        if not self.template:
            return Place(None, parts)
        size = len(self.template)
        if len(parts) >= size and all(_same(part, mine) for part, mine in zip(parts, self.template, strict=False)):
            return Place(given_identity(parts[self._at], "user"), parts[size:])
        if self.shared:
            return Place(None, parts)
        raise InvalidInput(
            f"namespace {parts!r} does not say whose memory it is: begin it with {self.template!r}, or make the store "
            "with another template=, or with shared=True"
        )

    def reach(self, beginning: Sequence[str]) -> Reach:
        """Whose memories namespaces with this beginning can be in; segments may be `*`."""
        if not self.template:
            return Reach(None, users=False, own=True)
        pairs = list(zip(beginning, self.template, strict=False))
        fits = all(part == ANY or _same(part, mine) for part, mine in pairs)
        sure = len(pairs) == len(self.template) and all(part != ANY or mine == USER_FIELD for part, mine in pairs)
        own = self.shared and not (fits and sure)
        if not fits:
            return Reach(None, users=False, own=own)
        named = pairs[self._at][0] if len(pairs) > self._at else ANY
        return Reach(None, users=True, own=own) if named == ANY else Reach(named, users=False, own=own)

    def namespace(self, place: Place) -> Namespace:
        """The whole namespace of a place."""
        if place.user is None:
            return place.rest
        user = place.user
        return (*(user if part == USER_FIELD else part for part in self.template), *place.rest)

    @property
    def _at(self) -> int:
        return self.template.index(USER_FIELD)


def _same(part: str, mine: str) -> bool:
    return mine in (USER_FIELD, part)


def category_of(rest: Namespace) -> str:
    """The category that the items of a namespace are filed under."""
    return _short("".join("/" + _encoded(part) for part in rest) or "/")


def clue_of(rest: Namespace, key: str) -> str:
    """The clue of an item."""
    return _short(f"{''.join('/' + _encoded(part) for part in rest) or '/'}?{_encoded(key)}")


def place_of(clue: str) -> str | None:
    """The category of an item by its clue; None where the clue was too long to be written out."""
    return None if clue.startswith(_HASHED) else clue.partition("?")[0]


def rest_of(category: str) -> Namespace | None:
    """The segments that a category stands for; None where they were too long to be written out."""
    if category.startswith(_HASHED):
        return None
    return tuple(unquote(part) for part in category.split("/")[1:] if part)


def _encoded(text: str) -> str:
    try:
        return quote(text, safe="")
    except UnicodeEncodeError:
        raise InvalidInput("a namespace or key holds half of a surrogate pair") from None


def _short(name: str) -> str:
    if len(name) <= MAX_NAME_BYTES:
        return name
    return _HASHED + hashlib.blake2b(name.encode("ascii"), digest_size=32).hexdigest()


def matches(match_type: str, path: Sequence[str], namespace: Namespace) -> bool:
    """Whether a namespace begins (`prefix`) or ends (`suffix`) like a path, whose `*` stand for any one segment.

    Raises:
        InvalidInput: It is another kind of match.
    """
    if match_type not in ("prefix", "suffix"):
        raise InvalidInput(f'match_type must be "prefix" or "suffix", not {match_type!r}')
    size = len(path)
    if len(namespace) < size:
        return False
    part = namespace[:size] if match_type == "prefix" else namespace[len(namespace) - size :]
    return all(mine in (ANY, given) for given, mine in zip(part, path, strict=True))


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: `{field: value}` or `{field: {"$gt": 3}}`, all of them.

    Raises:
        InvalidInput: An operator is unknown.
    """
    return all(_equal(value.get(name), other) for name, other in (wanted or {}).items())


def _equal(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        if any(str(name).startswith("$") for name in wanted):
            return all(_compare(value, operator, other) for operator, other in wanted.items())
        return isinstance(value, Mapping) and all(_equal(value.get(name), other) for name, other in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(value, list | tuple) or len(value) != len(wanted):
            return False
        return all(_equal(one, other) for one, other in zip(value, wanted, strict=True))
    return bool(value == wanted)


def _compare(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise InvalidInput(f"unknown operator {operator!r}; known are $eq, $ne, $gt, $gte, $lt, $lte")
    try:
        left, right = float(value), float(other)
    except (TypeError, ValueError):
        return False  # what is no number is neither more nor less
    return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]
