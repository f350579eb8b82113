"""Shortening a memory text to fewer tokens, by whole entries. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from impressmem_integrations.core.render import FENCE

_DATE = re.compile(r"- (\d{4}-\d{2}-\d{2}) ")
_GONE = re.compile(r"- (.*) is no longer kept$")
_PINNED_TITLE = "Pinned:"
_OLDER_TITLE = "Older notes:"
_PINNED_MARK = " (pinned)"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One note's line: where it stands, and how much it is worth keeping (more is better)."""

    place: int
    worth: tuple[int, int, str, int]


def shortened(text: str, most_tokens: int, count: Callable[[str], int]) -> str | None:
    """Keep whole entries of a memory text: pinned ones, then those for the question, then the newest.

    Args:
        text: As contexts are rendered.
        most_tokens: The most tokens of the result.
        count: Measures a text.

    Returns:
        The fence with the entries that fit, in the order they stood; None where not even one does.
    """
    if count(text) <= most_tokens:
        return text
    lines = text.split("\n")
    kept: set[int] = set()
    frame = {at for at, line in enumerate(lines) if _is_frame(lines, at, line)}
    for entry in sorted(_entries(lines), key=lambda entry: entry.worth, reverse=True):
        if count(_joined(lines, frame, kept | {entry.place})) <= most_tokens:
            kept.add(entry.place)
    return _joined(lines, frame, kept) if kept else None


def _is_frame(lines: list[str], at: int, line: str) -> bool:
    """Whether a line is a fence, or the words just after one."""
    return line in (f"<{FENCE}>", f"</{FENCE}>") or (at > 0 and lines[at - 1] == f"<{FENCE}>")


def _joined(lines: list[str], frame: set[int], kept: set[int]) -> str:
    """The kept lines, with each fence that has one of them inside, and with the titles above them."""
    out: list[str] = []
    block: list[str] = []
    title = ""
    has_entry = False
    for at, line in enumerate(lines):
        if line == f"<{FENCE}>":
            block, title, has_entry = [line], "", False
        elif line == f"</{FENCE}>":
            if has_entry:
                out += [*block, line]
        elif at in frame:
            block.append(line)
        elif at in kept:
            block += [title, line] if title else [line]
            title, has_entry = "", True
        elif line.endswith(":") and not line.startswith("- "):
            title = line
    return "\n".join(out)


def _entries(lines: list[str]) -> list[_Entry]:
    """The entries, without those that a later line replaces or takes back."""
    found: dict[str, _Entry] = {}
    section, fences = "", 0
    for place, line in enumerate(lines):
        if line == f"<{FENCE}>":
            fences += 1
            section = ""
        elif not line.startswith("- "):
            section = line if line.endswith(":") else section
        elif gone := _GONE.fullmatch(line):
            found.pop(gone.group(1), None)
        else:
            dated = _DATE.match(line)
            name = line[dated.end() :].split(" (", 1)[0] if dated else line
            pinned = section == _PINNED_TITLE or line.endswith(_PINNED_MARK)
            worth = (2 if pinned else 1 if fences > 1 else 0, section != _OLDER_TITLE, dated.group(1) if dated else "")
            found[name] = _Entry(place, (*worth, place if section != _OLDER_TITLE else -place))
    return list(found.values())
