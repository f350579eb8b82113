"""`ImpressMemManager`: the described manager's methods over an `ImpressionStore`. It never calls a model."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import read
from impressmem_integrations.core.commands.read import Mixture
from impressmem_integrations.core.effects import Flow, ask
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import ImpressMemError, InvalidInput
from impressmem_integrations.manager import texts
from impressmem_integrations.manager.config import ImpressMemConfig
from impressmem_integrations.manager.mixture import Note, mix, mix_names
from impressmem_integrations.model import Impression, MergeResult, Refusal, Report, SaveResult
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.tools.calls import read_calls
from impressmem_integrations.tools.definitions import MAINTENANCE_TOOLS, SAVE_IMPRESSION, openai_definition
from impressmem_integrations.tools.dispatch import ToolOutcome, call_flow

logger = logging.getLogger(__name__)

Scored = tuple[str, float]
"""A name and the time of its last change in milliseconds since 1970."""

_BYTES_PER_UNIT = 3
_PINNED_PER_SET = 1_000


class ImpressMemManager:
    """A bot's memory, shared by all who talk to it. Nothing is opened before the first call.

    Listings are `(name, time)` pairs, newest first; times are milliseconds since 1970. `timestamp` arguments are such
    times: only what was last changed before them is listed.
    """

    def __init__(self, config: ImpressMemConfig | None = None) -> None:
        self.config = config or ImpressMemConfig()
        self.store = ImpressionStore.from_url(self.config.url, bot=self.config.bot_name)

    @property
    def pin_marks(self) -> Mapping[str, bool]:
        """Texts that a model may give as `pin`, since contexts show them."""
        return {self.config.pinned_emoji.strip(): True, self.config.unpinned_emoji.strip(): False}

    # --- changes --------------------------------------------------------------------------------------------------

    async def save_impression(
        self, clue: str, content: str, category: str, labels: Sequence[str], pin: bool | str = False
    ) -> SaveResult:
        """Save one impression; the same clue again replaces it. Empty labels are left out.

        Args:
            clue: Its identity.
            content: The note.
            category: Its domain.
            labels: One to five attributes.
            pin: Whether it is pinned; the pinned mark counts as True.

        Raises:
            InvalidInput: A field is missing or over its limit; nothing was saved.
        """
        if isinstance(pin, str):
            pin = self.pin_marks.get(pin.strip(), False)
        kept = [label for label in labels if str(label).strip()] if not isinstance(labels, str) else labels
        return await self.store.asave(clue, content, category=category, labels=kept, pin=bool(pin))

    async def merge_categories(self, from_category: str, to_category: str) -> dict[str, Any]:
        """Move everything of one category to another.

        Returns:
            `level`, `from`, `to`, `labels_moved`, `clues_moved`.

        Raises:
            InvalidInput: A name is empty, or both are the same.
            NotFound: One of them does not exist.
        """
        done = await self.store.amerge_categories(from_category, to_category)
        return {**_merged(done, from_category), "labels_moved": done.labels_moved, "clues_moved": len(done.moved)}

    async def merge_labels(self, from_labels: Sequence[str], to_label: str) -> dict[str, Any]:
        """Replace labels by another one: `level`, `from`, `to`, `clues_moved`. Raises like `merge_categories`."""
        done = await self.store.amerge_labels(_listed(from_labels), to_label)
        return {**_merged(done, list(done.sources)), "clues_moved": len(done.moved)}

    async def merge_clues(self, from_clues: Sequence[str], to_clue: str, new_content: str) -> dict[str, Any]:
        """Make one impression of several: `level`, `from`, `to`, `saved_content`. Raises like `merge_categories`."""
        done = await self.store.amerge_clues(_listed(from_clues), to_clue, new_content)
        return {**_merged(done, list(done.sources)), "saved_content": new_content}

    # --- listings -------------------------------------------------------------------------------------------------

    async def get_recent_categories(self, limit: int | None = None, timestamp: float | None = None) -> list[Scored]:
        """The newest categories."""
        return await self._names("categories", limit or self.config.categories_per_set, timestamp)

    async def get_recent_labels(self, limit: int | None = None, timestamp: float | None = None) -> list[Scored]:
        """The newest labels."""
        return await self._names("labels", limit or self.config.labels_per_set, timestamp)

    async def get_recent_clues(self, limit: int | None = None, timestamp: float | None = None) -> list[Scored]:
        """The newest clues."""
        return await self._names("clues", limit or self.config.clues_per_set, timestamp)

    async def get_pinned_clues(self, limit: int | None = None) -> list[Scored]:
        """Pinned clues with the time they were pinned, oldest first: the first to unpin is named first."""
        return await self._names("pins", limit or _PINNED_PER_SET, None, newest_first=False)

    async def get_category_labels(
        self, category: str, limit: int | None = None, timestamp: float | None = None
    ) -> list[Scored]:
        """Labels of a category's impressions."""
        return await self._names("category-labels", limit or self.config.labels_per_set, timestamp, of=category)

    async def get_category_clues(
        self, category: str, limit: int | None = None, timestamp: float | None = None
    ) -> list[Scored]:
        """Clues of a category."""
        return await self._names("category", limit or self.config.clues_per_set, timestamp, of=category)

    async def get_label_clues(
        self, label: str, limit: int | None = None, timestamp: float | None = None
    ) -> list[Scored]:
        """Clues with a label."""
        return await self._names("label", limit or self.config.clues_per_set, timestamp, of=label)

    async def _names(
        self, kind: str, limit: int, timestamp: float | None, *, of: str | None = None, newest_first: bool = True
    ) -> list[Scored]:
        def flow(bound: Bound) -> Flow[list[Scored]]:
            name = None if of is None else normal_name(of, "label" if kind == "label" else "category")
            highest = "+inf" if timestamp is None else f"({timestamp:.0f}"
            found = yield from ask(
                read.list_names(bound, kind, name=name, newest_first=newest_first, highest=highest, most=limit)
            )
            return [(text, float(at)) for text, at in found]

        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidInput("limit must be a whole number of at least 1")
        return await self.store.aperform(flow)

    async def get_impressions_by_clues(
        self, clues: Sequence[str | Scored], max_text_units: int | None = None
    ) -> list[tuple[str | Scored, str]]:
        """Contents of clues, as `(what was given, content)` in the order given; missing ones are left out.

        Args:
            clues: Names, or `(name, time)` pairs.
            max_text_units: The most units of all contents; one that does not fit is passed over.
        """
        names = [normal_name(clue if isinstance(clue, str) else clue[0], "clue") for clue in clues]

        def flow(bound: Bound) -> Flow[list[Impression]]:
            return (yield from ask(read.get(bound, names))) if names else []

        by_key = {normal_name(item.clue, "clue").key: item for item in await self.store.aperform(flow)}
        left = self.config.impression_text_units_per_set if max_text_units is None else max_text_units
        found = []
        for given, name in zip(clues, names, strict=True):
            item = by_key.get(name.key)
            if item and (cost := self._units(item)) <= left:
                left -= cost
                found.append((given, item.content))
        return found

    def _units(self, item: Impression) -> int:
        size = len(item.clue.encode()) + len(item.content.encode())
        return -(-size // _BYTES_PER_UNIT)

    async def get_mixed_labels(self, limit: int | None = None) -> list[Scored]:
        """Labels both newest and spread over the newest categories, newest first."""
        most = limit or self.config.labels_per_set
        recent = await self.get_recent_labels(most)
        categories = await self.get_recent_categories()
        each = max(1, 2 * most // max(1, len(categories)))
        lanes = [await self.get_category_labels(name, each) for name, _ in categories] if len(recent) == most else []
        return mix_names(recent, lanes, most)

    async def get_mixed_impressions(
        self, max_text_units: int | None = None
    ) -> list[tuple[str, tuple[str, str], float]]:
        """Impressions that fit a budget: pinned, newest, and spread over the newest categories.

        Returns:
            `(mark, (clue, content), time)`, newest first.
        """
        notes, _ = await self._mixed(max_text_units or self.config.impression_text_units_per_set)
        return [(self._mark(n), (n.impression.clue, n.impression.content), n.touched) for n in notes]

    def _mark(self, note: Note) -> str:
        return self.config.pinned_emoji if note.impression.pin else self.config.unpinned_emoji

    async def _mixed(self, budget_units: int) -> tuple[list[Note], int]:
        config = self.config

        def flow(bound: Bound) -> Flow[Mixture]:
            return (
                yield from ask(
                    read.mixture(
                        bound,
                        _PINNED_PER_SET,
                        config.clues_per_set,
                        config.categories_per_set,
                        2 * budget_units * _BYTES_PER_UNIT,
                        budget_units * _BYTES_PER_UNIT,
                    )
                )
            )

        found = await self.store.aperform(flow)
        pinned = [Note(item, float(facts.touched)) for item, facts in found.pinned]
        others = [Note(item, float(facts.touched)) for item, facts in found.others]

        def cost(note: Note) -> int:
            size = len(texts.marked_line(note, self._mark(note), config.zone).encode()) + 1
            return -(-size // _BYTES_PER_UNIT)

        notes = mix(pinned, others, budget_units, config.clues_per_set, cost)
        return notes, found.impressions - len(notes)

    # --- texts ----------------------------------------------------------------------------------------------------

    async def build_memory_context(
        self,
        max_categories: int | None = None,
        max_labels: int | None = None,
        max_impression_text_units: int | None = None,
    ) -> str:
        """The memory text for a system prompt; never empty.

        Args:
            max_categories: The most categories; `categories_per_set` by default.
            max_labels: The most labels; `labels_per_set` by default.
            max_impression_text_units: Units of the notes; `impression_text_units_per_set` by default.
        """
        categories = await self.get_recent_categories(max_categories)
        labels = await self.get_mixed_labels(max_labels)
        notes, left_out = await self._mixed(max_impression_text_units or self.config.impression_text_units_per_set)
        lines = [texts.marked_line(note, self._mark(note), self.config.zone) for note in reversed(notes)]
        return texts.context(
            [name for name, _ in reversed(categories)],
            [name for name, _ in reversed(labels)],
            lines,
            left_out,
            (self.config.pinned_emoji, self.config.unpinned_emoji),
        )

    def get_maintain_prompt(self) -> str:
        """The request to look after memory, as the last user message of a maintenance call."""
        return texts.MAINTAIN_PROMPT

    def get_maintain_tool_definitions(self) -> list[dict[str, Any]]:
        """Definitions of the save and organize tools, in OpenAI's chat form."""
        return [openai_definition(tool) for tool in MAINTENANCE_TOOLS]

    async def execute_maintain_tool_calls(self, tool_calls: Any) -> Report:
        """Carry out a model's tool calls in order, one by one; a bad call stops no other.

        Args:
            tool_calls: `message.tool_calls` of any SDK: objects, dicts, a message, or None.

        Returns:
            What was saved, changed, merged and refused, or why nothing was.
        """
        calls = read_calls(tool_calls)
        outcomes: list[ToolOutcome] = []
        refused: list[Refusal] = []
        for call in calls:
            try:
                outcome = await self.store.aperform(
                    lambda bound, call=call: call_flow(bound, call, (*MAINTENANCE_TOOLS, SAVE_IMPRESSION))  # type: ignore[misc]  # bound now, not later
                )
            except ImpressMemError as error:
                logger.warning("a maintenance call failed: %s", type(error).__name__)
                refused.append(Refusal(call.name, str(error)))
                continue
            outcomes.append(outcome)
            if outcome.refused:
                logger.warning("%d parts of a maintenance call were refused", len(outcome.refused))
            refused += outcome.refused
        return _report(outcomes, refused, len(calls))

    async def close(self) -> None:
        """Close the connections. Closing twice is fine."""
        await self.store.aclose()


def _listed(names: Sequence[str]) -> Sequence[str]:
    return [names] if isinstance(names, str) else names


def _merged(done: MergeResult, given: str | list[str]) -> dict[str, Any]:
    return {"level": done.level, "from": given, "to": done.target}


def _report(outcomes: Iterable[ToolOutcome], refused: Sequence[Refusal], calls: int) -> Report:
    saves: list[SaveResult] = []
    merged: list[MergeResult] = []
    for outcome in outcomes:
        if isinstance(outcome.artifact, tuple):
            saves += outcome.artifact
        elif isinstance(outcome.artifact, MergeResult):
            merged.append(outcome.artifact)
    saved = tuple(result.clue for result in saves if result.status == "created")
    changed = tuple(result.clue for result in saves if result.status == "changed")
    transactions = [result.transaction for result in saves] + [result.transaction for result in merged]
    if saved or changed or merged:
        return Report("stored", saved, changed, tuple(merged), tuple(refused), transaction=next(filter(None, reversed(transactions)), None))
    if refused:
        return Report("rejected", refused=tuple(refused), reason="no call could be carried out")
    reason = "everything is remembered already" if calls else "there were no tool calls"
    return Report("nothing_to_store", reason=reason)
