"""The check after each test: every scope on the server must be consistent, whatever the test did to it."""

from __future__ import annotations

import importlib.util

from tests.servers import RunningServer


def problems_on(server: RunningServer) -> list[str]:
    """What `ImpressionStore.check()` finds, over every database and scope of the server; [] when all agrees."""
    if importlib.util.find_spec("impressmem_integrations.store") is None:
        return []
    from impressmem_integrations.store import ImpressionStore

    found: list[str] = []
    for database in server.admin.info("keyspace"):
        with server.client(db=int(database.removeprefix("db"))) as client:
            for scope in ImpressionStore(client=client).scopes():
                store = ImpressionStore(client=client, bot=scope.bot, user=scope.user)
                found += [f"{scope}: {problem}" for problem in store.check()]
    return found
