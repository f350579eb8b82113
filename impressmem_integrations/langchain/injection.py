"""What a model call gets to see of memory: in the system prompt, and beside the newest user message. Pure.

Everything is put into copies, for one call only; the conversation's state never holds memory text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from impressmem_integrations.core.render import FENCE
from impressmem_integrations.model import Context
from impressmem_integrations.tools.definitions import RECALL_IMPRESSIONS
from impressmem_integrations.turns import canonical, is_summary

UNAVAILABLE = (
    f"<{FENCE}>\nThe memory of earlier conversations cannot be reached at the moment. It is unavailable, not empty: do "
    "not say that nothing is known about the user. Answer from this conversation, and say so if the answer would need "
    f"the memory.\n</{FENCE}>"
)
_MORE = f"What is remembered and not shown here, the tool {RECALL_IMPRESSIONS.name} looks up."
_MOST_QUERY_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Shown:
    """What one model call shows of memory: text for the system prompt, and lines for the newest user message."""

    text: str = ""
    relevant: str = ""


def shown(context: Context, *, recall_bound: bool) -> Shown:
    """The parts of a context; the recall tool is named only where the model has it."""
    if not context.text:
        return Shown("", context.relevant)
    return Shown(f"{context.text}\n\n{_MORE}" if recall_bound else context.text, context.relevant)


def as_text(context: Context | None) -> str:
    """A context in one piece, where no system prompt stands apart; None where memory could not be read."""
    if context is None:
        return UNAVAILABLE
    seen = shown(context, recall_bound=False)
    return "\n\n".join(part for part in (seen.text, seen.relevant) if part)


def query_of(messages: Sequence[Any]) -> str | None:
    """The newest user message as a question, or None. Long pasted text is cut: its beginning says what it is about."""
    at = _newest(messages)
    said = canonical(messages[at]) if at is not None else None
    text = (said or {}).get("content", "").strip()
    return text[:_MOST_QUERY_CHARACTERS].encode("utf-8", "replace").decode("utf-8") or None


def with_text(message: SystemMessage | None, text: str) -> SystemMessage | None:
    """The system message with the memory after it; what was there keeps its form, blocks their cache marks."""
    if not text:
        return message
    if message is None:
        return SystemMessage(text)
    return message.model_copy(update={"content": _added(message.content, text)})


def with_relevant(messages: list[AnyMessage], relevant: str) -> list[AnyMessage]:
    """The messages with the lines beside the newest user message, or the summary that took its place."""
    at = _newest(messages)
    if at is None:
        at = _newest(messages, summaries=True)
    if not relevant or at is None:
        return messages
    beside = messages[at].model_copy(update={"content": _added(messages[at].content, relevant)})
    return [*messages[:at], beside, *messages[at + 1 :]]


def _newest(messages: Sequence[Any], *, summaries: bool = False) -> int | None:
    places = (at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], HumanMessage))
    return next((at for at in places if summaries or not is_summary(messages[at])), None)


def _added(content: str | list[Any], text: str) -> str | list[Any]:
    if isinstance(content, str):
        return f"{content}\n\n{text}" if content.strip() else text
    return [*content, {"type": "text", "text": text}]
