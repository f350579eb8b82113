"""A server that does not answer, as maintenance reports it and as its background jobs tell each other of it."""

from __future__ import annotations

from impressmem_integrations.errors import StoreTimeout, StoreUnavailable
from impressmem_integrations.model import Report


def unavailable(error: StoreUnavailable) -> Report:
    """The report of a call that met no server, or one that said nothing until the time was up."""
    return Report("store_unavailable", reason=str(error), silent=isinstance(error, StoreTimeout))


class Outages:
    """What the jobs of one store know of each other: which of them had to give up because no server answered.

    So an outage costs one job its tries, and not each job that waits behind it.
    """

    def __init__(self) -> None:
        self._given_up = 0
        self._silent = 0

    def mark(self) -> tuple[int, int]:
        """Where a job stands that is submitted now."""
        return self._given_up, self._silent

    def gave_up(self, *, silent: bool) -> None:
        """Note that a job was given up, perhaps after a server that was silent."""
        self._given_up += 1
        self._silent += silent

    def since(self, mark: tuple[int, int]) -> bool:
        """Whether a job was given up since."""
        return self._given_up > mark[0]

    def silent_since(self, mark: tuple[int, int]) -> bool:
        """Whether one was given up since after a server that was silent."""
        return self._silent > mark[1]
