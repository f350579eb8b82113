from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.langchain import ImpressionMiddleware


@pytest.fixture
def store(valkey_server) -> Iterator[ImpressionStore]:
    """The memory of all users on the bundled server."""
    with ImpressionStore.from_url(valkey_server.url) as made:
        yield made


@pytest.fixture
def memory(store) -> Iterator[Callable[..., ImpressionMiddleware]]:
    """Makes middleware on that memory, closed after the test."""
    made: list[ImpressionMiddleware] = []

    def make(**options: Any) -> ImpressionMiddleware:
        made.append(ImpressionMiddleware(options.pop("store", store), **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a host that takes connections and never answers."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=128))
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0?socket_timeout=0.5"


def remember(store: ImpressionStore, user: str, clue: str, content: str) -> None:
    """One stored impression."""
    store.scoped(user=user).save(clue, content, category="General", labels=["Note"])
