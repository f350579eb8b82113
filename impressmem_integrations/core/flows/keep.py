"""Flows that look after a scope: check and repair. They read it in bounded parts, whatever its size."""

from __future__ import annotations

from impressmem_integrations.core.audit import Dump, Finding, Table, audit, strength_writes
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.chunks import chunks
from impressmem_integrations.core.commands import keep, write
from impressmem_integrations.core.commands.records import half_life_ms
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.errors import ConfigurationError, StoreError
from impressmem_integrations.model import Problem
from impressmem_integrations.settings import LAYOUT_VERSION

_LOOKS = 5
_ROUNDS = 20
_KEYS_AT_ONCE = 500
_WRITES_AT_ONCE = 1_000


def check(bound: Bound) -> Flow[list[Problem]]:
    """Compare every index of the scope with its records. Changes nothing.

    Other processes may write meanwhile: what looked wrong is read again, and reported only if it stays so. The names of
    all keys in the database are walked, so this is no operation for a request.

    Returns:
        What is wrong, in no order; [] when every index and record agree.

    Raises:
        ConfigurationError: Another version of this package wrote the scope.
        StoreError: The server failed.
    """
    suspects: list[Problem] | None = None
    for _ in range(_LOOKS):
        dump = yield from _read(bound)
        found = [finding.problem for finding in audit(dump)]
        if dump.steady:
            return found
        suspects = found if suspects is None else [problem for problem in suspects if problem in found]
        if not suspects:
            break
    return suspects or []


def repair(bound: Bound) -> Flow[list[Problem]]:
    """Put right what `check` finds, from the records; afterwards `check` finds nothing.

    Index entries without a record go, missing ones come back; so does a lost filing as far as indexes still know it.
    The half-life of this store's limits is applied to the whole scope, and the registry names the scope again.

    Returns:
        What was put right.

    Raises:
        ConfigurationError: Another version of this package wrote the scope.
        StoreError: Other processes changed the scope each time before the repair came through; what was done stays.
    """
    fixed: dict[Problem, None] = {}
    half_life = half_life_ms(bound.limits.half_life_days)
    for _ in range(_ROUNDS):
        dump = yield from _read(bound)
        if not dump.steady:
            continue
        findings = [finding for finding in audit(dump) if finding.writes and finding.problem not in fixed]
        if not findings:
            decay = [Finding(Problem("", "", ""), (one,)) for one in strength_writes(dump, half_life)]
            if (yield from _mend(bound, dump.version, decay)) == len(decay):
                if "meta" in dump.kinds:
                    yield from ask(write.register(bound.scope, "add"))
                return list(fixed)
            continue
        done = yield from _mend(bound, dump.version, findings)
        fixed.update(dict.fromkeys(finding.problem for finding in findings[:done]))
    raise StoreError("other processes kept changing this scope; repair it again when it is quieter")


def _mend(bound: Bound, version: str, findings: list[Finding]) -> Flow[int]:
    """Carry out writes in chunks. Returns how many findings were dealt with before somebody else changed the scope."""
    done = 0
    for chunk in chunks(findings, lambda finding: len(finding.writes), _WRITES_AT_ONCE):
        writes = [one for finding in chunk for one in finding.writes]
        mended = yield from ask(keep.mend(bound, version, writes))
        if not mended.done:
            break
        version = mended.version
        done += len(chunk)
    return done


def _read(bound: Bound) -> Flow[Dump]:
    """Everything under the scope's tag, and whether it held still meanwhile."""
    names: dict[str, None] = {"meta": None}
    cursor = "0"
    first = yield from ask(keep.dump(bound, [], ""))
    layout = first.version.split(" ")[0]
    if layout not in ("-", str(LAYOUT_VERSION)):
        raise ConfigurationError(
            f"this scope was written with layout {layout}; this version checks layout {LAYOUT_VERSION}"
        )
    while True:
        step = yield from ask(keep.scan_keys(bound, cursor))
        names.update(dict.fromkeys(step.names))
        cursor = step.next
        if cursor == "0":
            break
    kinds: dict[str, str] = {}
    tables: dict[str, Table] = {}
    steady, waiting, at = True, list(names), ""
    while waiting:
        page = yield from ask(keep.dump(bound, waiting[:_KEYS_AT_ONCE], at))
        steady = steady and page.version == first.version
        for part in page.parts:
            if part.kind != "none":
                kinds[part.name] = part.kind
                tables.setdefault(part.name, {}).update(part.items)
        waiting = [*page.left, *waiting[_KEYS_AT_ONCE:]]
        at = page.cursor
    return Dump(kinds, tables, first.version, steady)
