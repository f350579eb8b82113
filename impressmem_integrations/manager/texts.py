"""The manager's texts: one note as a line, the context, a recall, the maintenance prompt."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from impressmem_integrations.core.render import fenced, plain
from impressmem_integrations.manager.mixture import Note
from impressmem_integrations.model import Impression

EMPTY = "No notes from earlier conversations are kept yet."
"""Said instead of an empty text: an empty system message is refused by some providers."""

MAINTAIN_PROMPT = """\
The conversation above is over for now. Look after your memory of it; the user does not see what you do here.

Compare what was new in it with the notes you were shown, and decide:
- Did the user tell or confirm something that will matter later and that no note holds yet? Save it: one independent \
fact for each clue, under categories and labels that already exist where they fit.
- Does a note say something that is no longer true? Save the new state under the same clue, so that it replaces the old.
- Do clues, labels or categories close to these facts mean the same? Merge them with the organize tool, and only then.

Make one tool call for each of these steps, all of them in this answer. Do not record small talk, your own advice, \
secrets such as passwords and keys, or this task itself. If nothing is worth a change, call no tool and answer \
IGNORE."""


def shown_time(milliseconds: float, zone: tzinfo) -> str:
    """A time with its distance from UTC, so that no hour is ambiguous."""
    return datetime.fromtimestamp(milliseconds // 1000, UTC).astimezone(zone).isoformat(" ", "seconds")


def marked_line(note: Note, mark: str, zone: tzinfo) -> str:
    """One note of a context: time of its last change, pin mark, clue, content."""
    held = note.impression
    return f"[{shown_time(note.touched, zone)}][{mark}][{plain(held.clue)}]{plain(held.content)}"


def recalled_line(held: Impression, zone: tzinfo) -> str:
    """One note of a recall: time of its last change, clue, content."""
    at = shown_time(held.updated_at.timestamp() * 1000, zone)
    return f"[{at}][{plain(held.clue)}]{plain(held.content)}"


def context(
    categories: Sequence[str],
    labels: Sequence[str],
    lines: Sequence[str],
    left_out: int,
    marks: tuple[str, str],
) -> str:
    """The memory text for a system prompt; every list oldest first.

    Args:
        categories: Their names.
        labels: Their names.
        lines: The notes as lines.
        left_out: How many stored notes are not among them.
        marks: The mark of pinned notes and that of others.
    """
    if not (categories or labels or lines or left_out):
        return EMPTY
    parts = []
    for title, names in (("Categories", categories), ("Labels", labels)):
        if names:
            parts.append(f"{title}, oldest first: {', '.join(plain(name) for name in names)}")
    if lines:
        parts.append(f"Notes, oldest first, as [last change][{marks[0]} pinned, {marks[1]} not][clue]content:")
        parts += lines
    if left_out:
        parts.append(f"({left_out} more {'note is' if left_out == 1 else 'notes are'} stored and not shown.)")
    return fenced(parts)
