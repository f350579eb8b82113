"""A connection of a store: opened at the first call, shared by its views, and safe over threads, loops and forks."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from impressmem_integrations.connect.exchange import Exchange, over, through
from impressmem_integrations.connect.senders import asend, never_sent, send
from impressmem_integrations.connect.urls import EMBEDDED_SHOWN, Embedded, Remote, read_url
from impressmem_integrations.core.effects import Command, R
from impressmem_integrations.errors import ConfigurationError, StoreTimeout, StoreUnavailable

if TYPE_CHECKING:
    from impressmem_integrations.embedded import EmbeddedServer

_CONNECT_TIMEOUT_S = 2.0
_SOCKET_TIMEOUT_S = 5.0
_MOST_CONNECTIONS = 64
_WAIT_FOR_CONNECTION_S = 10.0
_ASYNC_THREADS = 16


class Connection:
    """Sends commands. Subclasses say where the client comes from."""

    def __init__(self, shown: str, async_client: Any = None) -> None:
        self.shown = shown
        self._async_client = async_client
        self._exchange: tuple[Any, Exchange] | None = None
        self._lock = threading.Lock()
        self._closed = False

    def client(self) -> Any:
        """The blocking client, opened if it is not open in this process."""
        raise NotImplementedError

    @property
    def cold(self) -> bool:
        """Whether the next command starts a server of our own first, which takes longer than a command."""
        return False

    def exchange_over(self, client: Any) -> Exchange:
        """How commands go over that client: as the client does it, with whatever its owner has set up."""
        return through(client)

    def recover(self) -> bool:
        """Bring a server back that is ours. Returns whether trying again makes sense."""
        return False

    def send(self, command: Command[R]) -> R:
        """Run a command. A read, or a write that certainly was not sent, is tried once more on a recovered server."""
        try:
            return send(self._opened(), command, self.shown)
        except StoreTimeout:
            raise  # a second wait would only delay the answer
        except StoreUnavailable as error:
            if command.writes and not never_sent(error):
                raise
            if not self.recover():
                raise
        return send(self._opened(), command, self.shown)

    async def asend(self, command: Command[R]) -> R:
        """Run a command on the native asyncio client, or else in the package's own bounded threads."""
        if self._async_client is not None:
            return await asend(self._async_client, command, self.shown)
        return await asyncio.get_running_loop().run_in_executor(executor(), self.send, command)

    def _opened(self) -> Exchange:
        if self._closed:
            raise ConfigurationError("this store is closed; make a new one")
        client, exchange = self.client(), self._exchange
        if exchange is None or exchange[0] is not client:
            exchange = self._exchange = (client, self.exchange_over(client))
        return exchange[1]

    def close(self) -> None:
        """Close what was opened here; a client handed in stays open. Closing twice is fine."""
        self._closed = True


class _Given(Connection):
    """A client handed in: never closed by us."""

    def __init__(self, client: Any, async_client: Any) -> None:
        super().__init__(_describe(client), async_client)
        self._client = client

    def client(self) -> Any:
        return self._client


class _OverPool(Connection):
    """A client opened here: its pool is used directly."""

    def exchange_over(self, client: Any) -> Exchange:
        return over(client.connection_pool)


class _Own(_OverPool):
    """A server named by a URL."""

    def __init__(self, remote: Remote, async_client: Any) -> None:
        super().__init__(remote.shown, async_client)
        self._client = _pool_from(lambda pool: pool.from_url(remote.url, **_OPTIONS))

    def client(self) -> Any:
        return self._client

    def recover(self) -> bool:
        return not self._closed  # a pooled connection may have died with a restarted server

    def close(self) -> None:
        super().close()
        self._client.close()
        self._client.connection_pool.disconnect()


class _OwnEmbedded(_OverPool):
    """A server of our own, acquired at the first call of each process."""

    def __init__(self, embedded: Embedded, async_client: Any) -> None:
        super().__init__(EMBEDDED_SHOWN, async_client)
        self._embedded = embedded
        self._server: EmbeddedServer | None = None
        self._client: Any = None

    def client(self) -> Any:
        server = self._server
        if server is not None and server.alive_here and self._client is not None:
            return self._client
        with self._lock:
            if self._server is None or not self._server.alive_here:
                from impressmem_integrations.embedded import EmbeddedServer  # late: other URLs never need it

                want = self._embedded
                self._server = EmbeddedServer.acquire(
                    want.data_dir, in_memory=want.in_memory, appendfsync=want.appendfsync
                )
                self._client = None
            if self._client is None:
                self._client = self._socket_client(self._server.socket_path)
            return self._client

    @property
    def cold(self) -> bool:
        return self._server is None or not self._server.alive_here

    def _socket_client(self, path: str) -> Any:
        return _pool_from(lambda pool: pool(connection_class=redis.UnixDomainSocketConnection, path=path, **_OPTIONS))

    def recover(self) -> bool:
        with self._lock:
            if self._closed or self._server is None or not self._server.alive_here:
                return False
            self._server.ensure()
            self._client = self._socket_client(self._server.socket_path)  # a new server may stand at a new path
        return True

    def close(self) -> None:
        super().close()
        with self._lock:
            if self._server is not None and self._server.alive_here:
                self._client.connection_pool.disconnect()
                self._server.release()
            self._client = self._server = None


_OPTIONS: dict[str, Any] = {
    "socket_timeout": _SOCKET_TIMEOUT_S,
    "socket_connect_timeout": _CONNECT_TIMEOUT_S,
    "retry": Retry(NoBackoff(), 0),  # we alone know which commands may run twice
    "max_connections": _MOST_CONNECTIONS,
    "timeout": _WAIT_FOR_CONNECTION_S,
}


def _pool_from(make: Callable[[type[redis.BlockingConnectionPool]], redis.BlockingConnectionPool]) -> Any:
    try:
        pool = make(redis.BlockingConnectionPool)
        pool.connection_class(**pool.connection_kwargs)  # opens nothing; an option that does not exist fails here
    except (TypeError, ValueError, redis.RedisError):  # their words may quote the URL, password included
        raise ConfigurationError("the URL or one of its options cannot be used; see the README's forms") from None
    return redis.Redis(connection_pool=pool)


def connect(url: str, async_client: Any = None) -> Connection:
    """A connection by URL; nothing is opened before the first command.

    Raises:
        ConfigurationError: The URL is not one of the supported forms.
    """
    target = read_url(url)
    if isinstance(target, Embedded):
        return _OwnEmbedded(target, _checked_async(async_client))
    return _Own(target, _checked_async(async_client))


def wrap(client: Any, async_client: Any = None) -> Connection:
    """A connection over clients handed in.

    Raises:
        ConfigurationError: A client is of the wrong kind.
    """
    if not hasattr(client, "execute_command"):
        raise ConfigurationError("client must be a redis.Redis client (or the like), not " + type(client).__name__)
    if asyncio.iscoroutinefunction(client.execute_command):
        raise ConfigurationError("client must be a blocking redis.Redis; pass the asyncio one as async_client=")
    return _Given(client, _checked_async(async_client))


def _checked_async(client: Any) -> Any:
    if client is not None and not asyncio.iscoroutinefunction(getattr(client, "execute_command", None)):
        raise ConfigurationError("async_client must be a redis.asyncio client, not " + type(client).__name__)
    return client


def _describe(client: Any) -> str:
    pool = getattr(client, "connection_pool", None)
    where = getattr(pool, "connection_kwargs", {})
    if path := where.get("path"):
        return f"unix socket {path}"
    if host := where.get("host"):
        return f"{host}:{where.get('port', 6379)}"
    return "the given client's server"


_executor: ThreadPoolExecutor | None = None
_executor_pid = 0
_executor_lock = threading.Lock()


def executor() -> ThreadPoolExecutor:
    """The package's bounded threads for async twins; made anew after a fork, where the old threads are gone."""
    global _executor, _executor_pid
    if _executor is None or _executor_pid != os.getpid():
        with _executor_lock:
            if _executor is None or _executor_pid != os.getpid():
                _executor = ThreadPoolExecutor(_ASYNC_THREADS, thread_name_prefix="impressmem")
                _executor_pid = os.getpid()
    return _executor
