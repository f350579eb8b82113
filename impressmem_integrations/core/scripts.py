"""Loads Lua scripts: name, whole source and SHA-1. `--#include lib/<name>` lines are resolved here."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib import resources
from typing import NamedTuple

_INCLUDE = re.compile(r"^--#include (lib/[a-z_]+)$", re.MULTILINE)


class Script(NamedTuple):
    """One script as it is sent: its file name without ending, its source and the SHA-1 the server knows it by."""

    name: str
    source: str
    sha: str


@cache
def script(name: str) -> Script:
    """A script by name, read when it is first asked for: to import the package takes none of them."""
    source = _INCLUDE.sub(lambda include: _read(include.group(1)), _read(name))
    return Script(name, source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


def _read(name: str) -> str:
    return (resources.files("impressmem_integrations") / "lua" / f"{name}.lua").read_text(encoding="utf-8")
