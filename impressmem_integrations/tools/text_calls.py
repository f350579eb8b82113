"""Tool calls that a model wrote into its text, for models without tools (`mode="json"`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from impressmem_integrations.core.shapes import is_list, read
from impressmem_integrations.model import ToolCall
from impressmem_integrations.tools.calls import decode_call
from impressmem_integrations.tools.definitions import ORGANIZE_IMPRESSIONS, SAVE_IMPRESSION, SAVE_IMPRESSIONS
from impressmem_integrations.tools.json_repair import UnreadableJson, scan_value

# A brace or bracket that can open a call: prose such as "{smile}" or "[1]" is not one.
_OPENING = re.compile(r"""\{\s*["']|\[\s*\{|<tool_call>\s*\{""")
_LISTS = ("tool_calls", "calls")


def read_text_calls(text: str, *, cut_off: bool = False) -> tuple[ToolCall, ...]:
    """Return the calls in a text, in order; never raises.

    Args:
        text: JSON objects with a name and arguments, alone or in a list, with or without `<tool_call>` tags, code
            fences and prose around them; or the arguments of a save or organize call alone.
        cut_off: Whether the output limit ended the text. What is complete still counts, what is not has an error.

    Returns:
        The calls; () for prose. A call that begins and cannot be read has an error and ends the reading, since what
        follows it might be part of it.
    """
    return tuple(_calls(text, cut_off=cut_off))


def _calls(text: str, *, cut_off: bool) -> Iterator[ToolCall]:
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start() if text[opening.start()] != "<" else text.index("{", opening.start())
        try:
            value, at = scan_value(text, start)
        except UnreadableJson as error:
            advice = "It was cut off: send less at once." if cut_off or error.cut_off else "Send complete JSON."
            yield ToolCall("", None, None, f"The call in the text cannot be read: {error}. {advice}")
            return
        if re.match(r"[\s}\]]*,\s*[\"']", text[at:]):
            yield ToolCall("", None, None, "The call in the text goes on after it was closed. Send complete JSON.")
            return
        for found in _flattened(value):
            call = _call(found)
            if call is not None:
                yield call


def _flattened(value: Any) -> Iterator[Any]:
    inner = read(value, *_LISTS)
    yield from inner if is_list(inner) else value if is_list(value) else [value]


def _call(found: Any) -> ToolCall | None:
    """The call an object stands for; None for an object that is none."""
    if not isinstance(found, Mapping):
        return None
    if "name" in found or isinstance(found.get("function"), str | Mapping):
        return decode_call(found)
    if "impressions" in found:
        return ToolCall(SAVE_IMPRESSIONS.name, dict(found))
    if "clue" in found and "content" in found:
        return ToolCall(SAVE_IMPRESSION.name, dict(found))
    if "from_items" in found and "to_item" in found:
        return ToolCall(ORGANIZE_IMPRESSIONS.name, dict(found))
    return None
