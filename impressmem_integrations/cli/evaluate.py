"""`impressmem eval longconv`: the evidence-recall protocol on data the user has."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from pathlib import Path

from impressmem_integrations.cli.commands import as_json
from impressmem_integrations.evaluation import longconv
from impressmem_integrations.evaluation.conversations import read_folder
from impressmem_integrations.store import ImpressionStore


def evaluate(chosen: argparse.Namespace) -> int:
    """Run the protocol on an embedded server that keeps nothing. Exit code 1 where a check fails."""
    conversations = read_folder(Path(chosen.path))

    def progress(what: str) -> None:
        print(what, file=sys.stderr)

    with closing(ImpressionStore.from_url(chosen.url, bot="evaluation")) as store:
        lines = list(
            longconv.run(store, conversations, tracks=chosen.tracks, budgets=chosen.budgets, progress=progress)
        )
        checks = longconv.checks(store, conversations)
    if chosen.json:
        columns = ("verbatim", "cited", "spent", "newest_verbatim", "newest_cited")
        rows = [
            {
                "track": line.track,
                "units": line.budget,
                **{
                    column: line.mean(column) if line.keeps_turns or not column.endswith("verbatim") else None
                    for column in columns
                },
            }
            for line in lines
        ]
        print(as_json({"rows": rows, "checks": checks}))
    else:
        print(longconv.table(lines))
        for check in checks:
            print(f"{check.name}: {'holds' if check.holds else 'FAILS'} ({check.detail})")
    return 0 if all(check.holds for check in checks) else 1
