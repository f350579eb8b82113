"""The examples and the notebook run as they stand, against a loopback server or without any."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from impressmem_integrations import ImpressionStore
from tests import notebooks
from tests.architecture.tree import ROOT
from tests.langchain.loopback import Loopback
from tests.scripted import impression, save


def run_example(name: str, *arguments: str, **environment: str) -> str:
    """What an example prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / name, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_agent_with_memory_across_two_processes(tmp_path):
    with Loopback("Noted.", save(impression("USER-DIET", "Is vegetarian.")), "Lentils.", "IGNORE") as server:
        place = {"OPENAI_BASE_URL": server.url, "IMPRESSMEM_URL": f"embedded://{tmp_path}/memory"}
        assert run_example("langchain_agent.py", "alice", "I am vegetarian.", **place) == "Noted.\n"
        assert run_example("langchain_agent.py", "alice", "What shall I cook?", **place) == "Lentils.\n"
        first, _, second, *_ = server.bodies
        assert "Is vegetarian." not in str(first)
        assert "Is vegetarian." in second["messages"][0]["content"]


def load(name: str) -> ModuleType:
    """An example as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_many_users_behind_fastapi(valkey_server, monkeypatch):
    with Loopback() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("IMPRESSMEM_URL", valkey_server.url)
        service = load("fastapi_many_users")
        with ImpressionStore.from_url(valkey_server.url) as store:
            for user, code in (("alice", "A1"), ("bob", "B1")):
                store.scoped(user=user).save("CODE", code, category="General", labels=["Note"])
        transport = httpx.ASGITransport(service.app)
        async with (
            service.app.router.lifespan_context(service.app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
        ):

            async def ask(number: int) -> None:
                user = ("alice", "bob")[number % 2]
                question = {"thread": str(number), "text": f"I am {user}, story {number}"}
                answer = await client.post("/chat", json=question, headers={"X-User": user})
                assert answer.json() == {"answer": "ok"}

            await asyncio.gather(*(ask(number) for number in range(10)))
            assert (await client.post("/chat", json={"thread": "1", "text": "hi"})).status_code == 422
            assert (await client.get("/memory", headers={"X-User": "bob"})).json() == [
                {"clue": "CODE", "content": "B1"}
            ]
            assert (await client.delete("/memory", headers={"X-User": "bob"})).json() == {"erased": 1}
            assert (await client.get("/memory", headers={"X-User": "bob"})).json() == []
            assert await service.memory.aflush() == []
        for body in server.bodies:
            mine, other = ("A1", "B1") if "I am alice" in str(body) else ("B1", "A1")
            assert other not in str(body)
            assert mine in str(body) or mine == "B1"  # bob's was erased meanwhile


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Jupyter's own, about paths and event loops
def test_the_notebook_runs_from_top_to_bottom(tmp_path):
    hello, flushed, remembered, notes, strangers, awaited, off = notebooks.run("02_langchain_agent.ipynb", tmp_path)
    assert hello == "Hello! I do not know you yet.\n"
    assert flushed == "[]"
    assert "vegetarian" in remembered
    assert "vegetarian" in notes
    assert strangers.startswith("Hello! I do not know you yet.\nthis run names no user_id")
    assert "vegetarian" in awaited
    assert off == "'Hello! I do not know you yet.'"


def test_every_block_of_the_page_is_python():
    text = (ROOT / "docs" / "langchain.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    assert len(blocks) >= 4
    for block in blocks:
        compile(block, "docs/langchain.md", "exec")


def test_the_quick_start_of_the_page_works(valkey_server, monkeypatch):
    text = Path(ROOT / "docs" / "langchain.md").read_text(encoding="utf-8")
    block = text.split("```python\n")[1].split("```")[0]
    with Loopback("Noted.", save(impression("USER-DIET", "Is vegetarian."))) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        names: dict[str, Any] = {}
        exec(block.replace('"embedded"', repr(valkey_server.url)), names)  # the page's own code
        assert names["store"].scoped(user="alice").get("USER-DIET").content == "Is vegetarian."
        names["memory"].close()
        names["store"].close()
