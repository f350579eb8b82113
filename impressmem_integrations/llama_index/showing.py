"""What one call gets to see of memory: copies of messages with the memory text in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock

from impressmem_integrations.core.render import FENCE
from impressmem_integrations.model import Context

Insert = Literal["user", "system"]
"""In front of the newest user message, or in a system message."""

UNAVAILABLE = (
    f"<{FENCE}>\nThe memory of earlier conversations cannot be reached at the moment. It is unavailable, not empty: do "
    "not say that nothing is known about the user. Answer from this conversation, and say so if the answer would need "
    f"the memory.\n</{FENCE}>"
)
_MOST_QUERY_CHARACTERS = 4_000
_PLACEHOLDER = re.compile(r"\{(?=[^\s{}]+\})")


def text_of(context: Context | None) -> str:
    """The text of a context with the lines for the question; of None, that memory is unavailable."""
    if context is None:
        return UNAVAILABLE
    text = "\n\n".join(part for part in (context.text, context.relevant) if part)
    # Chat engines put the history into prompt templates: `{query_str}` in a note would be filled in.
    return _PLACEHOLDER.sub("{ ", text)


def query_of(messages: Sequence[ChatMessage], asked: Any = None) -> str | None:
    """The question of a call: what is asked, else the newest user message. Of long text the beginning."""
    text = asked.content if isinstance(asked, ChatMessage) else asked
    if not isinstance(text, str) or not text.strip():
        place = _newest(messages)
        text = messages[place].content if place is not None else None
    text = (text or "").strip()[:_MOST_QUERY_CHARACTERS]
    return text.encode("utf-8", "replace").decode("utf-8") or None


def with_memory(messages: Sequence[ChatMessage], text: str, insert: Insert, asked: Any = None) -> list[ChatMessage]:
    """The messages with the memory text; those that were given stay as they are.

    Where no user has spoken yet and something is asked, the text becomes a user message of its own at the end, which
    is in front of the question that the engine adds.
    """
    shown = list(messages)
    if not text:
        return shown
    if insert == "system":
        place = next((at for at, message in enumerate(shown) if message.role == MessageRole.SYSTEM), None)
        if place is None:
            return [ChatMessage(role=MessageRole.SYSTEM, content=text), *shown]
        shown[place] = _copy(shown[place], after=text)
        return shown
    place = _newest(shown)
    if place is not None:
        shown[place] = _copy(shown[place], before=text)
    elif asked:
        shown.append(ChatMessage(role=MessageRole.USER, content=text))
    return shown


def _newest(messages: Sequence[ChatMessage]) -> int | None:
    places = range(len(messages) - 1, -1, -1)
    return next((place for place in places if messages[place].role == MessageRole.USER), None)


def _copy(message: ChatMessage, *, before: str = "", after: str = "") -> ChatMessage:
    # Agents write into the blocks of what they are given: those that are stored must not be among them.
    blocks = [block.model_copy() for block in message.blocks]
    front = [TextBlock(text=before + "\n")] if before else []
    back = [TextBlock(text="\n" + after)] if after else []
    return message.model_copy(update={"blocks": [*front, *blocks, *back]})
