"""What impressions take on the server: in one scope of each size, and by feature in many small scopes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import redis

from impressmem_integrations import ImpressionStore
from tests.bench import corpus
from tests.bench.corpus import CHINESE, ENGLISH, Words
from tests.bench.described import Described
from tests.bench.measure import Effort
from tests.bench.results import Measure, Result, Target
from tests.bench.stage import Stage, used_memory
from tests.servers import RunningServer

MEMORY = "memory per impression"
_MEMORY_TARGET = Target("described", 3.0)

_ORDER, _TERMS, _JOURNAL = "record + names + order", "+ links + terms", "+ journal"
_TURNS = "apart: a message kept as evidence"
_FEATURES = {
    _ORDER: "meta impressions filing facts twins alike alike-names spelling categories labels clues"
    " created changed withdrawn pins strength expiry category label scopes",
    _TERMS: "links postings posting term terms name-terms name-words",
    _JOURNAL: "journal",
    _TURNS: "turns turn-postings turn-posting turn-term turn-terms turn-places seen threads",
}
_FEATURE_OF = {word: feature for feature, words in _FEATURES.items() for word in words.split()}
_TARGETS = {
    (_ORDER, "English"): (Target("described", 1.3),),
    (_ORDER, "Chinese"): (Target("described", 1.3),),
    (_TERMS, "English"): (Target("described", 2.5),),
    (_TERMS, "Chinese"): (Target("described", 4.5),),
    (_JOURNAL, "English"): (Target("described", 3.0),),
}
_LANGUAGES = {"English": ENGLISH, "Chinese": CHINESE}
FEATURES = tuple(_FEATURES)
_NOTES_PER_TURN = 20
_NAMED_KEYS = 4


def per_impression(stage: Stage) -> Result:
    """What one impression takes in a scope of a stage's size, indexes and (here) journal included."""
    ours, theirs = stage.memory
    return Result(
        name=MEMORY,
        size=stage.size,
        unit="bytes",
        floor=None,
        subject=ours / stage.size,
        described=None if theirs is None else theirs / stage.size,
        floor_name="",
        values={} if theirs is None else {"described": ours / theirs},
        pairs=1,
        targets=(_MEMORY_TARGET,),
    )


def by_feature(binary: Path, effort: Effort, *, with_described: bool) -> Iterator[Result]:
    """What one impression takes in each of many scopes, feature added to feature, in English and in Chinese.

    Notes are saved one at a time, as talks bring them. A key weighs what MEMORY USAGE says of all its elements, and an
    even share of what the server took beyond that (its table of keys): so the features add up to the growth of the
    server, which is also what the described system is weighed by.
    """
    for language, words in _LANGUAGES.items():
        yield from _weighed(binary, effort, language, words, with_described=with_described)


def _weighed(binary: Path, effort: Effort, language: str, words: Words, *, with_described: bool) -> Iterator[Result]:
    scopes, size = effort.kept_scopes, effort.kept_notes
    notes = [corpus.note(number, size, words=words) for number in range(size)]
    text = sum(note.text_bytes for note in notes) / size
    described = _described_bytes(binary, scopes, notes) if with_described else None

    def result(feature: str, floor: float, subject: float, described: float | None, keys: dict[str, float]) -> Result:
        values: dict[Measure, float] = {"floor": subject / floor}
        if described:
            values["described"] = subject / described
        largest = sorted(keys.items(), key=lambda key: -key[1])[:_NAMED_KEYS]
        return Result(
            name=f"{feature}, {language}",
            size=size,
            unit="bytes",
            floor=floor,
            subject=subject,
            described=described,
            floor_name="its own text",
            values=values,
            pairs=1,
            targets=_TARGETS.get((feature, language), ()),
            note=", ".join(f"{word} {taken:,.0f}" for word, taken in largest),
            block=f"memory per impression, {scopes:,} scopes × {size:,} impressions saved one by one",
        )

    with ExitStack() as stack:
        server = stack.enter_context(RunningServer(binary, tcp=True))
        store = stack.enter_context(ImpressionStore.from_url(server.url, bot="bench"))
        users = [store.scoped(user=f"user {number}") for number in range(scopes)]
        users[0].stats()  # scripts and connections are there before memory is read
        empty = used_memory(server.admin)
        for user in users:
            for note in notes:
                user.save(**asdict(note))
        weights, so_far = _weights(server.admin, empty, scopes * size), 0.0
        for feature in (_ORDER, _TERMS, _JOURNAL):
            so_far += sum(weights[feature].values())
            yield result(feature, text, so_far, described, weights[feature])
        said = notes[::_NOTES_PER_TURN]
        for user in users:
            for note in said:
                talk = [{"role": "user", "content": note.content}, {"role": "assistant", "content": note.content}]
                user.remember_turns(talk)
        turns = _weights(server.admin, empty, scopes * 2 * len(said))[_TURNS]
        spoken = sum(len(note.content.encode()) for note in said) / len(said)
        yield result(_TURNS, spoken, sum(turns.values()), None, turns)


def _described_bytes(binary: Path, scopes: int, notes: list[corpus.Note]) -> float:
    with RunningServer(binary, tcp=True) as server, Described("127.0.0.1", server.port) as described:
        described.count()  # its connection is there before memory is read
        empty = used_memory(server.admin)
        for number in range(scopes):
            described.load_as(f"user {number}", notes)
        return (used_memory(server.admin) - empty) / scopes / len(notes)


def _weights(client: redis.Redis, empty: int, items: int) -> dict[str, dict[str, float]]:
    """Feature -> word of its keys -> bytes for each of `items`, of all that the server took since it was empty."""
    grown = used_memory(client) - empty
    keys = list(client.scan_iter(count=1_000))
    words = [_word(key) for key in keys]
    taken: Counter[str] = Counter()
    for at in range(0, len(keys), 1_000):
        pipeline = client.pipeline(transaction=False)
        for key in keys[at : at + 1_000]:
            pipeline.memory_usage(key, samples=0)
        for word, size in zip(words[at : at + 1_000], pipeline.execute(), strict=True):
            taken[word] += size
    share = (grown - taken.total()) / len(keys)
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for word, count in Counter(words).items():
        found[_FEATURE_OF[word]][word] = (taken[word] + share * count) / items
    return found


def _word(key: bytes) -> str:
    """The key word that a key's name holds after its scope; `scopes` for the registry, which has none."""
    if b"}:" not in key:
        return "scopes"
    parts = key.split(b"}:", 1)[1].decode(errors="replace").split(":")
    return parts[1] if parts[0].isdigit() else parts[0]
