"""What LlamaIndex leaves unchecked: options when they are given or set, and what is put into a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemory

from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.llama_index.switch import checked
from impressmem_integrations.options import check_options
from impressmem_integrations.settings import identity


def check_fields(fields: Mapping[str, Any]) -> None:
    """Check the options of a memory, block or retriever; unknown ones are left to their class.

    Raises:
        ConfigurationError: One cannot be used. The message names it and says what is allowed.
    """
    check_options(fields)
    for name, value in fields.items():
        if name == "switch":
            checked(value)
        elif name == "insert" and value not in ("user", "system"):
            raise ConfigurationError(f'insert must be "user" or "system", not {value!r}')
        elif name == "tokenizer_fn" and not (value is None or callable(value)):
            raise ConfigurationError(f"tokenizer_fn must be a function of a text, not {type(value).__name__}")
        elif name == "primary" and not isinstance(value, BaseMemory):
            shown = value.__name__ if isinstance(value, type) else type(value).__name__
            raise ConfigurationError(f"primary must be a memory object such as Memory.from_defaults(), not {shown}")


def thread_named(given: object) -> str:
    """The id of a thread as text.

    Raises:
        ConfigurationError: It is empty, no text, integer or UUID, too long, or holds what cannot be seen or sent.
    """
    name = identity(given, "thread_id")
    if any(ord(character) < ord(" ") for character in name):
        raise ConfigurationError("thread_id holds a control character")
    return name


def message_given(given: object) -> ChatMessage:
    """What was put, if it is a message.

    Raises:
        InvalidInput: It is not.
    """
    if not isinstance(given, ChatMessage):
        raise InvalidInput(f"a message must be a ChatMessage, not {type(given).__name__}")
    return given


def messages_given(given: object) -> list[ChatMessage]:
    """What was put or set, if it is a list of messages.

    Raises:
        InvalidInput: It is not.
    """
    if isinstance(given, str | Mapping | ChatMessage) or not isinstance(given, Iterable):
        raise InvalidInput(f"messages must be a list of ChatMessage, not {type(given).__name__}")
    return [message_given(message) for message in given]
