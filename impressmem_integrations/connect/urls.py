"""Reads connection URLs. Nothing is opened here."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from impressmem_integrations.errors import ConfigurationError

_FORMS = "embedded, embedded:///path/dir, embedded://:memory:, redis://host:port/db, unix:///path.sock?db=0"
_ENCODE = "write special characters of a password as percent codes, e.g. %2F for /"
_FSYNC = ("always", "everysec", "no")


EMBEDDED_SHOWN = "embedded server"
"""How the server of our own is named, where another one is named by host and port."""


class Embedded(NamedTuple):
    """A server of our own: its data folder (None: the user's default), or one that keeps nothing."""

    data_dir: Path | None
    in_memory: bool
    appendfsync: str


class Remote(NamedTuple):
    """A server somewhere else: the URL as redis-py takes it, and how to name it without its password."""

    url: str
    shown: str


def read_url(url: str) -> Embedded | Remote:
    """Read a connection URL.

    Raises:
        ConfigurationError: It is not one of the supported forms. The message never holds a password.
    """
    if not isinstance(url, str) or not url.strip():
        raise ConfigurationError(f"the URL must be text such as {_FORMS}")
    if url == "embedded" or url.startswith(("embedded:", "embedded?")):
        return _embedded(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # its words quote what stands where a port should be, which may be part of a password
        raise ConfigurationError(f"the URL cannot be read; {_ENCODE}, or use one of {_FORMS}") from None
    if parts.scheme == "unix":
        if not parts.path:
            raise ConfigurationError("a unix:// URL needs a path, e.g. unix:///run/valkey.sock?db=0")
        return Remote(url, f"unix socket {unquote(parts.path)}")
    if parts.scheme not in ("redis", "rediss"):
        raise ConfigurationError(f"the URL scheme {parts.scheme!r} is not supported; use one of {_FORMS}")
    if "@" in parts.path + parts.fragment:
        raise ConfigurationError(f"the URL cannot be read; {_ENCODE}")
    if not parts.hostname:
        raise ConfigurationError("the URL names no host, e.g. redis://localhost:6379/0")
    database = parts.path.strip("/")
    if database and not database.isdigit():
        raise ConfigurationError("the database in the URL must be a number, e.g. redis://localhost:6379/0")
    return Remote(url, f"{parts.hostname}:{port or 6379}")


def _embedded(url: str) -> Embedded:
    rest = url.removeprefix("embedded").removeprefix("://")
    path, _, query = rest.partition("?")
    options = parse_qs(query, keep_blank_values=True)
    fsync = options.pop("appendfsync", ["always"])[-1]
    if options or fsync not in _FSYNC:
        raise ConfigurationError(f"an embedded URL takes only ?appendfsync= one of {', '.join(_FSYNC)}")
    if path == ":memory:":
        return Embedded(None, True, fsync)
    if not path:
        return Embedded(None, False, fsync)
    if not path.startswith("/"):
        raise ConfigurationError("an embedded URL needs an absolute path with three slashes: embedded:///path/dir")
    return Embedded(Path(unquote(path)), False, fsync)
