"""Tool calls written as the whole text of an answer, for models without tools (`mode="json"`).

The whole answer, or one code fence around the whole, must be the calls. A call that is quoted, or stands somewhere in
prose, is talk about a call and is never run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from impressmem_integrations.core.shapes import is_list, read
from impressmem_integrations.model import ToolCall
from impressmem_integrations.tools.calls import decode_call
from impressmem_integrations.tools.definitions import ORGANIZE_IMPRESSIONS, SAVE_IMPRESSION, SAVE_IMPRESSIONS
from impressmem_integrations.tools.json_repair import UnreadableJson

_FENCE = re.compile(r"```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
_TAG = re.compile(r"<tool_call>(.*)</tool_call>", re.DOTALL)
_LISTS = ("tool_calls", "calls")
_NAMED = rf"(?:{SAVE_IMPRESSIONS.name}|{SAVE_IMPRESSION.name}|{ORGANIZE_IMPRESSIONS.name})\b"
# How the chat templates of open models begin a call: JSON, a fence, XML, special tokens, a function in Python's form.
_OPENING = re.compile(rf"[{{\[]|```|<(?:tool|function|invoke|[|｜])|(?:\w+\.)?{_NAMED}\s*\(")
_ABOUT_TOOLS = re.compile(rf"{_NAMED}|[\"']impressions[\"']\s*:")


def read_text_calls(text: str) -> tuple[ToolCall, ...]:
    """Return the calls that an answer's text is.

    Args:
        text: JSON, alone or in one fence or `<tool_call>` tag around the whole: `{"calls": [...]}`, a list of calls,
            one call with `name` and `arguments`, or the arguments of a save or organize call alone.

    Returns:
        The calls in order; () for an empty list or object.

    Raises:
        UnreadableJson: The text is anything else; the message says what to send, for the model.
    """
    whole = text.strip()
    for around in (_FENCE, _TAG):
        if match := around.fullmatch(whole):
            whole = match[1].strip()
    try:
        value = json.loads(whole, object_pairs_hook=_once)
    except UnreadableJson:
        raise
    except (ValueError, RecursionError) as error:
        cut_off = whole[:1] in ("{", "[") and isinstance(error, json.JSONDecodeError) and error.pos >= len(whole) - 1
        where = (
            f" ({error.msg.removesuffix(' at')} at character {error.pos})"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        raise UnreadableJson(f"the whole answer must be one JSON value{where}", cut_off=cut_off) from error
    return tuple(_call(found) for found in _flattened(value))


def attempts_calls(text: str) -> bool:
    """Whether an answer is meant as calls, readable or not: it begins as calls do and names a tool or its argument.

    Calls are neither parsed nor run here. What begins with prose is words, whatever it quotes.
    """
    whole = text.strip()
    if _OPENING.match(whole) is not None and _ABOUT_TOOLS.search(whole) is not None:
        return True
    try:
        return bool(read_text_calls(whole))
    except UnreadableJson:
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise UnreadableJson("a key stands twice in one object")
    return made


def _flattened(value: Any) -> Iterator[Any]:
    inner = read(value, *_LISTS)
    if is_list(inner):
        yield from inner
    elif is_list(value):
        yield from value
    elif value:
        yield value


def _call(found: Any) -> ToolCall:
    if isinstance(found, Mapping):
        if "name" in found or isinstance(found.get("function"), str | Mapping):
            return decode_call(found)
        if "impressions" in found:
            return ToolCall(SAVE_IMPRESSIONS.name, dict(found))
        if "clue" in found and "content" in found:
            return ToolCall(SAVE_IMPRESSION.name, dict(found))
        if "from_items" in found and "to_item" in found:
            return ToolCall(ORGANIZE_IMPRESSIONS.name, dict(found))
    raise UnreadableJson('a call must be an object with "name" and "arguments"')
