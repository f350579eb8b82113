"""Who uses a server: one share of each process in each data directory, and the leases that count on it."""

from __future__ import annotations

import atexit
import errno
import logging
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from impressmem_integrations.embedded import locks, places, server
from impressmem_integrations.errors import ConfigurationError, StoreError, StoreUnavailable

START_LIMIT_S = 60.0  # longer than a start and a stop of someone else's
START_LOCK, USERS_LOCK = "start.lock", "users.lock"
_IN_MEMORY_PREFIX = "mem-"
_DISK_TROUBLE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What happens to a disk, whatever folder was named."""
_REMEDIES = {
    errno.ENOSPC: "free some space there",
    errno.EDQUOT: "free some space there",
    errno.EROFS: "make the file system writable again",
    errno.ENOENT: "the folder is gone: put it back, or open a new store",
}

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Share:
    """What this process holds on one data directory. The locks stay usable when the directory is deleted."""

    launch: server.Launch
    start_fd: int
    users_fd: int
    socket_path: str = ""
    leases: int = 0

    @classmethod
    def open(cls, launch: server.Launch) -> _Share:
        start_fd = locks.open_lock(launch.data_dir / START_LOCK)
        try:
            return cls(launch, start_fd, locks.open_lock(launch.data_dir / USERS_LOCK))
        except OSError:
            locks.close_lock(start_fd)
            raise

    def close(self) -> None:
        locks.close_lock(self.users_fd)
        locks.close_lock(self.start_fd)

    @contextmanager
    def starting(self) -> Iterator[None]:
        with locks.exclusively(self.start_fd, START_LIMIT_S, f"the server of {self.launch.data_dir}"):
            yield

    def bring_up(self) -> None:
        """Become a user, if not one yet, and have a server that is ready."""
        with self.starting():
            locks.share(self.users_fd)
            self.socket_path = server.run(self.launch)

    def leave(self) -> None:
        """Stop being a user. The last one out stops the server."""
        try:
            with self.starting():
                if locks.try_exclusive(self.users_fd):
                    server.stop(self.launch.data_dir, self.socket_path)
                    if not self.launch.durable:
                        shutil.rmtree(self.launch.data_dir, ignore_errors=True)
        except (StoreError, OSError) as error:
            # Leaving happens in `finally` blocks and at exit; the server is in order and the next user takes it over.
            _log.warning("the embedded server was left running: %s", error)
        finally:
            self.close()


_shares: dict[tuple[int, int], _Share] = {}
_shares_lock = threading.RLock()


class EmbeddedServer:
    """A lease on the embedded server of one data directory. Make it with `acquire`.

    Leases of one process on one directory share what the process holds; the server may stop when the last lease is
    released. At exit of the interpreter all are. It is a context manager that releases at the end. Thread-safe.
    """

    def __init__(self, share: _Share) -> None:
        self._share = share
        self._pid = os.getpid()
        self._released = False

    @classmethod
    def acquire(
        cls, data_dir: Path | None = None, *, in_memory: bool = False, appendfsync: str = "always"
    ) -> EmbeddedServer:
        """Return a lease on a server that is ready, after starting one if none lives there.

        Args:
            data_dir: Where the data is kept; made if missing, for its owner alone. None: `default_data_dir()`.
            in_memory: Keep nothing: a new server of this process alone, gone with its files at `release`.
            appendfsync: When a write reaches the disk: "always" (before it is confirmed), "everysec" or "no". Of
                several users' wishes for one server the strongest holds.

        Raises:
            ConfigurationError: There is no server program for this system, the directory cannot be used, a setting
                is wrong, or other users can open the folder of the socket.
            StoreUnavailable: The server did not start, or was not ready after 30 seconds; or the disk is full or
                broken, or a directory that holds data is read-only now.
        """
        if sys.platform == "win32":
            raise ConfigurationError(
                "there is no embedded server on Windows; pass a redis:// URL of a Valkey or Redis server"
            )
        if appendfsync not in server.FSYNC_POLICIES:
            raise ConfigurationError(f"appendfsync must be always, everysec or no, not {appendfsync!r}")
        if in_memory and data_dir is not None:
            raise ConfigurationError("an in-memory server has no data directory; leave out one of the two")
        with _shares_lock:
            if in_memory:
                share = _new_in_memory_share()
            else:
                share = _share_of(data_dir or places.default_data_dir(), appendfsync)
            share.leases += 1
            return cls(share)

    @property
    def socket_path(self) -> str:
        """The path of the server's Unix socket. It can change in `ensure`."""
        return self._share.socket_path

    @property
    def data_dir(self) -> Path:
        """The real path of the data directory; of an in-memory server, its temporary folder."""
        return self._share.launch.data_dir

    @property
    def alive_here(self) -> bool:
        """Whether this process holds it: False after `release` and in a forked child, which acquires its own."""
        return not self._released and self._pid == os.getpid() and self._share in _shares.values()

    def ensure(self) -> None:
        """Start the server again if it is gone; do nothing if it is ready. For use after a connection error.

        What an in-memory server held is lost with it.

        Raises:
            ConfigurationError: There is no server program any more, or other users can open the folder of the socket.
            StoreUnavailable: The server did not start, for whatever happened to its directory; or this lease was
                released or belongs to a parent process.
        """
        with _shares_lock:
            if not self.alive_here:
                raise StoreUnavailable("this lease was released or is a parent process's; acquire the server again")
            with _directory_errors(self.data_dir, worked=True):
                self._share.bring_up()

    def release(self) -> None:
        """Give the lease back; the last one out stops the server and waits for that. Safe to call again."""
        with _shares_lock:
            if not self.alive_here:
                return
            self._released = True
            self._share.leases -= 1
            if self._share.leases == 0:
                _leave(self._share)

    def __enter__(self) -> EmbeddedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _share_of(data_dir: Path, appendfsync: str) -> _Share:
    with _directory_errors(data_dir):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        real = data_dir.resolve(strict=True)
        known = _shares.get(places.directory_identity(real))
        if known is None:
            return _join(server.Launch(real, durable=True, appendfsync=appendfsync))
        strongest = max(appendfsync, known.launch.appendfsync, key=server.FSYNC_POLICIES.index)
        known.launch = replace(known.launch, data_dir=real, appendfsync=strongest)  # it may have been moved
        known.bring_up()
        return known


def _new_in_memory_share() -> _Share:
    with _directory_errors(Path(tempfile.gettempdir())):
        user_folder = places.user_folder()
        _sweep(user_folder)
        folder = Path(tempfile.mkdtemp(prefix=_IN_MEMORY_PREFIX, dir=user_folder))
        try:
            return _join(server.Launch(folder, durable=False, appendfsync="no"))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _join(launch: server.Launch) -> _Share:
    share = _Share.open(launch)
    try:
        share.bring_up()
    except BaseException:
        share.close()  # a server that is still loading goes on, ready for the next attempt
        raise
    _shares[places.directory_identity(launch.data_dir)] = share
    _leave_at_exit()
    return share


def _leave(share: _Share) -> None:
    for key in [key for key, held in _shares.items() if held is share]:
        del _shares[key]
    share.leave()


def _leave_all() -> None:
    with _shares_lock:
        for share in list(_shares.values()):
            _leave(share)


def _sweep(user_folder: Path) -> None:
    """End in-memory servers whose process was killed: nobody can come back to them."""
    for folder in user_folder.glob(f"{_IN_MEMORY_PREFIX}*"):
        if not (folder / server.NOTE).exists():  # still being made
            continue
        try:
            left = _Share.open(server.Launch(folder, durable=False, appendfsync="no"))
        except OSError:  # its process has just removed it
            continue
        if locks.try_exclusive(left.users_fd):
            left.socket_path = str(folder / places.SOCKET_NAME)
            left.leave()
        else:
            left.close()


@contextmanager
def _directory_errors(folder: Path, *, worked: bool = False) -> Iterator[None]:
    """Tell a folder that cannot be right from one that something happened to, which may pass.

    Args:
        folder: Where the files are.
        worked: Whether a server of this process has run there: then it was right.
    """
    try:
        yield
    except StoreError:  # some are OSErrors as well
        raise
    except OSError as error:
        said = error.strerror or str(error)
        if worked or error.errno in _DISK_TROUBLE or (error.errno == errno.EROFS and (folder / server.NOTE).exists()):
            remedy = _REMEDIES.get(error.errno or 0, "see to that folder")
            raise StoreUnavailable(f"the embedded server cannot write in {folder}: {said}; {remedy}") from error
        raise ConfigurationError(
            f"the embedded server cannot keep its files in {folder}: {said}; "
            "name a folder on a local disk that you can write to"
        ) from error


def _leave_at_exit() -> None:
    atexit.unregister(_leave_all)
    atexit.register(_leave_all)
    if "multiprocessing" in sys.modules:
        from multiprocessing import parent_process, util

        if parent_process() is not None:  # such a process ends without the usual exit functions
            util.Finalize(None, _leave_all, exitpriority=-100)


def _forget_inherited() -> None:
    global _shares_lock
    _shares.clear()
    _shares_lock = threading.RLock()  # a thread of the parent, which is not here, may hold the old one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_inherited)
