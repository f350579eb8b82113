"""`maintain` as the store offers it: the flow together with whom it asks. Signature and docstring stand here, once."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.maintenance import flow
from impressmem_integrations.maintenance.answers import review_kind
from impressmem_integrations.maintenance.asking import Mode
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Report


def maintain(
    bound: Bound,
    messages: Iterable[Any],
    model: Any,
    *,
    thread_id: str | None = None,
    mode: Mode = "auto",
    review: Any = None,
    at: datetime | None = None,
    flush: bool = False,
    settings: Settings | None = None,
) -> Flow[Report]:
    """Ask a chat model what the turns not yet distilled hold, and carry its answer out exactly once.

    Args:
        bound: The scope.
        messages: The history, oldest first, in any shape; it is not changed.
        model: A LangChain chat model, a LlamaIndex LLM, `OpenAIChat(client, model=...)`, or a callable
            `(messages, tools) -> str | dict | message` in OpenAI form. For `amaintain` it may be async.
        thread_id: Whose turns are counted together, text or a whole number; `default` where None.
        mode: `tools` for native tool calls, `json` for models without, `auto` for tools where the model has them.
        review: A callable that gets the `Plan` and returns it (perhaps with fewer steps), True or False; or
            `"collect"` to keep the plan for `plans()`, `apply(plan)` and `reject(plan)`. For `amaintain` it may be
            async.
        at: When the talk took place, with its zone, for turns that carry no time; None means now.
        flush: Ask also about a batch that is not full.
        settings: How to ask and what it may cost.

    Returns:
        What was saved, changed, merged and refused, or why nothing was. A failing model or server is a status, not an
        exception.

    Raises:
        ConfigurationError: The model, the review or the settings cannot be used as such.
        InvalidInput: A message cannot be read, or `thread_id`, `mode` or `at` is wrong.
    """
    del model  # whoever drives the flow asks it
    return (
        yield from flow.maintain(
            bound,
            messages,
            thread_id=thread_id,
            mode=mode,
            review=review_kind(review),
            at=at,
            flush=flush,
            settings=settings,
        )
    )
