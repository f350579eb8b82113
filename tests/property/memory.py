"""What a store should hold, as plain dicts: the same operations, written as one would explain them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import CapacityError, InvalidInput, NotFound

MAX_LABELS = 5


@dataclass
class Note:
    content: str
    categories: list[str]
    labels: list[str]
    pin: bool
    touched: int
    created: int
    revision: int = 1
    uses: int = 0

    def seen(self) -> tuple[Any, ...]:
        return (self.content, self.categories, self.labels, self.pin, self.revision, self.uses)


def first_spellings(names: list[str]) -> list[str]:
    """One of each group of names that are the same, in order."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(normal_name(name, "name").key, name)
    return list(found.values())


@dataclass
class Memory:
    """A model of one scope.

    Attributes:
        capacity: Notes that fit.
        notes: Clue as shown -> note.
    """

    capacity: int
    notes: dict[str, Note] = field(default_factory=dict)
    clock: int = 0

    def tick(self) -> int:
        self.clock += 1
        return self.clock

    def names(self, kind: str) -> list[str]:
        if kind == "clue":
            return list(self.notes)
        return list({name for note in self.notes.values() for name in getattr(note, kind)})

    def shown(self, kind: str, name: str) -> str:
        """How a name is spelled here: as it was written first."""
        wanted = normal_name(name, "name")
        return next((old for old in self.names(kind) if normal_name(old, "name").key == wanted.key), wanted.shown)

    def existing(self, kind: str, name: str) -> str:
        real = self.shown(kind, name)
        if real not in self.names(kind):
            raise NotFound(kind, name)
        return real

    def save(self, clue: str, content: str, category: str, labels: list[str], pin: bool, evicted: list[str]) -> str:
        clue = self.shown("clue", clue)
        categories = [self.shown("categories", category)]
        labels = [self.shown("labels", label) for label in first_spellings(labels)]
        old = self.notes.get(clue)
        new = Note(content, categories, labels, pin, self.tick(), self.clock)
        if old:
            new.created, new.uses, new.revision = old.created, old.uses, old.revision
            if old.seen() != new.seen():
                new.revision += 1
        self.make_room(clue, evicted)
        self.notes[clue] = new
        return "created" if not old else "unchanged" if old.seen() == new.seen() else "changed"

    def make_room(self, written: str, evicted: list[str]) -> None:
        """Take out what the store says has left, after seeing that it was the weakest."""
        excess = len({*self.notes, written}) - self.capacity
        if excess <= 0:
            assert evicted == []
            return
        free = [clue for clue, note in self.notes.items() if not note.pin and clue != written]
        if len(free) < excess:
            raise CapacityError
        assert len(evicted) == excess
        for clue in evicted:
            least = min(self.notes[other].uses for other in free)
            weakest = [other for other in free if self.notes[other].uses == least]
            if least == 0:
                weakest = [min(weakest, key=lambda other: self.notes[other].touched)]
            assert clue in weakest
            free.remove(clue)
            del self.notes[clue]

    def merge_names(self, kind: str, sources: list[str], target: str) -> None:
        into = self.existing(kind, target)
        gone = {self.existing(kind, source) for source in sources} - {into}
        if not gone:
            raise InvalidInput("same")
        for note in self.notes.values():
            names = getattr(note, kind)
            if gone & set(names):
                setattr(note, kind, list(dict.fromkeys(into if name in gone else name for name in names)))
                note.revision += 1

    def merge_clues(self, sources: list[str], target: str, content: str) -> None:
        into = self.existing("clue", target)
        gone = [self.existing("clue", source) for source in sources]
        gone = [clue for clue in dict.fromkeys(gone) if clue != into]
        if not gone:
            raise InvalidInput("same")
        note = self.notes[into]
        for other in (self.notes.pop(clue) for clue in gone):
            note.categories = list(dict.fromkeys(note.categories + other.categories))
            for label in other.labels:
                if label not in note.labels and len(note.labels) < MAX_LABELS:
                    note.labels.append(label)
            note.pin = note.pin or other.pin
            note.uses = max(note.uses, other.uses)
        note.content, note.touched = content, self.tick()
        note.revision += 1

    def set_pin(self, clue: str, pin: bool) -> None:
        note = self.notes[self.existing("clue", clue)]
        if note.pin != pin:
            note.pin = pin
            note.revision += 1

    def confirm(self, clue: str) -> None:
        self.notes[self.existing("clue", clue)].uses += 1

    def forget(self, clue: str) -> None:
        self.notes.pop(self.shown("clue", clue), None)

    def forget_everything(self) -> None:
        self.notes.clear()

    def expected(self) -> dict[str, tuple[Any, ...]]:
        return {clue: note.seen() for clue, note in self.notes.items()}

    def by_touch(self) -> list[str]:
        return sorted(self.notes, key=lambda clue: -self.notes[clue].touched)


def held(store: ImpressionStore) -> dict[str, tuple[Any, ...]]:
    """What the store shows, in the same form, newest first."""
    return {
        item.clue: (
            item.content,
            [item.category, *item.also],
            list(item.labels),
            item.pin,
            item.revision,
            item.uses,
        )
        for item in store.impressions()
    }
