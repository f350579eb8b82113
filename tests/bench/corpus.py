"""The notes that both systems are filled with: made from their number, so every run measures the same ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

LABELS_PER_NOTE = 3
_NOTES_PER_CATEGORY = 20
_MOST_CATEGORIES = 500
_NOTES_PER_LABEL = 5
_MOST_LABELS = 2_000


@dataclass(frozen=True, slots=True)
class Words:
    """What the notes of one language are made of; the forms take a number, the first two also a person."""

    people: tuple[str, ...]
    facts: tuple[str, ...]
    clue: str
    content: str
    category: str
    label: str


ENGLISH = Words(
    ("Ines", "Bruno", "Mei", "Oleg", "Priya", "Jonas", "Aiko", "Marta", "Samir", "Lucia", "Wren"),
    (
        "keeps a greenhouse behind the house and grows eleven kinds of chilli there",
        "moved the quarterly review to Thursday afternoon because the auditors come on Wednesday",
        "is allergic to penicillin and carries a card that says so",
        "prefers short answers with the number first and the reasoning after it",
        "is learning the cello and practises between six and seven in the morning",
        "wants the invoices as one file per supplier, named by date",
        "drives to the coast in August and cannot be reached there",
    ),
    "{person} note {number}",
    "{person} {fact} (said in talk {number}).",
    "domain {number}",
    "topic {number}",
)
CHINESE = Words(
    ("王芳", "李强", "陈梅", "赵磊", "孙悦", "周杰", "吴敏", "郑阳", "冯雪", "褚宁", "卫东"),
    (
        "在屋后有一间温室，里面种着十一种辣椒",
        "因为审计人员星期三来，把季度总结会改到了星期四下午",
        "对青霉素过敏，随身带着一张写明此事的卡片",
        "喜欢简短的回答，先给出数字，再说明理由",
        "正在学大提琴，每天早上六点到七点练习",
        "希望每个供应商的发票单独成为一个文件，并以日期命名",
        "八月份会开车去海边，那段时间联系不上",
    ),
    "{person}的第{number}条记录",
    "{person}{fact}（第{number}次谈话中提到）。",
    "领域{number}",
    "主题{number}",
)
ANY_NOTE_QUESTIONS = (
    "What was said in the talk?",
    "Which note says what {number} said in talk {number}?",
    "What did Ines say in that talk about allergies?",
    "In which talk did somebody say when the auditors come?",
    "What has been noted about the cello in any talk?",
    "Said in talk {number}",
)
"""Questions with words that stand in every note; `{number}` takes a note's number."""
QUESTIONS = (
    "Who is allergic to penicillin?",
    "When does Mei practise the cello?",
    "Is there anything about {number}?",
    "How does Bruno want his invoices?",
    "Which chilli grows in the greenhouse?",
    "Has anybody mentioned a zeppelin?",
)
"""Questions whose words stand in a seventh of the notes, in a few, or in none."""


@dataclass(frozen=True, slots=True)
class Note:
    """What both systems are given to save."""

    clue: str
    content: str
    category: str
    labels: list[str]

    @property
    def payload(self) -> bytes:
        """All that a save has to carry, as one value for the floor."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    @property
    def text_bytes(self) -> int:
        """UTF-8 bytes of its texts alone."""
        return sum(len(text.encode()) for text in (self.clue, self.content, self.category, *self.labels))


def categories(size: int) -> int:
    """How many categories a store of `size` notes has."""
    return max(2, min(_MOST_CATEGORIES, size // _NOTES_PER_CATEGORY))


def labels(size: int) -> int:
    """How many labels a store of `size` notes has."""
    return max(LABELS_PER_NOTE, min(_MOST_LABELS, size // _NOTES_PER_LABEL))


def note(number: int, size: int, *, clue: str = "", label: str = "", words: Words = ENGLISH) -> Note:
    """Make a note.

    Args:
        number: Decides everything; numbers at and above `size` give further notes.
        size: How many notes the store holds.
        clue: Another clue.
        label: A label to carry in place of its first.
        words: Its language.
    """
    person = words.people[number % len(words.people)]
    kinds = labels(size)
    places = [(number * 7 + step * 13 + step) % kinds for step in range(LABELS_PER_NOTE)]
    carried = [words.label.format(number=place) for place in places]
    if label:
        carried[0] = label
    return Note(
        clue=clue or words.clue.format(person=person, number=number),
        content=words.content.format(person=person, fact=words.facts[number % len(words.facts)], number=number),
        category=words.category.format(number=number % categories(size)),
        labels=list(dict.fromkeys(carried)),
    )


def chunks(size: int, step: int = 1_000) -> Iterator[list[Note]]:
    """All notes of a store, `step` at a time."""
    for start in range(0, size, step):
        yield [note(number, size) for number in range(start, min(size, start + step))]
