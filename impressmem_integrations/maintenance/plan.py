"""From a model's answer to a plan: what to save and merge, in the order of the calls, and what cannot be done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import write
from impressmem_integrations.core.commands.records import draft
from impressmem_integrations.core.text import normal_content, normal_name
from impressmem_integrations.errors import InvalidInput, InvalidToolCall, NotFound
from impressmem_integrations.model import Answer, Refusal, ToolCall, Turn
from impressmem_integrations.tools.arguments import OrganizeArguments, SaveItem, read_organize, read_save
from impressmem_integrations.tools.definitions import (
    MAINTENANCE_TOOLS,
    ORGANIZE_IMPRESSIONS,
    SAVE_IMPRESSION,
    tool_named,
)

_KNOWN = (*MAINTENANCE_TOOLS, SAVE_IMPRESSION)

Step = SaveItem | OrganizeArguments


@dataclass(frozen=True, slots=True)
class Plan:
    """What an answer asks for.

    Attributes:
        steps: Saves and merges, in the order of the calls.
        refused: Calls and items that cannot be carried out, with the reason.
        warnings: What was mended or left aside, in words.
    """

    steps: tuple[Step, ...]
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()


def read_plan(answer: Answer, bound: Bound) -> Plan:
    """Check every call of an answer; one bad call or item never stops its neighbours."""
    steps: list[Step] = []
    refused: list[Refusal] = []
    warnings: list[str] = []
    for call in answer.calls:
        try:
            _read_call(call, bound, steps, refused, warnings)
        except InvalidToolCall as error:
            refused.append(Refusal(call.name, str(error)))
    return Plan(tuple(steps), tuple(refused), tuple(warnings))


def _read_call(call: ToolCall, bound: Bound, steps: list[Step], refused: list[Refusal], warnings: list[str]) -> None:
    tool = tool_named(call.name, _KNOWN)
    if call.arguments is None:
        raise InvalidToolCall(call.error or "The arguments cannot be read.")
    if tool.name == ORGANIZE_IMPRESSIONS.name:
        merge = read_organize(call.arguments, bound.limits)
        warnings += merge.warnings
        if merge.held_back:
            refused.append(Refusal(tool.name, merge.held_back))
        else:
            steps.append(merge)
        return
    saves = read_save(call.arguments, bound.limits)
    warnings += saves.warnings
    refused += [Refusal(error.clue or tool.name, error.message) for error in saves.errors]
    steps += saves.items


def operation(step: Step, bound: Bound, source: Turn) -> write.Operation:
    """The operation of one step.

    Raises:
        InvalidInput: A name or content is not one the store takes.
    """
    if isinstance(step, SaveItem):
        item = {
            "clue": step.clue,
            "content": step.content,
            "category": step.category,
            "labels": step.labels,
            "pin": step.pin,
            "source": source.id,
            "said_at": source.at,
        }
        return write.save_operation(draft(bound, item))
    target = normal_name(step.to_item, "to_item")
    sources = [normal_name(name, "from_items") for name in step.from_items]
    if step.level == "clue":
        content = normal_content(step.new_content, bound.limits.max_content_bytes)
        return write.merge_clues_operation(bound, target, content, sources, source.id, source.at)
    return write.merge_names_operation(step.level, target, sources, most=1_000)


def operations(
    steps: Sequence[Step], bound: Bound, source: Turn
) -> tuple[list[Step], list[write.Operation], list[Refusal]]:
    """The operations of all steps that the store can take, these steps, and the others with the reason."""
    kept: list[Step] = []
    made: list[write.Operation] = []
    refused: list[Refusal] = []
    for step in steps:
        try:
            made.append(operation(step, bound, source))
            kept.append(step)
        except InvalidInput as error:
            refused.append(Refusal(_title(step), str(error)))
    return kept, made, refused


def _title(step: Step) -> str:
    return step.clue if isinstance(step, SaveItem) else f"merge into {step.to_item}"


def without_missing(steps: Sequence[Step], missing: NotFound) -> tuple[list[Step], list[Refusal]]:
    """The steps but the first merge that names something that does not exist, and that one refused."""
    for at, step in enumerate(steps):
        if isinstance(step, SaveItem) or step.level != missing.kind:
            continue
        names = {normal_name(name, "name").key for name in (*step.from_items, step.to_item)}
        if normal_name(missing.name, "name").key in names:
            return [*steps[:at], *steps[at + 1 :]], [Refusal(_title(step), str(missing))]
    raise missing
