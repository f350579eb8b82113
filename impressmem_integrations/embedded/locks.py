"""`flock` on files, and what becomes of them after a fork."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from impressmem_integrations.errors import StoreUnavailable

if sys.platform != "win32":
    import fcntl

POLL_S = 0.005

_opened: set[int] = set()
_opening = threading.Lock()  # no fork between opening a file and noting it


def open_lock(path: Path) -> int:
    """Open (or create) a lock file that only its owner can read. It is closed by itself in a forked child."""
    with _opening:
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _opened.add(fd)
    return fd


def close_lock(fd: int) -> None:
    """Close a lock file. Its lock goes when no process has the same opening any more."""
    with _opening:
        if fd in _opened:  # a forked child has closed its copy already
            _opened.remove(fd)
            os.close(fd)


def share(fd: int) -> None:
    """Take the lock shared. It waits for an exclusive holder, of which there is none outside the start lock."""
    fcntl.flock(fd, fcntl.LOCK_SH)


def try_exclusive(fd: int) -> bool:
    """Take the lock exclusively if that is possible now. A shared lock on `fd` is lost either way."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(path: Path) -> bool:
    """Whether someone holds the lock exclusively. A file that does not exist is held by nobody."""
    if not path.exists():
        return False
    fd = open_lock(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        close_lock(fd)
    return False


@contextmanager
def exclusively(fd: int, limit_s: float, what: str) -> Iterator[None]:
    """Hold the lock exclusively inside the block.

    Raises:
        StoreUnavailable: Another process held it for all of `limit_s` seconds; the message names `what`.
    """
    deadline = time.monotonic() + limit_s
    while not try_exclusive(fd):
        if time.monotonic() > deadline:
            raise StoreUnavailable(f"another process has been starting or stopping {what} for over {limit_s:g} seconds")
        time.sleep(POLL_S)
    try:
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


def _close_inherited() -> None:
    for fd in _opened:
        os.close(fd)
    _opened.clear()
    _opening.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_close_inherited)
