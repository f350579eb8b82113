"""The notebooks run from top to bottom in a fresh kernel, without a network or a key, and are kept without outputs."""

from __future__ import annotations

import nbformat
import pytest

from tests import notebooks

# Jupyter's own: it changes its mind about paths and event loops between releases.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_first_memory(tmp_path):
    """Blocking calls inside the kernel's running loop, and cells that await."""
    shown = "".join(notebooks.run("01_first_memory.ipynb", tmp_path))
    assert "changed - revision 2" in shown
    assert "MIRA-COFFEE - gave up coffee in May, drinks tea" in shown
    assert "['MIRA-PLANT'" in shown
    assert "2026-05-19" in shown
    assert "already_done" in shown
    assert shown.index("Pinned:") < shown.index("penicillin", shown.index("Pinned:")) < shown.index("Notes:\n")


def test_recall_and_context(tmp_path):
    """A blocking and an awaited store in the same cells."""
    shown = "".join(notebooks.run("04_recall_and_context.ipynb", tmp_path))
    assert "{'turns': 1}" in shown
    assert "{'notes': 1, 'names': 1}" in shown
    assert "left out: " in shown
    assert "close names: ('Bike'" in shown
    assert "pins complete: True" in shown
    assert "Since then" in shown
    assert "insurance pays for a new one" in shown[shown.index("Since then") :]


@pytest.mark.parametrize("path", sorted(notebooks.FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_outputs_are_cleared(path):
    for cell in nbformat.read(path, as_version=4).cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
