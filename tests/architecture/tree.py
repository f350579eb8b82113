"""The files of this repository and the import statements in them."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "impressmem_integrations"
LUA = PACKAGE / "lua"

_GENERATED = {".git", "__pycache__", "build", "dist", ".ipynb_checkpoints", ".hypothesis"}


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file of the repository, relative path and content; generated folders are left out."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not _is_generated(Path(folder, name))]
        for name in files:
            path = Path(folder, name)
            try:
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # a picture or another binary


def _is_generated(folder: Path) -> bool:
    """Whether a folder holds results: of a build, a cache, or an environment under any name."""
    return folder.name in _GENERATED or folder.name.endswith("_cache") or (folder / "pyvenv.cfg").exists()


def modules() -> Iterator[Path]:
    """Every Python module of the package, relative to the repository."""
    return (path.relative_to(ROOT) for path in sorted(PACKAGE.rglob("*.py")))


def imports(source: str) -> set[str]:
    """The top-level names of all absolute imports in a module, wherever in it they stand."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
