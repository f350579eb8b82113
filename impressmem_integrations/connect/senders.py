"""Runs one command on a redis-py client, blocking or native asyncio, and translates what can go wrong.

Arguments are encoded here and raw bytes are asked for, so a client that decodes, or encodes differently, works as well.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import redis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoScriptError,
    RedisError,
    ResponseError,
)

from impressmem_integrations.connect.exchange import Exchange
from impressmem_integrations.connect.urls import EMBEDDED_SHOWN
from impressmem_integrations.core.effects import Command, R, Raw
from impressmem_integrations.core.scripts import Script, script
from impressmem_integrations.core.text import whole_characters
from impressmem_integrations.errors import (
    ConfigurationError,
    CorruptStore,
    ImpressMemError,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
)

_SLOT_RETRIES = 5
_SLOT_PAUSE_S = 0.05


def _wire(command: Command[Any]) -> tuple[Script, list[bytes]]:
    arguments = [
        value if isinstance(value, bytes) else whole_characters(str(value)).encode()
        for value in (len(command.keys), *command.keys, *command.args)
    ]
    return script(command.script), arguments


_CODES = {
    redis.exceptions.OutOfMemoryError: "OOM",
    redis.exceptions.ReadOnlyError: "READONLY",
    redis.exceptions.NoPermissionError: "NOPERM",
    redis.exceptions.TryAgainError: "TRYAGAIN",
}


def _with_code(error: Exception) -> str:
    """The server's words with the code at their front, which redis-py takes away from errors it has a class for."""
    return " ".join([*(code for kind, code in _CODES.items() if isinstance(error, kind)), str(error)])


def _is_moving(error: ResponseError) -> bool:
    """Whether a Cluster slot is on its way: the script failed before its first write and may be sent again."""
    text = _with_code(error)
    return text.startswith("TRYAGAIN") or "non local key" in text


def send(exchange: Exchange, command: Command[R], shown: str) -> R:
    """Run a command on a blocking client or pool.

    Raises:
        StoreError: And its kinds; the command's parser may raise more.
    """
    called, arguments = _wire(command)
    for attempt in range(_SLOT_RETRIES + 1):
        try:
            try:
                reply = exchange([b"EVALSHA", called.sha.encode(), *arguments])
            except NoScriptError:
                reply = exchange([b"EVAL", called.source.encode(), *arguments])
        except ResponseError as error:
            if attempt == _SLOT_RETRIES or not _is_moving(error):
                raise translated(error, shown) from error
            time.sleep(_SLOT_PAUSE_S * (attempt + 1))
        except (RedisError, OSError) as error:
            raise translated(error, shown) from error
        else:
            break
    return _parsed(command, reply, shown)


async def asend(client: Any, command: Command[R], shown: str) -> R:
    """Run a command on a `redis.asyncio` client. Raises like `send`."""
    called, arguments = _wire(command)
    for attempt in range(_SLOT_RETRIES + 1):
        try:
            try:
                reply = await client.execute_command("EVALSHA", called.sha.encode(), *arguments, NEVER_DECODE=True)
            except NoScriptError:
                reply = await client.execute_command("EVAL", called.source.encode(), *arguments, NEVER_DECODE=True)
        except ResponseError as error:
            if attempt == _SLOT_RETRIES or not _is_moving(error):
                raise translated(error, shown) from error
            await asyncio.sleep(_SLOT_PAUSE_S * (attempt + 1))
        except (RedisError, OSError) as error:
            raise translated(error, shown) from error
        else:
            break
    return _parsed(command, reply, shown)


def _parsed(command: Command[R], reply: Raw, shown: str) -> R:
    """What a reply says. One that does not read is no fault of the caller: somebody else wrote to the scope."""
    try:
        return command.parse(reply)
    except ImpressMemError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise CorruptStore(f"{_FOREIGN} (server at {shown})") from error


_FOREIGN = "a key of this scope holds what this package did not write; run check() and repair()"
_HINT = "check that it runs and the URL is right, or use 'embedded' to need no server"
_OTHER = "is it another service's port, or one that wants rediss://?"
_NO_DATABASE = ("DB index is out of range", "invalid DB index", "SELECT is not allowed in cluster mode")
_REPLIES: Sequence[tuple[str, type[StoreError], str]] = (
    ("WRONGTYPE", CorruptStore, "a key of this scope holds another type than this package wrote; run check()"),
    ("CORRUPT", CorruptStore, _FOREIGN),
    ("attempt to", CorruptStore, _FOREIGN),  # Lua's words where a number is none
    ("bad argument", CorruptStore, _FOREIGN),
    ("not an integer", CorruptStore, _FOREIGN),
    ("OOM", StoreError, "the server is out of memory; nothing was written"),
    ("READONLY", StoreError, "the server is a read-only replica; nothing was written"),
    ("MISCONF", StoreError, "the server cannot persist and refuses writes; nothing was written"),
    ("NOPERM", StoreError, "the server's user lacks a permission this package needs"),
    ("ACL failure in script:", StoreError, "the server's user lacks a permission this package needs"),
    ("The user executing the script", StoreError, "the server's user lacks a permission this package needs"),
    ("LOADING", StoreUnavailable, "the server is still loading its data; try again"),
)


def translated(error: Exception, shown: str) -> Exception:
    """The error of this package for one of redis-py, without contents and passwords."""
    if isinstance(error, AuthenticationError | AuthorizationError):
        return ConfigurationError(f"the server at {shown} refuses the user name or password")
    if isinstance(error, redis.exceptions.TimeoutError | TimeoutError):
        return StoreTimeout(f"the server at {shown} did not answer in time; whether a write arrived is not known")
    if isinstance(error, redis.exceptions.InvalidResponse):  # its words quote what came
        return StoreUnavailable(f"what answers at {shown} does not speak the protocol of Redis and Valkey; {_OTHER}")
    if isinstance(error, redis.exceptions.ConnectionError | OSError):
        return StoreUnavailable(_unanswered(error, shown))
    text = _with_code(error)
    for code, kind, message in _REPLIES:
        if text.startswith(code) or f" {code} " in text[:200]:
            return kind(f"{message} (server at {shown})")
    if text.startswith(("NOAUTH", "WRONGPASS")):
        return ConfigurationError(f"the server at {shown} refuses the user name or password")
    if any(words in text for words in _NO_DATABASE):
        return ConfigurationError(f"the server at {shown} has no such database; give another number, or none")
    return StoreError(f"the server at {shown} refused a command: {text.split(' script:')[0][:200]}")


def _unanswered(error: Exception, shown: str) -> str:
    if shown == EMBEDDED_SHOWN:
        return "the embedded server has ended or does not answer; the next call starts it again"
    if not never_sent(error) and _was_closed(error):
        return f"the connection to {shown} was closed: the server is ending, or it is no Redis or Valkey"
    return f"no server answers at {shown}; {_HINT}"


def _was_closed(error: BaseException) -> bool:
    return isinstance(error.__cause__, ConnectionResetError | BrokenPipeError) or "closed" in str(error).lower()


def never_sent(error: BaseException) -> bool:
    """Whether the connection was refused, so that the command certainly did not run."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ConnectionRefusedError | FileNotFoundError):
            return True
        seen = seen.__cause__ or seen.__context__
    return False
