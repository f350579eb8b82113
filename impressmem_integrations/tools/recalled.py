"""What a recall found, as a model reads it: with clue and filing, which it needs to replace or merge a note."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.passages import passage
from impressmem_integrations.core.render import SHORT_HEADING, fenced, heard_line, plain
from impressmem_integrations.core.text import tokenise_question
from impressmem_integrations.model import Impression, Omission, Ranked, Recall

_LABELS_SHARE = 10
_NEVER = datetime.min.replace(tzinfo=UTC)


def shortened(bound: Bound, found: Recall, query: str | None, budget_units: int) -> Recall:
    """The recall with the part of each long text that bears on the question."""
    terms, most = tokenise_question(query or ""), budget_units // 3

    def part(item: Ranked) -> Ranked:
        text = passage(item.content, terms, most, bound.count_units)
        if text is item.content:
            return item
        record = replace(item.impression, content=text) if item.impression else None
        return replace(item, content=text, impression=record)

    return replace(found, items=tuple(map(part, found.items)))


def rewritten(
    bound: Bound, found: Recall, budget_units: int, most_labels: int | None, line: Callable[[Impression], str]
) -> Recall:
    """The recall with its notes written another way, best first into the budget, newest last in the text."""
    labels = _related(bound, found.labels, budget_units) if most_labels is None else found.labels[:most_labels]
    heading = [f"Related labels: {', '.join(map(plain, labels))}"] if labels else []
    left, shown, over = budget_units, [], 0
    for item in found.items:
        text = line(item.impression) if item.impression else heard_line(item.speaker, item.content)
        cost = bound.count_units(text + "\n")
        if cost > left:
            over += 1
            continue
        left -= cost
        shown.append((item, text))
    in_time = sorted(
        shown, key=lambda pair: (pair[0].said_at or _NEVER, pair[0].impression.seq if pair[0].impression else 0)
    )
    text = fenced([*heading, *(text for _, text in in_time)], SHORT_HEADING) if shown else ""
    omitted = found.omitted
    if over:
        before = sum(omission.count for omission in omitted if omission.why == "budget")
        omitted = (Omission("impressions", before + over, 2 * budget_units),)
    items = tuple(item for item, _ in shown)
    return Recall(items, text, omitted, labels, found.near, bound.count_units(text) if text else 0)


def _related(bound: Bound, labels: Sequence[str], budget_units: int) -> tuple[str, ...]:
    """As many labels as stand beside notes of that size: a tenth."""
    left, kept = budget_units // _LABELS_SHARE, []
    for label in labels:
        left -= bound.count_units(plain(label) + ", ")
        if left < 0:
            break
        kept.append(label)
    return tuple(kept)
