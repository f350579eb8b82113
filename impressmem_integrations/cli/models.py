"""The model that `--model` and `--base-url` name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from impressmem_integrations.cli.local_model import MODEL_NAME, MODEL_TITLE, local_model
from impressmem_integrations.errors import ConfigurationError, MissingExtra
from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.settings import Settings

RULES = "rules (the built-in distiller, no language model)"
LOCAL = "local"

LOCAL_SETTINGS = Settings(memory_budget_units=400, request_budget_units=2_000)
"""The local model reads some 170 tokens a second and makes nothing of long texts."""


@contextmanager
def chosen_model(
    model: str | None, base_url: str | None, say: Callable[[str], object] = lambda _: None
) -> Iterator[tuple[Any, str, Settings | None]]:
    """The maintenance model, its name in words, and how to ask it (None: as usual). It is usable inside the block.

    Args:
        model: `provider:name` of a LangChain chat model; a plain name with `base_url`; `local` for the small model
            that is fetched and served here; None for the rule distiller.
        base_url: An OpenAI-compatible server.
        say: Is told in one line what takes long.

    Raises:
        MissingExtra: LangChain or the provider's package is not installed.
        ConfigurationError: The model cannot be made, or `local` cannot be fetched.
    """
    if model == LOCAL and not base_url:
        # Before anything is fetched for a client that is not there.
        if find_spec("openai") is None:
            raise MissingExtra("--model local", "demo")
        with local_model(say) as url:
            yield _local_chat(url), f"{MODEL_TITLE} at {url}", LOCAL_SETTINGS
    elif not model and not base_url:
        yield RuleDistiller(), RULES, None
    else:
        yield *_of_langchain(model, base_url), None


def _local_chat(url: str) -> Any:
    import openai

    from impressmem_integrations.openai import OpenAIChat

    client = openai.OpenAI(base_url=url, api_key="unused", timeout=120, max_retries=0)
    return OpenAIChat(client, model=MODEL_NAME, temperature=0, max_tokens=200)


def _of_langchain(model: str | None, base_url: str | None) -> tuple[Any, str]:
    if base_url:
        if find_spec("langchain_openai") is None:
            raise MissingExtra("--base-url", "demo")
        from langchain_openai import ChatOpenAI

        name = (model or "default").removeprefix("openai:")
        key = os.environ.get("OPENAI_API_KEY") or "unused"
        made: Any = ChatOpenAI(model=name, base_url=base_url, api_key=key, temperature=0, timeout=120)
        return made, f"{name} at {base_url}"
    if find_spec("langchain") is None:
        raise MissingExtra("--model", "demo")
    from langchain.chat_models import init_chat_model

    try:
        return init_chat_model(model, temperature=0), str(model)
    except ImportError as error:
        raise ConfigurationError(f"the model {model} needs another package: {error}") from error
    except Exception as error:
        # providers raise what they like for a missing key or a wrong name
        raise ConfigurationError(f"the model {model} cannot be made: {type(error).__name__}: {error}") from error
