"""Checking what a model wrote as arguments. Item by item: one bad item never stops its neighbours.

Slips with one reading are mended (a list written as text, a number for a text, "false" for false), everything else is
an error in words that tell the model what to change. Fields that a tool does not have are left aside with a warning: a
made-up `user_id` changes nothing. Secrets are masked here, on the one way that everything a model writes takes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from impressmem_integrations.core.secrets import MASK, masked
from impressmem_integrations.core.shapes import is_list, one_line
from impressmem_integrations.core.text import whole_characters
from impressmem_integrations.errors import InvalidToolCall
from impressmem_integrations.settings import MAX_NAME_BYTES, Limits
from impressmem_integrations.tools.definitions import (
    MAX_LABELS,
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSION,
)
from impressmem_integrations.tools.json_repair import UnreadableJson, read_value

Level = Literal["category", "label", "clue"]

_SAVE_FIELDS = frozenset(SAVE_IMPRESSION.parameters["properties"])
_RECALL_FIELDS = frozenset(RECALL_IMPRESSIONS.parameters["properties"])
_ORGANIZE_FIELDS = frozenset(ORGANIZE_IMPRESSIONS.parameters["properties"])
_LEVELS = ("category", "label", "clue")
_YES = frozenset({"true", "yes", "y", "on", "1"})
_NOTHING = frozenset({"", "null", "none"})
_NO = frozenset({"false", "no", "n", "off", "0"}) | _NOTHING
_LIST_SEPARATORS = re.compile("[,，、;；\n]")


@dataclass(frozen=True, slots=True)
class SaveItem:
    """One impression to save, checked.

    Attributes:
        index: Its place in the call, from 0.
        clue: Its clue, trimmed.
        content: The note as written, secrets masked.
        category: Its category, trimmed.
        labels: One to five different labels, trimmed, in the order given.
        pin: Whether it is pinned; None, where the model does not say, leaves it as it is.
    """

    index: int
    clue: str
    content: str
    category: str
    labels: tuple[str, ...]
    pin: bool | None = None


@dataclass(frozen=True, slots=True)
class ItemError:
    """What is wrong with one item of a save call and what to change; `clue` where it could be read."""

    index: int
    message: str
    clue: str = ""


@dataclass(frozen=True, slots=True)
class SaveArguments:
    """A save call, checked: items in order, an error for each item left out, and warnings in words."""

    items: tuple[SaveItem, ...]
    errors: tuple[ItemError, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallArguments:
    """A recall call, checked. With nothing given it asks for the newest impressions."""

    query: str | None = None
    category: str | None = None
    labels: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OrganizeArguments:
    """A merge request, checked for its form; whether the names exist is the store's to say.

    Attributes:
        level: What is merged.
        from_items: Names to merge away, different ones, never the target alone.
        to_item: The name that stays.
        new_content: At level clue the note that stays; None at the other levels.
        reason: Why they mean the same.
        check: The model's own counter-check.
        is_redundant: Whether it says that they are redundant.
        is_confirm: Whether it confirms the merge.
        warnings: What was left aside, in words.
    """

    level: Level
    from_items: tuple[str, ...]
    to_item: str
    new_content: str | None
    reason: str
    check: str
    is_redundant: bool
    is_confirm: bool
    warnings: tuple[str, ...] = ()

    @property
    def held_back(self) -> str | None:
        """Why the merge must not be carried out although it is well formed, in words for the model; None if it may."""
        if not self.is_redundant:
            return "Skipped: is_redundant is not true. Nothing was merged."
        if not self.reason or not self.check:
            return "Not confirmed: give a reason and a check. Nothing was merged."
        if not self.is_confirm:
            return "Not confirmed: is_confirm is not true. Nothing was merged."
        return None


class _Wrong(Exception):
    """One field cannot be used; the message says what to change."""


def read_save(arguments: Mapping[str, Any], limits: Limits | None = None) -> SaveArguments:
    """Check the arguments of `save_impressions` or `save_impression`; never raises.

    Args:
        arguments: `impressions` as a list, one object, or JSON text of these; or the fields of one impression alone.
        limits: The scope's limits; the defaults where None.
    """
    limits = limits or Limits()
    warnings: list[str] = []
    if arguments.get("impressions") is None and not _SAVE_FIELDS.isdisjoint(arguments):
        listed: list[Any] = [{key: value for key, value in arguments.items() if key != "impressions"}]
    else:
        _warn_of_extras(arguments, {"impressions"}, warnings, "")
        try:
            listed = _impressions(arguments.get("impressions"))
        except _Wrong as wrong:
            return SaveArguments((), (ItemError(0, str(wrong)),), tuple(warnings))
    items: list[SaveItem] = []
    errors: list[ItemError] = []
    for index, found in enumerate(listed):
        item = _read_item(index, found, limits, warnings)
        if isinstance(item, SaveItem):
            items.append(item)
        else:
            errors.append(item)
    return SaveArguments(tuple(items), tuple(errors), tuple(warnings))


def read_recall(arguments: Mapping[str, Any], limits: Limits | None = None) -> RecallArguments:
    """Check the arguments of `recall_impressions`.

    Raises:
        InvalidToolCall: A field cannot be read; the message says what to change.
    """
    limits = limits or Limits()
    warnings: list[str] = []
    problems: list[str] = []
    _warn_of_extras(arguments, _RECALL_FIELDS, warnings, "")
    query = _try(problems, _optional, arguments.get("query"), "query", limits.max_content_bytes)
    category = _try(problems, _optional, arguments.get("category"), "category", MAX_NAME_BYTES)
    labels = _try(problems, _names, arguments.get("labels"), "labels") or ()
    _fail(problems)
    return RecallArguments(query, category, _most(labels, MAX_LABELS, warnings, ""), tuple(warnings))


def read_organize(arguments: Mapping[str, Any], limits: Limits | None = None) -> OrganizeArguments:
    """Check the arguments of `organize_impressions`.

    Raises:
        InvalidToolCall: It is no merge that makes sense; the message names all that has to change.
    """
    limits = limits or Limits()
    warnings: list[str] = []
    problems: list[str] = []
    _warn_of_extras(arguments, _ORGANIZE_FIELDS, warnings, "")
    level: Level = _try(problems, _level, arguments.get("level")) or "label"
    sources = _try(problems, _names, arguments.get("from_items"), "from_items", level == "label") or ()
    target = _try(problems, _required, arguments.get("to_item"), "to_item", MAX_NAME_BYTES) or ""
    content = _try(problems, _note, arguments.get("new_content"), "new_content", limits.max_content_bytes)
    reason = _try(problems, _optional, arguments.get("reason"), "reason", limits.max_content_bytes) or ""
    check = _try(problems, _optional, arguments.get("check"), "check", limits.max_content_bytes) or ""
    redundant = _try(problems, _flag, arguments.get("is_redundant"), "is_redundant")
    confirm = _try(problems, _flag, arguments.get("is_confirm"), "is_confirm")
    if not problems:
        problems.extend(_senseless(level, sources, target, content))
    _fail(problems)
    if level != "clue" and content is not None:
        content = None
        warnings.append("new_content is used at level clue only and was left out")
    content = None if content is None else _without_secrets(content, "new_content", warnings)
    reason = _without_secrets(reason, "reason", warnings)
    return OrganizeArguments(
        level, sources, target, content, reason, check, bool(redundant), bool(confirm), tuple(warnings)
    )


def _senseless(level: Level, sources: tuple[str, ...], target: str, content: str | None) -> Iterable[str]:
    if not sources:
        yield f"from_items is empty: name the {level} to merge away"
    elif set(sources) == {target}:
        yield "from_items and to_item are the same name: there is nothing to merge"
    elif level == "category" and len(sources) != 1:
        yield "at level category from_items takes exactly one name: send one call for each"
    if level == "clue" and content is None:
        yield "at level clue new_content is needed: one note that keeps what the merged ones say"


def _impressions(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = read_value(value)
        except UnreadableJson as error:
            raise _Wrong(f"impressions must be a list of objects; as text it cannot be read: {error}") from None
    if isinstance(value, Mapping):
        return [value]
    if not is_list(value) or not value:
        raise _Wrong("impressions is missing: send a list of objects with clue, content, category, labels and pin")
    return list(value)


def _read_item(index: int, found: Any, limits: Limits, warnings: list[str]) -> SaveItem | ItemError:
    where = f"impressions[{index}]: "
    if isinstance(found, str):
        try:
            found = read_value(found)
        except UnreadableJson:
            found = None
    if not isinstance(found, Mapping):
        return ItemError(index, f"{where}must be an object with clue, content, category, labels and pin")
    _warn_of_extras(found, _SAVE_FIELDS, warnings, where)
    problems: list[str] = []
    clue = _try(problems, _required, found.get("clue"), "clue", MAX_NAME_BYTES) or ""
    content = _try(problems, _required_note, found.get("content"), "content", limits.max_content_bytes) or ""
    category = _try(problems, _required, found.get("category"), "category", MAX_NAME_BYTES) or ""
    labels = _try(problems, _names, found.get("labels"), "labels")
    pin = _try(problems, _pin, found.get("pin"))
    if labels == ():
        problems.append(f"labels is missing: give one to {limits.max_labels} texts")
    if masked(clue) != clue:  # a masked clue could be that of another note
        problems.append("clue holds a secret, which is never stored: choose another name")
    if problems:
        return ItemError(index, where + "; ".join(problems), masked(clue))
    content, category = (
        _without_secrets(text, where + field, warnings)
        for field, text in (("content", content), ("category", category))
    )
    safe = dict.fromkeys(_without_secrets(label, f"{where}labels", warnings) for label in labels or ())
    kept = _most(tuple(safe), limits.max_labels, warnings, where)
    return SaveItem(index, clue, content, category, kept, pin)


def _without_secrets(text: str, field: str, warnings: list[str]) -> str:
    safe = masked(text)
    if safe != text:
        warnings.append(f"{field} held a secret, which is never stored: {MASK} stands in its place")
    return safe


def _try(problems: list[str], check: Any, *values: Any) -> Any:
    """The checked value; or None, with the reason added to the problems."""
    try:
        return check(*values)
    except _Wrong as wrong:
        problems.append(str(wrong))
        return None


def _fail(problems: list[str]) -> None:
    if problems:
        raise InvalidToolCall("; ".join(problems))


def _optional(value: Any, field: str, most: int) -> str | None:
    """A text without outer blanks, or None where nothing is given."""
    text = _note(value, field, most)
    return None if text is None else text.strip()


def _note(value: Any, field: str, most: int) -> str | None:
    """A text as written, or None where it is blank or not given."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Wrong(f"{field} must be a text, not {_type_name(value)}")
    try:
        text = str(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        raise _Wrong(f"{field} is too long") from None
    text = whole_characters(text)
    size = len(text.encode())
    if size > most:
        raise _Wrong(f"{field} is too long: {size} bytes, at most {most}")
    return text if text.strip() else None


def _required_note(value: Any, field: str, most: int) -> str:
    text = _note(value, field, most)
    if text is None:
        raise _Wrong(f"{field} is missing: give a text")
    return text


def _required(value: Any, field: str, most: int) -> str:
    return _required_note(value, field, most).strip()


def _names(value: Any, field: str, split: bool = True) -> tuple[str, ...]:
    """Different names, in order; a text is a list written as JSON, a list with commas (where `split`), or one name."""
    if isinstance(value, str):
        value = _names_from_text(value, field, split)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    if value is None:
        return ()
    if not is_list(value):
        raise _Wrong(f"{field} must be a list of texts, not {_type_name(value)}")
    names = (_optional(name, f"each of {field}", MAX_NAME_BYTES) for name in value)
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _names_from_text(text: str, field: str, split: bool) -> list[Any]:
    stripped = text.strip()
    if stripped.lower() in {"null", "none"}:
        return []
    if stripped.startswith("["):
        try:
            return cast(list[Any], read_value(stripped))
        except UnreadableJson as error:
            raise _Wrong(f"{field} must be a list of texts; as text it cannot be read: {error}") from None
    return _LIST_SEPARATORS.split(stripped) if split else [stripped]


def _flag(value: Any, field: str) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    if isinstance(value, int) and value in (0, 1):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) else "?"
    if word in _YES or word in _NO:
        return word in _YES
    raise _Wrong(f"{field} must be true or false")


def _pin(value: Any) -> bool | None:
    if value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING):
        return None
    return _flag(value, "pin")


def _level(value: Any) -> Level:
    word = value.strip().lower() if isinstance(value, str) else ""
    if word not in _LEVELS:
        raise _Wrong("level must be category, label or clue")
    return cast(Level, word)


def _most(labels: tuple[str, ...], most: int, warnings: list[str], where: str) -> tuple[str, ...]:
    if len(labels) > most:
        left_out = ", ".join(one_line(label)[:60] for label in labels[most:][:10])
        warnings.append(f"{where}only {most} labels are kept; left out: {left_out}")
    return labels[:most]


def _warn_of_extras(found: Mapping[str, Any], known: Iterable[str], warnings: list[str], where: str) -> None:
    extras = [one_line(str(key))[:40] for key in found if key not in set(known)]
    if extras:
        warnings.append(f"{where}ignored, the tool has no such field: {', '.join(extras[:10])}")


def _type_name(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return "an object" if isinstance(value, Mapping) else "a list" if is_list(value) else type(value).__name__
