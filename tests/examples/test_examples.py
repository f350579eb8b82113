"""Each example runs as a script of its own against the loopback server; what it stored is read from here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.model import Impression
from tests.loopback import Loopback
from tests.request_rules import CHECKERS
from tests.scripted import call, calls, impression
from tests.servers import RunningServer

REPOSITORY = Path(__file__).parents[2]

both_ways = pytest.mark.parametrize("arguments", [[], ["--sync"]], ids=["async", "sync"])


def run(example: str, arguments: list[str], loopback: Loopback, server: RunningServer) -> str:
    """What the example printed. Its requests are held against OpenAI's rules."""
    done = subprocess.run(
        [sys.executable, "-W", "error", REPOSITORY / "examples" / example, *arguments],
        env=os.environ | loopback.environment | {"IMPRESSMEM_URL": server.url, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for request in loopback.requests:
        assert list(CHECKERS["OPENAI"](request.messages, request.body.get("tools"))) == []
    return done.stdout


def stored(server: RunningServer, bot: str) -> dict[str, Impression]:
    with server.client() as client:
        return {item.clue: item for item in ImpressionStore(client=client, bot=bot).impressions()}


@both_ways
def test_im57_context_example(valkey_server: RunningServer, arguments: list[str]) -> None:
    with Loopback("Mushroom risotto, without peanuts.") as loopback:
        output = run("context_example.py", arguments, loopback, valkey_server)
    assert "assistant: Mushroom risotto, without peanuts." in output
    system = loopback.requests[0].messages[0]["content"]
    assert "allergic to peanuts" in system
    assert "mushroom risotto" in system
    held = stored(valkey_server, "ContextExample")
    assert {clue: item.pin for clue, item in held.items()} == {"USER-ALLERGY": True, "USER-DISH": False}


@both_ways
def test_im53_im57_tools_example_is_the_active_scene(valkey_server: RunningServer, arguments: list[str]) -> None:
    city = impression("USER-CITY", "lives in Bergen", category="Home", labels=["City"])
    diet = impression("USER-DIET", "vegetarian", category="Food", labels=["Diet"])

    def from_recalled(body: dict[str, Any]) -> str:
        recalled = [message["content"] for message in body["messages"] if message["role"] == "tool"][-1]
        return "Bergen; no meat." if "lives in Bergen" in recalled and "vegetarian" in recalled else "I do not know."

    with Loopback(
        calls(call("save_impression", city), call("save_impression", diet, "c2"), call("no_such_tool", {}, "c3")),
        "Noted.",
        calls(call("recall_impressions", {"labels": ["City", "Diet"]}, "c4")),
        from_recalled,
    ) as loopback:
        output = run("tools_example.py", arguments, loopback, valkey_server)
    assert "[save_impression] Saved 1/1: USER-CITY" in output
    assert "[no_such_tool] There is no tool no_such_tool." in output
    assert "[recall_impressions] Recalled 2 impressions" in output
    assert output.rstrip().endswith("assistant: Bergen; no meat.")
    assert loopback.requests[0].tool_names == ["save_impression", "recall_impressions", "organize_impressions"]
    held = stored(valkey_server, "ToolsExample")
    assert {clue: item.content for clue, item in held.items()} == {
        "USER-CITY": "lives in Bergen",
        "USER-DIET": "vegetarian",
    }


@both_ways
def test_im52_im57_passive_example_is_the_passive_scene(valkey_server: RunningServer, arguments: list[str]) -> None:
    child = impression("USER-CHILD", "daughter Mia, starts school in August", category="Family", labels=["School"])
    with Loopback(
        "How exciting!", calls(call("save_impressions", {"impressions": [child]})), "A ruler.", "IGNORE"
    ) as loopback:
        output = run("passive_example.py", arguments, loopback, valkey_server)
    assert "[memory] stored: USER-CHILD" in output
    assert "[memory] nothing_to_store" in output
    chat = [request for request in loopback.requests if not request.tool_names]
    distilling = [request for request in loopback.requests if request.tool_names]
    assert len(chat) == len(distilling) == 2
    assert {*distilling[0].tool_names} == {"save_impressions", "organize_impressions"}
    assert "starts school" in chat[1].messages[0]["content"]
    assert {clue: item.content for clue, item in stored(valkey_server, "PassiveExample").items()} == {
        "USER-CHILD": "daughter Mia, starts school in August"
    }
