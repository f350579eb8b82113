from __future__ import annotations

import pytest

from impressmem_integrations import ImpressionStore


@pytest.fixture
def alice(client):
    """Alice's memory on each of the two servers."""
    return ImpressionStore(client=client, user="alice")
