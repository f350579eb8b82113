from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore
from tests.providers.loopback import Loopback


@pytest.fixture(scope="session")
def running_loopback() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture
def loopback(running_loopback: Loopback) -> Iterator[Loopback]:
    """The provider, forgetful at each test. It fails the test where a request broke a rule."""
    running_loopback.reset()
    yield running_loopback
    assert not running_loopback.faults


@pytest.fixture(scope="session")
def kept(running_loopback: Loopback) -> Callable[[str], Any]:
    """The model of a name, made once and kept: most classes cannot be closed, and a warning follows when they go."""
    from tests.providers.models import MODELS  # here, so that the tests of plain clients need no framework

    return cache(lambda name: MODELS[name](running_loopback.url))


@pytest.fixture
def alice(valkey_server):
    """Alice's memory; what varies here is the model, so one server does."""
    with valkey_server.client() as client:
        yield ImpressionStore(client=client, user="alice")
