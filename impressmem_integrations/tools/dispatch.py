"""Carrying out tool calls: arguments in, changes in the store, and what the model and a user interface are told.

Flows over a scope, so that every adapter uses the same ones, blocking or awaited. Bad arguments and impossible requests
are answered in words and never raise; errors of the store do, unless `answered` turns them into words too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from impressmem_integrations.core.bound import DEFAULT_RECALL_UNITS, Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.core.flows import change, recall, recollect
from impressmem_integrations.core.render import fenced, plain
from impressmem_integrations.core.render import line as note_line
from impressmem_integrations.errors import (
    CapacityError,
    ConfigurationError,
    InvalidInput,
    InvalidToolCall,
    NotFound,
    StoreError,
    StoreTimeout,
)
from impressmem_integrations.model import (
    Impression,
    MergeResult,
    Recall,
    Refusal,
    SaveResult,
    ToolCall,
)
from impressmem_integrations.tools.arguments import OrganizeArguments, read_organize, read_recall, read_save
from impressmem_integrations.tools.calls import decode_call
from impressmem_integrations.tools.definitions import (
    ORGANIZE_IMPRESSIONS,
    RECALL_IMPRESSIONS,
    SAVE_IMPRESSIONS,
    TOOLS,
    Tool,
    tool_named,
)
from impressmem_integrations.tools.recalled import rewritten, shortened

logger = logging.getLogger(__name__)

Arguments = Mapping[str, Any] | str | None
"""What a model sent for a tool: decoded, or as the JSON text it wrote."""

_MOST_NAMED = 3
_MOST_REASON = 160
_MOST_ERROR = 1_000
_MOST_ANSWER = 4_000
"""Characters of a save's answer: a model that sends thousands of items must not drown in the receipts."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What became of one tool call.

    Attributes:
        full: For the model.
        summary: One line for a user interface, without contents.
        ok: Whether anything that was asked for was done.
        artifact: What lies behind the words: a tuple of `SaveResult`, a `Recall`, a `MergeResult`, or None.
        refused: What was not done and why.
    """

    full: str
    summary: str
    ok: bool
    artifact: tuple[SaveResult, ...] | Recall | MergeResult | None = None
    refused: tuple[Refusal, ...] = ()


def call_flow(
    bound: Bound, call: ToolCall, tools: Sequence[Tool] = TOOLS, *, source: str | None = None
) -> Flow[ToolOutcome]:
    """Carry out one call by the name of its tool.

    Args:
        bound: The scope.
        call: As `tools.calls` reads it.
        tools: Those that were offered; any other name is refused.
        source: Where the change comes from, e.g. a turn id.

    Raises:
        StoreError: The server failed.
    """
    try:
        tool = tool_named(call.name, tuple(tools))
    except InvalidToolCall as error:
        return refusal(call.name or "call", str(error) if call.name else call.error or str(error))
    given: Any = call.arguments
    if call.error is not None or given is None:
        return refusal(tool.name, call.error or "The call has no arguments. Send them as one JSON object.")
    if tool.name == RECALL_IMPRESSIONS.name:
        return (yield from recall_flow(bound, given))
    if tool.name == ORGANIZE_IMPRESSIONS.name:
        return (yield from organize_flow(bound, given, source=source))
    return (yield from save_flow(bound, given, source=source))


def answered(flow: Flow[ToolOutcome]) -> Flow[ToolOutcome]:
    """The same, but a store that fails is an answer as well: that memory is away, not that it is empty."""
    try:
        return (yield from flow)
    except StoreTimeout as error:
        logger.warning("a memory tool got no answer: %s", error)
        text = "Memory did not answer in time; a change may or may not have been stored. Go on without it."
    except (StoreError, ConfigurationError) as error:
        logger.warning("a memory tool failed: %s", error)
        text = "Memory cannot be reached at the moment; nothing was read or stored. Go on without it."
    return ToolOutcome(text, "Memory is unavailable", False, None, (Refusal("memory", "unavailable"),))


def refusal(what: str, reason: str) -> ToolOutcome:
    """The outcome of a call of which nothing was done."""
    name = plain(what)[:60]
    return ToolOutcome(
        f"Nothing was done: {reason}", f"{name}: {_short(reason)}", False, None, (Refusal(name, reason),)
    )


def _decoded(tool: Tool, given: Arguments) -> Mapping[str, Any]:
    """The arguments as a mapping.

    Raises:
        InvalidToolCall: They are no JSON object.
    """
    call = decode_call({"name": tool.name, "arguments": given})
    if call.arguments is None:
        raise InvalidToolCall(call.error or "The call has no arguments. Send them as one JSON object.")
    return call.arguments


# --- save -------------------------------------------------------------------------------------------------------


def save_flow(
    bound: Bound, arguments: Arguments, *, source: str | None = None, pin_marks: Mapping[str, bool] | None = None
) -> Flow[ToolOutcome]:
    """Save what a model asked for, item by item; a bad item stops no other.

    Args:
        bound: The scope.
        arguments: Those of `save_impressions` or `save_impression`, either way.
        source: Where it comes from, e.g. a turn id.
        pin_marks: Texts that stand for a pin or for none, e.g. the marks that contexts show.

    Returns:
        The outcome; its artifact holds one `SaveResult` for each item, in order.

    Raises:
        StoreError: The server failed.
    """
    try:
        decoded = _decoded(SAVE_IMPRESSIONS, arguments)
    except InvalidToolCall as error:
        return refusal("Save", str(error))
    read = read_save(with_pins(decoded, pin_marks or {}), bound.limits)
    items = [
        {
            "clue": item.clue,
            "content": item.content,
            "category": item.category,
            "labels": item.labels,
            "pin": item.pin,
            "source": source,
        }
        for item in read.items
    ]
    saved = (yield from change.save_many(bound, items)) if items else []
    by_index = {item.index: result for item, result in zip(read.items, saved, strict=True)}
    for wrong in read.errors:
        by_index[wrong.index] = SaveResult(wrong.clue[:100], "refused", error=wrong.message)
    results = tuple(by_index[index] for index in sorted(by_index))
    good = [result for result in results if result.ok]
    refused = tuple(Refusal(plain(r.clue) or "impression", r.error or "") for r in results if not r.ok)
    count = f"Saved {len(good)}/{len(results)}"
    told = [_save_line(result) for result in results]
    told += [f"- Note: {plain(warning)}" for warning in read.warnings]
    if sum(map(len, told)) > _MOST_ANSWER:  # what has to be done otherwise comes first
        told = [_save_line(result) for result in results if not result.ok] + told[len(results) :]
        told += [_save_line(result) for result in good]
    if good:
        summary = f"{count}: {_named([result.clue for result in good])}"
    else:
        summary = f"{count}: {_short(refused[0].reason)}"
    return ToolOutcome("\n".join([f"{count}.", *_most_of(told)]), summary, bool(good), results, refused)


def _most_of(lines: Sequence[str]) -> list[str]:
    """The first lines that fit into an answer, and how many more there are; always the first one."""
    left = _MOST_ANSWER
    shown: list[str] = []
    for line in lines:
        left -= len(line)
        if left < 0 and shown:
            return [*shown, f"- and {len(lines) - len(shown):,} more such lines"]
        shown.append(line)
    return shown


def with_pins(arguments: Mapping[str, Any], marks: Mapping[str, bool]) -> Mapping[str, Any]:
    """A copy of save arguments in which a pin given as one of the marks is a boolean."""
    made = dict(arguments)
    pin = made.get("pin")
    if isinstance(pin, str) and pin.strip() in marks:
        made["pin"] = marks[pin.strip()]
    listed = made.get("impressions")
    if isinstance(listed, Mapping):
        made["impressions"] = with_pins(listed, marks)
    elif isinstance(listed, list | tuple):
        made["impressions"] = [with_pins(item, marks) if isinstance(item, Mapping) else item for item in listed]
    return made


_STATUS = {
    "created": "saved",
    "changed": "saved, replacing the earlier note",
    "unchanged": "was stored already",
    "refused": "not saved",
}


def _save_line(result: SaveResult) -> str:
    if not result.ok:
        return f"- {plain(result.clue) or 'An impression'}: not saved: {plain(result.error or '')[:_MOST_ERROR]}"
    text = f"- {plain(result.clue)}: {_STATUS[result.status]}."
    if result.twin:
        text += f" The same content also stands under {plain(result.twin)}: merge the two if they mean the same."
    if result.similar:
        text += (
            f" Similar names exist: {_named(result.similar)}. Use one spelling, or merge them if they mean the same."
        )
    if result.evicted:
        text += f" Memory is full: {len(result.evicted)} weaker notes left."
    return text


# --- recall -----------------------------------------------------------------------------------------------------


def recall_flow(
    bound: Bound,
    arguments: Arguments,
    *,
    budget_units: int = DEFAULT_RECALL_UNITS,
    most_labels: int | None = None,
    line: Callable[[Impression], str] = note_line,
) -> Flow[ToolOutcome]:
    """Look up what a model asked for.

    Args:
        bound: The scope.
        arguments: Those of `recall_impressions`; with none of them set it asks for the newest impressions.
        budget_units: The most units of the notes.
        most_labels: The most related labels named; None: as many as fit into a tenth of the budget.
        line: Writes one note; by default with its clue and filing, which a model needs to replace or merge it.

    Returns:
        The outcome; its artifact is the `Recall`.

    Raises:
        StoreError: The server failed.
    """
    # Written another way the notes may be shorter, and the budget is theirs alone: so more is read.
    read_units = 2 * budget_units + bound.count_units(fenced([]))
    try:
        asked = read_recall(_decoded(RECALL_IMPRESSIONS, arguments), bound.limits)
        found = yield from recall.recall(
            bound, asked.query, category=asked.category, labels=asked.labels, budget_units=read_units
        )
    except InvalidInput as error:
        return refusal("Recall", str(error))
    found = rewritten(bound, shortened(bound, found, asked.query, budget_units), budget_units, most_labels, line)
    parts = [found.text] if found.text else []
    missing = [omission for omission in found.omitted if omission.why == "budget"]
    left_out = sum(omission.count for omission in missing if omission.what == "impressions")
    if not found.items and not left_out:
        kept = (yield from recollect.stats(bound)).impressions
        parts.append("Nothing was found." if kept else "Nothing is stored yet.")
    if left_out:
        more = "more " if found.items else ""
        parts.append(f"{left_out} {more}match and are not shown: ask more closely, by category, labels or question.")
    if found.near:
        parts.append(f"Close names that exist: {', '.join(map(plain, found.near))}.")
    parts += [f"Note: {plain(warning)}" for warning in asked.warnings]
    count = len(found.items)
    summary = f"Recalled {count} impression{'' if count == 1 else 's'}"
    summary += f", {left_out} not shown" if left_out else ""
    return ToolOutcome("\n".join(parts), summary, count > 0, found)


# --- organize ---------------------------------------------------------------------------------------------------


def organize_flow(bound: Bound, arguments: Arguments, *, source: str | None = None) -> Flow[ToolOutcome]:
    """Carry out a merge that a model asked for and confirmed.

    Args:
        bound: The scope.
        arguments: Those of `organize_impressions`.
        source: Where it comes from, e.g. a turn id.

    Returns:
        The outcome; its artifact is the `MergeResult`, or None where nothing was merged.

    Raises:
        StoreError: The server failed.
    """
    try:
        asked = read_organize(_decoded(ORGANIZE_IMPRESSIONS, arguments), bound.limits)
    except InvalidInput as error:
        return refusal("Organize", str(error))
    if asked.held_back:
        return ToolOutcome(
            asked.held_back, _short(asked.held_back), False, None, (Refusal("Organize", asked.held_back),)
        )
    try:
        done = yield from _merge(bound, asked, source)
    except (InvalidInput, NotFound, CapacityError) as error:
        return refusal("Organize", str(error))
    names = f"{asked.level} {_named(done.sources)} into {plain(done.target)}"
    lines = [f"Merged {names}.", f"- Impressions changed: {len(done.moved)}"]
    lines += [f"- Note: {plain(warning)}" for warning in asked.warnings]
    return ToolOutcome("\n".join(lines), f"Merged {names}", True, done)


def _merge(bound: Bound, asked: OrganizeArguments, source: str | None) -> Flow[MergeResult]:
    if asked.level == "category":
        merge = change.merge_categories(bound, asked.from_items[0], asked.to_item, reason=asked.reason)
    elif asked.level == "label":
        merge = change.merge_labels(bound, asked.from_items, asked.to_item, reason=asked.reason)
    else:
        merge = change.merge_clues(
            bound, asked.from_items, asked.to_item, asked.new_content or "", source=source, reason=asked.reason
        )
    return (yield from merge)


def _named(names: Sequence[str]) -> str:
    shown = ", ".join(plain(name)[:100] for name in names[:_MOST_NAMED])
    return shown if len(names) <= _MOST_NAMED else f"{shown} and {len(names) - _MOST_NAMED} more"


def _short(text: str) -> str:
    one = plain(text)
    return one if len(one) <= _MOST_REASON else one[: _MOST_REASON - 1] + "…"
