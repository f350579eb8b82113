"""Takes the measurements: floor, subject and described system in turn, call by call, in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from tests.bench.described import ROOT
from tests.bench.results import Measure, Result, Target
from tests.bench.rows import Row
from tests.bench.stage import Stage, counted_trips


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        pairs, seconds: The most pairs of a row, and the most seconds they may take.
        described_calls, described_seconds: The same for the described system.
        interpreters: Pairs of fresh interpreters for the import, and for a first save.
        saves: Single saves over which the stability of a context is followed.
        scopes: Further scopes that cost per operation is measured beside.
        kept_scopes: Scopes whose memory is weighed, of `kept_notes` notes each.
        fewest: The fewest pairs of a row, whatever they take.
    """

    pairs: int
    seconds: float
    described_calls: int
    described_seconds: float
    interpreters: int
    saves: int
    scopes: int
    kept_scopes: int
    kept_notes: int
    fewest: int = 7


FULL = Effort(
    pairs=400,
    seconds=6.0,
    described_calls=40,
    described_seconds=4.0,
    interpreters=21,
    saves=1_000,
    scopes=10_000,
    kept_scopes=100,
    kept_notes=300,
)
QUICK = Effort(
    pairs=20,
    seconds=1.0,
    described_calls=5,
    described_seconds=1.0,
    interpreters=5,
    saves=60,
    scopes=50,
    kept_scopes=2,
    kept_notes=40,
    fewest=3,
)


def measure(stage: Stage, row: Row, effort: Effort) -> Result:
    """Measure one row."""
    trips = _warm_up(stage, row)
    ours: list[float] = []
    floors: list[float] = []
    theirs: list[tuple[float, float]] = []
    their_trips: list[int] = []
    start, described_spent = time.perf_counter(), 0.0
    while len(ours) < effort.pairs:
        spent = time.perf_counter() - start - described_spent
        if len(ours) >= effort.fewest and spent > effort.seconds:
            break
        # Who comes first changes, so that neither gets the warmer caches.
        for side in (row.floor, row.subject) if len(ours) % 2 else (row.subject, row.floor):
            seconds = stage.seconds(side.prepare(stage), awaited=side.awaited)
            (ours if side is row.subject else floors).append(seconds)
        few = len(theirs) < effort.fewest
        more = few or (len(theirs) < effort.described_calls and described_spent < effort.described_seconds)
        if stage.described and row.described and more:
            before = time.perf_counter()
            seconds, count = stage.described.call(row.described(stage))
            theirs.append((ours[-1], seconds))
            their_trips.append(count)
            described_spent += time.perf_counter() - before
    values: dict[Measure, float] = {
        "floor": median(our / floor for our, floor in zip(ours, floors, strict=True)),
        "trips": trips,
    }
    if any(target.of == "p95" for target in row.targets):
        values["p95"] = p95(ours) / median(floors)
    if theirs:
        values["described"] = median(our / their for our, their in theirs)
    return Result(
        name=row.name,
        size=stage.size,
        unit="µs",
        floor=median(floors) * 1e6,
        subject=median(ours) * 1e6,
        described=median(their for _, their in theirs) * 1e6 if theirs else None,
        floor_name=row.floor.name,
        values=values,
        pairs=len(ours),
        described_trips=round(median(their_trips)) if theirs else None,
        targets=tuple(target for target in row.targets if target.smallest <= stage.size <= target.largest),
    )


def p95(values: Sequence[float]) -> float:
    """The value that 95 % do not exceed."""
    return quantiles(values, n=20, method="inclusive")[-1]


def _warm_up(stage: Stage, row: Row) -> int:
    """Open what the first call opens, then return the round trips of a call: the most of three."""
    for side in (row.floor, row.subject):
        stage.seconds(side.prepare(stage), awaited=side.awaited)
    if stage.described and row.described:
        stage.described.call(row.described(stage))
    most = 0
    for _ in range(3):
        call = row.subject.prepare(stage)
        with counted_trips() as trips:
            stage.seconds(call, awaited=row.subject.awaited)
        most = max(most, trips[0])
    return most


IMPORT = "import of ImpressionStore"
FIRST_SAVE = "a fresh process up to its first save"
_IMPORT_TARGET = Target("floor", 1.3)
_IMPORT = "from impressmem_integrations import ImpressionStore"


def import_time(effort: Effort) -> Result:
    """Import the store, and redis alone."""
    return _fresh(IMPORT, _IMPORT, "import redis", "import redis", effort, (_IMPORT_TARGET,))


def first_save(effort: Effort, url: str) -> Result:
    """Import, connect to a running server and save: the import alone leaves redis to the first store."""
    our = f"{_IMPORT}; ImpressionStore.from_url({url!r}).save('tea', 'likes tea', category='food', labels=['tea'])"
    floor = f"import redis; redis.Redis.from_url({url!r}).set('tea', 'likes tea')"
    return _fresh(FIRST_SAVE, our, floor, "import redis, SET", effort)


def _fresh(
    name: str, our: str, floor: str, floor_name: str, effort: Effort, targets: tuple[Target, ...] = ()
) -> Result:
    """Run two statements by turns, each in a fresh interpreter."""
    ours, floors = [], []
    with tempfile.TemporaryDirectory() as bytecode:
        for at in range(effort.interpreters + 1):
            pair = _seconds_of(floor, bytecode), _seconds_of(our, bytecode)
            if at:  # the first pair compiled the modules
                floors.append(pair[0])
                ours.append(pair[1])
    return Result(
        name=name,
        size=None,
        unit="ms",
        floor=median(floors) * 1e3,
        subject=median(ours) * 1e3,
        described=None,
        floor_name=floor_name,
        values={"floor": median(our / floor for our, floor in zip(ours, floors, strict=True))},
        pairs=len(ours),
        targets=targets,
    )


def _seconds_of(statement: str, bytecode: str) -> float:
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # Installed packages are compiled, a source tree may not be (or not be allowed to): both sides start compiled here.
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)
