"""One command and its raw reply: over a client handed in, or quickly over a connection pool of our own.

`redis.Redis.execute_command` takes about as long in Python as a save on the server: retries, callbacks, metrics and
encoding argument by argument. A pool that we opened needs none of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from redis.exceptions import ResponseError

from impressmem_integrations.core.effects import Raw

Exchange = Callable[[Sequence[bytes]], Raw]
"""Sends a command, given as its words, and returns the undecoded reply; raises redis-py's errors."""


def through(client: Any) -> Exchange:
    """Use a client as it is, with whatever its owner has set up."""
    return lambda words: client.execute_command(words[0].decode(), *words[1:], NEVER_DECODE=True)


def over(pool: Any) -> Exchange:
    """Use a redis-py pool directly. A connection with an unread or half-written exchange is never used again."""
    take = pool.get_connection
    if inspect.signature(take).parameters["command_name"].default is inspect.Parameter.empty:
        take = partial(take, "EVALSHA")  # before redis-py 5.3

    def exchange(words: Sequence[bytes]) -> Raw:
        connection = take()
        try:
            connection.send_packed_command([packed(words)])
            return connection.read_response(disable_decoding=True)
        except ResponseError:
            raise  # a whole reply: the connection is fine
        except BaseException:
            connection.disconnect()
            raise
        finally:
            pool.release(connection)

    return exchange


def packed(words: Sequence[bytes]) -> bytes:
    """A command in the protocol's form."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        parts += (b"$%d\r\n" % len(word), word, b"\r\n")
    return b"".join(parts)
