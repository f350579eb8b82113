"""The real model classes, each pointed at the loopback server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import openai
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_ollama import ChatOllama
from langchain_openai import ChatOpenAI
from llama_index.llms.anthropic import Anthropic as LlamaIndexAnthropic
from llama_index.llms.ollama import Ollama as LlamaIndexOllama
from llama_index.llms.openai import OpenAI as LlamaIndexOpenAI
from llama_index.llms.openai_like import OpenAILike

from impressmem_integrations.openai import OpenAIChat


def client(url: str, kind: Any = openai.OpenAI) -> Any:
    return kind(base_url=f"{url}/v1", api_key="key", max_retries=0)


def azure(url: str, kind: Any) -> Any:
    return kind(azure_endpoint=url, api_version="2026-01-01", api_key="key", max_retries=0)


def chat_openai(url: str, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="gpt-4o", base_url=f"{url}/v1", api_key="key", max_retries=0, **options)


def openai_like(url: str, **options: Any) -> OpenAILike:
    return OpenAILike(model="m", api_base=f"{url}/v1", api_key="key", max_retries=0, is_chat_model=True, **options)


MODELS: dict[str, Callable[[str], Any]] = {
    "OpenAIChat(OpenAI)": lambda url: OpenAIChat(client(url), model="m"),
    "OpenAIChat(AsyncOpenAI)": lambda url: OpenAIChat(client(url, openai.AsyncOpenAI), model="m"),
    "OpenAIChat(AzureOpenAI)": lambda url: OpenAIChat(azure(url, openai.AzureOpenAI), model="m"),
    "OpenAIChat(AsyncAzureOpenAI)": lambda url: OpenAIChat(azure(url, openai.AsyncAzureOpenAI), model="m"),
    "ChatOpenAI": chat_openai,
    "ChatOpenAI streaming": lambda url: chat_openai(url, streaming=True),
    "ChatOpenAI Responses": lambda url: chat_openai(url, use_responses_api=True),
    "ChatAnthropic": lambda url: ChatAnthropic(model="claude-sonnet-4-5", base_url=url, api_key="key", max_retries=0),
    "ChatGoogleGenerativeAI": lambda url: ChatGoogleGenerativeAI(
        model="gemini-2.5-flash", base_url=url, google_api_key="key", max_retries=1
    ),
    "ChatOllama": lambda url: ChatOllama(model="m", base_url=url),
    "LlamaIndex OpenAI": lambda url: LlamaIndexOpenAI(
        model="gpt-4o", api_base=f"{url}/v1", api_key="key", max_retries=0
    ),
    "LlamaIndex OpenAILike": lambda url: openai_like(url, is_function_calling_model=True),
    "LlamaIndex Anthropic": lambda url: LlamaIndexAnthropic(
        model="claude-sonnet-4-5", base_url=url, api_key="key", max_retries=0
    ),
    "LlamaIndex Ollama": lambda url: LlamaIndexOllama(model="m", base_url=url, context_window=8_000),
}
