"""From what a model gave or raised to an `Answer` or a `ModelError`, the same for every kind of model."""

from __future__ import annotations

import copy
import inspect
import math
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.core.shapes import has, one_line, read
from impressmem_integrations.errors import ModelError, ToolsUnsupported
from impressmem_integrations.model import Answer
from impressmem_integrations.tools.calls import holds_unreadable_calls, read_answer, refusal_of
from impressmem_integrations.tools.text_calls import attempts_calls

# The provider ended the answer for a reason of its own: what is there is no whole answer, and nothing there is no
# "nothing to keep".
_ENDED = frozenset({
    "abort", "aborted", "blocklist", "cancelled", "content_filter", "content_filtered", "error", "failed",
    "guardrail_intervened", "image_safety", "language", "malformed_function_call", "malformed_model_output",
    "malformed_tool_use", "other", "prohibited_content", "recitation", "refusal", "safety", "spii",
    "unexpected_tool_call",
})  # fmt: skip
_FOR_CALLS = frozenset({"tool_calls", "tool_use", "function_call"})
_ANSWER_FIELDS = (
    "content", "tool_calls", "choices", "message", "output", "candidates", "function_call", "blocks", "generations",
)  # fmt: skip
_TOOLS = r"(?:tools?\b|tool[ _-]?(?:use|call\w*|choice)|functions?\b|function[ _-]?call\w*)"
_NOT = (
    r"(?:(?:do|does|is|are|was)(?: not|n['’]t)(?: currently)? (?:support\w*|enabled|available|allowed)"
    r"|unsupported|requires? --|no endpoints found)"
)
_NO_TOOLS = re.compile(rf"{_TOOLS}[^.]{{0,60}}{_NOT}|{_NOT}[^.]{{0,60}}{_TOOLS}", re.IGNORECASE)
# Talk of a part of a definition is a complaint about the request, not about the model.
_SCHEMA = re.compile(r"schema|propert|parameters|tools?\[|tools?\.\d|maxItems|strict", re.IGNORECASE)
_NO_TOOLS_STATUS = frozenset({400, 404, 422, 500, 501})
# What has nothing to do with the request: it may pass. So do errors of the server itself.
_PASSING_STATUS = frozenset({408, 409, 425, 429})
_LINE_ERROR = re.compile(r"(?:Timeout(?:Error|Exception)?|Timed?Out|Connect(?:ion)?Error|NetworkError|RateLimitError)$")
_MOST_CHARACTERS = 300
_ECHO = 16
_SHORT_ECHO = 6


def tools_of(question: AskModel) -> list[dict[str, Any]] | None:
    """A copy of the question's tools that a framework may change (LlamaIndex does), or None."""
    return None if question.tools is None else [copy.deepcopy(dict(tool)) for tool in question.tools]


def answer(call: Callable[[AskModel], Any], question: AskModel) -> Answer:
    """Ask in blocking code.

    Raises:
        ModelError: It failed, refused, or gave something that is no answer.
    """
    try:
        result = call(question)
    except Exception as error:
        raise failed(error, question) from error
    return _whole(result, question)


async def aanswer(call: Callable[[AskModel], Awaitable[Any]], question: AskModel) -> Answer:
    """The awaitable twin of `answer`."""
    try:
        result = await call(question)
    except Exception as error:
        raise failed(error, question) from error
    return _whole(result, question)


def _whole(result: Any, question: AskModel) -> Answer:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise ModelError("the model gave an awaitable: use amaintain, or give a blocking one")
    if not isinstance(result, str):
        problem = read(result, "error")
        if problem is not None and not any(read(result, name) for name in _ANSWER_FIELDS):
            # Some gateways put an error into a body of status 200.
            code = read(problem, "code", "status")
            passing = _is_status(code) and _passes(code)
            raise _told(str(read(problem, "message") or "an error in place of an answer"), question, "", passing)
        if not any(has(result, name) for name in _ANSWER_FIELDS):
            gave = f"the model gave {type(result).__name__}, which is no text and no message"
            raise ModelError(f"{gave}: a message has content or tool_calls")
        if has(result, "choices") and not _first_choice(read(result, "choices")):
            raise ModelError("the response holds no choice")
    found = read_answer(result)
    if found.finish_reason in _ENDED:
        raise ModelError(f"the provider ended the answer: {found.finish_reason}")
    if not found.calls:
        _check_without_calls(result, found, question)
    blocked = read(read(read(result, "response_metadata"), "prompt_feedback"), "block_reason")
    if blocked and not found.calls and not found.text:
        raise ModelError("the provider blocked the request")
    return found


def _check_without_calls(result: Any, found: Answer, question: AskModel) -> None:
    """An answer without calls may mean "nothing to keep" only where nothing says that it meant something else.

    Raises:
        ModelError: It is a refusal, or its calls were lost on the way.
    """
    if refusal := refusal_of(result):
        raise _told(refusal, question, "it refused")
    if holds_unreadable_calls(result):
        raise ModelError("the model's tool_calls are no list")
    if found.finish_reason in _FOR_CALLS and not attempts_calls(found.text):
        raise ModelError(f"the answer ended with {found.finish_reason} and holds no call")


def _first_choice(choices: Any) -> Any:
    return choices[0] if isinstance(choices, list | tuple) and choices else None


def failed(error: Exception, question: AskModel) -> ModelError:
    """Whatever a model raised, as one error that says what the provider said and quotes neither talk nor answer."""
    if isinstance(error, ModelError):
        return error
    status = _status(error)
    name = f"{type(error).__name__}{f' {status}' if status else ''}"
    if callable(getattr(error, "error_count", None)):  # pydantic quotes what it could not read
        return ModelError(f"the model failed: {name}: its answer cannot be read")
    text = str(error)
    if question.tools is not None and (status is None or status in _NO_TOOLS_STATUS) and says_no_tools(text):
        return ToolsUnsupported(str(_told(text, question, name)))
    passing = _passes(status) if status is not None else _is_of_the_line(error)
    return _told(text, question, name, passing, _asked_to_wait(error) if passing else None)


def says_no_tools(text: str) -> bool:
    """Whether an error message says that the model takes no tools at all."""
    return _NO_TOOLS.search(text) is not None and _SCHEMA.search(text) is None


def _status(error: Exception) -> int | None:
    found: Any
    for place in (error, getattr(error, "response", None)):
        for name in ("status_code", "http_status", "code", "status"):
            found = read(place, name) if isinstance(place, Mapping) else getattr(place, name, None)
            if _is_status(found):
                return int(found)
    return None


def _is_status(found: Any) -> bool:
    return isinstance(found, int) and not isinstance(found, bool) and 100 <= found < 600


def _passes(status: int) -> bool:
    return status in _PASSING_STATUS or (status >= 500 and status != 501)


def _is_of_the_line(error: Exception) -> bool:
    """Whether an error without a status says that no answer came: it timed out, or there is no connection."""
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    return any(_LINE_ERROR.search(parent.__name__) for parent in type(error).__mro__)


def _asked_to_wait(error: Exception) -> float | None:
    """The seconds of a `Retry-After` header; a date there is not read."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    try:
        seconds = float(headers.get("retry-after"))
    except (AttributeError, TypeError, ValueError):
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _told(
    text: str, question: AskModel, name: str, passing: bool = False, after_seconds: float | None = None
) -> ModelError:
    said = one_line(text)[:_MOST_CHARACTERS]
    if _echoes(said, question):
        said = "its message quotes the request and is left out"
    words = ": ".join(filter(None, ("the model failed", name, said)))
    return ModelError(words, passing=passing, after_seconds=after_seconds)


def _echoes(said: str, question: AskModel) -> bool:
    """Whether a message repeats a piece of the request: a whole short line of the talk, or some characters in a row."""
    contents = [str(message["content"]) for message in question.messages]
    lines = [line.removeprefix("| ").strip() for line in contents[-1].splitlines() if line.startswith("| ")]
    if any(len(line) >= _SHORT_ECHO and line in said for line in lines):
        return True
    asked = one_line("\n".join(contents))
    return any(said[at : at + _ECHO] in asked for at in range(len(said) - _ECHO + 1))
