"""Asking a model without tools: the tools are described in the request, and the whole answer must be their calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from impressmem_integrations.maintenance.nothing import says_nothing_in_words
from impressmem_integrations.maintenance.prompt import NOTHING
from impressmem_integrations.model import Answer, Message, ToolCall
from impressmem_integrations.tools.definitions import SAVE_IMPRESSION, Tool
from impressmem_integrations.tools.json_repair import UnreadableJson
from impressmem_integrations.tools.text_calls import read_text_calls

_FORM = (
    "You have no tools here. Answer with one JSON object and nothing else, no words before or after it:\n"
    '{"calls": [{"name": "<tool>", "arguments": {...}}, ...]}\n'
    'If there is nothing to do, answer {"calls": []}. These are the tools and the JSON schemas of their arguments:'
)


def described(messages: Sequence[Message], tools: Sequence[Tool]) -> list[Message]:
    """The request with the tools described at the end of the system message, which stays a stable prefix."""
    system, *rest = messages
    lines = [f"- {tool.name}: {tool.description}\n  {_schema(tool)}" for tool in tools]
    return [{**system, "content": "\n\n".join([system["content"], "\n".join([_FORM, *lines])])}, *rest]


def _schema(tool: Tool) -> str:
    return json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))


def read(answer: Answer) -> Answer:
    """The answer with the calls that its text is.

    Raises:
        UnreadableJson: The text is neither these calls nor words for nothing.
    """
    if answer.calls or says_nothing(answer.text) or says_nothing_in_words(answer.text):
        return answer
    return replace(answer, calls=read_text_calls(answer.text))


def says_nothing(text: str) -> bool:
    """Whether an answer is the word for nothing to do, bare or quoted, or an empty plan."""
    if text.strip().strip(".\"'`*").upper() == NOTHING:
        return True
    try:
        return all(map(saves_nothing, read_text_calls(text)))
    except UnreadableJson:
        return False


def saves_nothing(call: ToolCall) -> bool:
    """Whether a call saves an empty list. In a chat that is a slip to be mended; here, one way to keep nothing."""
    return call.arguments == {"impressions": []} and call.name.lower().startswith(SAVE_IMPRESSION.name)


def corrected(messages: Sequence[Message], answer: Answer, error: UnreadableJson) -> list[Message]:
    """The request once more, with what was wrong; the broken answer is quoted, not replayed as a message."""
    *rest, last = messages
    note = f"Your last answer could not be used: {error}. Answer with the JSON object alone."
    quoted = "\n".join(f"| {line}" for line in answer.text.strip()[:2_000].splitlines())
    return [*rest, {**last, "content": f"{last['content']}\n\n{note}\nIt was:\n{quoted}"}]
