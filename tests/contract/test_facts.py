"""Facts have one stored form, the same in Lua and in Python, and it is short."""

from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core import keys
from impressmem_integrations.core.commands.records import Facts, one_digest
from tests.architecture.tree import LUA

AT = 1_796_000_000_000
YEAR = 31_536_000_000
SOURCE = one_digest("turn 1")
CASES = {
    "new": Facts(AT, AT, AT, 1, 7, 0, 0, "-digest-123", "-"),
    "new, of a turn": Facts(AT, AT, AT + 1, 1, 7, 0, 0, "12345678901", SOURCE),
    "of several turns": Facts(AT, AT + YEAR, AT + YEAR, 12, 9_999, 0, 0, "digest-1234", f"{SOURCE},{SOURCE}"),
    "confirmed": Facts(AT, AT, AT, 1, 7, 3, AT + YEAR, "digest-1234", "-"),
    "confirmed, of a turn": Facts(AT, AT, AT, 1, 7, 3, AT + YEAR, "digest-1234", SOURCE),
    "of a source that is a number": Facts(AT, AT, AT, 1, 7, 0, 0, "digest-1234", "42"),
    "confirmed, of a number": Facts(AT, AT, AT, 1, 7, 1, AT, "digest-1234", "42"),
    "imported, times in disorder": Facts(AT, AT - 5, AT - 9, 1, 0, 0, 0, "digest-1234", "-"),
    "imported, used at no time": Facts(AT, AT, AT, 1, 0, 2, 0, "digest-1234", "-"),
    "imported, used but not counted": Facts(AT, AT, AT, 1, 0, 0, AT, "digest-1234", "-"),
    "imported, of 1970": Facts(0, 0, 0, 1, 0, 0, 0, "digest-1234", "-"),
}
IN_LUA = (
    (LUA / "lib/scope.lua").read_text()
    + """
local f = read_facts(ARGV[1])
return {write_facts(f), whole(f.created), whole(f.updated), whole(f.touched), whole(f.revision), whole(f.seq),
  whole(f.uses), whole(f.used), f.digest, f.origin}
"""
)


@pytest.mark.parametrize("facts", CASES.values(), ids=CASES)
def test_facts_survive_both_readers_and_writers(client, facts):
    text = facts.wire()
    assert Facts.parse(text) == facts
    again, *fields = (part.decode() for part in client.eval(IN_LUA, 1, "impressmem:1:{x}:meta", text))
    assert again == text
    assert fields == list(map(str, facts))


@pytest.mark.parametrize("name", ["new", "new, of a turn", "confirmed", "confirmed, of a turn"])
def test_the_usual_facts_fit_a_compact_hash(name):
    assert len(CASES[name].wire()) <= 64


def test_facts_of_one_source_stay_compact_when_the_note_is_saved_again(client):
    ann = ImpressionStore(client=client, user="ann")
    for text in ("tea", "coffee"):
        ann.save("A", text, category="Food", labels=["Drink"], source="turn 1")
    ann.confirm(["A"])
    key = keys.scope_prefix(ann.scope) + "0:facts"
    assert client.object("encoding", key) in (b"listpack", b"ziplist")
    assert client.hstrlen(key, "A") <= 64


@pytest.mark.parametrize(
    "text", ["", "x", "digest 1 0 0 1", "digest 1 0 0 1 x", "digest 1 0 0 1 7 a b", "d 1 0 0 1 7 1 2 s s"]
)
def test_what_are_no_facts_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Facts.parse(text)
