"""Wrong arguments are refused when an adapter is made, by name, and with what would be right."""

from __future__ import annotations

import pytest
from langchain_core.runnables import RunnableLambda

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain import (
    ImpressionBaseStore,
    ImpressionMiddleware,
    ImpressionRetriever,
    context_chain,
    impression_nodes,
)
from impressmem_integrations.options import check_options
from tests.scripted import Scripted


def named(wrong):
    return next(iter(wrong)) if isinstance(wrong, dict) and wrong else repr(wrong)


NOWHERE = "redis://127.0.0.1:1/0"
SECONDS = [{"limit_seconds": value} for value in ("1", 0, -1, None, True, float("nan"), float("inf"), 1e300)]
UNITS = [{"budget_units": value} for value in (0, -1, "x", 1.5, True)]


async def awaited(report):
    raise AssertionError("nobody awaits it")


@pytest.fixture
def store():
    return ImpressionStore.from_url(NOWHERE)


@pytest.mark.parametrize(
    "wrong",
    [
        *SECONDS,
        *UNITS,
        *({"on_report": value} for value in (5, "log", awaited)),
        *({"runner": value} for value in (3, "background")),
        *({"settings": value} for value in ({}, {"batch_turns": 2})),
        *({"tools": value} for value in ("yes", 1, None)),
        *({"name": value} for value in (None, "", "  ", 3)),
        {"maintenance": "later"},
        {"on_error": "ignore"},
        {"on_error": awaited},
    ],
    ids=named,
)
def test_middleware(store, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ImpressionMiddleware(store, **wrong)


@pytest.mark.parametrize("wrong", [*SECONDS, *UNITS, {"on_error": "ignore"}], ids=named)
def test_what_reads(store, wrong):
    for make in (
        lambda: context_chain(store, **wrong),
        lambda: impression_nodes(store, Scripted(), **wrong),
    ):
        with pytest.raises(ConfigurationError, match=next(iter(wrong))):
            make()


@pytest.mark.parametrize("wrong", [{"messages_key": ""}, {"memory_key": None}, {"report_key": ""}], ids=named)
def test_the_names_of_a_states_keys(store, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        impression_nodes(store, Scripted(), **wrong)


@pytest.mark.parametrize("wrong", [*SECONDS, {"k": 0}, {"k": "4"}, {"fill": "yes"}, {"on_error": 7}], ids=named)
def test_retriever(store, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ImpressionRetriever(store=store, **wrong)


@pytest.mark.parametrize(
    "ttl",
    [5, {"x": 1}, {"default_ttl": 0}, {"default_ttl": "1"}, {"default_ttl": 1e300}, {"refresh_on_read": "yes"}],
    ids=named,
)
def test_lifetimes_of_a_store_of_values(store, ttl):
    with pytest.raises(ConfigurationError, match="ttl"):
        ImpressionBaseStore(store, ttl=ttl)


@pytest.mark.parametrize("wrong", [{"shared": "yes"}, {"bot": ""}, {"template": "users"}, {"template": 5}], ids=named)
def test_a_store_of_values(store, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        ImpressionBaseStore(store, **wrong)


def test_what_is_right_passes_and_what_is_unknown_is_left_to_others():
    check_options({"limit_seconds": 1, "budget_units": None, "tools": False, "on_report": print, "unknown": object()})
    check_options({"on_report": RunnableLambda(print).invoke, "runner": None, "settings": None})
