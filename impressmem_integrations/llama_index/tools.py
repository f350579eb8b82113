"""The memory tools for LlamaIndex agents: save, recall, organize.

A spec belongs to one user, since LlamaIndex has no identity per run; making one for each user is cheap. Arguments reach
the functions as the model wrote them, because LlamaIndex checks nothing: the package's own checks answer in words.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import NoneType
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel, ConfigDict, Field, create_model
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.core.tools.tool_spec.base import BaseToolSpec

from impressmem_integrations.connect.connection import executor
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.llama_index.attachment import FROM_STORE, Attachment, User
from impressmem_integrations.llama_index.switch import Switch, checked, in_force, switched
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSIONS,
    Tool,
)
from impressmem_integrations.tools.dispatch import (
    ToolOutcome,
    answered,
    organize_flow,
    recall_flow,
    refusal,
    save_flow,
)

_TOOLS = {tool.name: tool for tool in (SAVE_IMPRESSIONS, RECALL_IMPRESSIONS, ORGANIZE_IMPRESSIONS)}


class _Arguments(BaseModel):
    """Arguments of a tool, published with exactly the schema that its definition has."""

    model_config = ConfigDict(extra="allow")

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """The definition's schema; this is what LlamaIndex puts into requests."""
        return copy.deepcopy(dict(_TOOLS[cls.model_config["title"] or ""].parameters))


def _arguments_of(tool: Tool) -> type[BaseModel]:
    needed = tool.parameters.get("required", ())
    fields: dict[str, Any] = {
        name: (
            Any,
            Field(description=shape["description"])
            if name in needed
            else Field(description=shape["description"], default_factory=NoneType),
        )
        for name, shape in tool.parameters["properties"].items()
    }
    title = "".join(part.title() for part in tool.name.split("_")) + "Arguments"
    made: type[BaseModel] = create_model(title, __base__=_Arguments, __module__=__name__, **fields)
    made.model_config["title"] = tool.name
    return made


# By name in this module, or a tool could not be pickled.
SaveImpressionsArguments = _arguments_of(SAVE_IMPRESSIONS)
RecallImpressionsArguments = _arguments_of(RECALL_IMPRESSIONS)
OrganizeImpressionsArguments = _arguments_of(ORGANIZE_IMPRESSIONS)

_METADATA = {
    tool.name: ToolMetadata(description=tool.description, name=tool.name, fn_schema=schema)
    for tool, schema in (
        (SAVE_IMPRESSIONS, SaveImpressionsArguments),
        (RECALL_IMPRESSIONS, RecallImpressionsArguments),
        (ORGANIZE_IMPRESSIONS, OrganizeImpressionsArguments),
    )
}


def _full_text(outcome: ToolOutcome) -> str:
    """What the model sees of an outcome."""
    return outcome.full


async def _afull_text(outcome: ToolOutcome) -> str:
    return outcome.full


class ImpressionToolSpec(BaseToolSpec):
    """Lets an agent save, recall and organize one user's impressions.

    The model sees the full text of an outcome. The program finds the `ToolOutcome`, with its one-line summary and what
    lies behind the words, in `ToolOutput.raw_output`. A failing store is an answer too: memory is away, not empty.

    Attributes:
        spec_functions: The functions, each with its awaitable twin.
    """

    spec_functions = [  # noqa: RUF012 - LlamaIndex declares it so, without ClassVar
        ("save_impressions", "asave_impressions"),
        ("recall_impressions", "arecall_impressions"),
        ("organize_impressions", "aorganize_impressions"),
    ]

    def __init__(self, store: ImpressionStore | str, *, user: User = FROM_STORE, switch: Switch = "on") -> None:
        """Choose whose memory the tools touch; nothing is opened before the first call.

        Args:
            store: The memory, or its URL.
            user: Whose; None for the bot's own shared memory. Not given: the store's own user.
            switch: `read-only` refuses changes, `off` refuses everything.

        Raises:
            ConfigurationError: An argument is wrong, or it is not said whose memory it is.
        """
        self._attachment = Attachment(store, user)
        self._switch = checked(switch)

    def switched(self, switch: Switch) -> AbstractContextManager[None]:
        """Switch memory `on`, `read-only` or `off` for the calls inside the `with` block."""
        return switched(switch)

    def to_tool_list(
        self, spec_functions: Any = None, func_to_metadata_mapping: Mapping[str, ToolMetadata] | None = None
    ) -> list[FunctionTool]:
        """The tools, with their definitions' own descriptions and schemas.

        Args:
            spec_functions: Which; None for all three.
            func_to_metadata_mapping: Other metadata for some of them, by function name.
        """
        metadata = {**_METADATA, **(func_to_metadata_mapping or {})}
        tools = []
        for entry in spec_functions or self.spec_functions:
            name = (entry if isinstance(entry, str) else entry[0]).removeprefix("a")
            tools.append(
                FunctionTool(
                    fn=getattr(self, name),
                    async_fn=getattr(self, f"a{name}"),
                    metadata=metadata[name],
                    callback=_full_text,
                    async_callback=_afull_text,
                )
            )
        return tools

    def save_impressions(self, **arguments: Any) -> ToolOutcome:
        """Save what a model asked for, item by item; the arguments are those of its tool."""
        return self._run("save", lambda bound: save_flow(bound, arguments))

    async def asave_impressions(self, **arguments: Any) -> ToolOutcome:
        """The awaitable twin of `save_impressions`."""
        return await self._arun("save", lambda bound: save_flow(bound, arguments))

    def recall_impressions(self, **arguments: Any) -> ToolOutcome:
        """Look up what a model asked for; the arguments are those of its tool."""
        return self._run("recall", lambda bound: recall_flow(bound, arguments))

    async def arecall_impressions(self, **arguments: Any) -> ToolOutcome:
        """The awaitable twin of `recall_impressions`."""
        return await self._arun("recall", lambda bound: recall_flow(bound, arguments))

    def organize_impressions(self, **arguments: Any) -> ToolOutcome:
        """Carry out a merge that a model asked for and confirmed; the arguments are those of its tool."""
        return self._run("organize", lambda bound: organize_flow(bound, arguments))

    async def aorganize_impressions(self, **arguments: Any) -> ToolOutcome:
        """The awaitable twin of `organize_impressions`."""
        return await self._arun("organize", lambda bound: organize_flow(bound, arguments))

    def _run(self, what: str, flow: Callable[[Bound], Flow[ToolOutcome]]) -> ToolOutcome:
        held_back = self._held_back(what)
        return held_back or self._attachment.memory().perform(lambda bound: answered(flow(bound)))

    async def _arun(self, what: str, flow: Callable[[Bound], Flow[ToolOutcome]]) -> ToolOutcome:
        held_back = self._held_back(what)
        if held_back:
            return held_back
        memory = self._attachment.memory()
        # The blocking client in a thread: an asyncio client would not outlive the loops that LlamaIndex makes.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(executor(), memory.perform, lambda bound: answered(flow(bound)))

    def _held_back(self, what: str) -> ToolOutcome | None:
        switch = in_force(self._switch)
        if switch == "off" or (switch == "read-only" and what != "recall"):
            return refusal(what.title(), f"memory is switched {switch}. Go on without it.")
        return None
