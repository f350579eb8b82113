"""Every Lua script says at its top what it is for and what it takes, answers and can fail with.

    -- Saves one impression and moves it to its new places.
    -- KEYS[1]  the scope's meta key
    -- ARGV[1]  clue
    -- Returns: {status, revision}
    -- Can fail: CORRUPT when a key holds another type; nothing is written then.

A script without arguments says `ARGV: none`. Fragments in lua/lib are no scripts: they name purpose and failures only.
"""

from __future__ import annotations

import re

import pytest

from tests.architecture.tree import LUA, ROOT

PARTS = {
    "KEYS": re.compile(r"^KEYS\b", re.MULTILINE),
    "ARGV": re.compile(r"^ARGV\b", re.MULTILINE),
    "Returns": re.compile(r"^(Returns?|Reply|Replies)\b", re.MULTILINE),
    "Can fail": re.compile(r"^(Can fail|Fails?|Errors?)\b", re.MULTILINE),
}
FRAGMENT_PARTS = {"Can fail"}


def missing_parts(source: str, needed: set[str]) -> list[str]:
    """What the comment block at the top of a script does not name, `purpose` included."""
    header = []
    for line in source.splitlines():
        if not line.startswith("--"):
            break
        header.append(line.removeprefix("--").strip())
    purpose = next((line for line in header if line and not line.startswith("#include")), "")
    missing = [] if len(purpose.split()) >= 3 and not any(p.match(purpose) for p in PARTS.values()) else ["purpose"]
    text = "\n".join(header)
    return missing + [name for name in sorted(needed) if not PARTS[name].search(text)]


def test_every_script_has_a_header():
    incomplete = {}
    for path in sorted(LUA.rglob("*.lua")):
        needed = set(PARTS) if path.parent == LUA else FRAGMENT_PARTS
        if missing := missing_parts(path.read_text(encoding="utf-8"), needed):
            incomplete[str(path.relative_to(ROOT))] = missing
    assert incomplete == {}


GOOD = "-- Saves one impression.\n-- KEYS[1]  meta\n-- ARGV: none\n-- Returns: 1\n-- Can fail: nothing.\nreturn 1\n"


def test_a_whole_header_passes():
    assert missing_parts(GOOD, set(PARTS)) == []


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_header_without_a_part_is_found(part):
    lines = [line for line in GOOD.splitlines() if not PARTS[part].match(line.removeprefix("-- "))]
    assert missing_parts("\n".join(lines), set(PARTS)) == [part]


def test_a_header_without_a_purpose_is_found():
    assert missing_parts("\n".join(GOOD.splitlines()[1:]), set(PARTS)) == ["purpose"]


def test_a_comment_further_down_is_no_header():
    assert missing_parts("local one = 1\n" + GOOD, set(PARTS)) == ["purpose", *sorted(PARTS)]
