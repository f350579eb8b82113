"""The page on maintenance: its examples run, and it names every status and every setting that it should."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import Any, get_args

import pytest

from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.prompt import INSTRUCTIONS, NOTHING
from impressmem_integrations.model.talk import ReportStatus
from tests.docs.markdown import ROOT, examples, page

PAGE = page("docs/maintenance.md")


def test_every_python_block_prints_what_the_page_shows():
    names: dict[str, Any] = {}
    try:
        for example in examples(PAGE):
            printed = io.StringIO()
            with redirect_stdout(printed):
                exec(compile("\n" * example.line + example.code, "maintenance.md", "exec"), names)
            assert printed.getvalue() == example.output, f"line {example.line}"
    finally:
        names["store"].close()


@pytest.mark.parametrize("status", get_args(ReportStatus))
def test_every_status_is_explained(status):
    assert f"| `{status}` |" in PAGE


def test_the_word_for_nothing_is_the_prompt_s():
    assert f"`{NOTHING}`" in PAGE
    assert NOTHING in INSTRUCTIONS
    assert callable(RuleDistiller())


def test_models_marked_as_replayed_are_those_of_the_provider_tests():
    tested = (ROOT / "tests" / "providers" / "models.py").read_text(encoding="utf-8")
    rows = [line.split("|") for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 5]
    claimed = {name for row in rows if "replayed" in row[4] for name in re.findall(r"`(\w+)\(", row[2])}
    assert {"OpenAIChat", "ChatAnthropic", "ChatGoogleGenerativeAI", "ChatOllama"} <= claimed
    assert [name for name in claimed if not re.search(rf"import {name}\b", tested)] == []
    untested = {name for row in rows if "untested" in row[4] for name in re.findall(r"`(\w+)\(", row[2])}
    assert [name for name in untested if name in tested] == []
