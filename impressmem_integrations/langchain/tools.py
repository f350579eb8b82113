"""The three memory tools for LangChain agents: save, recall, organize.

Whose memory they touch is in the run's config or context, never in an argument. What a model did wrong it is told in
words, item by item; a store that fails is a `ToolException`, which LangChain shows to the model as an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, NoReturn, Self

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, ToolException
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    WithJsonSchema,
    create_model,
)
from pydantic_core import PydanticCustomError

from impressmem_integrations.availability import (
    DEFAULT_LIMIT_SECONDS,
    Availability,
    availability_of,
    limit_for,
)
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.errors import ConfigurationError, StoreError, StoreTimeout
from impressmem_integrations.langchain.identity import FROM_STORE, Identity, Run, User, current_context
from impressmem_integrations.store import ImpressionStore
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSIONS,
    Tool,
)
from impressmem_integrations.tools.dispatch import ToolOutcome, organize_flow, recall_flow, save_flow

Artifact = dict[str, Any]


def _arguments_of(tool: Tool) -> type[BaseModel]:
    """A pydantic model of a tool's arguments, published with exactly the schema that the definition has.

    Only what is missing fails here. Everything else is checked item by item when the call is carried out, so that one
    bad item stops no other. Extra fields come through as well, to be named to the model as ignored.
    """
    needed = tool.parameters.get("required", ())
    fields: dict[str, Any] = {
        name: (
            Annotated[Any, WithJsonSchema(dict(shape)), *_checks(shape if name in needed else {})],
            # A default would stand in the schema, which some providers refuse; a factory does not.
            Field() if name in needed else Field(default_factory=NoneType),
        )
        for name, shape in tool.parameters["properties"].items()
    }
    title = "".join(part.title() for part in tool.name.split("_")) + "Arguments"
    made: type[BaseModel] = create_model(title, __config__=ConfigDict(extra="allow"), **fields)
    return made


def _checks(shape: Mapping[str, Any]) -> list[Any]:
    """A list that is needed and empty, null or no list at all is missing as much as one that was left out."""
    return [AfterValidator(_listed)] if shape.get("type") == "array" else []


def _listed(value: Any) -> Any:
    if not value or not isinstance(value, list | tuple | Mapping | str):  # a model may send one object, or JSON text
        raise PydanticCustomError("list_needed", "A list of objects is needed")
    return value


def _problems(error: Any) -> str:
    """A validation error as one line for the model: `path: problem; path: problem`."""
    if not isinstance(error, ValidationError):
        return "The arguments cannot be read."
    found = (f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors())
    return "; ".join(found)


class _ImpressionTool(BaseTool):
    """What the three tools share.

    Attributes:
        store: The memory.
        user: Whose, per run; see `impression_tools`.
    """

    store: Any = Field(exclude=True, repr=False)
    user: Any = Field(default=FROM_STORE, exclude=True, repr=False)
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    handle_tool_error: Any = True
    handle_validation_error: Any = _problems

    writes: ClassVar[bool] = True
    _identity: Identity = PrivateAttr()
    _available: Availability = PrivateAttr()
    _for_user: tuple[str | None] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any, /) -> None:
        """Check whose memory it is for; nothing is opened."""
        super().model_post_init(context)
        self._identity = Identity(self.store, self.user)
        self._available = availability_of(self.store)

    def for_user(self, user: str | None) -> Self:
        """The same tool for one user, whatever the run's config says; None for the bot's own memory."""
        bound = self.model_copy()
        bound._for_user = (user,)
        return bound

    def _flow(self, bound: Bound, arguments: Mapping[str, Any]) -> Flow[ToolOutcome]:
        raise NotImplementedError

    def _run(self, /, *, config: RunnableConfig, **arguments: Any) -> tuple[str, Artifact]:
        memory = self._memory(config)
        try:
            if self._available.away:
                self._available.read(memory.stats, self._limit())
            outcome = memory.perform(self._flow_of(arguments))
        except StoreError as error:
            self._failed(error)
        return self._told(outcome)

    async def _arun(self, /, *, config: RunnableConfig, **arguments: Any) -> tuple[str, Artifact]:
        memory = self._memory(config)
        try:
            if self._available.away:
                await self._available.aread(memory.stats, self._limit())
            outcome = await memory.aperform(self._flow_of(arguments))
        except StoreError as error:
            self._failed(error)
        return self._told(outcome)

    def _memory(self, config: RunnableConfig) -> ImpressionStore:
        if self._for_user is not None:
            return self._identity.view(self._for_user[0])
        return self._identity.of(Run.of(config, current_context()))

    def _limit(self) -> float:
        return limit_for(self.store, DEFAULT_LIMIT_SECONDS)

    def _flow_of(self, arguments: Mapping[str, Any]) -> Callable[[Bound], Flow[ToolOutcome]]:
        given = {name: value for name, value in arguments.items() if value is not None}
        return lambda bound: self._flow(bound, given)

    def _failed(self, error: StoreError) -> NoReturn:
        self._available.saw(error)
        if isinstance(error, StoreTimeout) and self.writes:
            raise ToolException(
                "Memory did not answer in time; the change may or may not have been stored. Go on without it."
            ) from error
        raise ToolException(
            "Memory cannot be reached at the moment; nothing was read or stored. It is unavailable, not empty. Go on "
            "without it."
        ) from error

    def _told(self, outcome: ToolOutcome) -> tuple[str, Artifact]:
        self._available.saw(None)
        artifact = {"ok": outcome.ok, "summary": outcome.summary, "result": _plain(outcome.artifact)}
        return outcome.full, artifact | {"refused": _plain(outcome.refused)}


def _plain(value: Any) -> Any:
    """A result as lists, dicts and texts, which every checkpointer can keep."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (one.name for one in dataclasses.fields(value) if one.name != "text")  # the content says it already
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, str) else value


class SaveImpressionsTool(_ImpressionTool):
    """Saves impressions; a bad one stops no other."""

    name: str = SAVE_IMPRESSIONS.name
    description: str = SAVE_IMPRESSIONS.description
    args_schema: Any = _arguments_of(SAVE_IMPRESSIONS)

    def _flow(self, bound: Bound, arguments: Mapping[str, Any]) -> Flow[ToolOutcome]:
        return save_flow(bound, arguments)


class RecallImpressionsTool(_ImpressionTool):
    """Looks impressions up."""

    name: str = RECALL_IMPRESSIONS.name
    description: str = RECALL_IMPRESSIONS.description
    args_schema: Any = _arguments_of(RECALL_IMPRESSIONS)
    writes: ClassVar[bool] = False

    def _flow(self, bound: Bound, arguments: Mapping[str, Any]) -> Flow[ToolOutcome]:
        return recall_flow(bound, arguments)


class OrganizeImpressionsTool(_ImpressionTool):
    """Merges what means the same, once the model has confirmed it."""

    name: str = ORGANIZE_IMPRESSIONS.name
    description: str = ORGANIZE_IMPRESSIONS.description
    args_schema: Any = _arguments_of(ORGANIZE_IMPRESSIONS)

    def _flow(self, bound: Bound, arguments: Mapping[str, Any]) -> Flow[ToolOutcome]:
        return organize_flow(bound, arguments)


def impression_tools(store: ImpressionStore, user: User = FROM_STORE) -> list[BaseTool]:
    """Make the tools save, recall and organize, in this order.

    Args:
        store: The memory. Nothing is opened until a tool is called.
        user: Whose memory, per run: a text with fields such as `"{user_id}"`, filled from the run's context, then from
            `config["configurable"]`; a fixed id; a function of the `Run`; or None for the bot's own shared memory.
            Not given: the store's own user if it has one, else `"{user_id}"`. A model cannot choose it.

    Returns:
        Thread-safe tools for sync and async agents. The artifact of a result is a dict with `ok`, `summary`, `result`
        and `refused`.

    Raises:
        ConfigurationError: The store is none, or the template cannot be used. When a tool is called: the run does not
            say who the user is.
    """
    return [
        kind(store=store, user=user) for kind in (SaveImpressionsTool, RecallImpressionsTool, OrganizeImpressionsTool)
    ]


def name_of(tool: Any) -> str | None:
    """The name of a tool as an agent holds it: an object, or a dict in a provider's form."""
    if isinstance(tool, dict):
        function = tool.get("function")
        name = function.get("name") if isinstance(function, dict) else tool.get("name")
        return name if isinstance(name, str) else None
    return getattr(tool, "name", None)


def require_own_names(tools: Iterable[Any], ours: Sequence[BaseTool]) -> None:
    """Refuse a foreign tool by the name of one of ours: an agent has one tool of a name, and takes the last.

    Raises:
        ConfigurationError: There is one. A copy of ours, e.g. with another description, is not foreign.
    """
    by_name = {tool.name: tool for tool in ours}
    for tool in tools:
        mine = by_name.get(name_of(tool) or "")
        if mine is not None and tool is not mine and not _share_memory(tool, mine):
            raise ConfigurationError(
                f"two tools of this agent are named {mine.name}, and it would use one for both: of several memories in "
                "one agent give all but one tools=False, and leave impression_tools out"
            )


def _share_memory(tool: Any, other: BaseTool) -> bool:
    return (
        isinstance(tool, _ImpressionTool) and isinstance(other, _ImpressionTool) and tool._identity is other._identity
    )
