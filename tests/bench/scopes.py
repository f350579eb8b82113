"""What other scopes on the server cost: the same operations in the same scope, alone and beside many others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path

from tests.bench import corpus
from tests.bench.measure import Effort, measure
from tests.bench.results import Result, Target
from tests.bench.rows import ASK, CONTEXT, SAVE_NEW, Side
from tests.bench.stage import Stage
from tests.servers import RunningServer

NAME = "{}, crowded"
READS = (CONTEXT, ASK)
OPERATIONS = (*READS, SAVE_NEW)
_PAIRS_OF_READS = 10  # times as many: a busy moment of the machine lasts longer than 400 short calls
_SIZE = 300
_NOTES_OF_OTHERS = 3
_TARGETS = (Target("floor", 1.2),)  # none: 1.0 and what two servers in one run differ by


def scopes(binary: Path, effort: Effort) -> Iterator[Result]:
    """Measure each operation in turn on two servers that differ in their number of scopes alone."""
    with ExitStack() as stack:
        servers = [stack.enter_context(RunningServer(binary, tcp=True)) for _ in range(2)]
        alone, crowded = (stack.enter_context(Stage(server, _SIZE, None)) for server in servers)
        for stage in (alone, crowded):
            stage.fill()
        few = [asdict(note) for note in next(corpus.chunks(_NOTES_OF_OTHERS))]
        for number in range(effort.scopes):
            crowded.store.scoped(user=f"user {number}").save_many(few)
        for row in OPERATIONS:
            beside = replace(row, floor=_on(alone, row.subject), described=None, targets=_TARGETS)
            block = f"beside {effort.scopes:,} other scopes on the server, in a scope of {_SIZE} impressions"
            pairs = effort.pairs * (_PAIRS_OF_READS if row in READS else 1)
            yield replace(
                measure(crowded, beside, replace(effort, pairs=pairs)), name=NAME.format(row.name), block=block
            )


def _on(stage: Stage, side: Side) -> Side:
    return Side(lambda _: side.prepare(stage), "alone", side.awaited)
