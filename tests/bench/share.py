"""Where the time of a call goes: server, way there and back, Python; and where in Python."""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from pathlib import Path
from statistics import median

from tests.bench.described import ROOT
from tests.bench.rows import Call, Row
from tests.bench.stage import Stage

_HOTTEST = 12
_COMMANDS = 8


def profile(stage: Stage, row: Row, calls: int) -> str:
    """Describe where the time of a row's subject goes.

    Shares within Python come from cProfile, which makes small functions look larger than they are; the split between
    server and client does not.
    """
    prepared = [row.subject.prepare(stage) for _ in range(calls)]
    stage.client.config_resetstat()
    whole = median(stage.seconds(call, awaited=False) for call in prepared) * 1e6
    statistics = stage.client.info("commandstats")
    ping = median(stage.seconds(stage.client.ping, awaited=False) for _ in range(calls)) * 1e6
    commands = {name.removeprefix("cmdstat_"): stat for name, stat in statistics.items()}
    script = commands["evalsha"]
    server = float(script["usec_per_call"])
    rest = whole - server - ping
    lines = [
        f"{row.name}, {stage.size:,} impressions: {whole:,.0f} µs = {server:,.0f} in the script on the server"
        f" + {ping:,.0f} for a PING's way + {rest:,.0f} more in Python",
        "  the script's own commands: " + _script_commands(commands, int(script["calls"])),
    ]
    return "\n".join([*lines, *_python([row.subject.prepare(stage) for _ in range(calls)])])


def _script_commands(commands: dict[str, dict[str, float]], calls: int) -> str:
    inner = {name: stat for name, stat in commands.items() if name not in {"evalsha", "info", "config|resetstat"}}
    longest = sorted(inner, key=lambda name: -inner[name]["usec"])
    parts = [f"{name} {inner[name]['calls'] / calls:.3g}× {inner[name]['usec_per_call']:.2g} µs" for name in longest]
    total = sum(stat["usec"] for stat in inner.values()) / calls
    more = f", {len(parts) - _COMMANDS} others" if len(parts) > _COMMANDS else ""
    return f"{total:,.0f} µs in {', '.join(parts[:_COMMANDS])}{more}; the remainder is Lua"


def _python(calls: list[Call]) -> list[str]:
    profiler = cProfile.Profile()
    with profiler:
        for call in calls:
            call()
    entries = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # public, but not in the type stubs
    whole = sum(own for _, _, own, _, _ in entries.values())
    by_place: Counter[str] = Counter()
    by_function: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for (file, line, function), (_, count, own, _, _) in entries.items():
        place = _place(file, function)
        by_place[place] += own
        label = f"{function} ({place}:{line})" if line else function
        by_function[label] += own
        counts[label] += count
    places = ", ".join(f"{place} {own / whole:.0%}" for place, own in by_place.most_common(_HOTTEST))
    lines = [f"  Python by place (cProfile, own time): {places}", "  by function, calls each time:"]
    return lines + [
        f"    {own / whole:5.1%}  {counts[label] / len(calls):6.3g}×  {label}"
        for label, own in by_function.most_common(_HOTTEST)
    ]


def _place(file: str, function: str) -> str:
    if "socket" in function:
        return "waiting for the server"
    path = Path(file)
    if path.is_relative_to(ROOT / "impressmem_integrations"):
        return str(path.relative_to(ROOT / "impressmem_integrations"))
    if "redis" in path.parts:
        return "redis-py"
    return "built-in functions" if file == "~" else "standard library"
