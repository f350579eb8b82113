"""Commands over a pool of our own: whole replies, and no connection that may still hold another's reply."""

from __future__ import annotations

import pytest
import redis

from impressmem_integrations.connect.exchange import over, packed, through


@pytest.fixture
def pool(server):
    made = redis.BlockingConnectionPool(connection_class=redis.UnixDomainSocketConnection, path=str(server.socket_path))
    yield made
    made.disconnect()


def test_words_are_packed_as_redis_py_packs_them(server):
    words = [b"EVALSHA", b"", "wörter\r\n".encode(), bytes(range(256)), b"x" * 70_000]
    assert packed(words) == b"".join(redis.Connection().pack_command(*words))


def test_pool_and_client_answer_alike(server, client, pool):
    words = [b"EVAL", b"return {ARGV[1], 7, false, {'a'}}", b"0", "ü".encode()]
    assert over(pool)(words) == through(client)(words) == ["ü".encode(), 7, None, [b"a"]]


def test_a_refusal_keeps_the_connection_and_a_timeout_does_not(server, pool):
    exchange = over(pool)
    first = exchange([b"CLIENT", b"ID"])
    with pytest.raises(redis.ResponseError):
        exchange([b"EVAL", b"return redis.error_reply('ERR no')", b"0"])
    assert exchange([b"CLIENT", b"ID"]) == first


def test_an_exchange_cut_short_leaves_no_reply_behind(server, pool, monkeypatch):
    exchange = over(pool)
    exchange([b"PING"])
    connection = pool.get_connection()
    pool.release(connection)
    with monkeypatch.context() as patched:
        patched.setattr(connection, "read_response", lambda **_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            exchange([b"ECHO", b"a secret of another scope"])
    assert exchange([b"ECHO", b"mine"]) == b"mine"
