"""`ImpressMemManager`: the described system's own API over an `ImpressionStore`."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter
from typing import Any, Self

from impressmem_integrations.errors import ImpressMemError
from impressmem_integrations.maintenance.carry_out import carry_out
from impressmem_integrations.manager import reading, texts
from impressmem_integrations.manager.config import ImpressMemConfig
from impressmem_integrations.manager.mixture import Note
from impressmem_integrations.manager.reading import Scored
from impressmem_integrations.model import Report, SaveResult, ToolCall
from impressmem_integrations.settings import Limits
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.tools.calls import read_calls
from impressmem_integrations.tools.definitions import ORGANIZE_IMPRESSIONS, SAVE_IMPRESSION, openai_definition
from impressmem_integrations.tools.dispatch import with_pins

logger = logging.getLogger(__name__)

_LIMITS = Limits(max_impressions=100_000)  # as many as the described system keeps


class ImpressMemManager:
    """One assistant's memory, with the methods, argument names and return shapes of the described system.

    Everything is awaitable; `store` is the same memory for blocking code. Nothing is opened before the first call, and
    no method ever calls a model. Times are milliseconds since 1970; where a `timestamp` is taken, only what was last
    touched before it is read, and seconds or a `datetime` with a zone do as well. A `limit` of None is the
    configured one.

    Errors: `InvalidInput` for a wrong argument, `StoreError` where the server fails, `NotFound` for a merge of names
    that do not exist.
    """

    def __init__(self, config: ImpressMemConfig | None = None) -> None:
        """Make a manager.

        Args:
            config: Its settings; None for the defaults.
        """
        self.config = ImpressMemConfig() if config is None else config
        self.store = ImpressionStore.from_url(self.config.url, bot=self.config.bot_name, limits=_LIMITS)

    def __repr__(self) -> str:
        return f"<ImpressMemManager of {self.store!r}>"

    async def close(self) -> None:
        """Close the connection. Closing twice is fine."""
        await self.store.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # --- names, newest first ------------------------------------------------------------------------------------

    async def get_recent_categories(
        self, limit: int | None = None, timestamp: float | datetime | None = None
    ) -> Scored:
        """Categories with the time of their last touch, newest first."""
        most = _or(limit, self.config.categories_per_set)
        return await self.store.aperform(lambda bound: reading.names(bound, "categories", most, timestamp=timestamp))

    async def get_recent_labels(self, limit: int | None = None, timestamp: float | datetime | None = None) -> Scored:
        """Labels with the time of their last touch, newest first."""
        most = _or(limit, self.config.labels_per_set)
        return await self.store.aperform(lambda bound: reading.names(bound, "labels", most, timestamp=timestamp))

    async def get_recent_clues(self, limit: int | None = None, timestamp: float | datetime | None = None) -> Scored:
        """Clues with the time of their last touch, newest first."""
        most = _or(limit, self.config.clues_per_set)
        return await self.store.aperform(lambda bound: reading.names(bound, "clues", most, timestamp=timestamp))

    async def get_pinned_clues(self, limit: int | None = None) -> Scored:
        """Pinned clues with the time they were pinned at, oldest first: an old pin goes when it is unpinned."""
        most = _or(limit, self.config.clues_per_set)
        return await self.store.aperform(lambda bound: reading.names(bound, "pins", most, newest_first=False))

    async def get_category_labels(
        self, category: str, limit: int | None = None, timestamp: float | datetime | None = None
    ) -> Scored:
        """Labels that occur under a category, newest first; of its 1,000 newest impressions."""
        most = _or(limit, self.config.labels_per_set)
        return await self.store.aperform(
            lambda bound: reading.names(bound, "category-labels", most, of=category, timestamp=timestamp)
        )

    async def get_category_clues(
        self, category: str, limit: int | None = None, timestamp: float | datetime | None = None
    ) -> Scored:
        """Clues filed under a category, newest first."""
        most = _or(limit, self.config.clues_per_set)
        return await self.store.aperform(
            lambda bound: reading.names(bound, "category", most, of=category, timestamp=timestamp)
        )

    async def get_label_clues(
        self, label: str, limit: int | None = None, timestamp: float | datetime | None = None
    ) -> Scored:
        """Clues that carry a label, newest first."""
        most = _or(limit, self.config.clues_per_set)
        return await self.store.aperform(
            lambda bound: reading.names(bound, "label", most, of=label, timestamp=timestamp)
        )

    # --- impressions --------------------------------------------------------------------------------------------

    async def get_impressions_by_clues(
        self, clues: Sequence[str] | Sequence[tuple[str, float]], max_text_units: int | None = None
    ) -> list[Any]:
        """Impressions of clues, in the order given.

        Args:
            clues: Names, or `(name, score)` pairs as the other readings give them.
            max_text_units: The most units of `[clue]content` together; what is too long is passed over.

        Returns:
            `(clue, content)` for each name, `((clue, content), score)` for each pair; missing ones are left out.
        """
        most = _or(max_text_units, self.config.impression_text_units_per_set)
        return await self.store.aperform(lambda bound: reading.by_clues(bound, clues, most))

    async def get_mixed_labels(self, limit: int | None = None) -> Scored:
        """Labels with times, newest first: a fifth the newest, the rest spread over the newest categories."""
        most = _or(limit, self.config.labels_per_set)
        return await self.store.aperform(
            lambda bound: reading.mixed_labels(bound, most, self.config.categories_per_set)
        )

    async def get_mixed_impressions(
        self, max_text_units: int | None = None
    ) -> list[tuple[str, tuple[str, str], float]]:
        """Impressions as a context shows them: pinned ones, the newest, and some of every newer category.

        Args:
            max_text_units: The most units of their lines; an impression that is too long takes no other's place.

        Returns:
            `(mark, (clue, content), score)`, newest first.
        """
        found = await self._mixed(max_text_units)
        return [
            (self._mark(note), (note.impression.clue, note.impression.content), note.touched) for note in found.notes
        ]

    async def _mixed(self, max_text_units: int | None) -> reading.Mixed:
        config = self.config
        units = _or(max_text_units, config.impression_text_units_per_set)
        return await self.store.aperform(
            lambda bound: reading.mixed(bound, units, config.clues_per_set, config.categories_per_set, self._line)
        )

    def _mark(self, note: Note) -> str:
        return self.config.pinned_emoji if note.impression.pin else self.config.unpinned_emoji

    def _line(self, note: Note) -> str:
        return texts.marked_line(note, self._mark(note), self.config.zone)

    # --- changes ------------------------------------------------------------------------------------------------

    @property
    def pin_marks(self) -> dict[str, bool]:
        """Texts that stand for a pin and for none, since models copy what contexts show."""
        return {self.config.pinned_emoji.strip(): True, self.config.unpinned_emoji.strip(): False}

    async def save_impression(
        self, clue: str, content: str, category: str, labels: Sequence[str], pin: bool | str = False
    ) -> SaveResult:
        """Save one impression; the same clue again replaces it whole.

        Args:
            clue: Its identity.
            content: The note.
            category: Where it is filed.
            labels: One to five attributes; blank ones are dropped.
            pin: Whether it is pinned; the pin mark counts as True. Saving again without it unpins.

        Returns:
            What became of it. A missing or wrong field raises nothing: the status is `refused` and `error` says why.
        """
        if isinstance(labels, Sequence) and not isinstance(labels, str | bytes):
            labels = [label for label in labels if not isinstance(label, str) or label.strip()]
        item = with_pins(
            {"clue": clue, "content": content, "category": category, "labels": labels, "pin": pin}, self.pin_marks
        )
        (result,) = await self.store.asave_many([item])
        if not result.ok:
            logger.warning("an impression was not saved: a field is missing or over its limit")
        return result

    async def merge_categories(self, from_category: str, to_category: str) -> dict[str, Any]:
        """Move everything from one category to another, both existing.

        Returns:
            `level`, `from`, `to`, `labels_moved`, `clues_moved`.
        """
        done = await self.store.amerge_categories(from_category, to_category)
        return {
            "level": "category",
            "from": done.sources[0],
            "to": done.target,
            "labels_moved": done.labels_moved,
            "clues_moved": len(done.moved),
        }

    async def merge_labels(self, from_labels: Sequence[str], to_label: str) -> dict[str, Any]:
        """Replace labels by another, all existing.

        Returns:
            `level`, `from` (a list), `to`, `clues_moved`.
        """
        done = await self.store.amerge_labels(from_labels, to_label)
        return {"level": "label", "from": list(done.sources), "to": done.target, "clues_moved": len(done.moved)}

    async def merge_clues(self, from_clues: Sequence[str], to_clue: str, new_content: str) -> dict[str, Any]:
        """Make one impression of several existing ones; pin, labels and categories of the parts come along.

        Returns:
            `level`, `from` (a list), `to`, `saved_content`.
        """
        done = await self.store.amerge_clues(from_clues, to_clue, new_content)
        return {"level": "clue", "from": list(done.sources), "to": done.target, "saved_content": new_content}

    # --- context and maintenance --------------------------------------------------------------------------------

    async def build_memory_context(
        self,
        max_categories: int | None = None,
        max_labels: int | None = None,
        max_impression_text_units: int | None = None,
    ) -> str:
        """The memory text for a system prompt: categories, labels and impressions, each oldest first.

        Args:
            max_categories: The most categories; the newest stay.
            max_labels: The most labels, as `get_mixed_labels` chooses them.
            max_impression_text_units: The most units of impression lines, as `get_mixed_impressions` chooses them.

        Returns:
            One block, marked as data; a single sentence while nothing is stored.
        """
        categories = await self.get_recent_categories(max_categories)
        labels = await self.get_mixed_labels(max_labels)
        found = await self._mixed(max_impression_text_units)
        if found.pins_left_out:
            logger.warning("pinned impressions that do not fit into the context: %d", found.pins_left_out)
        return texts.context(
            [name for name, _ in reversed(categories)],
            [name for name, _ in reversed(labels)],
            [self._line(note) for note in reversed(found.notes)],
            found.left_out,
            (self.config.pinned_emoji, self.config.unpinned_emoji),
        )

    def get_maintain_prompt(self) -> str:
        """What to tell a model, as the last user message after a turn, so that it saves and tidies by tool calls."""
        return texts.MAINTAIN_PROMPT

    def get_maintain_tool_definitions(self) -> list[dict[str, Any]]:
        """The save and the organize tool in OpenAI's form, new dicts each time."""
        return [openai_definition(tool) for tool in (SAVE_IMPRESSION, ORGANIZE_IMPRESSIONS)]

    async def execute_maintain_tool_calls(self, tool_calls: Iterable[Any] | None) -> Report:
        """Carry out the save and organize calls of a model's answer.

        Args:
            tool_calls: `message.tool_calls` of any client: objects, dicts, None; or the whole message.

        Returns:
            What was saved, changed, merged and refused. Nothing is raised: unknown tools and calls that cannot be
            carried out are refused with their reason, a failing store is a status.
        """
        started = perf_counter()
        calls = [self._with_pins(call) for call in read_calls(tool_calls)]
        try:
            report = await self.store.aperform(lambda bound: carry_out(bound, calls))
        except ImpressMemError as error:
            report = Report("store_unavailable", reason=str(error))
        if report.status == "store_unavailable":
            logger.error("maintenance calls could not be carried out: %s", report.reason)
        if report.refused:
            logger.warning("parts of a maintenance answer that were not carried out: %d", len(report.refused))
        return replace(report, seconds=perf_counter() - started)

    def _with_pins(self, call: ToolCall) -> ToolCall:
        if call.arguments is None:
            return call
        return replace(call, arguments=with_pins(call.arguments, self.pin_marks))


def _or(given: int | None, setting: int) -> int:
    return setting if given is None else reading.whole(given, "a limit")
