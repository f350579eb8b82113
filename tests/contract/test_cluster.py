"""Keys and scripts are safe on a Cluster: one slot for each scope, and the scopes spread."""

from __future__ import annotations

import pytest
import redis.crc

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core import keys
from impressmem_integrations.settings import Scope
from tests.cases import SCOPES
from tests.contract.memory import Memory
from tests.servers import RunningServer, redis_binary, valkey_binary


@pytest.fixture(params=["valkey", pytest.param("redis", marks=pytest.mark.redis)])
def cluster(request):
    binary = valkey_binary() if request.param == "valkey" else redis_binary()
    if binary is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with RunningServer(binary, cluster=True) as running:
        yield running


def slot(key: bytes | str) -> int:
    return redis.crc.key_slot(key if isinstance(key, bytes) else key.encode())


async def test_every_operation_runs_on_a_cluster(cluster, tmp_path):
    client = cluster.cluster_client()
    try:
        store = ImpressionStore(client=client, bot="b", user="ann", limits=Limits(max_impressions=6))
        memory = Memory(store, "blocking")
        for number in range(8):
            await memory.save(f"c{number}", f"note {number}", category=f"C{number % 2}", labels=["l", f"m{number % 3}"])
        await memory.save("ＰＩＮ", "pinned", category="C1", labels=["l"], pin=True, ttl_seconds=None)
        assert (await memory.stats()).impressions == 6
        assert await memory.check() == []
        await memory.merge_categories("C0", "C1")
        await memory.merge_labels(["m0", "m1"], "l")
        await memory.merge_clues(["c7"], "PIN", "both")
        await memory.confirm(["PIN"])
        await memory.unpin("PIN")
        assert "both" in (await memory.context()).text
        assert (await memory.recall(category="C1")).items
        assert await memory.repair() == []
        assert store.export_jsonl(tmp_path / "x.jsonl") == 5
        bob = store.scoped(user="bob")
        assert bob.import_jsonl(tmp_path / "x.jsonl").created == 5
        assert {scope.user for scope in store.scopes()} == {"ann", "bob"}
        await memory.forget("PIN")
        await memory.forget_everything()
        assert await memory.check() == bob.check() == []
        tags = {}
        for key in cluster.admin.scan_iter(count=1000):
            tags.setdefault(key[key.index(b"{") : key.index(b"}")], set()).add(slot(key))
        assert all(len(slots) == 1 for slots in tags.values())
    finally:
        client.close()


def test_all_keys_of_a_scope_share_a_slot_and_scopes_spread(client, server):
    for user in SCOPES:
        store = ImpressionStore(client=client, user=user)
        store.save("a{b}c", "x", category="{c}", labels=["{l}", "m"])
        prefix = keys.scope_prefix(Scope("assistant", user)).encode()
        found = [key for key in server.admin.scan_iter(count=1000) if key.startswith(prefix)]
        assert len(found) > 10
        assert len({slot(key) for key in found}) == 1
    slots = {slot(keys.meta_key(Scope("assistant", f"user-{number}"))) for number in range(1_000)}
    assert len(slots) > 900
    shards = {keys.registry_shard(Scope("assistant", f"user-{number}")) for number in range(1_000)}
    assert len(shards) == keys.SCOPE_SHARDS
