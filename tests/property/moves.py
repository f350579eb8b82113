"""Carries one operation out on a store and on its model, and expects the same outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import CapacityError, InvalidInput, NotFound
from tests.property.memory import Memory, held

REFUSALS = (CapacityError, NotFound, InvalidInput)
NAMES = [
    "a:b",
    "50%",
    "*",
    "{}",
    'q"',
    "x\ny",
    "n\x00l",
    "\U0001f468\u200d\U0001f469",
    "饮食",
    "ＡＢ",
    "AB",
    "é",
    "e\u0301",
]
CONTENTS = ["tea", "TEA ", "café\n\x00", "家" * 50, "{}"]


def outcome(act: Callable[[], Any]) -> Any:
    """What an operation answered: its result, or the kind of its refusal."""
    try:
        return act()
    except REFUSALS as error:
        return type(error)


class Pair:
    """A store and its model, kept in step."""

    def __init__(self, store: ImpressionStore) -> None:
        self.store, self.model = store, Memory(store.limits.max_impressions)

    def save(self, clue: str, content: str, category: str, labels: Sequence[str], pin: bool) -> None:
        done = outcome(lambda: self.store.save(clue, content, category=category, labels=labels, pin=pin))
        evicted = [] if isinstance(done, type) else list(done.evicted)
        wanted = outcome(lambda: self.model.save(clue, content, category, list(labels), pin, evicted))
        assert (done if isinstance(done, type) else done.status) == wanted

    def same(self, store: Callable[[], Any], model: Callable[[], Any]) -> None:
        done, wanted = outcome(store), outcome(model)
        assert (done if isinstance(done, type) else None) is wanted

    def merge_categories(self, source: str, target: str) -> None:
        self.same(
            lambda: self.store.merge_categories(source, target),
            lambda: self.model.merge_names("categories", [source], target),
        )

    def merge_labels(self, sources: Sequence[str], target: str) -> None:
        self.same(
            lambda: self.store.merge_labels(sources, target),
            lambda: self.model.merge_names("labels", list(sources), target),
        )

    def merge_clues(self, sources: Sequence[str], target: str, content: str) -> None:
        self.same(
            lambda: self.store.merge_clues(sources, target, content),
            lambda: self.model.merge_clues(list(sources), target, content),
        )

    def pin(self, clue: str, pin: bool) -> None:
        self.same(
            lambda: self.store.pin(clue) if pin else self.store.unpin(clue), lambda: self.model.set_pin(clue, pin)
        )

    def confirm(self, clue: str) -> None:
        self.same(lambda: self.store.confirm([clue]), lambda: self.model.confirm(clue))

    def forget(self, clue: str) -> None:
        self.same(lambda: self.store.forget(clue), lambda: self.model.forget(clue))

    def forget_everything(self) -> None:
        self.same(self.store.forget_everything, self.model.forget_everything)

    def agree(self) -> None:
        """Equal state, equal order, and every index in agreement."""
        found = held(self.store)
        assert found == self.model.expected()
        assert list(found) == self.model.by_touch()
        assert set(self.store.categories()) == set(self.model.names("categories"))
        assert set(self.store.labels()) == set(self.model.names("labels"))
        assert self.store.check() == []
