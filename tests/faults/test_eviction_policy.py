"""RD-09 (a) and (b): a server that may evict memories is warned of once; one that does not tell is left in peace."""

from __future__ import annotations

import logging

import pytest

from impressmem_integrations import ImpressionStore


@pytest.fixture
def policy(server):
    yield lambda name: server.admin.config_set("maxmemory-policy", name)
    server.admin.config_set("maxmemory-policy", "noeviction")


def save(store: ImpressionStore, clue: str) -> None:
    store.save(clue, "x", category="C", labels=["L"])


@pytest.mark.parametrize(("name", "warnings"), [("allkeys-lru", 1), ("noeviction", 0), ("volatile-ttl", 0)])
def test_rd09_an_evicting_policy_is_warned_of_once(policy, client, caplog, name, warnings):
    policy(name)
    store = ImpressionStore(client=client, user="alice")
    with caplog.at_level(logging.WARNING):
        for user in ("alice", "bob"):
            save(store.scoped(user=user), "A")
            save(store.scoped(user=user), "B")
    found = [record.getMessage() for record in caplog.records if "maxmemory-policy" in record.getMessage()]
    assert len(found) == warnings
    assert all(name in message for message in found)


def test_rd09_a_policy_that_may_not_be_read_is_no_failure(policy, server, client, caplog):
    policy("allkeys-lru")
    server.admin.acl_setuser(
        "limited", enabled=True, nopass=True, keys=["impressmem:*"], categories=["+@all", "-@dangerous", "-@admin"]
    )
    limited = server.client(username="limited", password="any")
    try:
        with caplog.at_level(logging.WARNING):
            save(ImpressionStore(client=limited, user="alice"), "A")
        assert ImpressionStore(client=client, user="alice").get("A") is not None
        assert not [record for record in caplog.records if "maxmemory" in record.getMessage()]
    finally:
        limited.close()
        server.admin.acl_deluser("limited")
