"""The LlamaIndex page names every argument, and what it says of defaults is so."""

from __future__ import annotations

import inspect
import re

from impressmem_integrations.llama_index import ImpressionMemory
from impressmem_integrations.llama_index.reading import DEFAULT_LIMIT_SECONDS
from tests.docs.markdown import page


def test_the_table_of_arguments_is_whole():
    rows = dict(re.findall(r"^\| `(\w+)` \|([^|\n]*)\|", page("docs/llama_index.md"), re.MULTILINE))
    signature = inspect.signature(ImpressionMemory.__init__).parameters
    assert [name for name in rows if name in signature] == [name for name in signature if name != "self"]
    assert rows["limit_seconds"].strip() == str(DEFAULT_LIMIT_SECONDS)
    assert rows["switch"].strip() == f'`"{signature["switch"].default}"`'
