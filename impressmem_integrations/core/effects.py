"""Effects, flows and their two drivers: the only loops that differ between blocking and asyncio code.

A flow is a generator that yields effects (a `Command` for the server, an `AskModel` for the maintenance
model) and returns a result. `drive` and `adrive` answer the effects. An error that an effect raises
is thrown into the flow, so the flow may translate it; the flow is closed at the end, so cancelling cleans up.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from impressmem_integrations.model import Answer, Message

R = TypeVar("R")

Raw = Any
"""A raw reply: bytes, int, None or a list of these, whatever the protocol version."""


class Effect(Generic[R]):
    """Something wanted from outside, whose answer is an `R`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Command(Effect[R]):
    """One script call.

    Attributes:
        script: Name of the file in `lua/`, without its ending.
        keys: KEYS; the first is the scope's meta key.
        args: ARGV.
        parse: Pure function from the raw reply to the result.
        writes: Whether the script may write: a read-only one is safe to send again.
    """

    script: str
    keys: tuple[str, ...]
    args: tuple[bytes | str | int | float, ...]
    parse: Callable[[Raw], R]
    writes: bool = True


if TYPE_CHECKING:
    _Answered = Effect[Answer]
else:
    _Answered = Effect  # answers load when somebody asks


@dataclass(frozen=True, slots=True)
class AskModel(_Answered):
    """One question to a maintenance model, in OpenAI chat form; the answer is read by `tools.calls`.

    Attributes:
        messages: One system message, then one user message.
        tools: Definitions in OpenAI form, or None to ask for text.
        model: Whom to ask instead of the model that the driver was given, or None.
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] | None = None
    model: Any = None


Flow = Generator[Effect[Any], Any, R]


def ask(effect: Effect[R]) -> Flow[R]:
    """Let the driver answer one effect: for `yield from` inside a flow, typed by the effect."""
    return cast(R, (yield effect))


def drive(flow: Flow[R], answer: Callable[[Effect[Any]], Any]) -> R:
    """Answer the effects of a flow in blocking code."""
    try:
        effect = next(flow)
        while True:
            try:
                reply = answer(effect)
            except BaseException as error:  # noqa: BLE001 - thrown into the flow, which re-raises what it does not handle
                effect = flow.throw(error)
            else:
                effect = flow.send(reply)
    except StopIteration as stop:
        return cast(R, stop.value)
    finally:
        flow.close()


async def adrive(flow: Flow[R], answer: Callable[[Effect[Any]], Awaitable[Any]]) -> R:
    """Answer the effects of a flow in asyncio code."""
    try:
        effect = next(flow)
        while True:
            try:
                reply = await answer(effect)
            except BaseException as error:  # noqa: BLE001 - thrown into the flow, which re-raises what it does not handle
                effect = flow.throw(error)
            else:
                effect = flow.send(reply)
    except StopIteration as stop:
        return cast(R, stop.value)
    finally:
        flow.close()
