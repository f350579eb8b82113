"""Runs a notebook as a reader does: from top to bottom, in a fresh kernel with a profile of its own."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.architecture.tree import ROOT

FOLDER = ROOT / "notebooks"
_CELL_SECONDS = 60


def run(name: str, folder: Path, **environment: str) -> list[str]:
    """Return the text of each output, in order.

    What a cell prints is one output: the kernel sends it in one message or in several, as its clock has it.

    Args:
        name: A file of the notebooks' folder.
        folder: Where the kernel starts and keeps its profile.
        environment: Added to the kernel's environment.
    """
    notebook = nbformat.read(FOLDER / name, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=_CELL_SECONDS,
        kernel_name="python3",
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    own = {"PYTHONPATH": paths, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_RUNTIME_DIR": str(folder / "runtime")}
    client.execute(env=os.environ | own | environment)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs]
