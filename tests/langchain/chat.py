"""A LangChain chat model that answers from a list and records each request in OpenAI form."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

Reply = str | AIMessage | BaseException | Callable[[list[BaseMessage]], AIMessage]


class ScriptedChat(BaseChatModel):
    """Streams word by word where it is asked to; when the list is used up, it answers `fallback`."""

    replies: list[Any] = Field(default_factory=list)
    fallback: str = "ok"
    bound: list[Any] = Field(default_factory=list)
    _requests: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedChat:
        made = self.model_copy(update={"bound": [convert_to_openai_tool(tool) for tool in tools]})
        made._requests = self._requests
        return made

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(self, messages: list[BaseMessage], *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        answer = self._next(messages)
        for word in str(answer.content).split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        calls = [
            {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": at}
            for at, call in enumerate(answer.tool_calls)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self._requests.append({"messages": list(messages), "tools": self.bound})
        reply = self.replies.pop(0) if self.replies else self.fallback
        if isinstance(reply, BaseException):
            raise reply
        if callable(reply):
            reply = reply(messages)
        return AIMessage(reply) if isinstance(reply, str) else reply

    @property
    def requests(self) -> list[list[dict[str, Any]]]:
        """The messages of each request, in OpenAI form."""
        return [convert_to_openai_messages(request["messages"]) for request in self._requests]

    @property
    def tools(self) -> list[list[dict[str, Any]]]:
        """The tools of each request."""
        return [request["tools"] for request in self._requests]

    @property
    def texts(self) -> list[str]:
        """Each request as one text."""
        return [json.dumps(request, ensure_ascii=False) for request in self.requests]

    @property
    def systems(self) -> list[str]:
        """The system text of each request; empty where there is none."""
        return [str(request[0]["content"]) if request[0]["role"] == "system" else "" for request in self.requests]


def use(name: str, call_id: str = "call-1", **arguments: Any) -> AIMessage:
    """An answer that calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call_id}])


def note(clue: str, content: str, **fields: Any) -> dict[str, Any]:
    """Arguments for one impression."""
    return {"clue": clue, "content": content, "category": "General", "labels": ["Note"], "pin": False, **fields}


def saving(*notes: dict[str, Any], call_id: str = "call-1") -> AIMessage:
    """An answer that saves impressions."""
    return use("save_impressions", call_id, impressions=list(notes))
