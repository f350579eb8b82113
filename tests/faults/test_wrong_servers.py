"""What a URL leads to when it is wrong: the message says what is there, and a setting that is wrong is no outage."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import redis

from impressmem_integrations import ImpressionStore
from impressmem_integrations.connect import connect
from impressmem_integrations.connect.senders import translated
from impressmem_integrations.errors import ConfigurationError, StoreUnavailable
from tests.servers import RunningServer, free_port, valkey_binary


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """The URL of a port where each connection gets an answer and is closed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def http(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\na secret")


def silence(connection: socket.socket) -> None:
    connection.recv(4096)


def message(url: str) -> str:
    with ImpressionStore.from_url(url) as store, pytest.raises(StoreUnavailable) as caught:
        store.stats()
    return str(caught.value)


def test_a_port_that_speaks_http_is_no_redis():
    with listening(http) as url:
        assert "does not speak the protocol of Redis" in message(url)
        assert "secret" not in message(url)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        said = message(f"redis://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert "no Redis or Valkey" in said or "does not speak" in said


def test_a_port_that_hangs_up_and_one_where_nobody_listens():
    with listening(silence) as url:
        assert "was closed" in message(url)
    assert "no server answers" in message(f"redis://127.0.0.1:{free_port()}")


async def test_a_database_that_is_not_there_is_a_wrong_setting_as_a_wrong_password_is():
    with RunningServer(valkey_binary(), tcp=True, password="right") as server:
        for url, said in ((f"{server.url}/99", "no such database"), (server.url.replace("right", "wrong"), "password")):
            with ImpressionStore.from_url(url) as store:
                with pytest.raises(ConfigurationError, match=said):
                    store.stats()
                with pytest.raises(ConfigurationError, match=said):
                    await store.asave("C", "text", category="General", labels=["Note"])


def test_the_embedded_server_is_not_recommended_to_whoever_uses_it():
    died = redis.ConnectionError("Connection closed by server.")
    said = str(translated(died, connect("embedded").shown))
    assert "the next call starts it again" in said
    assert "need no server" not in said
