"""The described system as a subprocess: its environment, made on demand, and calls by JSON lines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.bench.corpus import Note

VERSION = "1.2.2"
ROOT = Path(__file__).resolve().parents[2]
_FOLDER = ROOT / ".bench-venv"
_DRIVER = Path(__file__).with_name("described_driver.py")


class DescribedUnavailable(RuntimeError):
    """The described system cannot be installed or does not run."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call: its name and arguments in the driver, and notes to save before it, unmeasured."""

    do: str
    args: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[Note, ...] = ()


def environment() -> Path:
    """Return the Python of the described system's own environment, after making it if it is not there.

    Raises:
        DescribedUnavailable: It cannot be made, e.g. without a package index.
    """
    python = _FOLDER / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    check = "import importlib.metadata as m, sys; sys.exit(m.version('impressmem') != sys.argv[1])"
    if python.exists() and subprocess.run([python, "-c", check, VERSION], capture_output=True).returncode == 0:
        return python
    print(f"Installing impressmem {VERSION} into {_FOLDER.name} (once)", file=sys.stderr)
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(_FOLDER)],
        [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", f"impressmem=={VERSION}"],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            words = (done.stderr or done.stdout).strip().splitlines()
            raise DescribedUnavailable(
                f"impressmem {VERSION} cannot be installed: {words[-1] if words else done.returncode};"
                " use --no-described to measure without it"
            )
    return python


class Described:
    """A running driver. Calls are made one at a time; the time is taken inside it."""

    def __init__(self, host: str, port: int) -> None:
        self._process = subprocess.Popen(
            [environment(), "-I", str(_DRIVER), host, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Described:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()  # the driver ends with its input
        self._process.stdout.close()
        self._process.wait()

    def load(self, chunks: Iterable[list[Note]]) -> None:
        """Save many notes."""
        for notes in chunks:
            self._ask({"do": "load", "args": {"notes": [asdict(note) for note in notes]}})

    def load_as(self, bot: str, notes: list[Note]) -> None:
        """Save notes under another bot, the described system's only division."""
        self._ask({"do": "load_as", "args": {"bot": bot, "notes": [asdict(note) for note in notes]}})

    def text(self, units: int) -> str:
        """The text of its context."""
        return str(self._ask({"do": "context", "args": {"units": units}})["value"])

    def count(self) -> int:
        """How many impressions it holds."""
        return int(self._ask({"do": "count"})["value"])

    def call(self, request: Request) -> tuple[float, int]:
        """Make a call and return its seconds and round trips."""
        reply = self._ask(asdict(request))
        return float(reply["seconds"]), int(reply["trips"])

    def _ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise DescribedUnavailable(f"its driver ended with code {self._process.wait()} at {request['do']}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise DescribedUnavailable(f"{request['do']} failed: {reply['error']}")
        return reply
