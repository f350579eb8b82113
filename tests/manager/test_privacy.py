"""SP-09: neither contents nor passwords in logs, exceptions and `repr`."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Awaitable
from typing import Any

import pytest

from impressmem_integrations import (
    ImpressMemConfig,
    ImpressMemManager,
    OrganizeImpressionsTool,
    RecallImpressionsTool,
    SaveImpressionTool,
)
from impressmem_integrations.errors import ConfigurationError, ImpressMemError
from tests.manager.conftest import MakeManager
from tests.scripted import call, impression
from tests.servers import RunningServer, valkey_binary

CONTENT = "the password of the vault is swordfish"
PASSWORD = "opensesame"
SECRETS = ("swordfish", PASSWORD)
NOTE = impression("VAULT", CONTENT)


def leaked(*texts: object) -> list[str]:
    return [secret for secret in SECRETS if any(secret in str(text) for text in texts)]


async def raised_by(call: Awaitable[Any]) -> str:
    """Everything a developer would see of the error that this raises."""
    with pytest.raises(ImpressMemError) as caught:
        await call
    return "".join(traceback.format_exception(caught.value, limit=0, chain=True)) + repr(caught.value)


async def test_sp09_im56_saving_and_recalling_log_nothing_at_info(
    manager: ImpressMemManager, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        saved = await manager.save_impression(**NOTE)
        recalled, summary = await RecallImpressionsTool(manager).execute('{"category": "General"}')
        context = await manager.build_memory_context()
        report = await manager.execute_maintain_tool_calls([call("save_impression", NOTE | {"clue": "OTHER"})])
    assert CONTENT in recalled
    assert CONTENT in context
    assert caplog.records == []
    assert leaked(repr(saved), repr(report), summary) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"clue": ""},
        {"category": " "},
        {"labels": []},
        {"labels": [CONTENT, *"abcde"]},
        {"content": CONTENT * 2000},
        {"content": [CONTENT]},
        {"pin": {"a": CONTENT}},
    ],
)
async def test_sp09_failing_calls_neither_log_nor_raise_contents(
    manager: ImpressMemManager, caplog: pytest.LogCaptureFixture, fields: dict[str, Any]
) -> None:
    wrong = NOTE | fields
    with caplog.at_level(logging.DEBUG, "impressmem_integrations"):
        if "pin" not in fields:
            saved = await manager.save_impression(**wrong)
            assert not saved.ok
            assert leaked(saved.error) == []
        _, summary = await SaveImpressionTool(manager).execute(json.dumps(wrong))
        report = await manager.execute_maintain_tool_calls([call("save_impression", wrong)])
    assert report.refused or "labels" in fields
    assert leaked(summary, *(record.getMessage() for record in caplog.records)) == []


async def test_sp09_broken_arguments_are_not_logged(
    manager: ImpressMemManager, caplog: pytest.LogCaptureFixture
) -> None:
    broken = json.dumps(NOTE)[:-20]
    with caplog.at_level(logging.DEBUG, "impressmem_integrations"):
        report = await manager.execute_maintain_tool_calls([call("save_impression", f"{broken} ]]"), {"x": CONTENT}])
        _, summary = await OrganizeImpressionsTool(manager).execute(f'{{"reason": "{CONTENT}", "level": 5')
    assert report.refused
    assert leaked(summary, *(record.getMessage() for record in caplog.records)) == []


async def test_sp09_a_wrong_password_and_a_server_that_is_gone_name_no_secret(
    make_manager: MakeManager, caplog: pytest.LogCaptureFixture
) -> None:
    binary = valkey_binary()
    assert binary is not None
    with caplog.at_level(logging.DEBUG, "impressmem_integrations"):
        with RunningServer(binary, tcp=True, password="another") as server:
            where = {"host": "127.0.0.1", "port": server.port, "password": PASSWORD}
            by_url = {"url": f"redis://user:{PASSWORD}@127.0.0.1:{server.port}/0?password={PASSWORD}"}
            managers = [make_manager(redis_config=config) for config in (where, by_url)]
            texts = [await raised_by(manager.save_impression(**NOTE)) for manager in managers]
            texts += [await raised_by(managers[0].build_memory_context())]
        texts += [await raised_by(manager.save_impression(**NOTE)) for manager in managers]
        for manager in managers:
            full, summary = await SaveImpressionTool(manager).execute(json.dumps(NOTE))
            report = await manager.execute_maintain_tool_calls([call("save_impression", NOTE)])
            texts += [full, summary, repr(report)]
    assert caplog.records
    assert leaked(*texts, *(record.getMessage() for record in caplog.records)) == []


@pytest.mark.parametrize(
    "url",
    [
        f"redis://:{PASSWORD}#x@localhost:6379",
        f"redis://:{PASSWORD}/x@localhost:6379",
        f"redis://{PASSWORD}/x@localhost:6379",
        f"redis://{PASSWORD}:1/x@localhost:6379",
        f"redis://:{PASSWORD}?x@localhost:6379",
        f"redis://:{PASSWORD}\u2100@localhost:6379",
        f"redis://:{PASSWORD}@[localhost:6379",
        f"redis://:{PASSWORD}@localhost:port",
        f"redis://:{PASSWORD}@localhost:6379/zero",
        f"http://:{PASSWORD}@localhost:6379",
        f"redis://:{PASSWORD}@",
        f"unix://:{PASSWORD}@",
        f"embedded://:{PASSWORD}@",
        f"redis://:{PASSWORD}@localhost:6379?no_such_option={PASSWORD}",
    ],
)
def test_sp09_a_url_that_cannot_be_read_is_told_without_its_password(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ImpressMemManager(ImpressMemConfig(redis_config={"url": url}))
    assert leaked("".join(traceback.format_exception(caught.value, limit=0))) == []


@pytest.mark.parametrize(
    "given",
    [{"host": PASSWORD + "@h"}, {"password": [PASSWORD]}, {"url": PASSWORD, "x": 1}, {"port": PASSWORD}, PASSWORD],
)
def test_sp09_a_config_that_cannot_be_read_is_told_without_its_values(given: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ImpressMemConfig(redis_config=given)
    assert leaked("".join(traceback.format_exception(caught.value, limit=0))) == []


async def test_sp09_no_repr_shows_a_password(valkey_server: RunningServer) -> None:
    for redis_config in (
        {"host": "localhost", "password": PASSWORD},
        {"url": f"redis://:{PASSWORD}@localhost:6379/0"},
        {"url": f"unix://:{PASSWORD}@{valkey_server.socket_path}"},
    ):
        config = ImpressMemConfig(redis_config=redis_config)
        manager = ImpressMemManager(config)
        tools = [kind(manager) for kind in (SaveImpressionTool, RecallImpressionsTool, OrganizeImpressionsTool)]
        assert leaked(repr(config), str(config), repr(manager), repr(manager.store), *map(repr, tools)) == []
        await manager.close()
