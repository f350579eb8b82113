"""Operations as methods: from one flow a blocking one and its awaitable twin, from pages a lazy listing."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from functools import cache, wraps
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast, get_args

from impressmem_integrations.core.effects import Flow, adrive, drive

if TYPE_CHECKING:
    from impressmem_integrations.core.bound import Bound
    from impressmem_integrations.core.flows.recollect import Pages
    from impressmem_integrations.model import Report
    from impressmem_integrations.store import ImpressionStore

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K", bound=Callable[..., Any])


class Flows:
    """A module of flows by its name, loaded when an operation of it is first asked for: few programs ever need it."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> _Named:
        if name.startswith("_"):
            raise AttributeError(name)  # whoever looks for marks of the language finds none
        return _Named(self._module, name)


class _Named:
    """A flow by its name."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def load(self) -> Any:
        return getattr(import_module(f"impressmem_integrations.{self._module}"), self._name)


class _Later:
    """An operation before it is first asked for; the method then takes its place in the class."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        method = self._make()
        setattr(self._owner, self._name, method)
        return method.__get__(instance, owner)  # not by name: a subclass may have another one and ask for this


def _or_later(kind: K) -> K:
    """Let a kind of operation also take a flow of `Flows`: the method is made when it is first asked for."""

    @wraps(kind)
    def made(flow: Any, *more: Any) -> Any:
        return _Later(lambda: kind(flow.load(), *more)) if isinstance(flow, _Named) else kind(flow, *more)

    return cast(K, made)


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
    signature = inspect.signature(flow, eval_str=True)
    return list(signature.parameters.values())[1:], signature.return_annotation


def _of_flow(arguments: tuple[Any, ...]) -> Any:
    return arguments[2]  # Generator[yielded, sent, returned]


def _of_pages(arguments: tuple[Any, ...]) -> Any:
    item: Any = arguments[0]
    return Listing[item]


@_or_later
def blocking(flow: Callable[Concatenate[Bound, P], Flow[R]]) -> Callable[Concatenate[ImpressionStore, P], R]:
    """An operation that blocks until the server has answered."""

    def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> R:
        return drive(flow(self._bound, *args, **kwargs), self._answer)

    made: Callable[Concatenate[ImpressionStore, P], R] = _public(method, flow, _of_flow)
    return made


@_or_later
def awaited(flow: Callable[Concatenate[Bound, P], Flow[R]]) -> Callable[Concatenate[ImpressionStore, P], Awaitable[R]]:
    """The awaitable twin of an operation."""

    async def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> R:
        return await adrive(flow(self._bound, *args, **kwargs), self._aanswer)

    made: Callable[Concatenate[ImpressionStore, P], Awaitable[R]] = _public(method, flow, _of_flow, "a")
    return made


@_or_later
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


@_or_later
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


@_or_later
def listed(
    pages: Callable[Concatenate[Bound, P], Pages[T]], prefix: str = ""
) -> Callable[Concatenate[ImpressionStore, P], Listing[T]]:
    """A lazily paged listing; the same object can be walked with `for` and with `async for`."""

    def method(self: ImpressionStore, *args: P.args, **kwargs: P.kwargs) -> Listing[T]:
        return Listing(self, pages(self._bound, *args, **kwargs))

    made: Callable[Concatenate[ImpressionStore, P], Listing[T]] = _public(method, pages, _of_pages, prefix)
    return made


@_or_later
def as_it_is(method: T) -> T:
    """What is loaded is the method itself."""
    return method
