"""The table of operations: what frameworks read of it, and operations that load late."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from impressmem_integrations import ImpressionStore, transfer
from impressmem_integrations.facade import Flows, as_it_is

OPERATIONS = sorted(
    name for name in vars(ImpressionStore) if not name.startswith("_") and f"a{name}" in vars(ImpressionStore)
)
PLAIN = {"close", "perform", "export_jsonl", "import_jsonl"}
"""Written out as methods; their annotations are texts as usual."""


def test_every_operation_has_a_twin():
    assert {"save", "recall", "context", "maintain", "check", "export_jsonl", "impressions"} <= set(OPERATIONS)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("prefix", ["", "a"])
def test_an_operation_tells_its_name_its_docstring_and_evaluated_annotations(prefix: str, name: str):
    method = getattr(ImpressionStore, prefix + name)
    assert method.__name__ == prefix + name
    assert method.__doc__
    signature = inspect.signature(method)
    me, *parameters = signature.parameters.values()
    assert me.name == "self"
    if name not in PLAIN:
        told = {parameter.name: parameter.annotation for parameter in parameters}
        assert told | {"return": signature.return_annotation} == method.__annotations__ == get_type_hints(method)
        assert not [annotation for annotation in method.__annotations__.values() if isinstance(annotation, str)]


class Store:
    """Has an operation that loads late."""

    export_jsonl = as_it_is(Flows("transfer").export_jsonl)


class Louder(Store):
    """Has its own, which asks for the other."""

    def export_jsonl(self, path: str) -> object:
        return super().export_jsonl


def test_an_operation_that_loads_late_can_be_overridden_and_asked_for():
    louder = Louder()
    late = louder.export_jsonl("somewhere")
    assert late.__func__ is transfer.export_jsonl
    assert late.__self__ is louder
    assert vars(Store)["export_jsonl"] is transfer.export_jsonl
    assert vars(Louder)["export_jsonl"] is not transfer.export_jsonl


def test_late_flows_have_no_marks_of_the_language():
    assert not hasattr(Flows("transfer"), "__wrapped__")
