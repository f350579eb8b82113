"""The model that `--model` and `--base-url` name."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from impressmem_integrations.errors import ConfigurationError, MissingExtra
from impressmem_integrations.maintenance.distiller import RuleDistiller

RULES = "rules (the built-in distiller, no language model)"


def chosen_model(model: str | None, base_url: str | None) -> tuple[Any, str]:
    """The maintenance model and its name in words.

    Args:
        model: `provider:name` of a LangChain chat model; a plain name with `base_url`; None for the rule distiller.
        base_url: An OpenAI-compatible server.

    Raises:
        MissingExtra: LangChain or the provider's package is not installed.
        ConfigurationError: The model cannot be made.
    """
    if not model and not base_url:
        return RuleDistiller(), RULES
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
