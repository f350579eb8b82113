"""What was said at some time: impressions and messages kept as evidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from impressmem_integrations.core import keys
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands.records import milliseconds
from impressmem_integrations.core.commands.search import Found, found
from impressmem_integrations.core.effects import Command
from impressmem_integrations.core.ranking import CONSTANTS

_MOST_SPANS = 60
_MOST_LOOKED_AT = 1_000


def said_between(bound: Bound, spans: Sequence[tuple[datetime, datetime]], *, budget_units: int) -> Command[Found]:
    """What was said within spans of time, without scores: that of the first span, newest first, then the next.

    Args:
        bound: The scope.
        spans: From and to, the most wanted first; the first 60 count.
        budget_units: What is to be filled.
    """
    ends = [milliseconds(end) for span in spans[:_MOST_SPANS] for end in span]
    args = (CONSTANTS.rows.of(budget_units), _MOST_LOOKED_AT, *ends)
    return Command("said_between", (keys.meta_key(bound.scope),), args, found, writes=False)
