"""The index query against the same in plain Python, and in many languages."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.commands.terms import read_terms, wire_terms
from impressmem_integrations.core.ranking import CONSTANTS
from impressmem_integrations.core.text import tokenise_question
from tests.recall.reference import Row, scores

WORDS = ("tea", "coffee", "milk", "rain", "snow", "piano", "violin", "garden", "bicycle", "letter", "harbour")
DAY = datetime(2024, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def alice(client):
    return ImpressionStore(client=client, user="alice")


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(1, 9)))


def near(found: dict[str, float], wanted: dict[str, float]) -> bool:
    """Whether scores stand in the same proportions; freshness is a factor that new rows share."""
    most, mine = max(wanted.values()), max(found.values())
    return found.keys() == wanted.keys() and all(
        found[key] / mine == pytest.approx(wanted[key] / most, rel=1e-6) for key in wanted
    )


@pytest.mark.parametrize("seed", range(12))
def test_impressions_are_scored_as_in_plain_python(alice, seed):
    chance = random.Random(seed)
    contents = [sentence(chance) for _ in range(24)]
    alice.save_many(
        {"clue": f"X{n}", "content": text, "category": "Q", "labels": ["Z"]} for n, text in enumerate(contents)
    )
    question = " ".join(chance.sample(WORDS, 3))
    rows = [Row(read_terms(wire_terms(text, clue=f"X{n}"))) for n, text in enumerate(contents)]
    expected = scores(rows, tokenise_question(question), CONSTANTS.note_neighbours, CONSTANTS.neighbour_gap_ms)
    wanted = {f"X{n}": score for n, score in enumerate(expected) if score > 0}
    found = {i.clue: i.score for i in alice.recall(question, budget_units=8_000, fill=True).items if i.score > 0}
    assert near(found, wanted)


@pytest.mark.parametrize("seed", range(12))
def test_turns_are_scored_as_in_plain_python(alice, seed):
    chance = random.Random(seed)
    rows, texts, at = [], [], DAY
    for _ in range(10):
        at += timedelta(hours=chance.choice([1, 9]))
        said = [("Ana", sentence(chance)), ("Ben", sentence(chance))]
        for speaker, text in said:
            texts.append(text)
            rows.append(Row(read_terms(wire_terms(speaker, text)), int(at.timestamp() * 1000), speaker.casefold()))
        messages = [
            {"role": role, "name": name, "content": text}
            for role, (name, text) in zip(("user", "assistant"), said, strict=True)
        ]
        alice.remember_turns(messages, thread_id="t", at=at)
    question = f"What did Ana say of {' and '.join(chance.sample(WORDS, 2))}?"
    expected = scores(
        rows,
        tokenise_question(question),
        CONSTANTS.turn_neighbours,
        CONSTANTS.neighbour_gap_ms,
        ["ana"],
        CONSTANTS.other_speaker,
    )
    wanted = sorted(((text, score) for text, score in zip(texts, expected, strict=True) if score > 0))
    found = sorted((item.content, item.score) for item in alice.recall(question, budget_units=8_000, fill=True).items)
    assert [text for text, _ in found] == [text for text, _ in wanted]
    assert [score for _, score in found] == pytest.approx([score for _, score in wanted], rel=1e-6)


@pytest.mark.parametrize(
    ("notes", "question", "best"),
    [
        (["Has a dog", "Plays chess on Mondays", "Grew up in Lima"], "Who is playing chess?", 1),
        (["养了一只狗", "对花生过敏", "住在上海"], "谁对花生过敏？", 1),
        (["犬を飼っている", "東京で寿司を食べた", "京都に住む"], "東京で何を食べる？", 1),
        (["Hat einen Hund", "Spielt sonntags mit den Kindern Schach", "Wohnt in Köln"], "Wer spielt Schach?", 1),
        (["Живёт в Киеве", "У неё есть собака", "Читает исторические книги"], "Какую книгу она читает?", 2),
        (["يسكن في القاهرة", "عنده كلب كبير", "يشرب القهوة كل صباح"], "هل يشرب قهوة؟", 2),
    ],
)
def test_mq09_a_question_finds_the_note_in_its_language(alice, notes, question, best):
    for n, text in enumerate(notes):
        alice.save(f"X{n}", text, category="Q", labels=["Z"])
    first, *others = alice.recall(question, fill=True).items
    assert first.clue == f"X{best}"
    assert all(first.score > 2 * other.score for other in others)


@pytest.mark.parametrize(
    ("question", "clue"),
    [
        ("我住在哪里？", "CITY"),
        ("她住在什么地方？", "CITY"),
        ("住哪里", "CITY"),
        ("我有猫吗？", "PET"),
        ("我养了什么宠物?", "PET"),
        ("她喝什么茶", "DRINK"),
        ("茶", "DRINK"),
        ("我对什么过敏？", "ALLERGY"),
        ("谁对花生过敏？", "ALLERGY"),
    ],
)
def test_mq09_chinese_questions_find_words_of_one_character(alice, question, clue):
    notes = {
        "CITY": "住在厦门",
        "PET": "养了一只叫小黑的猫",
        "DRINK": "喝绿茶",
        "ALLERGY": "对花生过敏",
        "WORK": "做会计工作",
    }
    for name, text in notes.items():
        alice.save(name, text, category="Q", labels=["Z"])
    assert alice.recall(question).items[0].clue == clue
