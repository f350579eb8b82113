"""The described system's documented use, as it is documented there: only the import line is ours.

The calls, names and arguments are those of its guide; the model is a server on this machine, behind the real `openai`
package. Its quick start names localhost:6379: connections to that port are led to the test's own server, since the port
may be taken here.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import json
import socket

import pytest
from openai import AsyncOpenAI

from tests import request_rules
from tests.loopback_model import LoopbackModel, calls, says, tool_call
from tests.servers import RunningServer, valkey_binary

FACT = {"clue": "USER-COLOR", "content": "用户喜欢紫色主题", "category": "UserPreference", "labels": ["Color", "UI"]}


@pytest.fixture(scope="module")
def tcp_server():
    with RunningServer(valkey_binary(), tcp=True) as running:
        yield running


@pytest.fixture
def localhost_6379(tcp_server, monkeypatch):
    """The test's server at localhost:6379, empty; yields the list of addresses that were dialled."""
    tcp_server.admin.flushall()
    dialled = []
    connect = socket.socket.connect

    def led(self, address):
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[1] == 6379:
            if self.family == socket.AF_INET6:
                raise ConnectionRefusedError  # the server listens on IPv4; the next address is tried
            dialled.append(address)
            address = ("127.0.0.1", tcp_server.port)
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", led)
    return dialled


def stored(server: RunningServer) -> str:
    """What a second connection reads."""
    from impressmem_integrations import ImpressionStore

    with ImpressionStore.from_url(server.url, bot="MyAssistant") as store:
        return store.context().text


def test_the_quick_start(localhost_6379):
    from impressmem_integrations import ImpressMemConfig, ImpressMemManager

    async def main():
        config = ImpressMemConfig(
            bot_name="MyAssistant",
            redis_config={"host": "localhost", "port": 6379, "db": 0},
        )
        manager = ImpressMemManager(config)
        memory_context = await manager.build_memory_context()
        print(memory_context)
        await manager.close()

    with contextlib.redirect_stdout(io.StringIO()) as shown:
        asyncio.run(main())
    assert shown.getvalue() == "No notes from earlier conversations are kept yet.\n"
    assert localhost_6379


async def test_the_tools_in_an_agent(localhost_6379, tcp_server):
    from impressmem_integrations import (
        ImpressMemConfig,
        ImpressMemManager,
        OrganizeImpressionsTool,
        RecallImpressionsTool,
        SaveImpressionTool,
    )  # fmt: skip

    with LoopbackModel(calls(tool_call("save_impression", FACT)), says("好的。")) as model:
        openai = AsyncOpenAI(base_url=model.base_url, api_key="none")
        messages = [{"role": "user", "content": "我喜欢紫色主题"}]

        config = ImpressMemConfig(bot_name="MyAssistant", redis_config={"host": "localhost"})
        manager = ImpressMemManager(config)

        save_tool = SaveImpressionTool(manager)
        recall_tool = RecallImpressionsTool(manager)
        organize_tool = OrganizeImpressionsTool(manager)

        tools = [
            save_tool.get_definition(),
            recall_tool.get_definition(),
            organize_tool.get_definition(),
        ]

        response = await openai.chat.completions.create(
            model="gpt-4",
            messages=messages,
            tools=tools,
        )
        (call,) = response.choices[0].message.tool_calls
        full_result, summary = await save_tool.execute(call.function.arguments)
        assert (full_result, summary) == ("Saved 1/1.\n- USER-COLOR: saved.", "Saved 1/1: USER-COLOR")

        full_result, summary = await save_tool.execute(json.dumps({
            "clue": "USER-PREFERENCE-COLOR",
            "content": "用户喜欢紫色主题",
            "category": "UserPreference",
            "labels": ["Color", "UI"],
        }))  # fmt: skip
        assert "stands under USER-COLOR" in full_result
        assert [tool["function"]["name"] for tool in model.requests[0]["tools"]] == [
            "save_impression",
            "recall_impressions",
            "organize_impressions",
        ]
        await openai.close()
    await manager.close()
    assert stored(tcp_server).count("用户喜欢紫色主题") == 2


async def test_passive_settling_after_a_turn(localhost_6379, tcp_server):
    from impressmem_integrations import ImpressMemConfig, ImpressMemManager

    manager = ImpressMemManager(ImpressMemConfig(bot_name="MyAssistant", redis_config={"host": "localhost"}))
    full_message_history = [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "你好"},
        {"role": "assistant", "content": "你好！"},
        {"role": "user", "content": "以后请用紫色主题"},
        {"role": "assistant", "content": "好的，已换成紫色。"},
    ]
    with LoopbackModel(calls(tool_call("save_impression", FACT))) as model:
        openai = AsyncOpenAI(base_url=model.base_url, api_key="none")

        from impressmem_integrations import slice_new_turn_messages

        new_turn = slice_new_turn_messages(full_message_history)
        maintain_prompt = manager.get_maintain_prompt()
        maintain_tools = manager.get_maintain_tool_definitions()
        messages_for_llm = [
            {"role": "system", "content": await manager.build_memory_context()},
            *new_turn,
            {"role": "user", "content": maintain_prompt},
        ]
        response = await openai.chat.completions.create(
            model="doubao-seed-2.0-lite",
            messages=messages_for_llm,
            tools=maintain_tools,
        )
        report = await manager.execute_maintain_tool_calls(response.choices[0].message.tool_calls)

        assert (report.status, report.saved) == ("stored", ("USER-COLOR",))
        assert [message["content"] for message in model.asked[1:-1]] == [
            "你好！",
            "以后请用紫色主题",
            "好的，已换成紫色。",
        ]
        assert request_rules.openai(model.asked, model.requests[0]["tools"]) == []

        # The next turn holds nothing new: the model says so, and `tool_calls` is None.
        response = await openai.chat.completions.create(model="m", messages=messages_for_llm, tools=maintain_tools)
        report = await manager.execute_maintain_tool_calls(response.choices[0].message.tool_calls)
        assert report.status == "nothing_to_store"
        await openai.close()
    assert "用户喜欢紫色主题" in await manager.build_memory_context()
    await manager.close()
    assert "USER-COLOR" in stored(tcp_server)


async def test_the_documented_shape_of_a_tool_call(localhost_6379):
    from impressmem_integrations import ImpressMemConfig, ImpressMemManager

    manager = ImpressMemManager(ImpressMemConfig(bot_name="MyAssistant", redis_config={"host": "localhost"}))
    plain = {"function": {"name": "save_impression", "arguments": json.dumps(FACT)}}
    unknown = {"function": {"name": "unknown", "arguments": "{}"}}
    report = await manager.execute_maintain_tool_calls([unknown, plain])
    assert report.saved == ("USER-COLOR",)
    assert [refusal.what for refusal in report.refused] == ["unknown"]
    await manager.close()


def test_the_documented_settings():
    from impressmem_integrations import ImpressMemConfig

    config = ImpressMemConfig(
        bot_name="MyAssistant",
        redis_config={"host": "localhost", "port": 6379, "db": 0, "password": "xxx"},
        categories_per_set=500,
        labels_per_set=1500,
        clues_per_set=500,
        impression_text_units_per_set=15000,
        unpinned_emoji="⚪",
        pinned_emoji="📌",
    )
    defaults = {name: p.default for name, p in inspect.signature(ImpressMemConfig).parameters.items()}
    for name in ("categories_per_set", "labels_per_set", "clues_per_set", "impression_text_units_per_set",
                 "unpinned_emoji", "pinned_emoji"):  # fmt: skip
        assert getattr(config, name) == defaults[name]
    assert ImpressMemConfig("MyAssistant", {"url": "redis://:password@host:6379/0"}).bot_name == "MyAssistant"


async def test_the_core_of_the_manager(localhost_6379):
    from impressmem_integrations import ImpressMemConfig, ImpressMemManager

    config = ImpressMemConfig(bot_name="MyAssistant", redis_config={"url": "redis://localhost:6379/0"})
    manager = ImpressMemManager(config)

    memory_context = await manager.build_memory_context()

    await manager.close()
    assert isinstance(memory_context, str)
    assert localhost_6379


def test_the_utility_function():
    from impressmem_integrations import slice_new_turn_messages

    messages = [{"role": role, "content": text} for role, text in zip("uaua", "1234", strict=True)]
    messages = [{**message, "role": {"u": "user", "a": "assistant"}[message["role"]]} for message in messages]
    sliced = slice_new_turn_messages(messages)
    assert sliced == messages[1:]
