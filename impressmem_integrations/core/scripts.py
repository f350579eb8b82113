"""Loads every Lua script once: its name, whole source and SHA-1. `--#include lib/<name>` lines are resolved here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

_INCLUDE = re.compile(r"^--#include (lib/[a-z_]+)$", re.MULTILINE)


class Script(NamedTuple):
    """One script as it is sent: its file name without ending, its source and the SHA-1 the server knows it by."""

    name: str
    source: str
    sha: str


def _load() -> Mapping[str, Script]:
    folder = resources.files("impressmem_integrations") / "lua"

    def read(name: str) -> str:
        return (folder / f"{name}.lua").read_text(encoding="utf-8")

    scripts = {}
    for file in folder.iterdir():
        if file.name.endswith(".lua"):
            name = file.name.removesuffix(".lua")
            source = _INCLUDE.sub(lambda include: read(include.group(1)), read(name))
            scripts[name] = Script(name, source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())
    return scripts


SCRIPTS = _load()
