"""The public names. A change here is a change for users: it belongs into CHANGELOG.md as well."""

from __future__ import annotations

import ast

import impressmem_integrations
from tests.architecture.tree import PACKAGE

ROOT_NAMES = {
    "ImpressMemConfig",
    "ImpressMemManager",
    "ImpressionStore",
    "Limits",
    "OrganizeImpressionsTool",
    "RecallImpressionsTool",
    "SaveImpressionTool",
    "SaveImpressionsTool",
    "Scope",
    "Tokenizer",
    "slice_new_turn_messages",
}
ADAPTER_NAMES = {
    "langchain": {
        "ImpressionBaseStore",
        "ImpressionMemory",
        "ImpressionMiddleware",
        "ImpressionRetriever",
        "context_chain",
        "impression_nodes",
        "impression_tools",
        "maintenance_chain",
    },
    "llama_index": {"ImpressionMemory", "ImpressionMemoryBlock", "ImpressionRetriever", "ImpressionToolSpec"},
    "openai": {"OpenAIChat"},
}


def written_names(adapter: str) -> set[str] | None:
    """`__all__` of an adapter as it is written: its framework need not be installed. None where there is none."""
    for path in (PACKAGE / f"{adapter}.py", PACKAGE / adapter / "__init__.py"):
        if not path.exists():
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"]:
                return set(ast.literal_eval(node.value))
    return None


def test_the_package_exports_the_pinned_names():
    exported = getattr(impressmem_integrations, "__all__", None)
    if exported is not None:
        assert set(exported) == ROOT_NAMES
        assert len(exported) == len(ROOT_NAMES)


def test_every_exported_name_is_there():
    for name in getattr(impressmem_integrations, "__all__", ()):
        assert getattr(impressmem_integrations, name) is not None
        assert name in dir(impressmem_integrations)


def test_the_adapters_export_the_pinned_names():
    written = {adapter: written_names(adapter) for adapter in ADAPTER_NAMES}
    assert {adapter: names for adapter, names in written.items() if names not in (None, ADAPTER_NAMES[adapter])} == {}
