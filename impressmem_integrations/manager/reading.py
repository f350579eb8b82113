"""The manager's readings as flows: names with times, impressions by clue, mixed labels and impressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from impressmem_integrations.core.bound import Bound, bytes_of, bytes_to_read
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.mixed import mixture
from impressmem_integrations.core.commands.records import MOST, milliseconds
from impressmem_integrations.core.commands.spread import spread_labels
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.manager.mixture import Note, mix, mix_names
from impressmem_integrations.model import Impression

Scored = list[tuple[str, float]]
"""Names with the time of their last touch, in milliseconds since 1970."""

_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138, as milliseconds 1973
_MOST_PER_READ = 1_000


def names(
    bound: Bound,
    kind: str,
    limit: int,
    *,
    of: str | None = None,
    timestamp: float | datetime | None = None,
    newest_first: bool = True,
) -> Flow[Scored]:
    """Names with times: kinds as in `lua/list_names.lua`, `of` the category or label they belong to.

    Raises:
        InvalidInput: The limit, the timestamp or the name is wrong.
    """
    most = whole(limit, "limit")
    name = normal_name(of, kind.partition("-")[0]) if of is not None else None
    highest = "+inf" if timestamp is None else f"({_milliseconds(timestamp)!r}"
    if not most:
        return []
    found = yield from ask(
        read.list_names(bound, kind, name=name, newest_first=newest_first, highest=highest, most=most)
    )
    return [(text, float(at)) for text, at in found]


def whole(value: int, what: str) -> int:
    """A whole number of at least 0; one that no server counts exactly is the largest it does.

    Raises:
        InvalidInput: It is anything else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{what} must be a whole number of at least 0, or None for the setting")
    return min(value, MOST)


def _milliseconds(timestamp: float | datetime) -> float:
    """Milliseconds since 1970 of a time with a zone, or of a number in milliseconds or seconds, told by its size."""
    if isinstance(timestamp, datetime):
        return milliseconds(timestamp)
    if isinstance(timestamp, bool) or not isinstance(timestamp, int | float) or not 0 <= timestamp < 1e15:
        raise InvalidInput("timestamp must be seconds or milliseconds since 1970, or a datetime with a zone")
    return timestamp if timestamp > _MILLISECONDS_FROM else timestamp * 1000


def by_clues(bound: Bound, clues: Iterable[Any], max_text_units: int) -> Flow[list[Any]]:
    """Impressions in the order asked: `(clue, content)` for a name, `((clue, content), score)` for a pair with a score.

    Clues that do not exist are left out, and so are those that do not fit any more; shorter ones after them still come.

    Raises:
        InvalidInput: A clue or the budget is wrong, or the clues are no list.
    """
    if isinstance(clues, str | bytes | Mapping) or not isinstance(clues, Iterable):
        raise InvalidInput(
            f"clues must be a list of names, or of pairs of a name and a score, not {type(clues).__name__}"
        )
    clues = list(clues)
    left = whole(max_text_units, "max_text_units")
    if any(isinstance(clue, tuple | list) and len(clue) != 2 for clue in clues):
        raise InvalidInput("clues must be names, or pairs of a name and a score")
    asked = [clue[0] if isinstance(clue, tuple | list) else clue for clue in clues]
    wanted = [normal_name(clue, "clue") for clue in asked]
    held: dict[str, Impression] = {}
    for at in range(0, len(wanted), _MOST_PER_READ):
        for one in (yield from ask(read.get(bound, wanted[at : at + _MOST_PER_READ]))):
            held[normal_name(one.clue, "clue").key] = one
    found: list[Any] = []
    for given, name in zip(clues, wanted, strict=True):
        item = held.get(name.key)
        if item is None or (cost := bound.count_units(f"[{item.clue}]{item.content}")) > left:
            continue
        left -= cost
        pair = (item.clue, item.content)
        found.append((pair, given[1]) if isinstance(given, tuple | list) else pair)
    return found


def mixed_labels(bound: Bound, limit: int, most_categories: int) -> Flow[Scored]:
    """Up to `limit` labels, newest first: all where they fit, else a share of the newest and some of each category."""
    recent = yield from names(bound, "labels", limit)
    if len(recent) < limit or not recent:
        return recent
    spread = yield from ask(spread_labels(bound, most_categories, limit))
    return mix_names(recent, [spread], limit)


@dataclass(frozen=True, slots=True)
class Mixed:
    """A mixed reading: its notes newest first, and how many notes and pinned notes were left out."""

    notes: tuple[Note, ...]
    left_out: int
    pins_left_out: int


def mixed(bound: Bound, budget_units: int, most: int, most_categories: int, line: Callable[[Note], str]) -> Flow[Mixed]:
    """Pinned notes, a share of the newest, and the rest spread over the newest categories, within a budget.

    Args:
        bound: The scope.
        budget_units: The most units of the notes' lines.
        most: The most notes.
        most_categories: The most categories to spread over.
        line: A note as it will be shown, which is what is measured.

    Raises:
        InvalidInput: The budget is no whole number.
    """
    budget = whole(budget_units, "max_text_units")
    found = yield from ask(mixture(bound, most, most, most_categories, bytes_to_read(budget), bytes_of(budget)))
    pinned = [Note(item, float(facts.touched)) for item, facts in found.pinned]
    others = [Note(item, float(facts.touched)) for item, facts in found.others]
    notes = mix(pinned, others, budget, most, lambda note: bound.count_units(line(note) + "\n"))
    shown = {note.impression.clue for note in notes}
    pins_left_out = sum(note.impression.clue not in shown for note in pinned)
    return Mixed(tuple(notes), max(0, found.impressions - len(notes)), pins_left_out)
