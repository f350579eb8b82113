"""Every script compiles on both servers, under the SHA-1 that the package will call it by."""

from __future__ import annotations

from impressmem_integrations.core.scripts import script
from tests.architecture.tree import LUA

SCRIPTS = {path.stem: script(path.stem) for path in LUA.glob("*.lua")}


def test_every_script_loads_under_its_sha(client):
    assert {name: client.script_load(script.source) for name, script in SCRIPTS.items()} == {
        name: script.sha for name, script in SCRIPTS.items()
    }


def test_there_are_scripts():
    assert {"transact", "context", "get"} <= set(SCRIPTS)


def test_every_include_is_resolved():
    assert [name for name, script in SCRIPTS.items() if "--#include" in script.source] == []
