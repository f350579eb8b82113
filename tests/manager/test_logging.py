"""NB-04: one log line for one warning, however often a notebook imports, reloads and builds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import RunningServer

REPOSITORY = Path(__file__).parents[2]

SCRIPT = """
import asyncio, importlib, logging, sys
if {root_handler}:
    logging.basicConfig(stream=sys.stderr, level=logging.INFO)
import impressmem_integrations
from impressmem_integrations import ImpressMemConfig, ImpressMemManager
for _ in range(2):
    importlib.reload(impressmem_integrations)
    importlib.reload(importlib.import_module("impressmem_integrations.manager"))
from impressmem_integrations import ImpressMemConfig, ImpressMemManager
managers = [ImpressMemManager(ImpressMemConfig(redis_config={{"url": {url!r}}})) for _ in range(3)]
async def main():
    for manager in managers:
        await manager.build_memory_context()
    await managers[0].execute_maintain_tool_calls([{{"function": {{"name": "no_such_tool", "arguments": "{{}}"}}}}])
    for manager in managers:
        await manager.close()
asyncio.run(main())
ours = [one for name, one in logging.Logger.manager.loggerDict.items()
        if name.partition(".")[0] == "impressmem_integrations" and isinstance(one, logging.Logger)]
assert ours
print([one.name for one in ours if one.level or any(type(h) is not logging.NullHandler for h in one.handlers)])
print(len(logging.getLogger().handlers))
"""


@pytest.mark.parametrize("root_handler", [False, True])
def test_nb04_im56_one_warning_is_one_line(valkey_server: RunningServer, root_handler: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(root_handler=root_handler, url=valkey_server.url)],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert "not carried out" in done.stderr
    assert done.stdout.splitlines() == ["[]", str(int(root_handler))]
