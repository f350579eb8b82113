"""From a model's answer to a plan, and from a plan to operations. Pure.

Steps stay in the order of the model's calls. A step that cannot be done is refused with its reason and stops no other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import merges, write
from impressmem_integrations.core.commands.records import SOURCES, draft
from impressmem_integrations.core.text import normal_content, normal_name
from impressmem_integrations.errors import InvalidInput, InvalidToolCall
from impressmem_integrations.model import Answer, Impression, Plan, PlanStep, Refusal, ToolCall
from impressmem_integrations.tools.arguments import OrganizeArguments, SaveItem, read_organize, read_save
from impressmem_integrations.tools.definitions import (
    MAINTENANCE_TOOLS,
    ORGANIZE_IMPRESSIONS,
    SAVE_IMPRESSION,
    tool_named,
)

_KNOWN = (*MAINTENANCE_TOOLS, SAVE_IMPRESSION)
MOST_MOVED = 1_000

Wish = SaveItem | OrganizeArguments
"""One thing that a model asks for, checked for its form."""


def wishes(answer: Answer, bound: Bound) -> tuple[list[Wish], list[Refusal], list[str]]:
    """What an answer asks for, in order; what of it cannot be read, and warnings in words."""
    found: list[Wish] = []
    refused: list[Refusal] = []
    warnings: list[str] = []
    for call in answer.calls:
        try:
            _read_call(call, bound, found, refused, warnings)
        except InvalidToolCall as error:
            refused.append(Refusal(call.name, str(error)))
    return found, refused, warnings


def _read_call(call: ToolCall, bound: Bound, found: list[Wish], refused: list[Refusal], warnings: list[str]) -> None:
    if call.arguments is None:
        raise InvalidToolCall(call.error or "The arguments cannot be read.")
    tool = tool_named(call.name, _KNOWN)
    if tool.name == ORGANIZE_IMPRESSIONS.name:
        merge = read_organize(call.arguments, bound.limits)
        warnings += merge.warnings
        if merge.held_back:
            refused.append(Refusal(tool.name, merge.held_back))
        else:
            found.append(merge)
        return
    saves = read_save(call.arguments, bound.limits)
    warnings += saves.warnings
    refused += [Refusal(error.clue or tool.name, error.message) for error in saves.errors]
    found += saves.items


def named_clues(asked: Sequence[Wish]) -> list[str]:
    """Every clue that the wishes touch, once."""
    clues: dict[str, None] = {}
    for wish in asked:
        names = [wish.clue] if isinstance(wish, SaveItem) else _merged_clues(wish)
        clues.update(dict.fromkeys(names))
    return list(clues)


def _merged_clues(merge: OrganizeArguments) -> list[str]:
    return [*merge.from_items, merge.to_item] if merge.level == "clue" else []


def without_twins(asked: Sequence[Wish], remembered: Iterable[Impression]) -> tuple[list[Wish], list[Refusal]]:
    """The wishes but those that would store a note a second time under a new clue, and these refused.

    So a fact that the agent saved by tool during a turn is not saved again by that turn's maintenance. A twin is let
    through where the same answer merges the other clue away: that is a renaming.

    Args:
        asked: What the model asks for.
        remembered: The records that the model was shown.
    """
    there = list(remembered)
    clues = {_said(item.content): item.clue for item in there}
    known = {_clue_key(item.clue) for item in there}
    merged = {key for wish in asked if not isinstance(wish, SaveItem) for key in map(_clue_key, _merged_clues(wish))}
    kept: list[Wish] = []
    refused: list[Refusal] = []
    for wish in asked:
        if isinstance(wish, SaveItem) and _clue_key(wish.clue) not in known:
            twin = clues.get(_said(wish.content))
            if twin is not None and _clue_key(twin) not in merged:
                refused.append(Refusal(wish.clue, f"the same note stands under {twin!r} already"))
                continue
        kept.append(wish)
    return kept, refused


def _clue_key(clue: str) -> str:
    return normal_name(clue, "clue").key


def _said(content: str) -> str:
    """A note without what does not change its meaning: case, blanks and the full stop at its end."""
    return " ".join(content.casefold().split()).rstrip(".。!")


NO_VERSION = (0, 0)
"""`Impression.version` of what does not exist."""


def steps_of(asked: Sequence[Wish], now: Mapping[str, Impression]) -> list[PlanStep]:
    """The wishes as steps, compared with the records as they are.

    Args:
        asked: What the model asks for.
        now: The named records that exist, by the key of their clue.
    """
    return [_save_step(wish, now) if isinstance(wish, SaveItem) else _merge_step(wish, now) for wish in asked]


def _save_step(item: SaveItem, now: Mapping[str, Impression]) -> PlanStep:
    held = now.get(normal_name(item.clue, "clue").key)
    step = PlanStep(
        "add", item.clue, item.content, item.category, item.labels, item.pin, base=((item.clue, NO_VERSION),)
    )
    if held is None:
        return step
    step = replace(step, base=((item.clue, held.version),))
    names = [normal_name(name, "name").key for name in (item.category, *item.labels)]
    filed = [normal_name(name, "name").key for name in (held.category, *held.labels)]
    if held.content != item.content or names != filed:
        return replace(step, kind="change")
    if item.pin is not None and held.pin != item.pin:
        return replace(step, kind="pin" if item.pin else "unpin")
    return replace(step, kind="nothing")


def _merge_step(merge: OrganizeArguments, now: Mapping[str, Impression]) -> PlanStep:
    base = []
    for clue in _merged_clues(merge):
        held = now.get(normal_name(clue, "clue").key)
        base.append((clue, held.version if held else NO_VERSION))
    return PlanStep(
        "merge",
        merge.to_item,
        merge.new_content or "",
        level=merge.level,
        sources=merge.from_items,
        reason=merge.reason,
        base=tuple(base),
    )


def plan_id(turns: Sequence[str], steps: Sequence[PlanStep]) -> str:
    """The same for the same turns and steps, so that a replay collects nothing twice."""
    text = json.dumps([list(turns), [asdict(step) for step in steps]], sort_keys=True)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def operations(plan: Plan, bound: Bound) -> tuple[list[int], list[write.Operation], list[Refusal]]:
    """The steps that the store can take, by place; their operations; and the others with the reason."""
    kept: list[int] = []
    made: list[write.Operation] = []
    refused: list[Refusal] = []
    for at, step in enumerate(plan.steps):
        if step.kind == "nothing":
            continue
        try:
            made.append(_operation(step, bound, sources_of(plan), plan.said_at))
            kept.append(at)
        except InvalidInput as error:
            refused.append(Refusal(step.clue, str(error)))
    return kept, made, refused


def sources_of(plan: Plan) -> str | None:
    """Where a plan's impressions come from: all its turns, since nobody says which of them a fact was said in."""
    return SOURCES.join(plan.turns) or None


def _operation(step: PlanStep, bound: Bound, source: str | None, said_at: datetime | None) -> write.Operation:
    if step.kind != "merge":
        item = {
            "clue": step.clue,
            "content": step.content,
            "category": step.category,
            "labels": step.labels,
            "pin": step.pin,
            "source": source,
            "said_at": said_at,
        }
        return write.save_operation(draft(bound, item))
    target = normal_name(step.clue, "to_item")
    sources = [normal_name(name, "from_items") for name in step.sources]
    if step.level == "clue":
        content = normal_content(step.content, bound.limits.max_content_bytes)
        return merges.merge_clues_operation(bound, target, content, sources, source, said_at)
    return merges.merge_names_operation(step.level, target, sources, MOST_MOVED)


def guards(steps: Sequence[PlanStep]) -> list[write.Guard]:
    """The records that the steps were made from must still be the same. The first step that names a clue counts."""
    base: dict[str, write.Guard] = {}
    for step in steps:
        for clue, version in step.base:
            name = normal_name(clue, "clue")
            base.setdefault(name.key, write.record_guard(name, version))
    return list(base.values())


def to_json(plan: Plan) -> str:
    """A plan as it is kept until it is decided on."""
    fields = asdict(plan)
    fields["said_at"] = plan.said_at.isoformat() if plan.said_at else None
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str | bytes) -> Plan:
    """A kept plan."""
    fields = json.loads(text)
    steps = tuple(
        PlanStep(
            **{
                **step,
                "labels": tuple(step["labels"]),
                "sources": tuple(step["sources"]),
                "base": tuple((clue, (seq, revision)) for clue, (seq, revision) in step["base"]),
            }
        )
        for step in fields["steps"]
    )
    said_at = datetime.fromisoformat(fields["said_at"]) if fields["said_at"] else None
    return Plan(**{**fields, "steps": steps, "turns": tuple(fields["turns"]), "said_at": said_at})
