"""The protocol: keep a conversation, ask its questions, and see what share of each question's evidence a budget holds.

Track T keeps every turn as evidence, track O every observation as an impression that cites its turns, `both` does both.
*verbatim* counts a turn only if its own text is shown, *cited* also if an impression that rests on it is. The control
shows the newest items instead, at the same spend.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import mean

from impressmem_integrations.core.flows.recollect import positive
from impressmem_integrations.core.render import heard_line, short_line
from impressmem_integrations.core.text import units
from impressmem_integrations.evaluation.conversations import CATEGORIES, Conversation, Question
from impressmem_integrations.model import Impression
from impressmem_integrations.store import ImpressionStore

BUDGETS = (250, 500, 1_000, 2_000, 4_000, 8_000)
TRACKS = ("T", "O", "both")
_SAMPLES = 1_000
_SEED = 20_260_524


@dataclass(frozen=True, slots=True)
class Answered:
    """One question at one budget: shares of its evidence, for recall and for the newest-first control."""

    conversation: str
    category: int
    verbatim: float
    cited: float
    spent: int
    newest_verbatim: float
    newest_cited: float


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the table: a track at a budget."""

    track: str
    budget: int
    answered: tuple[Answered, ...]

    @property
    def keeps_turns(self) -> bool:
        """Whether turns are kept on this track; without them there is nothing that could be shown word for word."""
        return self.track != "O"

    def mean(self, what: str, category: int | None = None) -> float:
        """The mean of a column, over all questions or those of a category."""
        chosen = [getattr(one, what) for one in self.answered if category in (None, one.category)]
        return mean(chosen) if chosen else 0.0

    def all_evidence(self, what: str) -> float:
        """The share of questions of which all evidence is shown."""
        return mean(float(getattr(one, what) >= 1) for one in self.answered) if self.answered else 0.0

    def interval(self, what: str) -> tuple[float, float]:
        """A 95 % interval of the mean, by drawing conversations anew."""
        groups: dict[str, list[float]] = defaultdict(list)
        for one in self.answered:
            groups[one.conversation].append(getattr(one, what))
        names, chance = sorted(groups), random.Random(_SEED)
        means = sorted(
            mean(value for name in chance.choices(names, k=len(names)) for value in groups[name])
            for _ in range(_SAMPLES)
        )
        return means[int(0.025 * _SAMPLES)], means[int(0.975 * _SAMPLES)]


@dataclass(slots=True)
class _Kept:
    """A conversation in a store, and what its items rest on."""

    store: ImpressionStore
    turn_ids: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cites: dict[str, tuple[str, ...]] = field(default_factory=dict)
    newest_turns: list[tuple[str, str]] = field(default_factory=list)
    newest_notes: list[tuple[str, str]] = field(default_factory=list)


def run(
    store: ImpressionStore,
    conversations: Sequence[Conversation],
    *,
    tracks: Iterable[str] = TRACKS,
    budgets: Sequence[int] = BUDGETS,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Line]:
    """Keep every conversation in a scope of its own and ask its questions.

    Args:
        store: Where to keep them; the scopes are erased at the end.
        conversations: What to ask about.
        tracks: Of `T`, `O` and `both`.
        budgets: Units of each context.
        progress: Told what goes on.

    Raises:
        InvalidInput: A budget is no whole number of at least 1; nothing was kept.
    """
    budgets = [positive(budget, "a budget") for budget in budgets]
    for track in tracks:
        answered: dict[int, list[Answered]] = defaultdict(list)
        for talk in conversations:
            progress(f"track {track}, conversation {talk.name}: {len(talk.questions)} questions")
            kept = keep(store.scoped(user=f"longconv {talk.name} {track}"), talk, track)
            try:
                for budget in budgets:
                    answered[budget] += (_ask(kept, talk, question, budget) for question in talk.questions)
            finally:
                kept.store.forget_everything()
        for budget in budgets:
            yield Line(track, budget, tuple(answered[budget]))


def keep(store: ImpressionStore, talk: Conversation, track: str) -> _Kept:
    """Put a conversation into a scope the way a track says."""
    kept = _Kept(store)
    numbers = count(1)
    for session in talk.sessions:
        if track != "O":
            store.remember_turns(talk.messages(session), thread_id=talk.name, at=session.at)
            for said in session.utterances:
                kept.turn_ids[said.text].add(said.id)
                kept.newest_turns.append((said.id, heard_line(said.speaker, said.text)))
        if track != "T":
            items = []
            for sentence, ids in session.observations:
                clue = f"OBSERVATION-{next(numbers)}"
                kept.cites[clue] = ids
                items.append(
                    {
                        "clue": clue,
                        "content": sentence,
                        "category": "Talk",
                        "labels": ["Observation"],
                        "source": ", ".join(ids) or None,
                        "said_at": session.at,
                    }
                )
                kept.newest_notes.append((clue, f"- {sentence}"))
            store.save_many(items)
    return kept


def _ask(kept: _Kept, talk: Conversation, question: Question, budget: int) -> Answered:
    found = kept.store.recall(question.text, budget_units=budget, fill=True)
    own: set[str] = set()
    cited: set[str] = set()
    for item in found.items:
        if item.kind == "turn":
            own |= kept.turn_ids[item.content]
        else:
            cited.update(kept.cites[item.clue])
    newest_own, newest_cited = _newest(kept, found.units)
    wanted = question.evidence
    return Answered(
        talk.name,
        question.category,
        len(wanted & own) / len(wanted),
        len(wanted & (own | cited)) / len(wanted),
        found.units,
        len(wanted & newest_own) / len(wanted),
        len(wanted & (newest_own | newest_cited)) / len(wanted),
    )


def _newest(kept: _Kept, spend: int) -> tuple[set[str], set[str]]:
    """The newest items whose lines take no more than a spend; where both kinds are kept, half of it each."""
    kinds = [listed for listed in (kept.newest_turns, kept.newest_notes) if listed]
    own: set[str] = set()
    cited: set[str] = set()
    for listed in kinds:
        left = spend // len(kinds)
        for name, text in reversed(listed):
            left -= units(text + "\n")
            if left < 0:
                break
            if listed is kept.newest_turns:
                own.add(name)
            else:
                cited.update(kept.cites[name])
    return own, cited


@dataclass(frozen=True, slots=True)
class Check:
    """A property of the memory that holds or not, with what was counted."""

    name: str
    holds: bool
    detail: str


def checks(store: ImpressionStore, conversations: Sequence[Conversation]) -> list[Check]:
    """Knowledge update, isolation, forgetting and stability on the observations of the first conversation."""
    talk = conversations[0]
    here = store.scoped(user="longconv checks")
    there = store.scoped(user="longconv somebody else")
    try:
        keep(here, talk, "O")
        return [_update(here), _isolation(here, there, talk), _stability(here), _forgetting(here)]
    finally:
        here.forget_everything()
        there.forget_everything()


def _update(store: ImpressionStore) -> Check:
    old = next(iter(store.impressions()))
    new = "A sentence that replaces the one before."
    store.save(old.clue, new, category=old.category, labels=old.labels)
    found = store.recall(new, budget_units=500)
    contents = [item.content for item in found.items]
    return Check("knowledge update", contents[:1] == [new] and old.content not in contents, "the newer text alone")


def _isolation(store: ImpressionStore, other: ImpressionStore, talk: Conversation) -> Check:
    leaks = sum(len(other.recall(question.text, fill=True)) for question in talk.questions[:50])
    held = len(list(store.impressions()))
    return Check("isolation", leaks == 0 and not other.context().text, f"{leaks} of {held} items seen from elsewhere")


def _stability(store: ImpressionStore) -> Check:
    before = store.context(budget_units=4_000)
    shares = []
    for number in range(50):
        store.save(f"EXTRA-{number}", f"extra note {number}", category="Talk", labels=["Extra"])
        after = store.context(budget_units=4_000)
        if after.epoch == before.epoch:
            shares.append(after.stable_prefix(before))
        before = after
    share = mean(shares) if shares else 0.0
    return Check("stability", share >= 0.95, f"{share:.3f} of the text stays a prefix over 50 saves")


def _forgetting(store: ImpressionStore) -> Check:
    gone: list[Impression] = list(store.impressions(limit=20))
    for item in gone:
        store.forget(item.clue)
    text = store.context(budget_units=8_000).text
    left = [item for item in gone if item.clue in text.split() or short_line(item.content) in text]
    found = [item for item in gone if any(hit.clue == item.clue for hit in store.recall(item.content))]
    return Check("forgetting", not left and not found, f"{len(left) + len(found)} of {len(gone)} still shown")


def table(lines: Sequence[Line]) -> str:
    """The result as text."""
    head = (
        f"{'track':6}{'units':>7}{'verbatim':>10}{'cited':>8}{'95 % of cited':>17}{'all':>7}{'spent':>7}{'newest':>8}"
    )
    rows = [head + "".join(f"{name:>12}" for name in CATEGORIES.values())]
    for line in lines:
        low, high = line.interval("cited")
        newest = line.mean("newest_cited")
        verbatim = f"{line.mean('verbatim'):.3f}" if line.keeps_turns else "-"
        categories = "".join(f"{line.mean('cited', number):12.3f}" for number in CATEGORIES)
        rows.append(
            f"{line.track:6}{line.budget:7,}{verbatim:>10}{line.mean('cited'):8.3f}"
            f"{f'{low:.3f}-{high:.3f}':>17}{line.all_evidence('cited'):7.3f}{line.mean('spent'):7.0f}{newest:8.3f}"
            + categories
        )
    return "\n".join(rows)
