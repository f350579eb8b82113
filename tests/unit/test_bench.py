"""The bench runs, and its table has every row. How fast anything is, no test says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench.__main__ import main
from tests.bench.measure import IMPORT, MEMORY, Result
from tests.bench.report import table
from tests.bench.rows import ROWS, Measure, Target


def test_a_quick_run_prints_and_writes_every_row(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = tmp_path / "bench.json"
    assert main(["--quick", "--sizes", "50", "--no-described", "--profile", "--json", str(file)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    names = [IMPORT, MEMORY, *(row.name for row in ROWS)]
    for name in names:
        assert sum(line.startswith(f"{name}  ") for line in lines) == 1, name
    for row in ROWS:
        assert any(line.startswith(f"{row.name}, 50 impressions: ") for line in lines) is row.profiled, row.name
    written = json.loads(file.read_text(encoding="utf-8"))
    assert [row["name"] for row in written["rows"]] == names
    assert written["setting"]["described"] == "not measured"
    allowed = {row.name: next((t.most for t in row.targets if t.of == "trips"), 1) for row in ROWS}
    trips = {row["name"]: row["values"]["trips"] for row in written["rows"] if "trips" in row["values"]}
    assert trips.keys() == allowed.keys()
    assert {name: count for name, count in trips.items() if count > allowed[name]} == {}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [({"floor": 5.9}, "yes"), ({"floor": 6.0}, "yes"), ({"floor": 6.1}, "NO"), ({}, "not measured")],
)
def test_a_row_is_judged_by_its_target(values: dict[Measure, float], verdict: str):
    result = Result("save", 50, "µs", 10.0, 59.0, None, "SET script", values, 20, targets=(Target("floor", 6),))
    assert table([result]).splitlines()[-1].endswith(f"≤ 6 × floor  {verdict}".rstrip())


def test_ratios_to_the_described_system_are_shown_with_its_round_trips():
    values: dict[Measure, float] = {"floor": 3.0, "described": 0.002, "trips": 1}
    result = Result("merge", 50, "µs", 10.0, 30.0, 15_000.0, "PING", values, 20, 1_050, (Target("described", 1 / 100),))
    line = table([result]).splitlines()[-1]
    assert " ".join(line.split()) == "merge PING 10 µs 30 µs 3.00 15 ms 1/500 1 : 1,050 ≤ 1/100 × described yes"
