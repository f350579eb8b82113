"""A scripted function calling LLM of LlamaIndex: it records its requests in OpenAI form and holds them to the rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from impressmem_integrations.core.render import FENCE
from impressmem_integrations.turns import canonical_history
from tests.request_rules import CHECKERS

Reply = str | ChatMessage | Callable[[Sequence[ChatMessage]], ChatMessage]


class Chat:
    """Answers from a list; "ok" when it is used up.

    Attributes:
        llm: What engines and agents take.
        requests: The messages of each request, in canonical form.
        rules: The checkers that each request passed.
    """

    def __init__(self, *replies: Reply, rules: Sequence[str] = tuple(CHECKERS)) -> None:
        self.replies = list(replies)
        self.requests: list[list[dict[str, Any]]] = []
        self.faults: list[str] = []
        self.rules = rules
        self.llm = MockFunctionCallingLLM(response_generator=self._answer, is_chat_model=True)

    def _answer(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatMessage:
        request: list[dict[str, Any]] = [dict(message) for message in canonical_history(messages)]
        tools = [tool.metadata.to_openai_tool() for tool in kwargs.get("tools") or ()]
        for name in self.rules:
            # Schemas of the application's own tools are not this package's to answer for.
            self.faults += [f"{name}: {fault}" for fault in CHECKERS[name](request, tools) if "handoff" not in fault]
        self.requests.append(request)
        reply = self.replies.pop(0) if self.replies else "ok"
        if isinstance(reply, str):
            return ChatMessage(role="assistant", content=reply)
        return reply(messages) if not isinstance(reply, ChatMessage) else reply

    def shown(self, place: int = -1) -> list[str]:
        """The contexts in a request."""
        text = "\n".join(message["content"] for message in self.requests[place])
        parts = [part.split(f"</{FENCE}>")[0] for part in text.split(f"<{FENCE}>\n")[1:]]
        return [part for part in parts if part.startswith("Notes kept")]


def calling(name: str, arguments: dict[str, Any] | str, call_id: str = "c1", text: str = "") -> ChatMessage:
    """An assistant message that calls a tool."""
    kwargs = arguments if isinstance(arguments, str) else json.dumps(arguments)
    block = ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=kwargs)
    return ChatMessage(role="assistant", content=text or None, additional_kwargs={}).model_copy(
        update={"blocks": [*ChatMessage(content=text or None).blocks, block]}
    )


class Documents(BaseRetriever):
    """Finds the same passage for every question."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="The canteen opens at eleven."), score=1.0)]
