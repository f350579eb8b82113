r"""JSON objects as models write them, where there is one reading only.

Accepted beside JSON: a code fence, prose or stray closers around the object (what follows the first complete object is
left), a trailing comma, line breaks inside texts, `\n` written out between tokens, single quotes, and Python's True,
False and None. Refused, because a part is missing or more than one reading is possible: an unterminated text or bracket
(a call that was cut off), a missing comma, an unknown escape, a key given twice with different values, an object that
goes on after it was closed. What stands inside a text is never changed.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_MAX_DEPTH = 32
_SPACE = re.compile(r"(?:\s|\\[nrt])*")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?(?![\w.])")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_WORD = re.compile(r"[A-Za-z]+\b")
_CLOSERS = re.compile(r"[\s}\]\"'`;.)]*")


class UnreadableJson(ValueError):
    """The text is not one JSON object. The message says where and why, without the text.

    Attributes:
        cut_off: Whether the text ends inside the object.
    """

    def __init__(self, message: str, *, cut_off: bool = False) -> None:
        super().__init__(message)
        self.cut_off = cut_off


def read_object(text: str, *, exact: bool = False) -> dict[str, Any]:
    """Return the JSON object in a text.

    Args:
        text: One object, or an object written as a JSON text; with the slips named above.
        exact: Accept nothing but JSON: for the last call of an answer that the output limit ended.

    Raises:
        UnreadableJson: There is none, or more than one reading.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)
    except UnreadableJson:
        raise
    except (ValueError, RecursionError) as error:
        if exact:
            raise UnreadableJson("it is not one complete JSON object", cut_off=True) from error
        value = _read_slips(text)
    if isinstance(value, str):  # encoded twice
        return read_object(value, exact=exact) if value.lstrip().startswith("{") else _no_object(value)
    return value if isinstance(value, dict) else _no_object(value)


def read_value(text: str) -> Any:
    """Return the JSON value a text begins with, slips allowed, nothing but closers behind it.

    Raises:
        UnreadableJson: There is none, or more than one reading.
    """
    reader = _Reader(text)
    value = reader.value(0)
    if _CLOSERS.fullmatch(text, reader.at) is None:
        raise reader.error("something follows the value")
    return value


def _no_object(value: Any) -> NoReturn:
    raise UnreadableJson(f"it must be a JSON object, not a {_json_name(value)}")


def _json_name(value: Any) -> str:
    names = {list: "list", str: "text", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _no_constant(name: str) -> NoReturn:
    raise UnreadableJson(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_constant("a number beyond all bounds")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made and (type(made[key]) is not type(value) or made[key] != value):
            raise UnreadableJson("a key stands twice with different values in one object")
        made[key] = value
    return made


def _read_slips(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        raise UnreadableJson("it holds no JSON object")
    if "[" in text[:start]:
        raise UnreadableJson("it must be a JSON object, not a list")
    reader = _Reader(text, start)
    value = reader.value(0)
    tail = _CLOSERS.match(text, reader.at)
    rest = text[tail.end() if tail else reader.at :]
    if rest.startswith((",", ":")):
        raise reader.error("the object goes on after it was closed")
    return value


class _Reader:
    """A recursive reader over one text; `at` is the place it has come to."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def error(self, what: str) -> UnreadableJson:
        return UnreadableJson(f"{what} (at character {self.at})", cut_off=self.at >= len(self.text))

    def space(self) -> str:
        """Skip blanks and return the next character, "" at the end."""
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise self.error("it is nested too deeply")
        first = self.space()
        if first == "{":
            return self.object(depth)
        if first == "[":
            return self.list(depth)
        if first in {'"', "'"} and first:
            return self.string(first)
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return json.loads(number.group(), parse_float=_finite)
        word = _WORD.match(self.text, self.at)
        if word and word.group() in _WORDS:
            self.at = word.end()
            return _WORDS[word.group()]
        raise self.error("it ends in the middle" if not first else "a value is missing or not quoted")

    def object(self, depth: int) -> dict[str, Any]:
        self.at += 1
        pairs: list[tuple[str, Any]] = []
        while (first := self.space()) != "}":
            if first not in {'"', "'"} or not first:
                raise self.error("it ends in the middle" if not first else "a key is missing or not quoted")
            key = self.string(first)
            if self.space() != ":":
                raise self.error("a colon is missing after a key")
            self.at += 1
            pairs.append((key, self.value(depth + 1)))
            self.comma("}")
        self.at += 1
        return _object(pairs)

    def list(self, depth: int) -> list[Any]:
        self.at += 1
        values = []
        while self.space() != "]":
            values.append(self.value(depth + 1))
            self.comma("]")
        self.at += 1
        return values

    def comma(self, closer: str) -> None:
        """Skip the comma after a member; the last one may have one too."""
        following = self.space()
        if following == ",":
            self.at += 1
        elif following != closer:
            raise self.error(f"a comma or {closer} is missing" if following else "it ends in the middle")

    def string(self, quote: str) -> str:
        start = self.at + 1
        at = start
        while at < len(self.text) and self.text[at] != quote:
            at += 2 if self.text[at] == "\\" else 1
        if at >= len(self.text):
            self.at = len(self.text)
            raise self.error("a text is not closed")
        inner = self.text[start:at]
        if quote == "'":
            inner = re.sub(
                r'\\.|"', lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), inner, flags=re.DOTALL
            )
        try:
            decoded: str = json.loads(f'"{inner}"', strict=False)
        except ValueError:
            raise self.error("a text holds an escape that JSON does not know") from None
        self.at = at + 1
        return decoded
