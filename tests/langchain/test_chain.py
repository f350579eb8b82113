"""Memory as steps of runnable chains."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tracers.context import collect_runs
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError, InvalidInput, ModelError, StoreUnavailable
from impressmem_integrations.langchain import context_chain, maintenance_chain
from impressmem_integrations.model import Report
from tests.langchain.chat import ScriptedChat, note, saving
from tests.langchain.conftest import remember
from tests.scripted import Scripted, impression, save

TALK = [HumanMessage("I live in Oslo."), AIMessage("Noted.")]
OSLO = note("HOME", "lives in Oslo")


def of(user: str, **more: Any) -> dict[str, Any]:
    return {"configurable": {"user_id": user, **more}}


@pytest.fixture
def alice(store):
    return store.scoped(user="alice")


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "batch", "abatch", "stream"])
async def test_lc11_a_step_of_a_chain_outside_a_graph(store, alice, way):
    step = maintenance_chain(store, ScriptedChat(replies=[saving(OSLO)]))
    match way:
        case "invoke":
            report = step.invoke(TALK, of("alice"))
        case "ainvoke":
            report = await step.ainvoke(TALK, of("alice"))
        case "batch":
            (report,) = step.batch([TALK], of("alice"))
        case "abatch":
            (report,) = await step.abatch([TALK], of("alice"))
        case "stream":
            (report,) = step.stream(TALK, of("alice"))
    assert isinstance(report, Report)
    assert (report.status, report.saved) == ("stored", ("HOME",))
    assert alice.get("HOME").content == "lives in Oslo"


def test_lc11_with_nothing_but_a_store_and_a_callable(alice):
    report = maintenance_chain(alice, Scripted(save(impression("HOME", "lives in Oslo")))).invoke(TALK)
    assert report.saved == ("HOME",)


SCRIPT = """
from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import maintenance_chain

def model(messages, tools):
    return "IGNORE"

with ImpressionStore.from_url("embedded://:memory:", user="alice") as store:
    step = maintenance_chain(store, model)
    print((step | (lambda report: report.status)).invoke([("user", "I live in Oslo"), ("assistant", "ok")]))
"""


def test_lc11_in_a_plain_script():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("nothing_to_store\n", "")


def test_the_thread_comes_from_the_input_or_the_config(store):
    model = ScriptedChat(replies=["IGNORE"] * 9)
    step = maintenance_chain(store, model)
    given = {"messages": TALK, "thread_id": "one"}
    statuses = [
        step.invoke(given, of("alice")).status,
        step.invoke(given, of("alice")).status,
        step.invoke(TALK, of("alice", thread_id="one")).status,
        step.invoke(TALK, of("alice", thread_id="two")).status,
        step.invoke(TALK, of("alice")).status,
        step.invoke(given, of("bob")).status,
    ]
    assert statuses == ["nothing_to_store", "already_done", "already_done", *["nothing_to_store"] * 3]


def test_a_run_that_names_nobody_is_refused_before_the_model_is_asked(store):
    model = ScriptedChat()
    with pytest.raises(ConfigurationError, match="user_id"):
        maintenance_chain(store, model).invoke(TALK)
    assert model.requests == []


def test_wrong_inputs_and_arguments(store):
    step = maintenance_chain(store, ScriptedChat())
    with pytest.raises(InvalidInput, match=r"not dict with the keys \['msgs'\]"):
        step.invoke({"msgs": []}, of("alice"))
    with pytest.raises(InvalidInput, match="not str"):
        step.invoke("hello", of("alice"))
    with pytest.raises(ConfigurationError):
        maintenance_chain(store, object())
    with pytest.raises(ConfigurationError, match="review"):
        maintenance_chain(store, ScriptedChat(), review=3)
    with pytest.raises(ConfigurationError, match="ImpressionStore"):
        maintenance_chain(None, ScriptedChat())


def test_prompt_values_and_a_collected_plan(store, alice):
    prompt = ChatPromptTemplate.from_messages([("human", "{said}"), ("ai", "ok")])
    chain = prompt | maintenance_chain(store, ScriptedChat(replies=[saving(OSLO)]), review="collect")
    report = chain.invoke({"said": "I live in Oslo."}, of("alice"))
    assert [plan.id for plan in alice.plans()] == [report.plan]


# --- failures -----------------------------------------------------------------------------------------------------


def test_a_failing_model_is_a_status_or_an_error_that_with_retry_sees(store, alice):
    down = RuntimeError("provider down")
    quiet = maintenance_chain(store, ScriptedChat(replies=[down]))
    assert quiet.invoke(TALK, of("bob")).status == "model_failed"
    strict = maintenance_chain(store, ScriptedChat(replies=[down]), on_error="raise")
    with pytest.raises(ModelError, match="provider down"):
        strict.invoke(TALK, of("carol"))
    again = maintenance_chain(store, ScriptedChat(replies=[down, saving(OSLO)]), on_error="raise").with_retry(
        retry_if_exception_type=(ModelError,), wait_exponential_jitter=False, stop_after_attempt=2
    )
    assert again.invoke(TALK, of("alice")).saved == ("HOME",)


async def test_a_failing_store_is_an_error_with_fallbacks(valkey_server):
    away = ImpressionStore.from_url("redis://127.0.0.1:1/0", user="alice")
    assert maintenance_chain(away, ScriptedChat()).invoke(TALK).status == "store_unavailable"
    strict = maintenance_chain(away, ScriptedChat(), on_error="raise")
    with pytest.raises(StoreUnavailable):
        await strict.ainvoke(TALK)
    behind = strict.with_fallbacks([RunnableLambda(lambda _: "later")])
    assert await behind.ainvoke(TALK) == "later"


# --- traces and streams -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_one_span_with_the_models_call_as_its_child(store, way):
    step = maintenance_chain(store, ScriptedChat(replies=[saving(OSLO)]))
    with collect_runs() as traced:
        _ = step.invoke(TALK, of("alice")) if way == "invoke" else await step.ainvoke(TALK, of("alice"))
    (span,) = traced.traced_runs
    assert (span.name, span.run_type) == ("impression_maintenance", "chain")
    (child,) = span.child_runs
    assert child.run_type in ("llm", "chat_model")
    assert "nostream" in child.tags


def test_callbacks_see_a_failure(store):
    heard = []

    class Ears(BaseCallbackHandler):
        def on_chain_error(self, error, **_):
            heard.append(type(error).__name__)

    step = maintenance_chain(store, ScriptedChat(replies=[RuntimeError("down")]), on_error="raise")
    with pytest.raises(ModelError):
        step.invoke(TALK, {**of("alice"), "callbacks": [Ears()]})
    assert heard == ["ModelError"]


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_no_token_of_maintenance_reaches_a_graphs_stream(store, alice, way):
    chat = ScriptedChat(replies=["A real answer"])
    step = maintenance_chain(store, ScriptedChat(replies=[saving(OSLO)]))

    def answer(state):
        return {"messages": [chat.invoke(state["messages"])]}

    def keep(state, config):
        step.invoke(state, config)
        return {}

    graph = StateGraph(State).add_node("answer", answer).add_node("keep", keep)
    app = graph.add_edge(START, "answer").add_edge("answer", "keep").add_edge("keep", END).compile()
    given, options = {"messages": TALK[:1]}, {"stream_mode": "messages"}
    if way == "stream":
        parts = list(app.stream(given, of("alice"), **options))
    else:
        parts = [part async for part in app.astream(given, of("alice"), **options)]
    assert {meta["langgraph_node"] for _, meta in parts} == {"answer"}
    assert alice.get("HOME")


def test_schemas_and_names(store):
    step = maintenance_chain(store, ScriptedChat())
    assert step.OutputType is Report
    assert step.get_name() == "impression_maintenance"
    assert "drinks" not in repr(step)
    assert context_chain(store).OutputType is str
    assert step.with_config(tags=["x"]).bound is step


# --- reading ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_context_for_a_prompt(store, way):
    remember(store, "alice", "TEA", "drinks green tea")
    prompt = ChatPromptTemplate.from_messages([("system", "Help.\n{memory}"), ("human", "{question}")])
    chat = ScriptedChat(replies=["Tea!"])
    chain = (
        RunnablePassthrough.assign(memory=itemgetter("question") | context_chain(store, budget_units=500))
        | prompt
        | chat
    )
    given = {"question": "What do I drink?"}
    _ = chain.invoke(given, of("alice")) if way == "invoke" else await chain.ainvoke(given, of("alice"))
    assert "drinks green tea" in chat.systems[0]


def test_context_takes_messages_too_and_is_empty_for_a_stranger(store):
    remember(store, "alice", "TEA", "drinks green tea")
    step = context_chain(store)
    for given in ("tea?", TALK, {"messages": [("user", "tea?")]}, {"messages": []}):
        assert "drinks green tea" in step.invoke(given, of("alice"))
        assert step.invoke(given, of("bob")) == ""


def test_rd03_nothing_is_opened_at_construction():
    away = ImpressionStore.from_url("redis://127.0.0.1:1/0")
    assert maintenance_chain(away, ScriptedChat())
    assert context_chain(away)


def in_a_process_without(missing: str, code: str) -> str:
    """What the code prints where a package is not there."""
    code = f"import sys\nsys.modules[{missing!r}] = None\nimport impressmem_integrations.langchain as adapter\n{code}"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.mark.parametrize("missing", ["langchain", "langgraph"])
def test_lc10_chains_retriever_and_nodes_need_langchain_core_only(missing):
    code = """
from impressmem_integrations import ImpressionStore
store = ImpressionStore.from_url("embedded://:memory:")
config = {"configurable": {"user_id": "alice"}}
talk = [("user", "I live in Oslo."), ("assistant", "ok")]
model = lambda messages, tools: "IGNORE"
print(adapter.maintenance_chain(store, model).invoke(talk, config).status)
print(adapter.ImpressionRetriever(store=store).invoke("Oslo", config)[0].metadata["kind"])
print(adapter.impression_nodes(store, model).read.invoke({"messages": talk}, config))
"""
    assert in_a_process_without(missing, code) == "nothing_to_store\nturn\n{'memory': ''}\n"


@pytest.mark.parametrize(
    ("missing", "name"),
    [
        ("langchain_core", "maintenance_chain"),
        ("langchain_core", "ImpressionRetriever"),
        ("langchain_core", "impression_nodes"),
        ("langgraph", "ImpressionBaseStore"),
    ],
)
def test_lc10_what_is_missing_is_named_when_it_is_used(missing, name):
    code = f"""
from impressmem_integrations.errors import MissingExtra
try:
    adapter.{name}
except MissingExtra as error:
    print(error)
"""
    assert "pip install 'impressmem-integrations[langchain]'" in in_a_process_without(missing, code)


class Crowd:
    """A model that saves one impression, and has the first `size` callers wait for each other."""

    def __init__(self, size: int, clue: str) -> None:
        self.clue, self.asked = clue, 0
        self._size, self._lock, self._barrier = size, threading.Lock(), threading.Barrier(size)

    def __call__(self, messages: list[Any], tools: Any) -> Any:
        with self._lock:
            self.asked += 1
            first = self.asked <= self._size
        if first:
            self._barrier.wait(30)
        (fact,) = re.findall(r"fact (\d+)", messages[-1]["content"])
        return save(impression(self.clue.format(fact), f"fact {fact}"))


@pytest.mark.parametrize("clue", ["FACT-{}", "PROFILE"])
def test_a_batch_of_one_user_loses_no_turn(store, clue):
    """All of them find the thread as it was before; with one clue for all each answer makes the others stale."""
    model = Crowd(4, clue)
    inputs = [[("user", f"Please remember fact {n}"), ("assistant", "Noted.")] for n in range(12)]
    reports = maintenance_chain(store, model).batch(inputs, of("alice") | {"max_concurrency": 4})
    assert {report.status for report in reports} == {"stored"}
    assert len({turn for report in reports for turn in report.turns}) == 12
    assert len(list(store.scoped(user="alice").impressions())) == (12 if clue == "FACT-{}" else 1)
    if clue == "FACT-{}":
        assert model.asked == 12


async def test_an_asyncio_batch_of_one_user_loses_no_turn(store):
    answering = Crowd(1, "PROFILE")

    async def model(messages: list[Any], tools: Any) -> Any:
        await asyncio.sleep(0)
        return answering(messages, tools)

    inputs = [[("user", f"Please remember fact {n}"), ("assistant", "Noted.")] for n in range(12)]
    reports = await maintenance_chain(store, model).abatch(inputs, of("alice"))
    assert {report.status for report in reports} == {"stored"}
    assert 12 <= answering.asked <= 24
