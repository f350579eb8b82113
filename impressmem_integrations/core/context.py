"""Contexts: a frozen core and what changed since, within a budget. Pure.

The core is rendered once per epoch and stays byte for byte the same; changes are appended behind it, newest last. Once
both together pass the budget, whole lines leave the core's end in steps, so that what stands before stays a prefix.
A new epoch starts when the changes pass 22 % of the budget; and, while the text is too short for any provider to
cache, whenever a shown note changed, so that a small memory never shows an old line beside a newer one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from impressmem_integrations.core import render
from impressmem_integrations.core.bound import bytes_of
from impressmem_integrations.core.commands.records import MOST, UNIT
from impressmem_integrations.core.commands.snapshots import Material, Same
from impressmem_integrations.model import Context, Impression, Omission

RENDER_VERSION = 3
FREE_STEP = 0.035
"""Share of the budget that a cut of the core frees, so that the next changes need no further cut."""
LEAST_USED = 0.95
"""Share of the budget that is used while notes are left; where whole lines fall short of it, one is shortened."""
DELTA_SHARE = 0.22
"""Share of the budget that changes may take before a new epoch starts."""
CACHEABLE_UNITS = 1_400
"""Below about 1,024 tokens no provider caches a prefix, so nothing is gained by keeping one."""

CountUnits = Callable[[str], int]
_SINCE = "Since then (a line here replaces an older one about the same name above):"


@lru_cache(maxsize=64)
def profile(budget_units: int, unit_name: str) -> str:
    """Names the snapshots that can be shared: same budget, same measure, same rendering."""
    text = json.dumps([budget_units, unit_name, RENDER_VERSION])
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


class Core(NamedTuple):
    """The frozen part of an epoch.

    Attributes:
        text: Its lines, from the fence's opening on; the first `fixed` are never cut.
        clues: Per line the clue it shows, or "".
        fixed: How many lines at the front must stay: the opening, names and pinned notes.
        stored: How many impressions the scope held.
        omitted: What did not fit when it was made.
        pins_complete: Whether every pinned note is shown.
        average: Units of an average line, to estimate what is left out.
        partial: The clue whose line was cut to fit, or "".
    """

    text: str
    clues: tuple[str, ...]
    fixed: int
    stored: int
    omitted: tuple[Omission, ...]
    pins_complete: bool
    average: int
    partial: str

    def about(self) -> str:
        """What is stored beside the text: the clues, and a line of JSON."""
        _, clues, *rest = self._replace(omitted=_plain(self.omitted))
        return UNIT.join(clues) + "\n" + _write_json(rest)

    @classmethod
    def parse(cls, text: str, about_text: str) -> Core:
        """Read the stored form.

        Raises:
            ValueError: It is none.
        """
        with _reading():
            joined, _, rest = about_text.rpartition("\n")
            fixed, stored, omitted, pins_complete, average, partial = json.loads(rest)
            clues = tuple(joined.split(UNIT))
            _require(text.startswith(render.OPENING + "\n") and text.count("\n") + 1 == len(clues) >= fixed >= 0)
            left = _omissions(omitted)
            return cls(text, clues, int(fixed), int(stored), left, bool(pins_complete), int(average), str(partial))


class Delta(NamedTuple):
    """What changed since the core was made: lines, oldest first, and per line its clue."""

    lines: tuple[str, ...] = ()
    clues: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    def about(self) -> str:
        """What is stored beside the lines, which end the text."""
        return UNIT.join(self.clues) + "\n" + UNIT.join(self.gone)

    @classmethod
    def parse(cls, text: str, about_text: str) -> Delta:
        """Read the stored form: a text that ends with the lines, and what is stored beside them.

        Raises:
            ValueError: It is none.
        """
        _, since, tail = text.rpartition(f"\n{_SINCE}\n")
        *lines, end = tail.split("\n")
        _require(not text or end == render.CLOSING)  # "": not even the pinned notes fit
        if not since:
            _require(about_text == "\n")
            return cls()
        clues, gone = (joined.split(UNIT) for joined in about_text.split("\n"))
        _require(len(lines) == len(clues))
        return cls(tuple(lines), tuple(clues), tuple(filter(None, gone)))


class Assembled(NamedTuple):
    """A context, of whose text the first `shown` characters are a beginning of its core."""

    context: Context
    shown: int


def new_core(material: Material, budget_units: int, count: CountUnits) -> Core:
    """Freeze a core for a new epoch."""
    made = render.chosen(material, budget_units, count)
    lines = [render.OPENING, render.HEADING, *made.heads]
    clues = [""] * len(lines)
    for title, notes in (("Pinned:", made.pinned), ("Notes:", made.notes), ("Older notes:", made.older)):
        if notes:
            lines += [title, *(text for _, text in notes)]
            clues += ["", *(clue for clue, _ in notes)]
        if title == "Pinned:":
            fixed = len(lines)
    return Core(
        "\n".join(lines),
        tuple(clues),
        fixed,
        material.impressions,
        made.omitted,
        made.pins_complete,
        made.average_units,
        made.partial,
    )


def extended(core: Core, delta: Delta, changed: Sequence[Impression], gone: Sequence[str]) -> Delta:
    """Append what changed: a line for each record, and one for each name that left and was shown."""
    lines, clues, left = list(delta.lines), list(delta.clues), set(delta.gone)
    standing = _standing(core, delta, {*gone, *(item.clue for item in changed)})
    for clue in gone:
        if clue in standing and clue not in left:
            lines.append(f"- {render.plain(clue)} is no longer kept")
            clues.append("")
            left.add(clue)
    for item in changed:
        line = render.line(item)
        text = line + " (pinned)" if item.pin else line
        if standing.get(item.clue) in (text, line) and item.clue not in left:
            continue  # touched, or back as it was: what stands is true
        lines.append(text)
        clues.append(item.clue)
        left.discard(item.clue)
    return Delta(tuple(lines), tuple(clues), tuple(sorted(left)))


def _standing(core: Core, delta: Delta, wanted: set[str]) -> dict[str, str]:
    """The newest line about each of some clues, where there is one."""
    found = {}
    if not wanted.isdisjoint(core.clues):
        found = {clue: line for clue, line in zip(core.clues, core.text.split("\n"), strict=True) if clue in wanted}
    found.update((clue, line) for clue, line in zip(delta.clues, delta.lines, strict=True) if clue in wanted)
    return found


def pins_moved(core: Core, changed: Sequence[Impression]) -> bool:
    """Whether a note was pinned or unpinned since: what may be cut changes, so a new core is due."""
    pinned = set(core.clues[: core.fixed])
    return any(item.pin != (item.clue in pinned) for item in changed)


def replaces_shown(core: Core, before: Delta, after: Delta) -> bool:
    """Whether the newest changes contradict a line that stands."""
    new = {*after.clues[len(before.clues) :]} - {""}
    shown_before = not new.isdisjoint(core.clues) or not new.isdisjoint(before.clues)
    return shown_before or bool({*after.gone}.difference(before.gone))


def assembled(core: Core, delta: Delta, budget_units: int, stored: int, epoch: int, count: CountUnits) -> Assembled:
    """The text of core and changes; over the budget only where pinned notes and changes alone are over it."""
    tail = [_SINCE, *delta.lines] if delta.lines else []
    part, room = _Part(core), 0  # room for changes to come
    text = part.followed_by(tail)
    size = count(text)
    over = size - budget_units
    if over > 0:
        step = max(1, int(budget_units * FREE_STEP))
        must_free = -(-over // step) * step
        room = must_free - over
        freed = 0
        while part.kept > core.fixed and freed < must_free:
            freed += count(part.drop() + "\n")
        while True:
            if part.kept > core.fixed and not core.clues[part.kept - 1]:
                part.drop()  # a title without a line below it
            text = part.followed_by(tail)
            size = count(text)
            if part.kept == core.fixed or size <= budget_units:
                break
            part.drop()
    left = budget_units - size
    shortened = part.next_shortened(left - room, count)
    if not shortened and left > budget_units * (1 - LEAST_USED):
        shortened = part.next_shortened(left, count)
    if shortened:
        text = part.followed_by([*shortened, *tail])
        size = count(text)
    if size > budget_units and not any(core.clues[: part.kept]) and not tail:
        nothing = Context("", omitted=_omitted(core, stored), epoch=epoch, pins_complete=core.pins_complete)
        return Assembled(nothing, 0)
    shown = dict.fromkeys(core.clues[: part.kept])
    shown.pop(core.partial, None)  # what is shown in part is not shown: a question may still bring it in
    shown.update(dict.fromkeys(delta.clues))
    for clue in ("", *delta.gone):
        shown.pop(clue, None)
    included = tuple(shown)
    made = Context(
        text=text,
        included=included,
        omitted=_omitted(core, stored - len(included)),
        epoch=epoch,
        pins_complete=core.pins_complete,
        units=size,
    )
    return Assembled(made, part.end)


class _Part:
    """The beginning of a core that a context shows: its first `kept` lines, `end` characters."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.kept = len(core.clues)
        self.end = len(core.text)

    def drop(self) -> str:
        """Let the last line leave; there are more. Returns it."""
        start = self.core.text.rindex("\n", 0, self.end)
        line = self.core.text[start + 1 : self.end]
        self.kept, self.end = self.kept - 1, start
        return line

    def followed_by(self, rest: Sequence[str]) -> str:
        """The whole text."""
        return "\n".join([self.core.text[: self.end], *rest, render.CLOSING])

    def next_shortened(self, units: int, count: CountUnits) -> list[str]:
        """The beginning of the first note that had to leave, below its title; nothing where not even that fits."""
        clues = self.core.clues
        at = next((at for at in range(self.kept, len(clues)) if clues[at]), None)
        if at is None:
            return []
        *titles, line = self.core.text[self.end + 1 :].split("\n", at - self.kept + 1)[: at - self.kept + 1]
        head = line.find(") ", len(render.plain(clues[at]))) + 2  # behind the filing
        short = render.cut(line, head, units - sum(count(title + "\n") for title in titles), count)
        return [*titles, short] if short else []


def _omitted(core: Core, left: int) -> tuple[Omission, ...]:
    """What the core left out, with the number of impressions as it is now."""
    pins = sum(omission.count for omission in core.omitted if omission.what == "pinned")
    found = [omission for omission in core.omitted if omission.what != "impressions"]
    left -= pins
    if left > 0:
        named = [omission for omission in core.omitted if omission.what == "impressions"]
        units = named[0].units if named and named[0].count == left else left * core.average
        clues = named[0].clues if named and named[0].count == left else ()
        found.insert(pins > 0, Omission("impressions", left, units, clues))
    return tuple(found)


def stored(new: Assembled, core: Core, delta: Delta, budget_units: int) -> dict[str, str | int]:
    """A context as it is stored; where its core is stored already, `changes_of_stored` is enough."""
    return {
        **changes_of_stored(new, core, delta, budget_units),
        "core": core.text,
        "core_about": core.about(),
        "pinned": _around(core.clues[: core.fixed]),
    }


def changes_of_stored(new: Assembled, core: Core, delta: Delta, budget_units: int) -> dict[str, str | int]:
    """What of a stored context differs from that of the same epoch before."""
    made, shown = new
    brief = made.units * LEAST_USED <= CACHEABLE_UNITS  # the next cut may make it so
    delta_about = delta.about()
    taken = len("\n".join([*delta.lines, delta_about]).encode())
    return {
        "kept": shown,
        "rest": made.text[shown:],
        "room": bytes_of(budget_units * DELTA_SHARE) - taken,
        "included": UNIT.join(made.included),
        "about": _write_json([made.pins_complete, made.units, _plain(made.omitted), *_lengths(made)]),
        "delta_about": delta_about,
        "standing": _around(dict.fromkeys((*core.clues, *delta.clues))) if brief else "",
    }


def _around(clues: Iterable[str]) -> str:
    """Clues with a mark around each, so that a script finds one among them."""
    return UNIT.join(["", *filter(None, clues), ""])


def restored(held: Same) -> Context | None:
    """A stored context, or None where its parts do not fit together: somebody else wrote to it."""
    try:
        with _reading():
            pins_complete, size, omitted, *lengths = json.loads(held.about)
            clues = tuple(held.included.split(UNIT)) if held.included else ()
            made = Context(held.text, "", clues, _omissions(omitted), held.epoch, bool(pins_complete), int(size))
            _require(lengths == _lengths(made))
            return made
    except ValueError:
        return None


def is_readable(fields: Mapping[str, str], seq: int) -> bool:
    """Whether the fields of a stored context fit together, and it is not of a time to come."""
    try:
        with _reading():
            "".join(fields.values()).encode()
            held = Same.parse([fields[name] for name in ("epoch", "core", "kept", "rest", "included", "about")])
            core = Core.parse(fields["core"], fields["core_about"])
            Delta.parse(held.text, fields["delta_about"])
            _require(abs(int(fields["room"])) <= MOST)
            _require(fields["pinned"] == _around(core.clues[: core.fixed]) and "standing" in fields)
            _require(0 <= int(fields["seq"]) <= seq and restored(held) is not None)
    except ValueError:
        return False
    return True


def _lengths(made: Context) -> list[int]:
    """What tells a context that was cut."""
    return [len(made.text), len(made.included)]


@contextmanager
def _reading() -> Iterator[None]:
    """Make every error of what cannot be read a ValueError."""
    try:
        yield
    except (TypeError, LookupError, OverflowError, RecursionError) as error:
        raise ValueError("a stored context cannot be read") from error


def _require(sound: bool) -> None:
    if not sound:
        raise ValueError("the parts of a stored context do not fit together")


def _texts(read: Iterable[object]) -> tuple[str, ...]:
    texts = tuple(text for text in read if isinstance(text, str))
    _require(len(texts) == len(tuple(read)))
    return texts


_write_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _omissions(read: Iterable[tuple[str, int, int, list[str]]]) -> tuple[Omission, ...]:
    return tuple(Omission(str(what), int(count), int(units), _texts(clues)) for what, count, units, clues in read)


def _plain(omitted: Iterable[Omission]) -> tuple[Any, ...]:
    return tuple((left.what, left.count, left.units, left.clues) for left in omitted)
