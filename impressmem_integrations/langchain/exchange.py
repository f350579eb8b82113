"""What classic chains hand to a memory: dicts of inputs and outputs, read as one turn. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from impressmem_integrations.errors import ConfigurationError, InvalidInput
from impressmem_integrations.model import Message
from impressmem_integrations.turns import canonical_history

STEPS = "intermediate_steps"
"""Where `AgentExecutor` puts what its tools did."""
_MESSAGES = "messages"  # beside the output when it streams


def input_key_of(inputs: Mapping[str, Any], given: str | None, ours: Collection[str]) -> str:
    """The input that the user said.

    Args:
        inputs: Of the chain.
        given: The `input_key` of the memory, or None: then there must be only one that is not ours.
        ours: Names of memory variables, which are never taken for it.

    Raises:
        ConfigurationError: It is not told; the message lists what there is.
        InvalidInput: The inputs are no dict.
    """
    return _one(inputs, given, {*ours, "stop"}, "input")


def output_key_of(outputs: Mapping[str, Any], given: str | None) -> str:
    """The output that the assistant said; as `input_key_of`."""
    return _one(outputs, given, {STEPS, _MESSAGES}, "output")


def _one(values: Mapping[str, Any], given: str | None, without: Collection[str], what: str) -> str:
    if not isinstance(values, Mapping):
        raise InvalidInput(f"{what}s must be a dict, not {type(values).__name__}")
    found = [name for name in values if name not in without]
    if given is not None:
        if given in values:
            return given
        raise ConfigurationError(f"{what}_key={given!r} is not among the {what} keys {sorted(map(str, values))}")
    if len(found) != 1:
        raise ConfigurationError(f"one {what} key expected, got {sorted(map(str, found))}: name it with {what}_key=")
    return found[0]


def text_of(value: Any) -> str:
    """A chain's input or output as text: a text, a message, a list of messages, else as JSON."""
    if isinstance(value, str):
        return value
    if hasattr(value, "content") or (isinstance(value, list) and value and hasattr(value[0], "content")):
        said = canonical_history(value if isinstance(value, list) else [value])
        return "\n".join(message["content"] for message in said if message["content"].strip())
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else str(value)


def turn_messages(said: str, answer: str, steps: Iterable[Any], at: str) -> list[Message]:
    """One turn in canonical form.

    Args:
        said: By the user.
        answer: By the assistant.
        steps: `(action, observation)` of each tool call.
        at: When, in ISO 8601.
    """
    messages: list[Message] = [{"role": "user", "content": said, "timestamp": at}]
    for place, (action, observation) in enumerate(steps):
        call_id = str(getattr(action, "tool_call_id", None) or f"step-{place}")
        arguments = json.dumps(_arguments(action.tool_input), ensure_ascii=False, default=str)
        call = {"id": call_id, "type": "function", "function": {"name": action.tool, "arguments": arguments}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "content": text_of(observation), "tool_call_id": call_id})
    return [*messages, {"role": "assistant", "content": answer}]


def _arguments(tool_input: Any) -> Mapping[str, Any]:
    return tool_input if isinstance(tool_input, Mapping) else {"input": tool_input}
