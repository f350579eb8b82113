"""What may be skipped. On a developer's machine a skip is shown; in CI (IMPRESSMEM_CI=1) it fails the run.

Hooks for conftest.py. The one reason that CI accepts: a model for the end-to-end checks could not be downloaded.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

ACCEPTED_REASON = "model download failed"


def refused_skips(terminal: Any) -> list[str]:
    """One line, `where: reason`, for each skip that CI does not accept; [] outside CI."""
    if os.environ.get("IMPRESSMEM_CI") != "1":
        return []
    skips = (
        (report.nodeid, report.longrepr[2].removeprefix("Skipped: ")) for report in terminal.stats.get("skipped", ())
    )
    return [f"{where}: {reason}" for where, reason in skips if not reason.startswith(ACCEPTED_REASON)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn a green run with refused skips into a failed one."""
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal and session.exitstatus == pytest.ExitCode.OK and refused_skips(terminal):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the refused skips above pytest's closing line."""
    if refused := refused_skips(terminalreporter):
        terminalreporter.section("skipped, and CI does not accept that", sep="=", red=True)
        for line in refused:
            terminalreporter.line(line)
