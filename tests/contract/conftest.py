"""The memory under test: three ways to call it, two servers, decoding or not, both protocol versions."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import redis
import redis.asyncio

from impressmem_integrations import ImpressionStore
from tests.contract.memory import Memory
from tests.servers import RunningServer

CLIENTS = {
    "raw2": {"decode_responses": False, "protocol": 2},
    "raw3": {"decode_responses": False, "protocol": 3},
    "text2": {"decode_responses": True, "protocol": 2},
    "text3": {"decode_responses": True, "protocol": 3},
}


@pytest.fixture(params=CLIENTS)
def client_options(request: pytest.FixtureRequest) -> dict[str, object]:
    return CLIENTS[request.param]


@pytest.fixture(params=["blocking", "threads", "native"])
async def memory(
    request: pytest.FixtureRequest, server: RunningServer, client_options: dict[str, object]
) -> AsyncIterator[Memory]:
    with server.client(**client_options) as client:
        native = redis.asyncio.Redis.from_url(server.url, **client_options) if request.param == "native" else None
        try:
            yield Memory(ImpressionStore(client=client, async_client=native, bot="b", user="alice"), request.param)
        finally:
            if native is not None:
                await native.aclose()
