"""A real model end to end: a small one behind a real OpenAI-compatible server, asked through three real clients.

The model is a fool, so nothing of its wording is asserted, only what the package makes of a well-formed answer. Nine
calls in all. Equal requests get equal answers, so the turns were chosen once for the kind of answer they bring.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from llama_index.llms.openai_like import OpenAILike

from impressmem_integrations.cli.local_model import MODEL_NAME, ModelDownloadFailed, local_model
from impressmem_integrations.maintenance.gate import worth_asking
from impressmem_integrations.model import Report
from impressmem_integrations.openai import OpenAIChat
from impressmem_integrations.store import ImpressionStore
from tests.servers import RunningServer

FACTS = "I am allergic to peanuts and I live in Lisbon."
NOTHING = "How do I cook rice?"
MERGE = "The categories Food and Foods are the same, please merge them."

# On a busy machine one call takes up to half a minute, and the first test waits for the download too.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """One server for the whole run."""
    served = local_model()
    try:
        base_url = served.__enter__()
    except ModelDownloadFailed as error:
        pytest.skip(str(error))
    try:
        yield base_url
    finally:
        served.__exit__(None, None, None)


def through_openai(url: str, max_tokens: int = 200) -> Any:
    client = openai.OpenAI(base_url=url, api_key="unused", max_retries=0, timeout=120)
    return OpenAIChat(client, model=MODEL_NAME, temperature=0, max_tokens=max_tokens)


def through_langchain(url: str, max_tokens: int = 200) -> Any:
    return ChatOpenAI(
        model=MODEL_NAME,
        base_url=url,
        api_key="unused",
        temperature=0,
        max_tokens=max_tokens,
        max_retries=0,
        timeout=120,
    )


def through_llama_index(url: str, max_tokens: int = 200) -> Any:
    return OpenAILike(
        model=MODEL_NAME,
        api_base=url,
        api_key="unused",
        temperature=0,
        max_tokens=max_tokens,
        max_retries=0,
        timeout=120,
        is_chat_model=True,
        is_function_calling_model=True,
    )


CLIENTS = pytest.mark.parametrize("client", [through_openai, through_langchain, through_llama_index])


def distilled(store: ImpressionStore, model: Any, said: str) -> Report:
    return store.maintain([{"role": "user", "content": said}], model=model)


@pytest.fixture
def store(valkey_server: RunningServer) -> Iterator[ImpressionStore]:
    with ImpressionStore.from_url(valkey_server.url, bot="live", user="u") as opened:
        yield opened


@CLIENTS
def test_a_fact_is_saved(client: Callable[..., Any], url: str, store: ImpressionStore) -> None:
    report = distilled(store, client(url), FACTS)
    assert report.status == "stored", report
    held = {item.clue: item for item in store.impressions()}
    assert set(report.saved) == set(held)
    assert all(item.content and item.category and item.labels for item in held.values())
    assert report.usage.calls == 1
    assert report.usage.input_tokens > 100
    assert 0 < report.usage.output_tokens <= 200
    # The turn counts as seen: the model, were it asked again, is not there.
    assert distilled(store, _nobody, FACTS).status == "already_done"


def _nobody(messages: Any, tools: Any = None) -> Any:
    raise AssertionError("asked about a turn that was distilled")


def test_nothing_to_keep_is_said_and_not_silent(url: str, store: ImpressionStore) -> None:
    assert worth_asking([NOTHING])
    report = distilled(store, through_langchain(url), NOTHING)
    assert report.status == "nothing_to_store", report
    assert report.reason
    assert report.usage.calls == 1
    assert not list(store.impressions())


def test_a_senseless_merge_is_refused(url: str, store: ImpressionStore) -> None:
    report = distilled(store, through_openai(url), MERGE)
    assert report.status == "rejected", report
    assert [refusal.reason for refusal in report.refused]
    assert not report.merged
    assert not list(store.impressions())


def test_mq_04_what_the_assistant_suggests_is_no_fact_about_the_user(url: str, store: ImpressionStore) -> None:
    model, asked = through_openai(url), []

    def recorded(messages: list[Any], tools: Any = None) -> Any:
        asked.append(messages)
        return model(messages, tools)

    talk = [("user", "suggest a name for a dog"), ("assistant", "Bruno would suit")]
    report = store.maintain(talk, model=recorded)
    assert report.status in ("stored", "nothing_to_store", "rejected"), report
    assert report.usage.calls == 1
    ((system, said),) = asked
    assert "user:\n| suggest a name for a dog\nassistant:\n| Bruno would suit" in said["content"]
    assert "Suggestions, questions and opinions" in system["content"]
    assert [item for item in store.impressions() if "bruno" in f"{item.clue} {item.content}".casefold()] == []


@CLIENTS
def test_a_cut_answer_is_told_and_nothing_of_it_is_kept(
    client: Callable[..., Any], url: str, store: ImpressionStore
) -> None:
    report = distilled(store, client(url, max_tokens=40), FACTS)
    assert report.status == "cut_off", report
    assert report.reason
    assert not list(store.impressions())
