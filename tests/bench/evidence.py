"""Evidence recall on conversations that the user has; the protocol is the package's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from impressmem_integrations import ImpressionStore
from impressmem_integrations.evaluation import longconv
from impressmem_integrations.evaluation.conversations import read_folder
from tests.bench.results import Result, Target
from tests.servers import RunningServer

_UNITS = 2_000
_ROWS: tuple[tuple[str, str, Literal["verbatim", "cited"], float], ...] = (
    ("evidence recall, turns kept, verbatim", "T", "verbatim", 82),
    ("evidence recall, impressions alone, cited", "O", "cited", 73),
)


def evidence(binary: Path, folder: Path) -> Iterator[Result]:
    """Ask every question of every conversation; the floor is what the newest items hold at the same spend.

    Raises:
        InvalidInput: The folder holds no conversations.
    """
    conversations = read_folder(folder)
    with RunningServer(binary) as server, ImpressionStore.from_url(server.url, bot="evidence") as store:
        for name, track, column, goal in _ROWS:
            (line,) = longconv.run(store, conversations, tracks=[track], budgets=[_UNITS])
            ours, newest = 100 * line.mean(column), 100 * line.mean(f"newest_{column}")
            yield Result(
                name=name,
                size=None,
                unit="%",
                floor=newest,
                subject=ours,
                described=None,
                floor_name="newest first",
                values={"mean": ours} | ({"floor": ours / newest} if newest else {}),
                pairs=len(line.answered),
                targets=(Target("mean", least=goal),),
                block=f"evidence in {_UNITS:,} units, {len(conversations)} conversations",
                note=f"{len(line.answered):,} questions",
            )
