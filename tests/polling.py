"""Waiting for something to become true, with its description in the failure. Tests never sleep for a guessed time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_INTERVAL_SECONDS = 0.01


def wait_until(predicate: Callable[[], T], description: str, timeout: float = 10.0) -> T:
    """Return the first truthy answer of `predicate`.

    Raises:
        TimeoutError: It stayed falsy for `timeout` seconds; the message holds the description.
    """
    deadline = time.monotonic() + timeout
    while not (answer := predicate()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {timeout:g} seconds still not: {description}")
        time.sleep(_INTERVAL_SECONDS)
    return answer


async def await_until(predicate: Callable[[], T], description: str, timeout: float = 10.0) -> T:
    """The same for asyncio tests: the loop runs on between two looks."""
    deadline = time.monotonic() + timeout
    while not (answer := predicate()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {timeout:g} seconds still not: {description}")
        await asyncio.sleep(_INTERVAL_SECONDS)
    return answer
