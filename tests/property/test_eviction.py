"""Who leaves a full scope: whoever the formula of strength says is weakest, whatever indexes find it."""

from __future__ import annotations

import math
import random

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core import keys
from impressmem_integrations.core.commands.records import Facts

HALF_LIFE_MS = 40
"""So short that a use and a few saves count alike."""
CAPACITY = 30


def by_strength(client, store) -> list[str]:
    """Unpinned clues, the weakest first, as the formula says of what is stored of each."""
    prefix = keys.scope_prefix(store.scope) + "0:"
    pins = set(client.zrange(prefix + "pins", 0, -1))
    strengths = []
    for clue, text in client.hgetall(prefix + "facts").items():
        facts = Facts.parse(text.decode())
        used = math.log(1 + math.log(1 + facts.uses)) / math.log(2)
        if clue not in pins:
            strengths.append((used + max(facts.touched, facts.used) / HALF_LIFE_MS, clue))
    return [clue.decode() for _, clue in sorted(strengths)]


class Full:
    """A scope that is nearly always full, moved about at random."""

    def __init__(self, client, path, seed: int) -> None:
        limits = Limits(max_impressions=CAPACITY, half_life_days=HALF_LIFE_MS / 86_400_000)
        self.client, self.path, self.rng = client, path, random.Random(seed)
        self.store = ImpressionStore(client=client, user="ann", limits=limits)
        self.evicted = 0

    def some(self, most: int) -> list[str]:
        clues = [item.clue for item in self.store.impressions()]
        return self.rng.sample(clues, min(len(clues), self.rng.randint(1, most)))

    def save(self) -> None:
        clues = {f"n{self.rng.randrange(90)}" for _ in range(self.rng.choice([1, 1, 1, 4]))}
        weakest = [clue for clue in by_strength(self.client, self.store) if clue not in clues]
        excess = max(0, len(clues | {item.clue for item in self.store.impressions()}) - CAPACITY)
        saved = self.store.save_many(
            {"clue": clue, "content": "x", "category": "C", "labels": ["l"], "pin": self.rng.random() < 0.2}
            for clue in sorted(clues)
        )
        if len(weakest) < excess:
            assert {result.status for result in saved} == {"refused"}
            return
        assert list(saved[-1].evicted) == weakest[:excess]
        self.evicted += excess

    def pin(self) -> None:
        for clue in self.some(2):
            self.store.pin(clue)

    def unpin(self) -> None:
        for item in [item for item in self.store.impressions() if item.pin][-4:]:
            self.store.unpin(item.clue)

    def confirm(self) -> None:
        if clues := self.some(5):
            self.store.confirm(clues)

    def bring_back(self) -> None:
        """What is forgotten or changed and imported again stands where it stood, before what came since."""
        self.store.export_jsonl(self.path)
        target, *lost = self.some(4) or [""]
        if lost:
            self.store.merge_clues(lost, target, "all")
        self.store.import_jsonl(self.path)


@pytest.mark.parametrize("seed", range(2))
def test_the_weakest_leaves_whatever_happened_before(client, tmp_path, seed):
    full = Full(client, tmp_path / "memory.jsonl", seed)
    moves = {full.save: 20, full.pin: 2, full.unpin: 2, full.confirm: 4, full.bring_back: 1}
    for move in full.rng.choices([*moves], [*moves.values()], k=300):
        move()
    assert full.evicted > 60
    assert full.store.check() == []


def test_many_old_pins_and_uses_are_passed_over_once(client):
    """The place below which nothing can leave goes up with what is found, and down with what is unpinned."""
    limits = Limits(max_impressions=1_200)
    store = ImpressionStore(client=client, user="ann", limits=limits)
    store.save_many(
        {"clue": f"old {n}", "content": "x", "category": "C", "labels": ["l"], "pin": n % 2 == 0} for n in range(1_190)
    )
    store.confirm([f"old {n}" for n in range(1, 1_190, 2)])
    store.save_many({"clue": f"new {n}", "content": "x", "category": "C", "labels": ["l"]} for n in range(10))

    def saved(clue: str) -> tuple[str, ...]:
        return store.save(clue, "x", category="C", labels=["l"]).evicted

    clues = keys.scope_prefix(store.scope) + "0:clues"
    weakest = client.zscore(clues, "new 1")
    assert [saved(f"newer {n}") for n in range(2)] == [("new 0",), ("new 1",)]
    assert int(client.hget(keys.meta_key(store.scope), "weak_from")) == weakest
    store.unpin("old 700")
    store.unpin("old 100")
    assert [saved(f"newest {n}") for n in range(3)] == [("old 100",), ("old 700",), ("new 2",)]
