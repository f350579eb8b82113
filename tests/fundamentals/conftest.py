from __future__ import annotations

from collections.abc import Iterator

import pytest

from impressmem_integrations import ImpressionStore


@pytest.fixture
def store(server) -> Iterator[ImpressionStore]:
    """A store on each of the two servers, by URL as users open it."""
    with ImpressionStore.from_url(server.url, bot="guide") as opened:
        yield opened


@pytest.fixture
def alice(store) -> ImpressionStore:
    """Alice's memory."""
    return store.scoped(user="alice")
