"""The parts of an audit that look at hints and words of names, at turns kept as evidence, and at snapshots."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from impressmem_integrations.core.audit_view import Looking
from impressmem_integrations.core.commands.keep import Write, exact_bytes
from impressmem_integrations.core.commands.names import KINDS, name_terms, name_words
from impressmem_integrations.core.commands.records import UNIT
from impressmem_integrations.core.context import is_readable
from impressmem_integrations.core.text import loose
from impressmem_integrations.core.truth import LAST_MS, LAST_SEQ, whole

HINTS = ("twins", "alike", "alike-names")
"""Keys of hints, as `lua/lib/plan.lua` describes them."""
_TURN_PARTS = 6
_TURN_ID = 2  # time, speaker, id, thread, speaker as shown, text


def _alike(name: str) -> str:
    return hashlib.sha1(exact_bytes(loose(name)), usedforsecurity=False).hexdigest()[:8]


def check_hints(audit: Looking) -> None:
    """Hints point at what lives and looks like that. That all have one is not asked: it is one owner per field."""
    clues = {str(record.facts.seq): clue for clue, record in audit.records.items()}
    good = {
        "twins": {(record.facts.digest[:6], str(record.facts.seq)) for record in audit.records.values()},
        "alike": {(_alike(clue), seq) for seq, clue in clues.items()},
        "alike-names": {(kind[0] + _alike(name), name) for kind in KINDS for name in audit.living(kind)},
    }
    for key in HINTS:
        for field, owner in audit.table(key).items():
            if (field, owner) not in good[key]:
                gone = Write("HDEL", audit.key(key), (field,))
                audit.report(audit.key(key), field, "points at nothing that looks like it", gone)


def check_names(audit: Looking) -> None:
    """Every category and label in use is found by the words of its name, as they were written."""
    key, found = audit.key("name-terms"), audit.table("name-terms")
    named: dict[str, str] = {}
    words: dict[str, float] = {}
    for kind in KINDS:
        for name in audit.living(kind):
            field = kind + UNIT + name
            terms = found.get(field)
            if terms is None or (terms and not all(terms.split(UNIT))):
                terms = name_terms(name)
                audit.report(key, field, "is missing or no list of words", Write("HSET", key, (field, terms)))
            named[field] = terms
            words.update(dict.fromkeys(name_words(kind, name, terms), 0.0))
    audit.remove_others(key, found, named, "names nothing that lives")
    audit.compare("name-words", words)


def check_turns(audit: Looking) -> None:
    """Every message has its place, and the counters add up."""
    turns, places = audit.table("turns"), audit.table("turn-places")
    held: dict[str, list[int]] = {}
    for position, value in turns.items():
        parts = value.split(UNIT, _TURN_PARTS - 1)
        if whole(position, LAST_SEQ) and len(parts) == _TURN_PARTS and whole(parts[0], LAST_MS) is not None:
            held.setdefault(parts[_TURN_ID], []).append(int(position))
        else:
            gone = Write("HDEL", audit.key("turns"), (position,))
            audit.report(audit.key("turns"), position, "is no message of a turn", gone)
    newest = max(
        (kept for kept in (place.rpartition(" ")[2] for place in places.values()) if kept.isdecimal()), default="0"
    )
    for turn, positions in held.items():
        place = f"{min(positions)} {max(positions)}"
        said, _, kept = places.get(turn, "").rpartition(" ")  # first, last, when it was kept
        if said != place:
            put = Write("HSET", audit.key("turn-places"), (turn, f"{place} {kept if kept.isdecimal() else newest}"))
            audit.report(audit.key("turn-places"), turn, "does not say where the turn stands", put)
    audit.remove_others(audit.key("turn-places"), places, held, "has no messages")
    _check_counters(audit, turns, [position for positions in held.values() for position in positions])


def _check_counters(audit: Looking, turns: Mapping[str, str], positions: list[int]) -> None:
    wanted = {
        "turn_bytes": sum(len(exact_bytes(value)) for value in turns.values()),
        "turn_next": max([audit.meta.get("turn_next", 1), *(position + 1 for position in positions)]),
    }
    for name, default in (("turn_bytes", 0), ("turn_next", 1)):
        noted, value = audit.noted.get(name, str(default)), wanted[name]
        if noted != str(value):
            put = Write("HSET", "meta", (name, str(value)))
            audit.report("meta", name, f"is {noted}, not {value}", put)
    first = audit.meta.get("turn_first", 1)
    if positions and min(positions) < first:
        put = Write("HSET", "meta", ("turn_first", str(min(positions))))
        audit.report("meta", "turn_first", f"is {first}, not {min(positions)}", put)


def check_snapshots(audit: Looking) -> None:
    """The list of snapshots names those that are there, and each can be read."""
    listed = audit.table("snapshots")
    there = {name.removeprefix("snapshot:"): name for name in audit.names("snapshot:")}
    audit.remove_others(audit.key("snapshots"), listed, there, "is not there")
    for profile, name in there.items():
        gone = Write("UNLINK", audit.key(name))
        if profile not in listed:
            audit.report(audit.key(name), "", "is not listed in snapshots", gone)
        elif not is_readable(audit.table(name), audit.seq):
            message = "is a context that cannot be read"
            audit.report(audit.key(name), "", message, gone, Write("ZREM", audit.key("snapshots"), (profile,)))
