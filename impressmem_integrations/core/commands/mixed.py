"""Builds the read behind a mixed reading and parses its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import Facts, rows_with_facts
from impressmem_integrations.core.effects import Command, Raw
from impressmem_integrations.model import Impression


class Mixture(NamedTuple):
    """What a mixed context is chosen from: pinned records, oldest pin first, and others in no order, with facts."""

    impressions: int
    pinned: tuple[tuple[Impression, Facts], ...]
    others: tuple[tuple[Impression, Facts], ...]


def mixture(
    bound: Bound, most_pinned: int, most_others: int, most_categories: int, most_bytes: int, largest: int
) -> Command[Mixture]:
    """Pinned records, and others both newest and spread over the newest categories, in one trip."""

    def parse(reply: Sequence[Raw]) -> Mixture:
        count, pinned, *rest = reply
        items = tuple(rows_with_facts(rest))
        return Mixture(int(count), items[: int(pinned)], items[int(pinned) :])

    args = (most_pinned, most_others, most_categories, most_bytes, largest)
    return Command("mixed", (keys.meta_key(bound.scope),), args, parse, writes=False)
