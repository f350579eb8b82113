"""The skip policy, shown on real pytest runs of a small suite that takes its hooks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path):
    """Run a test module in a fresh pytest; returns its exit status and output."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        "from tests.skip_policy import pytest_sessionfinish, pytest_terminal_summary\n"
    )

    def run(source: str, ci: bool) -> tuple[int, str]:
        (tmp_path / "test_it.py").write_text(f"import pytest\n{source}\n")
        environment = os.environ | {"PYTHONPATH": str(ROOT), "IMPRESSMEM_CI": "1" if ci else ""}
        # Its cache folder would outlive the temporary one's purpose, and colours would hide the words.
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--color=no"]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


SKIPS = "def test_one(): pytest.skip('no such server')\ndef test_two(): pass"


def test_a_skip_fails_the_run_in_ci_and_is_named(run):
    status, output = run(SKIPS, ci=True)
    assert status == 1
    assert "test_it.py::test_one: no such server" in output
    assert output.rstrip().splitlines()[-1].startswith("=")  # pytest's closing line stays the last


def test_a_skip_of_a_whole_module_fails_the_run_too(run):
    status, output = run("pytest.skip('nothing here', allow_module_level=True)\ndef test_one(): pass", ci=True)
    assert status != 0
    assert "test_it.py: nothing here" in output


def test_a_model_that_could_not_be_downloaded_is_accepted(run):
    status, _ = run("def test_one(): pytest.skip('model download failed: no route')\ndef test_two(): pass", ci=True)
    assert status == 0


def test_a_skip_is_fine_outside_ci(run):
    assert run(SKIPS, ci=False)[0] == 0


def test_a_failure_stays_a_failure(run):
    assert run("def test_one(): assert False", ci=True)[0] == 1
