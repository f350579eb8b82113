"""The examples, each run as a program against a server of ours."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import notebooks
from tests.architecture.tree import ROOT
from tests.llama_index.loopback import Loopback, Message
from tests.scripted import call, calls, impression, save

NUTS = impression("USER-NUTS", "has a nut allergy")


def run(name: str, loopback: Loopback, folder: Path, *arguments: str) -> str:
    environment = os.environ | loopback.environment | {
        "IMPRESSMEM_URL": f"embedded://{folder}", "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, f"examples/{name}", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == "", done.stderr
    assert loopback.faults == []
    return done.stdout


def keep_nuts(quoted: str) -> str | Message:
    return save(NUTS) if "nuts" in quoted else "IGNORE"


def test_two_processes(tmp_path: Path) -> None:
    def chat(messages: list[Message]) -> str:
        return "Without nuts, then." if "has a nut allergy" in str(messages) else "Noted."

    with Loopback(chat, keep_nuts) as loopback:
        assert run("llama_index_two_processes.py", loopback, tmp_path, "I must not eat any nuts.") == "Noted.\n"
        said = run("llama_index_two_processes.py", loopback, tmp_path, "What can I bake for Sunday?")
    assert said == "Without nuts, then.\n"
    assert len([quoted for quoted in loopback.kept if "any nuts" in quoted]) == 1


def test_agent(tmp_path: Path) -> None:
    def chat(messages: list[Message]) -> str | Message:
        if messages[-1]["role"] == "tool":
            return f"You live in Lisbon: {'garden' in messages[-1]['content']}"
        if "Where do I live" in str(messages[-1]["content"]):
            return calls(call("recall_impressions", {"query": "home, flat, garden"}))
        return "How nice."

    def keeper(quoted: str) -> str | Message:
        if "moved" in quoted:
            return save(impression("USER-HOME", "lives in Lisbon since May, flat with a small garden"))
        return "IGNORE"

    with Loopback(chat, keeper) as loopback:
        said = run("llama_index_agent.py", loopback, tmp_path)
    assert "[memory updated: USER-HOME]" in said
    assert "[recall_impressions: Recalled" in said
    assert "You live in Lisbon: True" in said
    shown = next(messages for messages in loopback.chats if "Where do I live" in str(messages[-1]["content"]))
    assert "flat with a small garden" in str(shown[-1]["content"])


def test_rag(tmp_path: Path) -> None:
    def chat(messages: list[Message]) -> str:
        text = str(messages)
        return "On Tuesday." if "has a nut allergy" in text and "lemon sorbet" in text else "I will remember that."

    with Loopback(chat, keep_nuts) as loopback:
        said = run("llama_index_rag.py", loopback, tmp_path)
    assert "I will remember that." in said
    assert "On Tuesday." in said
    assert "\n- has a nut allergy\n" in said.partition("Kept:")[2]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("IMPRESSMEM_URL", f"embedded://{tmp_path}")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import llama_index_fastapi

    yield llama_index_fastapi
    sys.modules.pop("llama_index_fastapi")


async def test_fastapi(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def chat(messages: list[Message]) -> str:
        return "No almonds." if "has a nut allergy" in str(messages) else "Hello."

    async def post(client: Any, user: str, conversation: str, text: str) -> str:
        said = {"conversation": conversation, "text": text}
        found = await client.post("/chat", json=said, headers={"X-User": user})
        assert found.status_code == 200
        return str(found.json()["text"])

    async def kept(client: Any, user: str) -> list[Any]:
        found: list[Any] = (await client.get("/memory", headers={"X-User": user})).json()
        return found

    with Loopback(chat, keep_nuts) as loopback:
        for name, value in loopback.environment.items():
            monkeypatch.setenv(name, value)
        async with app.lifespan(app.app):
            transport = httpx.ASGITransport(app.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                assert (await client.get("/memory")).status_code == 422  # nobody is no user
                assert await post(client, "alice", "c1", "I must not eat any nuts.") == "Hello."
                assert await app.app.state.runner.aflush() == []
                assert [item["clue"] for item in await kept(client, "alice")] == ["USER-NUTS"]
                both = asyncio.gather(post(client, "alice", "c2", "Dinner?"), post(client, "bob", "c1", "Dinner?"))
                assert await both == ["No almonds.", "Hello."]
                assert await kept(client, "bob") == []
                erased = await client.delete("/memory", headers={"X-User": "alice"})
                assert erased.json() == {"erased": 1}
                assert await post(client, "alice", "c3", "Dinner?") == "Hello."
    assert loopback.faults == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Jupyter's own, about paths and event loops
def test_notebook(tmp_path: Path) -> None:
    def chat(messages: list[Message]) -> str | Message:
        last = str(messages[-1]["content"])
        if messages[-1]["role"] == "tool":
            return "In Lisbon." if "Lisbon" in last else "I do not know."
        if last.endswith("Where do I live?"):
            return calls(call("recall_impressions", {"query": "Lisbon"}))
        return "A cake without nuts." if "has a nut allergy" in last else "Noted."

    def keeper(quoted: str) -> str | Message:
        if "moved to Lisbon" in quoted:
            return save(NUTS, impression("USER-HOME", "lives in Lisbon"))
        return save(impression("SISTER", "Ines, a doctor in Faro")) if "Ines" in quoted else "IGNORE"

    with Loopback(chat, keeper) as loopback:
        place = {"IMPRESSMEM_URL": f"embedded://{tmp_path}/memory", "JUPYTER_PLATFORM_DIRS": "1"}
        shown = "".join(notebooks.run("03_llama_index_chat.ipynb", tmp_path, **loopback.environment, **place))
    assert loopback.faults == []
    for text in ("USER-HOME | lives in Lisbon", "A cake without nuts.", "In Lisbon.", "stored ('SISTER',)", "3 erased"):
        assert text in shown
    assert not [quoted for quoted in loopback.kept if "riddle" in quoted or "about food" in quoted]


def test_the_first_lines_of_the_docs(tmp_path: Path) -> None:
    block = (ROOT / "docs/llama_index.md").read_text().split("```python\n")[1].split("```")[0]
    assert len(block.splitlines()) == 12
    last = block.rindex("memory.close()")

    def chat(messages: list[Message]) -> str:
        return "Without nuts." if "has a nut allergy" in str(messages) else "Noted."

    with Loopback(chat, keep_nuts) as loopback:
        environment = os.environ | loopback.environment | {
            "OPENAI_API_BASE": loopback.environment["OPENAI_BASE_URL"], "HOME": str(tmp_path), "XDG_DATA_HOME":
            str(tmp_path), "PYTHONPATH": str(ROOT),
        }  # fmt: skip
        runs = [
            subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True,
                           check=False, timeout=60)
            for code in (block[:last], block)  # the first ends without waiting: the interpreter does it
        ]  # fmt: skip
    assert [done.stderr for done in runs] == ["", ""]
    assert runs[1].stdout == "Without nuts.\nWithout nuts.\n"
    assert loopback.faults == []
