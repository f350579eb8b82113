"""The measurements as one table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tests.bench.results import WORDS, Measure, Result

_TITLES = ("", "floor", "", "ours", "÷ floor", "described", "÷ described", "trips", "also", "to reach", "reached")
_COLUMNS = {"floor", "described", "trips"}
_RIGHT = {2, 3, 4, 5, 6, 7}


def table(results: Sequence[Result]) -> str:
    """One line a row, in blocks: by number of impressions, where a row names no block of its own."""
    lines = [_TITLES, *map(_cells, results)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(_TITLES))]
    text, block = [_joined(_TITLES, widths)], ""
    for result, cells in zip(results, lines[1:], strict=True):
        if _block(result) != block:
            block = _block(result)
            text += ["", block]
        text.append(_joined(cells, widths))
    return "\n".join(text)


def _block(result: Result) -> str:
    return result.block or (f"{result.size:,} impressions" if result.size else "whatever the size")


def _joined(cells: Sequence[str], widths: Sequence[int]) -> str:
    placed = (
        cell.rjust(width) if at in _RIGHT else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(placed).rstrip()


def _cells(result: Result) -> tuple[str, ...]:
    values = result.values
    trips = f"{values['trips']:g}" if "trips" in values else ""
    if trips and result.described_trips is not None:
        trips += f" : {result.described_trips:,}"
    return (
        "  " + result.name,
        result.floor_name,
        _value(result.floor, result.unit),
        _value(result.subject, result.unit),
        f"{values['floor']:.2f}" if "floor" in values else "",
        _value(result.described, result.unit),
        _ratio(values.get("described")),
        trips,
        ", ".join([*(words.format(f"{values[of]:.3g}") for of, words in _also(values)), *filter(None, [result.note])]),
        ", ".join(map(str, result.targets)) or "no target",
        ", ".join(_verdict(result.reached(target)) for target in result.targets),
    )


def _also(values: dict[Measure, float]) -> list[tuple[Measure, str]]:
    return [(of, words) for of, words in WORDS.items() if of in values and of not in _COLUMNS]


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "µs" and value >= 10_000:
        return f"{value / 1_000:,.0f} ms"
    return f"{value:.1f} %" if unit == "%" else f"{value:,.0f} {unit}"


def _ratio(value: float | None) -> str:
    if value is None:
        return ""
    return f"1/{1 / value:,.0f}" if value < 0.1 else f"{value:.2f}"


def _verdict(reached: bool | None) -> str:
    return "not measured" if reached is None else "yes" if reached else "NO"


def as_json(setting: dict[str, Any], results: Sequence[Result]) -> dict[str, Any]:
    """The setting and all results, each with its verdicts."""
    rows = [
        asdict(result)
        | {
            "targets": [
                {"of": target.of, "target": str(target), "reached": result.reached(target)} for target in result.targets
            ]
        }
        for result in results
    ]
    return {"setting": setting, "rows": rows}
