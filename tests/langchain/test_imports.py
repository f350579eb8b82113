"""What importing the adapter costs and says."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.tree import ROOT


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("missing", ["langchain", "langchain_core", "langgraph"])
def test_lc_10_a_missing_part_is_named_when_it_is_used(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import impressmem_integrations.langchain as adapter
from impressmem_integrations.errors import MissingExtra
try:
    adapter.ImpressionMiddleware
except MissingExtra as error:
    print(error.extra, error)
"""
    assert run(code).startswith("langchain ImpressionMiddleware")
    assert "pip install 'impressmem-integrations[langchain]'" in run(code)


def test_naming_the_adapter_loads_no_framework():
    code = """
import sys
import impressmem_integrations.langchain as adapter
assert {"ImpressionMiddleware", "impression_tools"} <= set(dir(adapter))
print({"langchain", "langchain_core", "langgraph", "pydantic"} & set(sys.modules))
"""
    assert run(code) == "set()\n"


def test_the_tools_need_no_agent():
    code = """
import sys
from impressmem_integrations.langchain import impression_tools
print("langchain.agents" in sys.modules)
"""
    assert run(code) == "False\n"


def test_a_name_that_is_not_there():
    import impressmem_integrations.langchain as adapter

    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = adapter.Nothing
