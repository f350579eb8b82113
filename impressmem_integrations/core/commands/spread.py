"""Builds the command that reads labels spread over categories."""

from __future__ import annotations

from collections.abc import Sequence

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import as_text
from impressmem_integrations.core.effects import Command, Raw


def spread_labels(bound: Bound, most_categories: int, most: int) -> Command[list[tuple[str, float]]]:
    """The newest label of each of the newest categories, then the second newest of each, and so on; with times (ms)."""

    def parse(reply: Sequence[Raw]) -> list[tuple[str, float]]:
        flat = [as_text(item) for item in reply]
        return [(flat[at], float(flat[at + 1])) for at in range(0, len(flat), 2)]

    return Command("spread_labels", (keys.meta_key(bound.scope),), (most_categories, most), parse, writes=False)
