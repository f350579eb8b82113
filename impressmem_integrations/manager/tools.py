"""The tool classes: what a host registers with its model and calls with the model's arguments."""

from __future__ import annotations

from typing import Any, ClassVar

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.manager import texts
from impressmem_integrations.manager.manager import ImpressMemManager
from impressmem_integrations.manager.reading import whole
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSION,
    SAVE_IMPRESSIONS,
    Tool,
    openai_definition,
)
from impressmem_integrations.tools.dispatch import (
    Arguments,
    ToolOutcome,
    answered,
    organize_flow,
    recall_flow,
    save_flow,
)


class ImpressionTool:
    """One tool of a manager."""

    tool: ClassVar[Tool]

    def __init__(self, manager: ImpressMemManager) -> None:
        """Make the tool of a manager."""
        self.manager = manager

    def get_name(self) -> str:
        """The tool's name, as in its definition."""
        return self.tool.name

    def get_definition(self) -> dict[str, Any]:
        """The tool in OpenAI's function calling form, a new dict each time."""
        return openai_definition(self.tool)

    async def execute(self, json_args: Arguments) -> tuple[str, str]:
        """Carry out a call.

        Args:
            json_args: The call's arguments as the model wrote them: JSON text, or decoded.

        Returns:
            The full result for the model, and one line for a user interface. Nothing is raised: wrong arguments and a
            store that is away are said in both.
        """
        outcome = await self.manager.store.aperform(lambda bound: answered(self._flow(bound, json_args)))
        return outcome.full, outcome.summary

    def _flow(self, bound: Bound, json_args: Arguments) -> Flow[ToolOutcome]:
        raise NotImplementedError


class SaveImpressionTool(ImpressionTool):
    """Saves one impression; the same clue again replaces it."""

    tool = SAVE_IMPRESSION

    def _flow(self, bound: Bound, json_args: Arguments) -> Flow[ToolOutcome]:
        return save_flow(bound, json_args, pin_marks=self.manager.pin_marks)


class SaveImpressionsTool(SaveImpressionTool):
    """Saves several impressions in one call; a wrong one stops no other."""

    tool = SAVE_IMPRESSIONS


class RecallImpressionsTool(ImpressionTool):
    """Looks impressions up by category, labels or a question."""

    tool = RECALL_IMPRESSIONS

    def __init__(
        self, manager: ImpressMemManager, max_labels: int | None = None, max_impression_text_units: int | None = None
    ) -> None:
        """Make the tool of a manager.

        Args:
            manager: The manager.
            max_labels: The most related labels named; None: the manager's `labels_per_set`.
            max_impression_text_units: The most units of impression lines; None: the manager's setting.

        Raises:
            InvalidInput: A limit is no whole number.
        """
        super().__init__(manager)
        config = manager.config
        self.max_labels = whole(config.labels_per_set if max_labels is None else max_labels, "max_labels")
        units = config.impression_text_units_per_set if max_impression_text_units is None else max_impression_text_units
        self.max_impression_text_units = whole(units, "max_impression_text_units")

    def _flow(self, bound: Bound, json_args: Arguments) -> Flow[ToolOutcome]:
        zone = self.manager.config.zone
        return recall_flow(
            bound,
            json_args,
            budget_units=self.max_impression_text_units,
            most_labels=self.max_labels,
            line=lambda held: texts.recalled_line(held, zone),
        )


class OrganizeImpressionsTool(ImpressionTool):
    """Merges categories, labels or clues that mean the same, once the model has confirmed it."""

    tool = ORGANIZE_IMPRESSIONS

    def _flow(self, bound: Bound, json_args: Arguments) -> Flow[ToolOutcome]:
        return organize_flow(bound, json_args)
