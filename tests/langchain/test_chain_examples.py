"""The examples of chains, graphs and the way out of classic chains, each in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from impressmem_integrations import ImpressionStore
from tests.architecture.tree import ROOT
from tests.langchain.loopback import Loopback
from tests.scripted import impression, save


def run(example: str, server: Any, model: Loopback, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / example, *arguments],
        env=os.environ
        | {
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "error",
            "OPENAI_API_KEY": "none",
            "OPENAI_BASE_URL": model.url,
            "IMPRESSMEM_URL": server.url,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_runnable_chain(valkey_server):
    with Loopback("Noted.", save(impression("DIET", "Is vegetarian.")), "Lentils.", "IGNORE") as model:
        first = run("runnable_chain.py", valkey_server, model, "alice", "I am vegetarian.")
        assert first == "Noted.\n[memory: stored DIET]\n"
        second = run("runnable_chain.py", valkey_server, model, "alice", "What shall I cook?")
        assert second == "Lentils.\n[memory: nothing_to_store ]\n"
        assert "Is vegetarian." in model.bodies[2]["messages"][0]["content"]


def test_the_langgraph_store(valkey_server):
    with Loopback("Safe travels!", "At six.", "I do not know.") as model:
        run("langgraph_store.py", valkey_server, model, "alice", "My flight to Oslo leaves on Friday at nine.")
        shown = run("langgraph_store.py", valkey_server, model, "alice", "When do I leave for the flight?")
        assert shown == "At six.\n"
        run("langgraph_store.py", valkey_server, model, "bob", "When does the flight leave?")
        systems = [body["messages"][0]["content"] for body in model.bodies]
        assert ["Friday at nine" in system for system in systems] == [False, True, False]


def test_the_classic_migration(valkey_server):
    saving = save(impression("MARA-DIET", "Mara is vegan since May."))
    with Loopback("Nice to meet you.", saving, "A chickpea curry.", "IGNORE") as model:
        shown = run("langchain_classic_migration.py", valkey_server, model)
    assert shown == "classic chain: Nice to meet you.\nagent: A chickpea curry.\n"
    assert "Mara is vegan since May." in model.bodies[2]["messages"][0]["content"]
    with ImpressionStore.from_url(valkey_server.url, user="mara") as store:
        assert store.get("MARA-DIET").content == "Mara is vegan since May."
