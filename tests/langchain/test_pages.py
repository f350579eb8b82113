"""The pages on LangChain: their Python runs as it stands, from top to bottom, and their tables are complete."""

from __future__ import annotations

import dataclasses
import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from impressmem_integrations.langchain import ImpressionMiddleware
from impressmem_integrations.model import Report
from tests.docs.markdown import ROOT, examples, page
from tests.loopback_model import LoopbackModel

PAGES = ("docs/langchain.md", "docs/langchain_chains.md")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackModel]:
    """What the pages ask instead of a provider; the embedded server keeps its data in the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with LoopbackModel() as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        yield running


@pytest.mark.filterwarnings("ignore::langchain_core._api.deprecation.LangChainDeprecationWarning")
@pytest.mark.parametrize("name", PAGES)
def test_every_python_block_runs_as_it_stands(name: str, model: LoopbackModel) -> None:
    names: dict[str, Any] = {"__name__": "page"}
    found = examples(page(name))
    assert len(found) >= 4
    try:
        for example in found:
            exec(compile("\n" * example.line + example.code, name, "exec", dont_inherit=True), names)
        if "values" in names:
            assert names["result"]["report"].status == "nothing_to_store"
            assert names["values"].search(("users", "alice"), query="flight")[0].score > 0
    finally:
        if "memory" in names:
            names["memory"].close()
        names["store"].close()
        names.clear()
        gc.collect()  # what is left open must not warn in another test
    assert model.requests


def test_every_argument_of_the_middleware_is_in_the_table() -> None:
    rows = [line.split("|")[1].strip() for line in page("docs/langchain.md").splitlines() if line.startswith("| `")]
    arguments = [name for name in inspect.signature(ImpressionMiddleware.__init__).parameters if name != "self"]
    assert [name for name in arguments if f"`{name}`" not in rows] == []


def test_every_field_of_a_report_is_named() -> None:
    [sentence] = [part for part in page("docs/langchain.md").split("\n\n") if "`given_up`" in part]
    assert [field.name for field in dataclasses.fields(Report) if f"`{field.name}`" not in sentence] == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for link in page(name).split("](")[1:]:
        target, _, heading = link.partition(")")[0].partition("#")
        linked = page(f"docs/{target}") if target else page(name)
        assert (ROOT / "docs" / target).exists()
        headings = {line.lstrip("# ").lower().replace(" ", "-") for line in linked.splitlines() if line.startswith("#")}
        assert not heading or heading in headings, f"{name}: no heading {heading}"
