"""The part of an audit that looks at the counters of a scope: what is no number there counts as lost."""

from __future__ import annotations

from collections.abc import Mapping

from impressmem_integrations.core.audit_view import Looking
from impressmem_integrations.core.commands.keep import Write
from impressmem_integrations.core.commands.records import MOST, half_life_ms
from impressmem_integrations.core.truth import LAST_SEQ, is_strong, whole, whole_score
from impressmem_integrations.settings import LAYOUT_VERSION

CHANGES_KEPT = 128
_COUNTERS = ("generation", "seq", "clock", "journal_bytes", "turn_bytes", "turn_next")
_PLAIN = ("weak_from", "turn_first", "max_impressions", "epoch", "reused_units", "fresh_units")
"""Counters that are written anew from a default when they are needed."""
_MOST_OF = {
    **dict.fromkeys((*_COUNTERS, *_PLAIN, "delta_floor", "barrier"), MOST),
    **dict.fromkeys(("turn_first", "turn_next"), LAST_SEQ + 1),
    "generation": 10**15 - 1,
    "half_life": half_life_ms(None),
}


def readable_meta(noted: Mapping[str, str]) -> dict[str, int]:
    """The counters that can be read."""
    read = {name: whole(noted.get(name), most) for name, most in _MOST_OF.items()}
    if not read["half_life"]:
        read["half_life"] = None  # a division by it
    return {name: value for name, value in read.items() if value is not None}


def check_meta(audit: Looking) -> None:
    """Counters are not behind what they count, and the journal's entries as long as they say."""
    noted, meta = audit.noted, audit.meta
    bytes_of: dict[str, int] = {}
    for entry, value in audit.table("journal").items():
        said, _, counted = value.rpartition(" ")
        if said != counted:
            gone = Write("XDEL", audit.key("journal"), (entry,))
            audit.report(audit.key("journal"), entry, f"notes {said or 'no'} bytes and has {counted}", gone)
        bytes_of[entry] = whole(said) or 0
    if not (noted or audit.records or bytes_of):
        return
    facts = [record.facts for record in audit.records.values()]
    wanted = {
        "journal_bytes": sum(bytes_of.values()),
        "seq": max([audit.seq, *(one.seq for one in facts)]),
        "clock": max([meta.get("clock", 0), *(one.touched for one in facts)]),
        "generation": int(audit.generation),
        "layout": LAYOUT_VERSION,
    }
    if audit.records or "half_life" in noted:
        wanted["half_life"] = meta.get("half_life", half_life_ms(None))
    for name, number in wanted.items():
        # 'generation' of a scope that never was erased and 'seq' of an empty one may be absent
        if noted.get(name) != str(number) and (name in noted or number):
            message = f"is {noted.get(name, 'missing')}, not {number}"
            audit.report("meta", name, message, Write("HSET", "meta", (name, str(number))))
    _check_garbled(audit)
    if noted.get("purge"):
        audit.report("meta", "purge", "names erased generations still to purge", Write("HDEL", "meta", ("purge",)))
    plain = [
        record.facts.touched
        for clue, record in audit.records.items()
        if clue not in audit.table("pins") and not is_strong(record.facts)
    ]
    found, first = meta.get("weak_from", 0), min(plain, default=0)
    if plain and found > first:
        audit.report(
            "meta", "weak_from", f"is {found}, above {first}", Write("HSET", "meta", ("weak_from", str(first)))
        )
    for name in ("changed", "withdrawn"):
        stamps = {clue: at for clue, at in audit.table(name).items() if whole_score(at) is not None}
        audit.check_length(audit.key(name), stamps, CHANGES_KEPT, *audit.contexts_anew())


def _check_garbled(audit: Looking) -> None:
    """What is no number and can be had from nothing else begins anew; contexts do where it told what is new to them."""
    anew = {
        **{name: [Write("HDEL", "meta", (name,))] for name in _PLAIN},
        "delta_floor": audit.contexts_anew(),
        "barrier": [Write("HSET", "meta", ("barrier", str(audit.seq)))],
    }
    for name, writes in anew.items():
        if name in audit.noted and name not in audit.meta:
            audit.report("meta", name, f"is {audit.noted[name]}, which is no count", *writes)
