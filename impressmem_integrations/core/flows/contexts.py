"""The flow behind `context`: the stored text where nothing changed, else brought up to date, and stored for all.

What differs little from the stored text is stored when it is read again, or with the next changes (`core/unstored.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from impressmem_integrations.core import context as contexts
from impressmem_integrations.core import render
from impressmem_integrations.core.bound import (
    DEFAULT_BUDGET_UNITS,
    DEFAULT_RECALL_UNITS,
    Bound,
    bytes_to_read,
)
from impressmem_integrations.core.commands import snapshots
from impressmem_integrations.core.commands.snapshots import Behind, Damaged, Material, Same
from impressmem_integrations.core.context import Core, Delta
from impressmem_integrations.core.effects import Command, Flow, ask
from impressmem_integrations.core.flows.recall import relevant
from impressmem_integrations.core.flows.recollect import positive, switch
from impressmem_integrations.core.unstored import State, Units
from impressmem_integrations.errors import InvalidInput, StoreError, StoreUnavailable
from impressmem_integrations.model import Context, Impression, common_prefix

_MOST_NAMES = 1_000  # of each kind
_PINS_NAMED = 5
_UNSTORED_SHARE = 0.025
"""Of a text's units, what may differ from the stored one without being stored: so any two that go on from the same
stored text share at least 97.5 % of it."""
_UNSTORED_CHANGES = 16  # records that every reader takes in anew meanwhile


def context(
    bound: Bound, query: str | None = None, budget_units: int | None = None, *, strict: bool = False
) -> Flow[Context]:
    """The memory text for a prompt: pinned impressions and as many of the newest others as a budget holds.

    Pinned ones stand first, each part in the order in which its impressions were first saved; where not all fit, the
    oldest of those shown stand last, newest first, since they are the first to leave. The text is the same, byte for
    byte, while nothing changes, for every process; changes are appended to it, so that a provider's prompt cache goes
    on working.

    Args:
        bound: The scope.
        query: The current question; fills `.relevant`, up to 1,000 units more, with what `.text` does not show.
        budget_units: The most units of the text; 10,000 by default.
        strict: Raise when pinned impressions do not fit, with their clues and the budget that shows them.

    Returns:
        The text, what it shows and what it left out; an empty text while nothing is stored.

    Raises:
        InvalidInput: The question is not text, or the budget not a positive number or (strict) too small for the
            pinned impressions.
    """
    if query is not None and not isinstance(query, str):
        raise InvalidInput("query must be text")
    strict = switch(strict, "strict")
    budget = DEFAULT_BUDGET_UNITS if budget_units is None else positive(budget_units, "budget_units")
    made = yield from context_and_relevant(bound, query, budget, DEFAULT_RECALL_UNITS)
    if strict and not made.pins_complete:
        raise InvalidInput(_too_few_for_pins(bound, made, budget))
    return made


def context_and_relevant(bound: Bound, query: str | None, budget: int, relevant_units: int) -> Flow[Context]:
    """A context of at most `budget` units, and up to `relevant_units` more for the question, where there is one."""
    made = yield from _current(bound, budget)
    if query is not None and query.strip() and made.text and relevant_units:
        made = replace(made, relevant=(yield from relevant(bound, query, relevant_units, made.included)))
    return made


def _too_few_for_pins(bound: Bound, made: Context, budget: int) -> str:
    """Which pinned impressions are left out, and a budget that shows them: those that fit now have their room in it."""
    (left,) = [omission for omission in made.omitted if omission.what == "pinned"]
    some = ", ".join(left.clues[:_PINS_NAMED]) + (", ..." if left.count > _PINS_NAMED else "")
    needed = max(budget, render.frame_units(bound.count_units)) + left.units
    return f"{budget:,} units leave out {left.count:,} pinned impressions ({some}); budget_units={needed} shows them"


def _current(bound: Bound, budget: int) -> Flow[Context]:
    profile = contexts.profile(budget, bound.unit_name)
    found = yield from ask(snapshots.context(bound, profile, bytes_to_read(budget), _names_to_read(budget)))
    if isinstance(found, Same):
        held = contexts.restored(found)
        if held is not None:
            return held
        found = Damaged()
    if isinstance(found, Damaged):
        replaced = found.stored_seq
        found = yield from ask(_material(bound, budget))
        found = found._replace(stored_seq=replaced or str(found.seq))
    if isinstance(found, Behind):
        made = yield from _appended(bound, profile, budget, found)
        if made is not None:
            return made
        replaced = found.stored_seq
        found = found.anew or (yield from ask(_material(bound, budget)))._replace(stored_seq=replaced)
    if not found.pinned and not found.others:
        return Context("")
    core = contexts.new_core(found, budget, bound.count_units)
    new = contexts.assembled(core, Delta(), budget, found.impressions, found.epoch + 1, bound.count_units)
    _shown(bound, profile, found, Units(0, new.context.units))
    return (yield from _kept(bound, profile, found, new.context, contexts.stored(new, core, Delta(), budget)))


def _appended(bound: Bound, profile: str, budget: int, found: Behind) -> Flow[Context | None]:
    """The stored context with what changed since behind it; None where a new epoch is due, or it cannot be read."""
    try:
        core, before = Core.parse(found.core, found.core_about), Delta.parse(found.text, found.delta_about)
    except ValueError:
        return None
    after = contexts.extended(core, before, found.changed, found.gone)
    new = contexts.assembled(core, after, budget, found.impressions, found.epoch, bound.count_units)
    made = new.context
    if after == before and str(found.seq) == found.stored_seq:
        return made  # what expired is said already
    cacheable = made.units > contexts.CACHEABLE_UNITS or not contexts.replaces_shown(core, before, after)
    if not cacheable or made.units > budget or contexts.pins_moved(core, found.changed):
        return None
    units = _compared(bound, found.text, made)
    is_new = _shown(bound, profile, found, units)
    little = units.fresh <= _UNSTORED_SHARE * made.units and len(found.changed) + len(found.gone) <= _UNSTORED_CHANGES
    if little and is_new:
        return made
    return (yield from _kept(bound, profile, found, made, contexts.changes_of_stored(new, core, after, budget)))


def _compared(bound: Bound, before: str, made: Context) -> Units:
    """What of a context repeats the stored text."""
    reused = bound.count_units(made.text[: common_prefix(before, made.text)])
    return Units(reused, max(0, made.units - reused))


def _shown(bound: Bound, profile: str, found: Behind | Material, units: Units) -> bool:
    """Note that a context is shown. Returns whether it is the first time for what it is made of."""
    return bound.unstored.show(bound.scope, profile, State(found.generation, found.seq), units)


def _material(bound: Bound, budget: int) -> Command[Material]:
    return snapshots.material(bound, bytes_to_read(budget), _names_to_read(budget))


def _names_to_read(budget: int) -> int:
    """As many as may be shown."""
    return max(1, min(_MOST_NAMES, int(budget * render.NAMES_SHARE)))


def _kept(
    bound: Bound, profile: str, found: Behind | Material, made: Context, fields: Mapping[str, str | int]
) -> Flow[Context]:
    """Store a context for all processes; where another was first, show that. A server that takes no writes is fine."""
    units = bound.unstored.take(bound.scope, profile)
    command = snapshots.keep_snapshot(bound, profile, found, made.epoch, *units, fields)
    try:
        kept = yield from ask(command)
    except StoreUnavailable:
        raise
    except StoreError:
        return made  # a read-only replica or a full server: the text is right all the same
    return (contexts.restored(kept.other) if kept.other else None) or made


def shown_memory(bound: Bound, budget_units: int) -> Flow[tuple[str, tuple[Impression, ...]]]:
    """A context for maintenance, and the records that it may show."""
    material = yield from ask(_material(bound, budget_units))
    if not material.pinned and not material.others:
        return "", ()
    core = contexts.new_core(material, budget_units, bound.count_units)
    made = contexts.assembled(core, Delta(), budget_units, material.impressions, 0, bound.count_units)
    return made.context.text, (*material.pinned, *material.others)
