"""What every flow needs to know: whose memory, its limits, how units are counted. No connection and no clock."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from impressmem_integrations.core.text import units
from impressmem_integrations.core.unstored import Unstored
from impressmem_integrations.settings import Limits, Scope

DEFAULT_BUDGET_UNITS = 10_000
DEFAULT_RECALL_UNITS = 1_000
_BYTES_PER_UNIT = 3
_MARGIN_BYTES = 4_096


def bytes_of(units: float) -> int:
    """Bytes that so many units take in the default measure."""
    return int(units * _BYTES_PER_UNIT)


def bytes_to_read(budget_units: int, times: int = 2) -> int:
    """Bytes of records to read for a budget: some more than it holds, since some may be passed over."""
    return times * bytes_of(budget_units) + _MARGIN_BYTES


@dataclass(frozen=True, slots=True)
class Bound:
    """One scope as seen by one store.

    Attributes:
        scope: Whose memory it is.
        limits: The bounds in force.
        count_units: Measures a text for budgets.
        unit_name: Names that measure; contexts counted by different measures are kept apart.
        salt: Offered to the server as a new scope's salt; the first one offered stays.
        registered: Scopes this process has put into the registry, with their generation; shared by a store's views.
        unstored: Contexts this process has shown and not stored; shared likewise.
    """

    scope: Scope
    limits: Limits = field(default_factory=Limits)
    count_units: Callable[[str], int] = units
    unit_name: str = "utf8/3"
    salt: str = field(default_factory=lambda: os.urandom(16).hex())
    registered: dict[Scope, int] = field(default_factory=dict)
    unstored: Unstored = field(default_factory=Unstored)
