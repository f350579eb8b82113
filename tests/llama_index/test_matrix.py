"""Who calls what on a memory: every engine, in every calling style, in every situation of event loops.

`cells.py` runs them as programs of their own, because a test runner is never a plain script.

| cell | why it does not exist |
| --- | --- |
| an agent with chat, achat, stream_chat, astream_chat | agents are workflows: they have `run` and no chat method |
| an agent started outside a running loop | `run` starts a task at once, so it needs a loop to be running |
| an awaited style in a script without `asyncio.run` | nothing runs a coroutine there; in `plain`, the first one is it |
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.architecture.tree import ROOT
from tests.llama_index import cells
from tests.llama_index.chat import Chat

pytestmark = pytest.mark.filterwarnings(
    "ignore::pydantic.warnings.PydanticDeprecationWarning"
)  # its agents are made that way


@cache
def seen_in(situation: str) -> tuple[dict[str, Any], str]:
    command = [sys.executable, "-m", "tests.llama_index.cells", situation]
    # What LlamaIndex needs from the network it must not look for.
    environment = os.environ | {"HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("situation", cells.SITUATIONS)
@pytest.mark.parametrize("name", cells.names())
def test_li05_cell(name: str, situation: str) -> None:
    found = seen_in(situation)[0][name]
    assert found["answers"] == cells.ANSWERS.get(name.split("/")[0], ["ok", "ok"])
    assert found["errors"] == []
    assert found["distilled"] == [1, 1], "each turn reaches the maintenance model once"
    assert found["faults"] == [], "every request passes the providers' rules"
    assert [len(blocks) for blocks in found["shown"]] == [1] * len(found["shown"]), "memory stands in it once"
    assert all("USER-DIET" in text for blocks in found["shown"] for text in blocks)
    assert found["memory_stored"] == 0


@pytest.mark.parametrize("situation", cells.SITUATIONS)
def test_what_was_said_to_tools_is_part_of_the_turn(situation: str) -> None:
    for name, found in seen_in(situation)[0].items():
        if name.startswith(("FunctionAgent", "AgentWorkflow")):
            assert "weather" in found["asked"][0]
        if name.startswith("ReActAgent"):
            assert "Thought: I look." in found["asked"][0]
            assert "Observation: sunny in Lisbon" in found["asked"][0]


@pytest.mark.parametrize("situation", cells.SITUATIONS)
def test_no_program_asks_for_a_patched_loop(situation: str) -> None:
    assert "nest" + "_asyncio" not in seen_in(situation)[1]


@pytest.mark.parametrize("agent", sorted(cells.AGENTS))
def test_agents_have_no_chat_styles(agent: str) -> None:
    made = cells.AGENTS[agent](Chat(), None)  # type: ignore[arg-type]  # it is not used to build one
    assert [style for style in cells.STYLES if hasattr(made, style)] == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # LlamaIndex drops its coroutine
def test_an_agent_needs_a_running_loop() -> None:
    agent = cells.function_agent(Chat(), None)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="event loop"):
        agent.run("hello")
