"""The described tool classes: a definition in OpenAI form, and `execute` with a JSON text.

`execute` returns the full text for the model and one line for a user interface. It never raises for what a model wrote;
a server that fails is told in words as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.manager import texts
from impressmem_integrations.manager.manager import ImpressMemManager
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSION,
    SAVE_IMPRESSIONS,
    Tool,
    openai_definition,
)
from impressmem_integrations.tools.dispatch import ToolOutcome, answered, organize_flow, recall_flow, save_flow

Arguments = str | Mapping[str, Any] | None


class ImpressionTool(ABC):
    """One tool of a manager."""

    tool: ClassVar[Tool]

    def __init__(self, manager: ImpressMemManager) -> None:
        self.manager = manager

    def get_name(self) -> str:
        """The name a model calls it by."""
        return self.tool.name

    def get_definition(self) -> dict[str, Any]:
        """Its definition in OpenAI's chat form."""
        return openai_definition(self.tool)

    async def execute(self, json_args: Arguments) -> tuple[str, str]:
        """Carry out one call.

        Args:
            json_args: The arguments as the JSON text that the model wrote, or decoded.

        Returns:
            The full result for the model, and a summary of one line without contents.
        """
        outcome = await self.manager.store.aperform(lambda bound: answered(self._flow(bound, json_args)))
        return outcome.full, outcome.summary

    @abstractmethod
    def _flow(self, bound: Bound, arguments: Arguments) -> Flow[ToolOutcome]:
        """What the tool does."""


class SaveImpressionsTool(ImpressionTool):
    """Saves several impressions at once."""

    tool = SAVE_IMPRESSIONS

    def _flow(self, bound: Bound, arguments: Arguments) -> Flow[ToolOutcome]:
        return save_flow(bound, arguments, pin_marks=self.manager.pin_marks)


class SaveImpressionTool(SaveImpressionsTool):
    """Saves one impression."""

    tool = SAVE_IMPRESSION


class RecallImpressionsTool(ImpressionTool):
    """Looks impressions up by question, category and labels.

    Args:
        manager: Whose memory.
        max_labels: The most related labels named; the config's `labels_per_set` where None.
        max_impression_text_units: Units of notes; the config's `impression_text_units_per_set` where None.
    """

    tool = RECALL_IMPRESSIONS

    def __init__(
        self,
        manager: ImpressMemManager,
        max_labels: int | None = None,
        max_impression_text_units: int | None = None,
    ) -> None:
        super().__init__(manager)
        self.max_labels = max_labels or manager.config.labels_per_set
        self.max_impression_text_units = max_impression_text_units or manager.config.impression_text_units_per_set

    def _flow(self, bound: Bound, arguments: Arguments) -> Flow[ToolOutcome]:
        zone = self.manager.config.zone
        return recall_flow(
            bound,
            arguments,
            budget_units=self.max_impression_text_units,
            most_labels=self.max_labels,
            line=lambda held: texts.recalled_line(held, zone),
        )


class OrganizeImpressionsTool(ImpressionTool):
    """Merges categories, labels or clues that mean the same."""

    tool = ORGANIZE_IMPRESSIONS

    def _flow(self, bound: Bound, arguments: Arguments) -> Flow[ToolOutcome]:
        return organize_flow(bound, arguments)
