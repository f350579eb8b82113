"""Operations as methods: from one flow a blocking one and its awaitable twin, from pages a lazy listing."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, get_args, get_type_hints

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow, adrive, drive
from impressmem_integrations.core.flows.recollect import Pages

if TYPE_CHECKING:
    from impressmem_integrations.model import Report
    from impressmem_integrations.store import ImpressionStore

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def _public(method: Any, flow: Callable[..., Any], result: Callable[[Any], Any], prefix: str = "") -> Any:
    """Give a method the flow's signature without its scope, and its docstring: schema inference reads these."""
    parameters, returned = _read_signature(flow)
    returns = result(get_args(returned))
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method.__name__ = prefix + flow.__name__
    method.__qualname__ = f"ImpressionStore.{method.__name__}"
    method.__doc__ = flow.__doc__
    method.__signature__ = inspect.Signature([self_parameter, *parameters], return_annotation=returns)
    method.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": returns}
    return method


@cache  # both twins of an operation read the same flow, at import
def _read_signature(flow: Callable[..., Any]) -> tuple[list[inspect.Parameter], Any]:
    """The parameters of a flow after its scope, and what it returns, with annotations evaluated."""
    hints = get_type_hints(flow)
    parameters = list(inspect.signature(flow).parameters.values())[1:]
    return [parameter.replace(annotation=hints[parameter.name]) for parameter in parameters], hints["return"]


def _of_flow(arguments: tuple[Any, ...]) -> Any:
    return arguments[2]  # Generator[yielded, sent, returned]


def _of_pages(arguments: tuple[Any, ...]) -> Any:
    item: Any = arguments[0]
    return Listing[item]


def blocking(flow: Callable[Concatenate[Bound, P], Flow[R]]) -> Callable[Concatenate[ImpressionStore, P], R]:
    """An operation that blocks until the server has answered."""

    def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> R:
        return drive(flow(self._bound, *args, **kwargs), self._answer)

    made: Callable[Concatenate[ImpressionStore, P], R] = _public(method, flow, _of_flow)
    return made


def awaited(flow: Callable[Concatenate[Bound, P], Flow[R]]) -> Callable[Concatenate[ImpressionStore, P], Awaitable[R]]:
    """The awaitable twin of an operation."""

    async def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> R:
        return await adrive(flow(self._bound, *args, **kwargs), self._aanswer)

    made: Callable[Concatenate[ImpressionStore, P], Awaitable[R]] = _public(method, flow, _of_flow, "a")
    return made


def asking(flow: Callable[Concatenate[Bound, P], Flow[Report]]) -> Callable[Concatenate[ImpressionStore, P], Report]:
    """A blocking operation that asks a chat `model` and perhaps a reviewer (`review`), and counts its seconds."""
    signature = inspect.signature(flow)

    def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> Report:
        from impressmem_integrations.maintenance.answers import blocking_answers

        given = signature.bind(self._bound, *args, **kwargs).arguments
        answer = blocking_answers(given["model"], given.get("review"), self._answer)
        started = perf_counter()
        report = drive(flow(self._bound, *args, **kwargs), answer)
        return replace(report, seconds=perf_counter() - started)

    made: Callable[Concatenate[ImpressionStore, P], Report] = _public(method, flow, _of_flow)
    return made


def asking_awaited(
    flow: Callable[Concatenate[Bound, P], Flow[Report]],
) -> Callable[Concatenate[ImpressionStore, P], Awaitable[Report]]:
    """The awaitable twin of `asking`."""
    signature = inspect.signature(flow)

    async def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> Report:
        from impressmem_integrations.maintenance.answers import awaited_answers

        given = signature.bind(self._bound, *args, **kwargs).arguments
        answer = awaited_answers(given["model"], given.get("review"), self._aanswer)
        started = perf_counter()
        report = await adrive(flow(self._bound, *args, **kwargs), answer)
        return replace(report, seconds=perf_counter() - started)

    made: Callable[Concatenate[ImpressionStore, P], Awaitable[Report]] = _public(method, flow, _of_flow, "a")
    return made


class Listing(Generic[T]):
    """A listing that reads pages as it is walked; walking it again reads anew."""

    def __init__(self, store: ImpressionStore, pages: Pages[T]) -> None:
        self._store, self._pages = store, pages

    def __iter__(self) -> Iterator[T]:
        cursor, left = self._pages.first, self._pages.limit
        while cursor is not None:
            items, cursor = drive(self._pages.page(cursor), self._store._answer)
            for item in items:
                if left is not None and left <= 0:
                    return
                yield item
                left = left if left is None else left - 1

    async def __aiter__(self) -> AsyncIterator[T]:
        cursor, left = self._pages.first, self._pages.limit
        while cursor is not None:
            items, cursor = await adrive(self._pages.page(cursor), self._store._aanswer)
            for item in items:
                if left is not None and left <= 0:
                    return
                yield item
                left = left if left is None else left - 1


def listed(
    pages: Callable[Concatenate[Bound, P], Pages[T]], prefix: str = ""
) -> Callable[Concatenate[ImpressionStore, P], Listing[T]]:
    """A lazily paged listing; the same object can be walked with `for` and with `async for`."""

    def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> Listing[T]:
        return Listing(self, pages(self._bound, *args, **kwargs))

    made: Callable[Concatenate[ImpressionStore, P], Listing[T]] = _public(method, pages, _of_pages, prefix)
    return made


def as_it_is(method: T) -> T:
    """For `Later`: what is loaded is the method itself."""
    return method


class Later:
    """An operation that is loaded when it is first asked for: few programs maintain, check or export at start-up."""

    def __init__(self, kind: Callable[..., Any], module: str, flow: str) -> None:
        self._kind, self._module, self._flow = kind, module, flow

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        module = import_module(f"impressmem_integrations.{self._module}")
        method = self._kind(getattr(module, self._flow))
        setattr(self._owner, self._name, method)
        return getattr(owner if instance is None else instance, self._name)
