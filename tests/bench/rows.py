"""What is measured: one object a row. A later issue adds its rows to `ROWS`, a line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

from tests.bench.corpus import ANY_NOTE_QUESTIONS, QUESTIONS, Note
from tests.bench.described import Request
from tests.bench.results import Target
from tests.bench.stage import Stage

Call = Callable[[], Any]

FAST_STEMMER = find_spec("Stemmer") is not None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a pair.

    Attributes:
        prepare: Gets a call ready, unmeasured, and returns what is measured.
        name: What it is, for the table.
        awaited: Whether the call is awaited.
    """

    prepare: Callable[[Stage], Call]
    name: str = ""
    awaited: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        name: What is done.
        subject: This project.
        floor: The least the server and its client can do.
        described: The described system's call; None where it has none.
        targets: What has to be reached.
        profiled: Whether `--profile` looks into it.
    """

    name: str
    subject: Side
    floor: Side
    described: Callable[[Stage], Request] | None = None
    targets: tuple[Target, ...] = ()
    profiled: bool = False


def _as_keywords(note: Note) -> dict[str, Any]:
    return asdict(note)


def _client(stage: Stage, awaited: bool) -> Any:
    return stage.native if awaited else stage.client


# --- floors -------------------------------------------------------------------------------------------------------


def ping(awaited: bool = False) -> Side:
    """The shortest command there is."""
    return Side(lambda stage: _client(stage, awaited).ping, "PING", awaited)


def set_script(awaited: bool = False) -> Side:
    """A script of one command that writes a whole note as one value."""

    def prepare(stage: Stage) -> Call:
        payload = stage.new_note().payload
        return lambda: stage.floor_set(_client(stage, awaited), payload)

    return Side(prepare, "SET script", awaited)


def same_bytes(name: str, text: Callable[[Stage], str], awaited: bool = False) -> Side:
    """A GET of the bytes that the subject delivers."""

    def prepare(stage: Stage) -> Call:
        key = stage.floor_key(name, lambda: text(stage))
        return lambda: _client(stage, awaited).get(key)

    return Side(prepare, "GET", awaited)


# --- saves --------------------------------------------------------------------------------------------------------


def _new(stage: Stage) -> Note:
    return stage.new_note()


def _replacing(stage: Stage) -> Note:
    return stage.changed_note()


def _save(note: Callable[[Stage], Note], store: str = "store", awaited: bool = False) -> Side:
    def prepare(stage: Stage) -> Call:
        keywords, chosen = _as_keywords(note(stage)), getattr(stage, store)
        save = chosen.asave if awaited else chosen.save
        return lambda: save(**keywords)

    return Side(prepare, awaited=awaited)


def _described_save(note: Callable[[Stage], Note]) -> Callable[[Stage], Request]:
    return lambda stage: Request("save", _as_keywords(note(stage)))


# --- reads --------------------------------------------------------------------------------------------------------


def _context(units: int, store: str = "store", awaited: bool = False, after_save: bool = False) -> Side:
    def prepare(stage: Stage) -> Call:
        chosen = getattr(stage, store)
        if after_save:
            chosen.save(**_as_keywords(stage.new_note()))
        read = chosen.acontext if awaited else chosen.context
        return lambda: read(budget_units=units)

    return Side(prepare, awaited=awaited)


def _context_text(units: int) -> Callable[[Stage], str]:
    return lambda stage: stage.store.context(budget_units=units).text


def _described_context(units: int, after_save: bool = False) -> Callable[[Stage], Request]:
    def request(stage: Stage) -> Request:
        return Request("context", {"units": units}, (stage.new_note(),) if after_save else ())

    return request


def _get(stage: Stage) -> Call:
    clue = stage.held_note(stage.next_number()).clue
    return lambda: stage.store.get(clue)


def _recall(stage: Stage) -> Call:
    note = stage.held_note(stage.next_number())
    return lambda: stage.store.recall(category=note.category, labels=note.labels[:2])


def _described_recall(stage: Stage) -> Request:
    note = stage.held_note(stage.next_number())
    return Request("recall", {"category": note.category, "labels": note.labels[:2]})


def _ask(questions: tuple[str, ...]) -> Side:
    def prepare(stage: Stage) -> Call:
        number = stage.next_number()
        question = questions[number % len(questions)].format(number=number * 7_919 % stage.size)
        return lambda: stage.store.recall(question)

    return Side(prepare)


# --- merges -------------------------------------------------------------------------------------------------------

# Two are merged into a third. The described system takes some 1,050 trips for labels of so many notes, and twice as
# many for clues as for one.
_NOTES_OF_A_LABEL = 20


def _filed_under_three_labels(stage: Stage) -> tuple[list[str], str, tuple[Note, ...]]:
    number = stage.next_number()
    *sources, target = (f"{name} {number}" for name in ("merged", "merged too", "kept"))
    notes = [stage.new_note(label=label) for label in (*sources, target) for _ in range(_NOTES_OF_A_LABEL)]
    return sources, target, tuple(notes)


def _merge_labels(stage: Stage) -> Call:
    sources, target, notes = _filed_under_three_labels(stage)
    stage.store.save_many(map(_as_keywords, notes))
    return lambda: stage.store.merge_labels(sources, target)


def _described_merge_labels(stage: Stage) -> Request:
    sources, target, notes = _filed_under_three_labels(stage)
    return Request("merge_labels", {"sources": sources, "target": target}, notes)


_MERGED_CONTENT = "The notes said the same, so they are one now."


def _three_clues(stage: Stage) -> tuple[list[str], str, tuple[Note, ...]]:
    notes = stage.new_note(), stage.new_note(), stage.new_note()
    *sources, target = (note.clue for note in notes)
    return sources, target, notes


def _merge_clues(stage: Stage) -> Call:
    sources, target, notes = _three_clues(stage)
    stage.store.save_many(map(_as_keywords, notes))
    return lambda: stage.store.merge_clues(sources, target, _MERGED_CONTENT)


def _described_merge_clues(stage: Stage) -> Request:
    sources, target, notes = _three_clues(stage)
    return Request("merge_clues", {"sources": sources, "target": target, "content": _MERGED_CONTENT}, notes)


# --- the table ----------------------------------------------------------------------------------------------------

_ONE_TRIP = Target("trips", 1)
_SAVE = (Target("floor", 6 if FAST_STEMMER else 12), _ONE_TRIP)
_READ = (Target("floor", 3), _ONE_TRIP)
_READ_IN_THREADS = (Target("floor", 5), _ONE_TRIP)
_READ_AFTER_SAVE = (Target("described", 1 / 100), Target("trips", 2))
_MERGE = (Target("described", 1 / 100), _ONE_TRIP)


_QUESTION = (Target("p95", 60, largest=10_000), Target("p95", 200, smallest=10_001), _ONE_TRIP)


def _context_rows(units: int) -> tuple[Row, ...]:
    text, described, name = _context_text(units), _described_context(units), f"context {units:,} units"
    floor, native_floor = same_bytes(name, text), same_bytes(name, text, awaited=True)
    return (
        Row(name, _context(units), floor, described, _READ, profiled=True),
        Row(f"{name}, awaited", _context(units, awaited=True), floor, described, _READ_IN_THREADS),
        Row(f"{name}, native", _context(units, "native_store", awaited=True), native_floor, described, _READ),
    )


def _after_save(units: int) -> Row:
    name = f"context {units:,} units"
    floor, described = same_bytes(name, _context_text(units)), _described_context(units, after_save=True)
    return Row(f"{name}, after a save", _context(units, after_save=True), floor, described, _READ_AFTER_SAVE)


SAVE_NEW = Row("save new", _save(_new), set_script(), _described_save(_new), _SAVE, profiled=True)
ASK = Row("recall by question, common words", _ask(ANY_NOTE_QUESTIONS), ping(), None, _QUESTION, profiled=True)
CONTEXT = _context_rows(10_000)[0]

ROWS: tuple[Row, ...] = (
    # Reads come first: what is written later makes the stores larger.
    Row(
        "get",
        Side(_get),
        same_bytes("note", lambda stage: stage.held_note(0).payload.decode()),
        lambda stage: Request("get", {"clue": stage.held_note(stage.next_number()).clue}),
        profiled=True,
    ),
    Row("recall by filing", Side(_recall), ping(), _described_recall, profiled=True),
    Row("recall by question, rarer words", _ask(QUESTIONS), ping(), None, _QUESTION, profiled=True),
    ASK,
    *_context_rows(1_000),
    *_context_rows(10_000),
    SAVE_NEW,
    Row("save new, awaited", _save(_new, awaited=True), set_script(), _described_save(_new), _SAVE),
    Row("save new, native", _save(_new, "native_store", awaited=True), set_script(True), _described_save(_new), _SAVE),
    Row("save replacing", _save(_replacing), set_script(), _described_save(_replacing), _SAVE, profiled=True),
    Row("save replacing, awaited", _save(_replacing, awaited=True), set_script(), _described_save(_replacing), _SAVE),
    Row(
        "save replacing, native",
        _save(_replacing, "native_store", awaited=True),
        set_script(True),
        _described_save(_replacing),
        _SAVE,
    ),
    Row("save new, full scope", _save(_new, "full_store"), set_script(), targets=_SAVE, profiled=True),
    _after_save(1_000),
    _after_save(10_000),
    Row("merge two labels", Side(_merge_labels), ping(), _described_merge_labels, _MERGE),
    Row("merge two clues", Side(_merge_clues), ping(), _described_merge_clues, _MERGE),
)
