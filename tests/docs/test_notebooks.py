"""The notebooks run from top to bottom in a fresh kernel, without a network or a key, and are kept without outputs."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.docs.markdown import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
CELL_SECONDS = 60

# Jupyter's own: it changes its mind about paths and event loops between releases.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def printed(notebook: nbformat.NotebookNode) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "") for output in outputs)


def executed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a notebook prints in a kernel of its own, started elsewhere, with its profile in a folder of the test."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("IPYTHONDIR", str(folder / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(folder / "runtime"))
    notebook = nbformat.read(ROOT / "notebooks" / name, as_version=4)
    NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return printed(notebook)


def test_first_memory(tmp_path, monkeypatch):
    """Blocking calls inside the kernel's running loop, and cells that await."""
    shown = executed("01_first_memory.ipynb", tmp_path, monkeypatch)
    assert "changed - revision 2" in shown
    assert "MIRA-COFFEE - gave up coffee in May, drinks tea" in shown
    assert "['MIRA-PLANT'" in shown
    assert "2026-05-19" in shown
    assert "already_done" in shown
    assert shown.index("Pinned:") < shown.index("penicillin", shown.index("Pinned:")) < shown.index("Notes:\n")


def test_recall_and_context(tmp_path, monkeypatch):
    """A blocking and an awaited store in the same cells."""
    shown = executed("04_recall_and_context.ipynb", tmp_path, monkeypatch)
    assert "{'turns': 1}" in shown
    assert "{'notes': 1, 'names': 1}" in shown
    assert "left out: " in shown
    assert "close names: ('Bike'" in shown
    assert "pins complete: True" in shown
    assert "Since then" in shown
    assert "insurance pays for a new one" in shown[shown.index("Since then") :]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_cleared(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
