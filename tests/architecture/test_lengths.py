"""No module grows beyond what can be read in one go."""

from __future__ import annotations

from tests.architecture.tree import PACKAGE, ROOT

LIMIT = 400
EXCEPTIONS: dict[str, str] = {}
"""Path of a longer module -> why it stays one."""


def test_no_module_is_longer_than_the_limit():
    files = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.lua")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    assert lengths
    assert {path: length for path, length in lengths.items() if length > LIMIT and path not in EXCEPTIONS} == {}
    # An exception that is no longer needed goes.
    assert {path for path in EXCEPTIONS if lengths.get(path, 0) <= LIMIT} == set()
