"""What the README shows is what happens: its Python runs, its output and help are compared, its tables are complete."""

from __future__ import annotations

import dataclasses
import gc
import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import closing, redirect_stdout
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import StoreUnavailable
from impressmem_integrations.maintenance.settings import Settings
from tests.distiller_sentences import CHINESE, ENGLISH
from tests.docs.markdown import ROOT, Example, blocks, examples, page
from tests.loopback_model import LoopbackModel, calls, says, tool_call
from tests.unit.test_distiller import measure

README = page("README.md")
BAKERY = {
    "clue": "CAROL-WORK",
    "content": "runs the bakery on her own since 2026-05-18",
    "category": "Work",
    "labels": ["Job"],
    "pin": False,
}
OSLO = {
    "clue": "ERIN-HOME",
    "content": "lives in Oslo with a dog",
    "category": "Home",
    "labels": ["City", "Pets"],
    "pin": False,
}


def undated(text: str) -> str:
    """Notes are dated by the day they were saved; blanks at a line's end are not seen on a page."""
    return re.sub(r" +$", "", re.sub(r"\d{4}-\d\d-\d\d", "<date>", text), flags=re.MULTILINE)


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackModel]:
    answers = [
        calls(tool_call("save_impressions", {"impressions": [BAKERY]})),  # maintenance of "any chat model"
        says("What is your dog called?"),  # the agent, then maintenance of its turn, three times
        calls(tool_call("save_impressions", {"impressions": [OSLO]})),
        says("Around Sognsvann, dogs are welcome there."),
        says("IGNORE"),
        says("You have not told me yet."),
        says("IGNORE"),
    ]
    with LoopbackModel(*answers) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield model


def shown_by(example: Example, names: dict[str, Any]) -> str:
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile("\n" * example.line + example.code, "README.md", "exec"), names)
    return printed.getvalue()


# LlamaIndex' own `Memory` never closes the connections of its default store.
@pytest.mark.filterwarnings("ignore:<aiosqlite.core.Connection:ResourceWarning")
def test_nb06_every_python_block_prints_what_the_readme_shows(loopback):
    """NB-06: the quick start as it stands, on a machine without a Redis; later blocks go on from earlier ones."""
    names: dict[str, Any] = {}
    stores = []
    found = examples(README)
    assert len(found) >= 3
    assert "embedded://:memory:" in found[0].code
    try:
        for example in found:
            assert example.output, f"the block in line {example.line} shows no output"
            assert undated(shown_by(example, names)) == undated(example.output)
            stores.append(names["store"])
    finally:
        names["memory"].close()
        for store in stores:
            store.close()
        names["client"].close()
        names.clear()
        stores.clear()
        gc.collect()  # what is left open must not warn in another test
    asked = [request["messages"] for request in loopback.requests]
    assert (loopback.answers, len(asked)) == ([], 7)
    assert [message["role"] for message in asked[0]] == ["system", "user"]
    talks = asked[1::2]
    assert [talk[-1]["content"].endswith(("dog.", "Sunday?", "live?")) for talk in talks] == [True] * 3
    assert [OSLO["content"] in str(talk) for talk in talks] == [False, True, False]


@pytest.mark.filterwarnings("ignore:<aiosqlite.core.Connection:ResourceWarning")
def test_the_llama_index_block_runs_alone():
    (example,) = [example for example in examples(README) if "llama_index.core" in example.code]
    names: dict[str, Any] = {}
    assert undated(shown_by(example, names)) == undated(example.output)
    names.pop("store").close()
    gc.collect()


def test_the_quick_start_has_about_ten_lines():
    assert len([line for line in examples(README)[0].code.splitlines() if line.strip()]) <= 10


def test_the_agent_with_memory_has_at_most_twelve_lines():
    [agent] = [one.code for one in examples(README) if "create_agent" in one.code]
    assert len([line for line in agent.splitlines() if line.strip()]) <= 12


def test_nb06_a_wrong_url_says_where_and_what_to_do():
    """NB-06: host and port, and a way out that needs no server."""
    with closing(ImpressionStore.from_url("redis://127.0.0.1:9/0", user="alice")) as store:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9.*'embedded'"):
            store.get("ALICE-DIET")
        assert store.maintain([{"role": "user", "content": "I like tea."}], lambda *_: "IGNORE").status == (
            "store_unavailable"
        )


def test_the_command_s_help():
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "impressmem_integrations", "--help"]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60).stdout
    assert ("", shown) in [(language, body) for language, body, _ in blocks(README)]


@pytest.mark.parametrize("settings", [Limits, Settings])
def test_every_setting_is_named(settings):
    missing = [field.name for field in dataclasses.fields(settings) if f"`{field.name}`" not in README]
    assert missing == []


def test_every_extra_and_every_base_requirement_is_named():
    project = tomllib.loads(page("pyproject.toml"))["project"]
    extras = set(project["optional-dependencies"]) - {"dev"}
    assert [extra for extra in extras if f"impressmem-integrations[{extra}]" not in README] == []
    names = [re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"]]
    assert [name for name in names if f"- **{name}**" not in README] == []


@pytest.mark.parametrize(("language", "sentences"), [("English", ENGLISH), ("Chinese", CHINESE)])
def test_the_score_of_the_rule_distiller(language, sentences):
    found, expected, invented = measure(sentences)
    assert re.search(rf"\b{found} of {expected} {language}\b", README)
    assert (invented, "invented none" in README) == ([], True)


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?://)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
