"""Managers on the suite's Valkey, closed after the test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from impressmem_integrations import ImpressMemConfig, ImpressMemManager
from tests.servers import RunningServer

MakeManager = Callable[..., ImpressMemManager]


@pytest.fixture
async def make_manager(valkey_server: RunningServer) -> AsyncIterator[MakeManager]:
    """Makes managers on the suite's server; the config's other fields as keywords."""
    made: list[ImpressMemManager] = []

    def make(**fields: Any) -> ImpressMemManager:
        fields.setdefault("redis_config", {"url": valkey_server.url})
        made.append(ImpressMemManager(ImpressMemConfig(**fields)))
        return made[-1]

    yield make
    for manager in made:
        await manager.close()


@pytest.fixture
def manager(make_manager: MakeManager) -> ImpressMemManager:
    """A manager with the default settings, nothing stored."""
    return make_manager(bot_name="Aide")
