"""Takes the measurements: floor, subject and described system in turn, call by call, in one run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from statistics import median

from tests.bench.described import ROOT
from tests.bench.rows import Measure, Row, Target
from tests.bench.stage import Stage, counted_trips


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured, by row: pairs at the most, seconds at the most, and the same for the described system."""

    pairs: int
    seconds: float
    described_calls: int
    described_seconds: float
    interpreters: int
    fewest: int = 7


FULL = Effort(pairs=400, seconds=6.0, described_calls=40, described_seconds=4.0, interpreters=21)
QUICK = Effort(pairs=20, seconds=1.0, described_calls=5, described_seconds=1.0, interpreters=5, fewest=3)


@dataclass(frozen=True, slots=True)
class Result:
    """One measured row. Values are medians; ratios are medians of the pairs' own ratios.

    Attributes:
        name: The row's.
        size: Impressions in each system; None where it does not matter.
        unit: Of the three values that follow: `µs`, `ms` or `bytes`.
        floor: The floor; None where there is none.
        subject: This project.
        described: The described system, if measured.
        floor_name: What the floor is.
        values: What targets are about: `floor` and `described` ratios, and `trips`.
        described_trips: Round trips of the described system.
        pairs: How many pairs were measured.
        targets: What has to be reached.
    """

    name: str
    size: int | None
    unit: str
    floor: float | None
    subject: float
    described: float | None
    floor_name: str
    values: dict[Measure, float]
    pairs: int
    described_trips: int | None = None
    targets: tuple[Target, ...] = field(default=())

    def reached(self, target: Target) -> bool | None:
        """Whether a target is reached; None where it could not be measured."""
        value = self.values.get(target.of)
        return None if value is None else value <= target.most


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
        targets=row.targets,
    )


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


# --- rows that are no calls ---------------------------------------------------------------------------------------

IMPORT = "import of ImpressionStore"
MEMORY = "memory per impression"
_IMPORT_TARGET = Target("floor", 1.3)
_MEMORY_TARGET = Target("described", 3.0)


def import_time(effort: Effort) -> Result:
    """Import the store, and redis alone, each in a fresh interpreter."""
    ours, floors = [], []
    with tempfile.TemporaryDirectory() as bytecode:
        for at in range(effort.interpreters + 1):
            floor = _seconds_of("import redis", bytecode)
            our = _seconds_of("from impressmem_integrations import ImpressionStore", bytecode)
            if at:  # the first pair compiled the modules
                ours.append(our)
                floors.append(floor)
    ratio = median(our / floor for our, floor in zip(ours, floors, strict=True))
    return Result(
        name=IMPORT,
        size=None,
        unit="ms",
        floor=median(floors) * 1e3,
        subject=median(ours) * 1e3,
        described=None,
        floor_name="import redis",
        values={"floor": ratio},
        pairs=len(ours),
        targets=(_IMPORT_TARGET,),
    )


def _seconds_of(statement: str, bytecode: str) -> float:
    code = f"import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # Installed packages are compiled, a source tree may not be (or not be allowed to): both sides start compiled here.
    environment = os.environ | {"PYTHONPATH": paths, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return float(done.stdout)


def memory(stage: Stage) -> Result:
    """What one impression takes on the server, indexes and (here) journal included."""
    ours, theirs = stage.memory
    return Result(
        name=MEMORY,
        size=stage.size,
        unit="bytes",
        floor=None,
        subject=ours / stage.size,
        described=None if theirs is None else theirs / stage.size,
        floor_name="",
        values={} if theirs is None else {"described": ours / theirs},
        pairs=1,
        targets=(_MEMORY_TARGET,),
    )
