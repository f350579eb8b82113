"""Reads the fenced blocks of a page, so that what it shows is run and not copied into a test."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """Python that a page shows, and the output it shows below it."""

    line: int
    code: str
    output: str


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str) -> list[tuple[str, str, int]]:
    """Language, body and line number of each fenced block."""
    return [(found[1], found[2], text.count("\n", 0, found.start()) + 1) for found in _BLOCK.finditer(text)]


def examples(text: str) -> list[Example]:
    """The Python blocks, each with the `text` block that follows it, "" where none does."""
    found = blocks(text)
    followed_by = [*found[1:], ("", "", 0)]
    return [
        Example(line, body, output if after == "text" else "")
        for (language, body, line), (after, output, _) in zip(found, followed_by, strict=True)
        if language == "python"
    ]
