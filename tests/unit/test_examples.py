"""The examples, each run as a user runs it; the store is read by this process afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from impressmem_integrations import ImpressionStore
from tests.loopback_model import LoopbackModel, calls, says, tool_call

ROOT = Path(__file__).parents[2]
DIET = {
    "clue": "MARA-DIET",
    "content": "Mara is vegan since May",
    "category": "Health",
    "labels": ["Diet"],
    "pin": False,
}
FICUS = {"clue": "FICUS", "content": "ficus from sister Lena, water weekly", "category": "Home", "labels": ["Plant"]}


def run(example: str, server, *options: str, base_url: str = "http://127.0.0.1:9/v1") -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "IMPRESSMEM_URL": server.url,
        "OPENAI_BASE_URL": base_url,
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": "loopback",
    }
    command = [sys.executable, str(ROOT / "examples" / example), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_the_context_example(valkey_server):
    shown = run("context_example.py", valkey_server)
    with ImpressionStore.from_url(valkey_server.url, bot="context-example") as store:
        assert [item.clue for item in store.impressions()] == ["USER-TEA", "USER-DIET", "USER-ALLERGY"]
        assert store.get("USER-ALLERGY").pin
    assert "[📌][USER-ALLERGY]allergic to peanuts" in shown
    assert "[⚪][USER-TEA]drinks green tea, no coffee" in shown


@pytest.mark.parametrize("options", [(), ("--sync",)], ids=["asyncio", "blocking"])
def test_the_tools_example(valkey_server, options):
    with LoopbackModel(
        calls(tool_call("save_impressions", {"impressions": [DIET]})),
        says("Noted, Mara."),
        calls(tool_call("recall_impressions", {"labels": ["Diet"]}, "call_2")),
        says("How about a chickpea curry?"),
    ) as model:
        shown = run("tools_example.py", valkey_server, *options, base_url=model.base_url)
    assert "[Saved 1/1: MARA-DIET]" in shown
    assert "[Recalled 1 impression]" in shown
    assert "chickpea curry" in shown
    (result,) = [message for message in model.asked if message.get("tool_call_id") == "call_2"]
    assert "Mara is vegan since May" in result["content"]
    with ImpressionStore.from_url(valkey_server.url, bot="tools-example") as store:
        assert store.get("MARA-DIET").content == "Mara is vegan since May"


@pytest.mark.parametrize("options", [(), ("--sync",)], ids=["asyncio", "blocking"])
def test_the_passive_example(valkey_server, options):
    with LoopbackModel(calls(tool_call("save_impression", FICUS))) as model:
        shown = run("passive_example.py", valkey_server, *options, base_url=model.base_url)
    assert shown.startswith("stored: FICUS\n")
    assert [message["role"] for message in model.asked] == ["system", "assistant", "user", "assistant", "user"]
    with ImpressionStore.from_url(valkey_server.url, bot="passive-example") as store:
        assert store.get("FICUS").content == FICUS["content"]
        assert store.get("FICUS").labels == ("Plant",)
