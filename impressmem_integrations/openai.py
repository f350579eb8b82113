"""Plain `openai` clients as a maintenance model. Nothing of the openai package is imported: the client brings it."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from impressmem_integrations.errors import ConfigurationError, ModelError

_OURS = ("messages", "tools", "stream", "tool_choice", "functions", "function_call", "n")
_ASYNC_CLASSES = frozenset({"AsyncOpenAI", "AsyncAPIClient"})


class OpenAIChat:
    """A chat model made of an `OpenAI` or `AsyncOpenAI` client (or their Azure forms) of openai 2 or 3.

    It can be given wherever a maintenance model is taken, and is itself a callable `(messages, tools) -> message`.

    A blocking client is called in a thread by asyncio code. An async client is bound to the loop it was used in first,
    so blocking code asks through a copy of it with a connection of its own: keys, base URL, timeouts and retries are
    kept, an HTTP client of your own (proxy, transport) is not.
    """

    def __init__(self, client: Any, *, model: str, **params: Any) -> None:
        """Nothing is sent yet.

        Args:
            client: The client; it is never changed or closed here.
            model: The model's name (with Azure the deployment's).
            **params: Further parameters of each request, e.g. `temperature=0`, `max_tokens=1024`, `extra_body={...}`.

        Raises:
            ConfigurationError: The client has no chat completions, or a parameter is not the caller's to set.
        """
        if not callable(_create(client)):
            raise ConfigurationError(
                f"client must be an OpenAI or AsyncOpenAI client, not {type(client).__name__}: it has no "
                "chat.completions.create"
            )
        if not isinstance(model, str) or not model.strip():
            raise ConfigurationError('model must name a model, e.g. "gpt-5.5-mini"')
        body = params.get("extra_body")
        taken = sorted({*params, *(body if isinstance(body, Mapping) else ())} & set(_OURS))
        if taken:
            raise ConfigurationError(f"{', '.join(taken)}: set by maintenance itself; leave it out")
        self._client = client
        self._model = model
        self._params = params
        self._is_async = any(parent.__name__ in _ASYNC_CLASSES for parent in type(client).__mro__)

    @property
    def model(self) -> str:
        """The model's name."""
        return self._model

    def __repr__(self) -> str:
        return f"OpenAIChat({type(self._client).__name__}, model={self._model!r})"

    def __call__(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Ask in blocking code.

        Args:
            messages: The request in OpenAI chat form.
            tools: Definitions in OpenAI form; None asks for text.

        Returns:
            The assistant's message as a dict, with `finish_reason` and, where the server counts them, `usage`; or a
            dict with `error` alone where the response holds no message.

        Raises:
            Exception: Whatever the client raises.
            ModelError: The client is async, in a form that this class does not know.
        """
        if self._is_async:
            return _run(self._ask_apart(messages, tools))
        response = _create(self._client)(**self._request(messages, tools))
        if inspect.isawaitable(response):
            if inspect.iscoroutine(response):
                response.close()
            raise ModelError(f"{type(self._client).__name__} gave an awaitable: use it in asyncio code")
        return _message(response)

    async def acall(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None = None
    ) -> dict[str, Any]:
        """The awaitable twin of calling it; an async client must belong to the running loop."""
        create, request = _create(self._client), self._request(messages, tools)
        response = create(**request) if self._is_async else await asyncio.to_thread(create, **request)
        return _message(await response if inspect.isawaitable(response) else response)

    def _request(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            **self._params,
            "model": self._model,
            "messages": [dict(given) for given in messages],
        }
        return {**request, "tools": [dict(tool) for tool in tools]} if tools else request

    async def _ask_apart(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None
    ) -> dict[str, Any]:
        # The class comes from the module that made the client, whichever HTTP library its version uses.
        transport = getattr(sys.modules.get("openai"), "DefaultAsyncHttpxClient", None)
        if transport is None:
            raise ModelError("this async client is none of the openai package: use it in asyncio code")
        async with transport() as http:
            copy = self._client.copy(http_client=http)
            return _message(await _create(copy)(**self._request(messages, tools)))


def _create(client: Any) -> Any:
    return getattr(getattr(getattr(client, "chat", None), "completions", None), "create", None)


def _message(response: Any) -> dict[str, Any]:
    """The first choice's message as a dict; some gateways answer an error with status 200 and no choice."""
    choices = getattr(response, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        problem = getattr(response, "error", None)
        told = problem if isinstance(problem, Mapping) else {}
        words = str(told.get("message") or "the response holds no message")
        return {"error": {"message": words, "code": told.get("code")}}
    choice = choices[0]
    message: dict[str, Any] = choice.message.model_dump(exclude_none=True)
    message.setdefault("content", None)
    usage = getattr(response, "usage", None)
    if usage is not None:
        message["usage"] = usage.model_dump(exclude_none=True)
    return {**message, "finish_reason": choice.finish_reason}


def _run(job: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """Run a job in a loop of its own; in a thread where this thread's loop is running, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(job)
    done: list[dict[str, Any]] = []
    failed: list[Exception] = []

    def work() -> None:
        try:
            done.append(asyncio.run(job))
        except Exception as error:  # noqa: BLE001 - raised again by the caller
            failed.append(error)

    thread = threading.Thread(target=work, name="impressmem-openai")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]
