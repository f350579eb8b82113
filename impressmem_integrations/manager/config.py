"""`ImpressMemConfig`: the settings of a manager, checked when they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from ipaddress import IPv6Address
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.settings import identity

_NOT_GIVEN: Any = object()
_FIELDS = ("host", "port", "db", "username", "password")
_BUDGETS = ("categories_per_set", "labels_per_set", "clues_per_set", "impression_text_units_per_set")


def _localhost() -> dict[str, Any]:
    return {"host": "localhost", "port": 6379, "db": 0}


@dataclass(frozen=True)
class ImpressMemConfig:
    """Settings of one `ImpressMemManager`.

    Attributes:
        bot_name: The assistant whose memory it is; every other spelling is another memory.
        redis_config: Where the server is: `host`, `port`, `db`, `username`, `password` (each optional), or `{"url":
            ...}` with any URL that `ImpressionStore.from_url` takes, `embedded` among them. Not shown by `repr`.
        categories_per_set: Most categories of one reading.
        labels_per_set: Most labels of one reading.
        clues_per_set: Most clues, and so most impressions, of one reading.
        impression_text_units_per_set: Most units of impression text in a context or recall; a unit is a third of a
            UTF-8 byte count, rounded up.
        unpinned_emoji: Marks an impression that is not pinned.
        pinned_emoji: Marks a pinned one; given as `pin`, it also pins.
        bot_id: Another name for `bot_name`.
        timezone: In which times are shown: an IANA name such as `"Asia/Tokyo"` or a `tzinfo`. UTC by default, so that
            every process writes the same text.

    Raises:
        ConfigurationError: A setting is wrong; the message names it and never holds a password.
    """

    bot_name: str = _NOT_GIVEN
    redis_config: Mapping[str, Any] = field(default_factory=_localhost, repr=False)
    categories_per_set: int = 500
    labels_per_set: int = 1500
    clues_per_set: int = 500
    impression_text_units_per_set: int = 15_000
    unpinned_emoji: str = "⚪"
    pinned_emoji: str = "📌"
    bot_id: str = _NOT_GIVEN
    timezone: str | tzinfo = UTC

    def __post_init__(self) -> None:
        given = [identity(name, "bot") for name in (self.bot_name, self.bot_id) if name is not _NOT_GIVEN]
        if len(set(given)) > 1:
            raise ConfigurationError("bot_name and bot_id are two names of one setting; give one of them")
        name = given[0] if given else "Bot"
        for attribute in ("bot_name", "bot_id"):
            object.__setattr__(self, attribute, name)
        for budget in _BUDGETS:
            value = getattr(self, budget)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{budget} must be a whole number of at least 1, not {value!r}")
        for mark in ("unpinned_emoji", "pinned_emoji"):
            text = getattr(self, mark)
            if not isinstance(text, str) or not text.strip() or not text.isprintable() or set("[]<>") & set(text):
                raise ConfigurationError(f"{mark} must be a short visible text without brackets, not {text!r}")
        if self.unpinned_emoji.strip() == self.pinned_emoji.strip():
            raise ConfigurationError("unpinned_emoji and pinned_emoji must differ")
        object.__setattr__(self, "timezone", _zone(self.timezone))
        redis_url(self.redis_config)

    @property
    def url(self) -> str:
        """The server's URL, password included."""
        return redis_url(self.redis_config)

    @property
    def zone(self) -> tzinfo:
        """The time zone that times are shown in."""
        return _zone(self.timezone)


def redis_url(given: Mapping[str, Any]) -> str:
    """The URL that a `redis_config` stands for.

    Raises:
        ConfigurationError: It is neither a URL nor host and port.
    """
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"redis_config must be a dict with a url, or with {', '.join(_FIELDS)}")
    if "url" in given:
        if len(given) > 1:
            raise ConfigurationError(
                "redis_config takes a url alone, or host and port without one: put all into the url"
            )
        if not isinstance(given["url"], str) or not given["url"].strip():
            raise ConfigurationError('the url in redis_config must be text such as "redis://localhost:6379/0"')
        return given["url"]
    if unknown := sorted(str(name) for name in given if name not in _FIELDS):
        raise ConfigurationError(f"redis_config does not know {', '.join(unknown)}; it takes url, {', '.join(_FIELDS)}")
    host = given.get("host", "localhost")
    if not isinstance(host, str) or not _is_host(host):
        raise ConfigurationError("the host in redis_config must be a host name or address, without port or scheme")
    port, db = _number(given, "port", 6379, 1, 65_535), _number(given, "db", 0, 0, 1_000_000)
    username, password = (_secret(given, name) for name in ("username", "password"))
    login = f"{quote(username, safe='')}:{quote(password, safe='')}@" if username or password else ""
    return f"redis://{login}{f'[{host}]' if ':' in host else host}:{port}/{db}"


def _is_host(text: str) -> bool:
    if ":" in text:
        try:
            IPv6Address(text)
        except ValueError:
            return False
    return bool(text) and not set("/@?#%[]\\") & set(text) and not any(char.isspace() for char in text)


def _number(given: Mapping[str, Any], name: str, default: int, least: int, most: int) -> int:
    value = given.get(name, default)
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)  # as it comes out of environment variables
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigurationError(f"the {name} in redis_config must be a whole number from {least} to {most:,}")
    return value


def _secret(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f"the {name} in redis_config must be text or None")
    return value or ""


def _zone(given: object) -> tzinfo:
    if isinstance(given, tzinfo):
        return given
    if not isinstance(given, str):
        raise ConfigurationError('timezone must be a name such as "Europe/Berlin" or a tzinfo')
    try:
        return ZoneInfo(given)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigurationError(
            f"there is no time zone {given!r} here; use an IANA name (on Windows: pip install tzdata) or a tzinfo"
        ) from None
