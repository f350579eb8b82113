"""The suite's own servers do what the tests that rely on them assume."""

from __future__ import annotations

import pytest
import redis

from tests.polling import await_until, wait_until
from tests.servers import AT_ONCE, RunningServer, redis_binary, valkey_binary

pytestmark = pytest.mark.skipif(valkey_binary() is None, reason="no Valkey on this platform")


@pytest.fixture(params=["valkey", pytest.param("redis", marks=pytest.mark.redis)])
def binary(request):
    found = {"valkey": valkey_binary, "redis": redis_binary}[request.param]()
    if found is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    return found


@pytest.mark.parametrize("value", ["first", "second"])
def test_each_test_starts_on_an_empty_server(client, value):
    assert client.dbsize() == 0
    client.set("left behind", value)


def test_memory_limit_and_password_reach_the_server(binary):
    with RunningServer(binary, tcp=True, maxmemory="8mb", password="sesame") as server:
        with server.client() as client:
            client.eval("for i = 1, 10 do redis.call('SET', i, string.rep('x', 1000000)) end", 0)
            with pytest.raises(redis.OutOfMemoryError):
                client.set("one more", 1)
        with redis.Redis(port=server.port, retry=AT_ONCE) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()


def test_a_killed_server_comes_back_on_its_address_with_what_it_had_on_disk(binary):
    with RunningServer(binary, appendonly=True, options={"appendfsync": "always"}) as server:
        url = server.url
        with server.client() as client:
            client.set("kept", 1)
        server.kill()
        with redis.Redis.from_url(url, retry=AT_ONCE) as client, pytest.raises(redis.ConnectionError):
            client.ping()
        server.start()
        with redis.Redis.from_url(url) as client:
            assert client.get("kept") == b"1"
    assert not server.folder.exists()


def test_a_paused_server_does_not_answer_until_it_resumes(binary):
    with RunningServer(binary) as server:
        server.pause()
        with server.client(socket_timeout=0.05, retry=AT_ONCE) as client:
            with pytest.raises(redis.TimeoutError):
                client.ping()
            server.resume()
            assert wait_until(client.ping, "the resumed server answers")


def test_a_cluster_of_one_node_serves_every_slot(binary):
    with RunningServer(binary, cluster=True) as server, server.cluster_client() as client:
        for name in ("a", "b", "{c}d"):
            client.set(name, name)
        assert [client.get(name) for name in ("a", "b", "{c}d")] == [b"a", b"b", b"{c}d"]
        with server.client() as plain, pytest.raises(redis.ResponseError, match="same slot"):
            plain.mset({"a": 1, "b": 2})


def test_a_server_that_cannot_start_shows_its_log():
    with (
        pytest.raises(RuntimeError, match="no-such-directive"),
        RunningServer(valkey_binary(), options={"no-such-directive": "1"}),
    ):
        pass


def test_waiting_in_vain_says_for_what():
    with pytest.raises(TimeoutError, match="the moon is blue"):
        wait_until(lambda: False, "the moon is blue", timeout=0.02)


async def test_waiting_in_a_loop_lets_the_loop_go_on():
    import asyncio

    done = asyncio.get_running_loop().create_task(asyncio.sleep(0.02, "over"))
    await await_until(done.done, "the task is over")
    assert done.result() == "over"
