"""Memory on, read-only or off, for the calls inside a `with` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from impressmem_integrations.errors import ConfigurationError

Switch = Literal["on", "read-only", "off"]
"""`on` shows memory and learns from turns; `read-only` shows it; `off` does neither."""

_now: ContextVar[Switch | None] = ContextVar("impressmem_llama_index_switch", default=None)


def checked(switch: Switch) -> Switch:
    """The switch, if it is one.

    Raises:
        ConfigurationError: It is not.
    """
    if switch not in ("on", "read-only", "off"):
        raise ConfigurationError(f'memory is switched "on", "read-only" or "off", not {switch!r}')
    return switch


def in_force(default: Switch) -> Switch:
    """What holds for the present call.

    Raises:
        ConfigurationError: The default is no switch: it came around the checks, e.g. by `model_copy`.
    """
    return _now.get() or checked(default)


@contextmanager
def switched(switch: Switch) -> Iterator[None]:
    """Set it for the calls made inside, in this thread or task and those it starts."""
    token = _now.set(checked(switch))
    try:
        yield
    finally:
        _now.reset(token)
