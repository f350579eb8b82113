"""Tool calls and answers of chat models, whatever framework or server hands them over.

An answer that the output limit ended is suspect at its end: frameworks complete cut arguments so that half a sentence
looks whole. So the last call of such an answer counts only where its own text is complete JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from impressmem_integrations.core.shapes import (
    MISSING,
    RawCall,
    content_of,
    identifier,
    is_list,
    kind,
    raw_call,
    raw_calls,
    read,
    text_of,
    thinks_without_end,
    without_reasoning,
    word,
)
from impressmem_integrations.model import Answer, ToolCall, Usage
from impressmem_integrations.tools.json_repair import UnreadableJson, read_object

_PREFIX = re.compile(r"^(?:functions|tools|default_api)[.:]")
_PARALLEL = "multi_tool_use.parallel"
_SILENT_ITEMS = frozenset({"message", "reasoning"})
_FINISH_FIELDS = ("finish_reason", "stop_reason", "done_reason", "finishReason", "stopReason")
_RESPONSES_CUT = frozenset({"max_output_tokens", "max_tokens"})


def read_calls(source: Any) -> tuple[ToolCall, ...]:
    """Return the tool calls in whatever carries them, in order; never raises.

    Args:
        source: A call, a list of calls or Responses items, a message, a whole answer (see `read_answer`), or None.
            Calls may be OpenAI dicts or objects, LangChain calls (those put aside as invalid too), LlamaIndex
            selections or blocks, Anthropic, Bedrock or Gemini parts, or the legacy single function call.

    Returns:
        Each call with its arguments decoded, or with `error` and no arguments. The prefix `functions.` is taken off and
        the wrapper `multi_tool_use.parallel` opened. Free-text tools of a provider are left out.
    """
    if source is None or isinstance(source, str):
        return ()
    if is_list(source):
        raws = [raw_call(item) for item in source if kind(item) not in _SILENT_ITEMS]
        return _decoded(raws, cut_off=False)
    if _is_answer(source):
        return read_answer(source).calls
    return _decoded([raw_call(source)], cut_off=False)


def read_answer(source: Any) -> Answer:
    """Return a chat model's answer in one form; never raises.

    Args:
        source: A text, a message (dict, OpenAI object, LangChain `AIMessage`), or a whole response (OpenAI chat
            completion or Responses API, LlamaIndex `ChatResponse`, Anthropic, Gemini, Ollama; dict or object).

    Returns:
        Its text without reasoning, its calls in order, the provider's finish word in lower case (`length` where
        there is nothing but reasoning that never ends), and its tokens (`usage.calls` is 1). Where the output limit
        ended the answer (`cut_off`), a last call that is not complete has an error.
    """
    if source is None or isinstance(source, str):
        reason = "length" if thinks_without_end(source or "") else None
        return Answer(without_reasoning(source or ""), (), reason, Usage(calls=1))
    message, choice = _message(source)
    reason = _finish_reason(message, choice, source)
    usage = _usage(message, source)
    if is_list(read(message, "output")):  # Responses API
        items = list(read(message, "output"))
        texts = [text_of(read(item, "content")) for item in items if kind(item) == "message"]
        raws = [raw_call(item) for item in items if kind(item) == "function_call"]
    else:
        texts = [text_of(content_of(message)) or text_of(read(message, "refusal"))]
        raws = raw_calls(message)
    text = "\n".join(filter(None, texts))
    if not raws and thinks_without_end(text):
        reason = "length"
    answer = Answer(without_reasoning(text), (), reason, usage)
    raw = read(source, "raw")
    if not answer.text and not raws and raw is not None and read(raw, "raw") is None:
        # LlamaIndex leaves out what it has no place for (a refusal, the legacy call) and keeps the whole response here.
        inner = read_answer(raw)
        return Answer(inner.text, inner.calls, inner.finish_reason if inner.cut_off else reason, usage)
    return Answer(answer.text, _decoded(raws, cut_off=answer.cut_off), reason, usage)


def refusal_of(source: Any) -> str:
    """The words in which a message or response says that the model declines to answer; "" where it does not.

    Args:
        source: What `read_answer` takes.
    """
    if source is None or isinstance(source, str):
        return ""
    message, _ = _message(source)
    contents = [content_of(message)]
    if is_list(read(message, "output")):  # Responses API
        contents = [read(item, "content") for item in read(message, "output")]
    places = [message, read(message, "additional_kwargs")]
    places += [block for blocks in contents if is_list(blocks) for block in blocks]
    said = "\n".join(text for place in places if isinstance(text := read(place, "refusal"), str))
    raw = read(source, "raw")
    return said or (refusal_of(raw) if raw is not None and read(raw, "raw") is None else "")


def holds_unreadable_calls(source: Any) -> bool:
    """Whether a message or response has calls in a form that is no list."""
    message, _ = _message(source)
    found = read(message, "tool_calls")
    return bool(found) and not is_list(found)


def _is_answer(source: Any) -> bool:
    """Whether it is a message or response and not a call."""
    if kind(source) in {"tool_use", "tool_call", "function_call", "function", "invalid_tool_call"}:
        return False
    names = ("role", "choices", "candidates", "message", "content", "blocks", "tool_calls", "function_call", "output")
    return any(read(source, name) is not None for name in names)


def _message(source: Any) -> tuple[Any, Any]:
    """The message inside a response, and the choice that holds it."""
    for name in ("choices", "candidates", "generations"):
        choices = read(source, name)
        if is_list(choices):
            choice = choices[0] if choices else {}
            return read(choice, "message") or choice, choice
    output = read(source, "output")
    if isinstance(output, Mapping):  # Bedrock Converse
        return read(output, "message", default=output), source
    return read(source, "message", default=source), source


def _finish_reason(message: Any, choice: Any, source: Any) -> str | None:
    raw = read(source, "raw")  # LlamaIndex keeps the provider's response here
    places = [choice, message, read(message, "response_metadata"), read(message, "additional_kwargs"), source]
    if raw is not None and raw is not source:
        inner, inner_choice = _message(raw)
        places += [inner_choice, inner, raw]
    for place in places:
        for name in _FINISH_FIELDS:
            found = word(read(place, name))
            if found:
                return found
        details = word(read(read(place, "incomplete_details"), "reason"))
        if details:
            return "max_output_tokens" if details in _RESPONSES_CUT else details
    for place in places:
        status = word(read(place, "status"))
        if status:
            return status
    return None


def _usage(message: Any, source: Any) -> Usage:
    metadata = read(message, "response_metadata")
    raw = read(source, "raw")
    for place in (
        read(message, "usage_metadata", "usage"),
        read(source, "usage", "usage_metadata", "usageMetadata"),
        read(raw, "usage", "usage_metadata", "usageMetadata"),
        read(metadata, "token_usage", "usage"),
        read(source, "additional_kwargs"),
        source,
        raw,
    ):
        sent = _count(place, "input_tokens", "prompt_tokens", "prompt_token_count", "promptTokenCount", "inputTokens")
        got = _count(
            place,
            "output_tokens",
            "completion_tokens",
            "candidates_token_count",
            "candidatesTokenCount",
            "outputTokens",
        )
        sent = sent or _count(place, "prompt_eval_count")
        got = got or _count(place, "eval_count")
        if sent or got:
            return Usage(sent, got, 1)
    return Usage(calls=1)


def _count(place: Any, *names: str) -> int:
    value = read(place, *names)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _decoded(raws: list[RawCall], *, cut_off: bool) -> tuple[ToolCall, ...]:
    raws = [raw for raw in raws if not raw.custom]
    suspects: set[int] = set()
    if cut_off and raws:
        # LangChain lists its invalid calls apart, so the last one decoded may be the one that was cut.
        decoded = [place for place, raw in enumerate(raws) if isinstance(raw.arguments, Mapping)]
        suspects = {len(raws) - 1, *decoded[-1:]}
    calls: list[ToolCall] = []
    for place, raw in enumerate(raws):
        calls.extend(_opened(_decode(raw, suspect=place in suspects)))
    return tuple(calls)


def decode_call(call: Any, *, suspect: bool = False) -> ToolCall:
    """Return one call of any shape, decoded; `suspect` where the output limit may have ended it."""
    return _decode(raw_call(call), suspect=suspect)


def _decode(raw: RawCall, *, suspect: bool) -> ToolCall:
    name = _PREFIX.sub("", raw.name.strip())
    if not name:
        return ToolCall("", None, raw.id, "The call names no tool.")
    arguments = raw.arguments
    if isinstance(arguments, str):
        if not arguments.strip():
            return ToolCall(name, None, raw.id, "The call has no arguments. Send them as one JSON object.")
        try:
            return ToolCall(name, read_object(arguments, exact=suspect), raw.id)
        except UnreadableJson as error:
            cut = suspect or error.cut_off
            advice = "It was cut off: send less in one call." if cut else "Send one complete JSON object."
            return ToolCall(name, None, raw.id, f"The arguments cannot be read: {error}. {advice}")
    if arguments is None or arguments is MISSING:
        return ToolCall(name, None, raw.id, "The call has no arguments. Send them as one JSON object.")
    if suspect:
        return ToolCall(
            name, None, raw.id, "The answer was cut off in this call: nothing of it is used. Send less in one call."
        )
    if isinstance(arguments, Mapping):
        return ToolCall(name, {str(key): value for key, value in arguments.items()}, raw.id)
    return ToolCall(name, None, raw.id, "The arguments must be one JSON object.")


def _opened(call: ToolCall) -> Iterator[ToolCall]:
    """The calls inside OpenAI's parallel wrapper; any other call as it is."""
    if call.name.lower() not in {_PARALLEL, "parallel"} or call.arguments is None:
        yield call
        return
    uses = call.arguments.get("tool_uses")
    if not is_list(uses) or not uses:
        yield ToolCall(call.name, None, call.id, "The call holds no tool_uses. Call the tools themselves.")
        return
    for number, use in enumerate(uses):
        inner = _decode(raw_call(use), suspect=False)
        # Ids must differ, or results cannot be told apart.
        key = inner.id or (f"{call.id}-{number}" if call.id else None)
        yield ToolCall(inner.name, inner.arguments, identifier(key), inner.error)
