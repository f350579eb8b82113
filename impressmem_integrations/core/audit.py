"""What is wrong in a dump of a scope, and the writes that put it right. Pure: dump in, findings out.

Records, filing and facts are the truth. From them follows what every index must hold; `_Audit.expected` says it in one
table, and the rest is comparing. Where one of the three is lost, what the indexes still know of it is taken back.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from impressmem_integrations.core.audit_meta import check_meta, readable_meta
from impressmem_integrations.core.audit_parts import HINTS, check_hints, check_names, check_snapshots, check_turns
from impressmem_integrations.core.audit_postings import check_postings
from impressmem_integrations.core.commands.keep import Write
from impressmem_integrations.core.commands.records import GROUP, RECORD, UNIT, Facts, half_life_ms, source_digest
from impressmem_integrations.core.truth import (
    LAST_MS,
    LAST_SEQ,
    Record,
    folded,
    is_strong,
    is_time,
    read_content,
    read_facts,
    read_filing,
    strength,
    whole,
    whole_score,
)
from impressmem_integrations.model import Problem

SEEN_KEPT = 500
_TRUTH = ("impressions", "filing", "facts")
_FIXED = {
    **dict.fromkeys((*_TRUTH, "terms", "name-terms", "spelling", "plans"), "hash"),
    **dict.fromkeys((*HINTS, "turns", "turn-terms", "turn-places", "postings", "turn-postings"), "hash"),
    **dict.fromkeys(("categories", "labels", "clues", "created", "changed", "withdrawn", "pins"), "zset"),
    **dict.fromkeys(("strength", "expiry", "snapshots", "name-words"), "zset"),
    "journal": "stream",
}
_HASHES = ("snapshot:", "posting:", "turn-posting:")
_FAMILIES = ("category:", "label:", "links:", "term:", "turn-term:", *_HASHES)
_RESERVED = "vectors"
_GENERATION = re.compile(r"([0-9]{1,15}):(.+)", re.DOTALL)
_KINDS = {"clue": "clues", "category": "categories", "label": "labels"}

Table = dict[str, str]


@dataclass(frozen=True, slots=True)
class Dump:
    """Everything under a scope's tag: type and items per key name after the tag.

    Attributes:
        kinds: Key name -> its type as the server says it.
        tables: Key name -> field or member -> value or score; for the journal `"<bytes noted> <bytes counted>"`.
        version: The scope's version when the first part was read.
        steady: Whether every part was read at that version, so that they belong together.
    """

    kinds: Mapping[str, str]
    tables: Mapping[str, Table]
    version: str = ""
    steady: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, and the writes that end it."""

    problem: Problem
    writes: tuple[Write, ...] = ()


def audit(dump: Dump) -> list[Finding]:
    """Everything that is wrong with a scope; [] when every index and record agree."""
    return _Audit(dump).findings()


def strength_writes(dump: Dump, half_life_ms: int) -> list[Write]:
    """What applies another half-life to a sound scope; [] where it is in force already."""
    found = _Audit(dump)
    if not found.noted or found.noted.get("half_life") == str(half_life_ms):
        return []
    found.read_truth()
    key = found.key("strength")
    weaker = [
        Write("ZADD", key, (_number(strength(record.facts, half_life_ms)), clue))
        for clue, record in found.records.items()
        if clue in found.table("strength")
    ]
    return [Write("HSET", "meta", ("half_life", str(half_life_ms))), *weaker]


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)


def _readable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Audit:
    """One look at a dump."""

    def __init__(self, dump: Dump) -> None:
        self.dump = dump
        self.noted = dump.tables.get("meta", {}) if dump.kinds.get("meta") == "hash" else {}
        self.meta = readable_meta(self.noted)
        self.generation = str(self.meta.get("generation", self._newest_generation()))
        self.records: dict[str, Record] = {}
        self.found: list[Finding] = []
        stamps = (whole_score(at) or 0 for name in ("changed", "withdrawn") for at in self.table(name).values())
        self.seq = max(self.meta.get("seq", 0), self.meta.get("delta_floor", 0), *stamps, 0)

    def _newest_generation(self) -> int:
        """Where meta does not say it: the newest generation that holds records, since erasing begins with the next."""
        matches = (_GENERATION.fullmatch(name) for name in self.dump.kinds)
        return max((int(m[1]) for m in matches if m and m[2] == "impressions"), default=0)

    def key(self, name: str) -> str:
        return f"{self.generation}:{name}"

    def table(self, name: str, kind: str | None = None) -> Table:
        """What a key of this generation holds; nothing where it is of another type."""
        if self.dump.kinds.get(self.key(name)) != (kind or self._kind(name)):
            return {}
        return self.dump.tables.get(self.key(name), {})

    def _kind(self, name: str) -> str:
        return "hash" if name.startswith(_HASHES) else _FIXED.get(name, "zset")

    def report(self, key: str, member: str, message: str, *writes: Write) -> None:
        self.found.append(Finding(Problem(_readable(key), _readable(member), message), writes))

    def findings(self) -> list[Finding]:
        self.check_keys()
        self.read_truth()
        for name, expected in self.expected().items():
            self.compare(name, expected)
        self.check_spelling()
        check_postings(self, "", {clue: record.facts.seq for clue, record in self.records.items()})
        check_postings(self, "turn-", {place: int(place) for place in self.table("turns") if whole(place, LAST_SEQ)})
        self.check_subsets()
        check_meta(self)
        self.check_threads()
        check_hints(self)
        check_names(self)
        check_turns(self)
        check_snapshots(self)
        return self.found

    # --- keys -----------------------------------------------------------------------------------------------------

    def check_keys(self) -> None:
        for name, kind in self.dump.kinds.items():
            if kind == "none":
                continue  # gone since its name was read
            generation = _GENERATION.fullmatch(name)
            if generation:
                if generation[1] != self.generation:
                    self.report(name, "", "belongs to an erased generation", Write("UNLINK", name))
                elif generation[2] in _FIXED or generation[2].startswith(_FAMILIES):
                    self.check_kind(name, kind, self._kind(generation[2]))
                elif generation[2] != _RESERVED:
                    self.report(name, "", "is no key of this package", Write("UNLINK", name))
            elif name in ("meta", "usage", "failures"):
                self.check_kind(name, kind, "hash")
            elif name in ("forgotten", "threads") or name.startswith("seen:"):
                self.check_kind(name, kind, "zset")
            else:
                self.report(name, "", "is no key of this package", Write("UNLINK", name))

    def check_kind(self, name: str, found: str, wanted: str) -> None:
        if found != wanted:
            self.report(name, "", f"is a {found}, not a {wanted}", Write("UNLINK", name))

    # --- the truth ------------------------------------------------------------------------------------------------

    def read_truth(self) -> None:
        records, filings, facts = (self.table(name) for name in _TRUTH)
        memberships: Callable[[], Mapping[str, tuple[list[str], list[str]]]] = self._memberships()
        for clue in dict.fromkeys((*records, *filings, *facts)):
            if folded(clue) is None:
                self.report_ghost(clue, "is no valid name of a clue")
                continue
            content = read_content(records.get(clue))
            if content is None:
                self.report_ghost(clue, "has no readable record")
                continue
            filed = read_filing(filings.get(clue))
            if filed is None:
                filed = memberships().get(clue, ([], []))
                if not filed[0]:
                    self.report_ghost(clue, "is filed nowhere")
                    continue
                text = UNIT.join([GROUP.join(filed[0]), *filed[1]])
                self.report(self.key("filing"), clue, "is lost", Write("HSET", self.key("filing"), (clue, text)))
            counted = read_facts(facts.get(clue))
            if counted is None or counted.digest != content[1]:
                counted = self._facts_again(clue, content, counted)
                message = "do not belong to the record"
                self.report(self.key("facts"), clue, message, Write("HSET", self.key("facts"), (clue, counted.wire())))
            self.records[clue] = Record(counted, *filed)

    def report_ghost(self, clue: str, message: str) -> None:
        writes = [Write("HDEL", self.key(name), (clue,)) for name in (*_TRUTH, "terms") if clue in self.table(name)]
        writes += self.contexts_anew()
        self.report(self.key("impressions"), clue, message, *writes)

    def contexts_anew(self) -> list[Write]:
        """Note a change of now that nothing tells of, so that no context goes on from before it."""
        now = str(self.seq + 1)
        return [Write("HSET", "meta", ("seq", now, "delta_floor", now))]

    def _memberships(self) -> Callable[[], Mapping[str, tuple[list[str], list[str]]]]:
        """What the indexes know of filings, read when first needed."""
        known: dict[str, tuple[list[str], list[str]]] = {}

        def read() -> Mapping[str, tuple[list[str], list[str]]]:
            if not known:
                for at, family in enumerate(("category:", "label:")):
                    for name in self.names(family):
                        for clue in self.table(name) if folded(name.removeprefix(family)) else ():
                            known.setdefault(clue, ([], []))[at].append(name.removeprefix(family))
            return known

        return read

    def _facts_again(self, clue: str, content: tuple[str | None, str], found: Facts | None) -> Facts:
        if found:
            numbers = (found.created, found.updated, found.touched, found.revision, found.seq, found.uses, found.used)
        else:
            touched = whole_score(self.table("clues").get(clue), LAST_MS) or min(self.meta.get("clock", 0), LAST_MS)
            seq = whole_score(self.table("created").get(clue), LAST_SEQ) or min(self.seq, LAST_SEQ)
            numbers = (touched, touched, touched, 1, seq, 0, 0)
        return Facts(*numbers, content[1], source_digest(content[0]))

    # --- what follows from it -------------------------------------------------------------------------------------

    def expected(self) -> dict[str, dict[str, float]]:
        """Key name -> member -> score, for every index that the records decide alone."""
        tables: dict[str, dict[str, float]] = defaultdict(dict)
        pins = self.table("pins")
        half_life = float(self.meta.get("half_life", half_life_ms(None)))
        for name in ("clues", "created", "strength", "categories", "labels"):
            tables[name] = {}
        for name in self.names("category:", "label:", "links:"):
            tables[name] = {}
        for clue, record in self.records.items():
            touched = float(record.facts.touched)
            tables["clues"][clue] = touched
            tables["created"][clue] = float(record.facts.seq)
            if clue not in pins and is_strong(record.facts):
                tables["strength"][clue] = strength(record.facts, half_life)
            for kind, names in (("category", record.categories), ("label", record.labels)):
                for name in names:
                    tables[f"{kind}:{name}"][clue] = touched
                    known = tables[_KINDS[kind]]
                    known[name] = max(known.get(name, 0.0), touched)
            for one in record.labels:
                for other in record.labels:
                    if one != other:
                        counts = tables["links:" + one]
                        counts[other] = counts.get(other, 0.0) + 1
        return tables

    def names(self, *families: str) -> Iterable[str]:
        start = len(self.generation) + 1
        for name in self.dump.kinds:
            if name.startswith(tuple(self.key(family) for family in families)):
                yield name[start:]

    def compare(self, name: str, expected: Mapping[str, float]) -> None:
        key, found = self.key(name), self.table(name, "zset")
        for member, score in expected.items():
            put = Write("ZADD", key, (_number(score), member))
            if member not in found:
                self.report(key, member, "is missing", put)
            elif not math.isclose(float(found[member]), score, rel_tol=1e-14):
                self.report(key, member, f"stands at {found[member]}, not at {_number(score)}", put)
        self.remove_others(key, found, expected, "does not belong here")

    def remove_others(self, key: str, found: Iterable[str], known: Mapping[str, object], message: str) -> None:
        for member in found:
            if member not in known:
                command = "HDEL" if self.dump.kinds.get(key) == "hash" else "ZREM"
                self.report(key, member, message, Write(command, key, (member,)))

    def living(self, kind: str) -> Iterable[str]:
        if kind == "clue":
            return self.records
        return {name for r in self.records.values() for name in (r.categories if kind == "category" else r.labels)}

    def check_spelling(self) -> None:
        key, found, expected = self.key("spelling"), self.table("spelling"), {}
        for kind in _KINDS:
            for name in self.living(kind):
                key_form = folded(name)
                if key_form is not None and key_form != name:
                    expected[kind + UNIT + key_form] = name
                    expected[kind + RECORD + name] = key_form
        for spelled, value in expected.items():
            if found.get(spelled) != value:
                self.report(key, spelled, "is missing or wrong", Write("HSET", key, (spelled, value)))
        self.remove_others(key, found, expected, "spells nothing that lives")

    def check_subsets(self) -> None:
        for name in ("pins", "changed", "expiry"):
            self.remove_others(self.key(name), self.table(name), self.records, "has no record")
        for clue in self.table("expiry"):
            if clue in self.table("pins"):
                self.report(
                    self.key("expiry"), clue, "is pinned and cannot expire", Write("ZREM", self.key("expiry"), (clue,))
                )
        self.check_scores()
        floor = self.meta.get("delta_floor", 0)
        for clue, record in self.records.items():
            if record.facts.seq > floor and float(self.table("changed").get(clue, 0)) <= 0:
                self.report(self.key("changed"), clue, "is missing", *self.contexts_anew())
            if clue in self.table("withdrawn"):
                gone = Write("ZREM", self.key("withdrawn"), (clue,))
                self.report(self.key("withdrawn"), clue, "is alive", gone)

    def check_scores(self) -> None:
        """Times are times, and stamps of changes whole numbers: what is none takes what the record says, or goes."""
        for name in ("pins", "expiry"):
            for clue, at in self.table(name).items():
                if clue in self.records and not is_time(at):
                    key, touched = self.key(name), str(self.records[clue].facts.touched)
                    mended = Write("ZADD", key, (touched, clue)) if name == "pins" else Write("ZREM", key, (clue,))
                    self.report(key, clue, f"stands at {at}, which is no time", mended)
        for name in ("changed", "withdrawn"):
            for clue, at in self.table(name).items():
                if whole_score(at) is None:
                    gone = Write("ZREM", self.key(name), (clue,))
                    self.report(
                        self.key(name), clue, f"stands at {at}, which is no change", gone, *self.contexts_anew()
                    )

    # --- bounds ------------------------------------------------------------------------------------------------------

    def check_length(self, key: str, found: Mapping[str, str], most: int, *also: Write) -> None:
        oldest = sorted(found, key=lambda member: float(found[member]))[: max(0, len(found) - most)]
        if oldest:
            message = f"holds {len(found)} members, {most} are allowed"
            self.report(key, "", message, *(Write("ZREM", key, (member,)) for member in oldest), *also)

    def check_threads(self) -> None:
        listed = self.dump.tables.get("threads", {}) if self.dump.kinds.get("threads") == "zset" else {}
        for name, kind in self.dump.kinds.items():
            if name.startswith("seen:") and kind == "zset":
                if name.removeprefix("seen:") not in listed:
                    self.report(name, "", "is not listed in threads", Write("THREAD", name))
                self.check_length(name, self.dump.tables.get(name, {}), SEEN_KEPT)
        for thread, at in listed.items():
            if not is_time(at):
                anew = (Write("ZREM", "threads", (thread,)), Write("THREAD", "seen:" + thread))
                self.report("threads", thread, f"stands at {at}, which is no time", *anew)
            if self.dump.kinds.get("seen:" + thread) != "zset":
                self.report("threads", thread, "has no turns", Write("THREAD", "seen:" + thread))
