"""The bench runs, and its table has every row. How fast anything is, no test says."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.bench import agent, memory, scopes, stability
from tests.bench.__main__ import main
from tests.bench.measure import FIRST_SAVE, IMPORT, QUICK
from tests.bench.report import table
from tests.bench.results import Measure, Result, Target
from tests.bench.rows import ROWS
from tests.bench.stage import Stage
from tests.servers import RunningServer, valkey_binary

BY_SIZE = [
    memory.MEMORY,
    stability.STABLE,
    *(stability.USED.format(units) for units in stability.BUDGETS),
    *agent.NAMES,
    *(row.name for row in ROWS),
]
ONCE = [
    *(scopes.NAME.format(row.name) for row in scopes.OPERATIONS),
    *(f"{feature}, {language}" for language in ("English", "Chinese") for feature in memory.FEATURES),
]
CONVERSATION = {
    "speaker_a": "Ann",
    "speaker_b": "Ben",
    "session_1": [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a kayak for the lake."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "My sister plays the oboe."},
    ],
    "session_1_date_time": "1:56 pm on 8 May, 2026",
    "session_1_observation": {"Ann": [["Ann bought a kayak.", "D1:1"]], "Ben": [["Ben's sister plays oboe.", "D1:2"]]},
    "qa": [{"question": "Who bought a kayak?", "category": 4, "evidence": ["D1:1"]}],
}


def test_a_quick_run_prints_and_writes_every_row(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    file = tmp_path / "bench.json"
    talks = tmp_path / "talks"
    talks.mkdir()
    (talks / "one.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    options = ["--no-described", "--profile", "--memory-scopes", "1", "--longconv", str(talks), "--json", str(file)]
    assert main(["--quick", "--sizes", "50", *options]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    evidence = ["evidence recall, turns kept, verbatim", "evidence recall, impressions alone, cited"]
    names = [IMPORT, FIRST_SAVE, *BY_SIZE, *ONCE, *evidence]
    for name in names:
        assert sum(line.startswith(f"{name}  ") for line in lines) == 1, name
    for row in ROWS:
        assert any(line.startswith(f"{row.name}, 50 impressions: ") for line in lines) is row.profiled, row.name
    written = json.loads(file.read_text(encoding="utf-8"))
    assert [row["name"] for row in written["rows"]] == names
    assert written["setting"]["described"] == "not measured"
    allowed = {row.name: next((t.most for t in row.targets if t.of == "trips"), 1) for row in ROWS}
    trips = {row["name"]: row["values"]["trips"] for row in written["rows"] if row["name"] in allowed}
    assert trips.keys() == allowed.keys()
    assert {name: count for name, count in trips.items() if count > allowed[name]} == {}
    found = {row["name"]: row for row in written["rows"]}
    assert all(found[name]["subject"] == 100 for name in evidence)
    measured = {name for name, row in found.items() if row["subject"] is not None}
    assert set(names) - measured <= {stability.USED.format(10_000)}  # where 50 impressions fit, nothing is left out


@pytest.mark.parametrize(("missing", "rows"), [("langchain", agent.NAMES), ("langmem", agent.NAMES[3:])])
def test_a_missing_package_is_named_in_the_rows_that_need_it(
    monkeypatch: pytest.MonkeyPatch, missing: str, rows: tuple[str, ...]
):
    monkeypatch.setattr(agent, "find_spec", lambda name: None if name == missing else find_spec(name))
    with RunningServer(valkey_binary(), tcp=True) as server, Stage(server, 20, None) as stage:
        stage.fill()
        results = list(agent.turns(stage, replace(QUICK, pairs=3)))
    assert [result.name for result in results] == list(agent.NAMES)
    assert tuple(result.name for result in results if result.subject is None) == rows
    assert table(results).count(f"{missing} is not installed: pip install") == len(rows)


def test_a_copied_scope_is_whole_and_leaves_nothing_behind():
    with RunningServer(valkey_binary(), tcp=True) as server, Stage(server, 200, None) as stage:
        stage.fill()
        assert stage.full_store.check() == []
        with stage.copy("other") as copied:
            assert copied.check() == []
            assert [item.clue for item in copied.impressions()] == [item.clue for item in stage.store.impressions()]
        assert copied.stats().impressions == 0


@pytest.mark.parametrize(
    ("values", "verdict"),
    [({"floor": 5.9}, "yes"), ({"floor": 6.0}, "yes"), ({"floor": 6.1}, "NO"), ({}, "not measured")],
)
def test_a_row_is_judged_by_its_target(values: dict[Measure, float], verdict: str):
    result = Result("save", 50, "µs", 10.0, 59.0, None, "SET script", values, 20, targets=(Target("floor", 6),))
    assert table([result]).splitlines()[-1].endswith(f"≤ 6 × floor  {verdict}".rstrip())


@pytest.mark.parametrize(("lowest", "verdict"), [(95.0, "yes"), (94.9, "NO")])
def test_a_share_has_a_lower_bound(lowest: float, verdict: str):
    values: dict[Measure, float] = {"lowest": lowest}
    result = Result("used", 50, "%", None, 97.0, None, "", values, 20, targets=(Target("lowest", least=95),))
    line = table([result]).splitlines()[-1]
    assert " ".join(line.split()) == f"used 97.0 % lowest {lowest:.3g} % lowest ≥ 95 % {verdict}"


def test_ratios_to_the_described_system_are_shown_with_its_round_trips():
    values: dict[Measure, float] = {"floor": 3.0, "described": 0.002, "trips": 1}
    result = Result("merge", 50, "µs", 10.0, 30.0, 15_000.0, "PING", values, 20, 1_050, (Target("described", 1 / 100),))
    line = table([result]).splitlines()[-1]
    assert " ".join(line.split()) == "merge PING 10 µs 30 µs 3.00 15 ms 1/500 1 : 1,050 ≤ 1/100 × described yes"
