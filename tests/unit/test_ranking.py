"""Scoring rows, fusing lanes, filling a budget: own small examples, no server."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impressmem_integrations.core.ranking import CONSTANTS, Kind, Row, Scored, expand, fill, fuse, idf, score_rows
from impressmem_integrations.core.text import term_weights, tokenise, tokenise_question, units

HOUR = 3600 * 1000


def search(notes: Sequence[str], question: str) -> tuple[list[Row], list[float]]:
    """Answer as the index query does, for a store of a few notes."""
    weights = [term_weights(tokenise(note)) for note in notes]
    terms = [term for term in tokenise_question(question) if any(term in own for own in weights)]
    rows = [
        Row(str(i), i, i * 1000, tuple(own.get(term, 0.0) for term in terms), note)
        for i, (note, own) in enumerate(zip(notes, weights, strict=True))
    ]
    return rows, [idf(len(notes), sum(term in own for own in weights)) for term in terms]


def cost(scored: Scored) -> int:
    return units(f"- {scored.row.text}\n")


def terms_of(row: Row) -> list[str]:
    return tokenise(row.text)


def row(position: int, *weights: float, at: int = 0, speaker: str = "", text: str = "") -> Row:
    return Row(f"k{position}", position, at, weights, text or f"word{position}", speaker)


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
def test_mq09_a_question_finds_the_note_in_its_language(notes: list[str], question: str, best: int) -> None:
    rows, idfs = search(notes, question)
    ranked = score_rows(rows, idfs, "impression")
    assert ranked[0].row.position == best
    assert ranked[0].score > 2 * ranked[1].score


def test_an_answer_is_lifted_by_the_question_before_it() -> None:
    rows = [row(0, 2.0), row(1, 0.0), row(2, 0.0), row(3, 0.0)]
    scores = {s.row.position: s.score for s in score_rows(rows, [1.0], "turn")}
    near, far = CONSTANTS.turn_neighbours
    assert scores == {0: 2.0, 1: 2.0 * near, 2: 2.0 * far, 3: 0.0}


def test_saying_a_word_again_beside_it_adds_nothing() -> None:
    alone = score_rows([row(0, 2.0)], [1.0], "turn")[0].score
    beside = score_rows([row(0, 2.0), row(1, 2.0)], [1.0], "turn")[0].score
    assert alone == beside


def test_rows_of_another_day_are_no_neighbours() -> None:
    ranked = score_rows([row(0, 2.0), row(1, 0.0, at=24 * HOUR)], [1.0], "turn")
    assert ranked[1].score == 0


def test_other_speakers_and_times_are_held_back_not_dropped() -> None:
    rows = [row(0, 1.0, speaker="Ana"), row(9, 1.0, speaker="Ben", at=5)]
    by_ana = score_rows(rows, [1.0], "turn", speakers=["Ana"])
    assert [(s.row.speaker, s.score) for s in by_ana] == [("Ana", 1.0), ("Ben", CONSTANTS.other_speaker)]
    at_five = score_rows(rows, [1.0], "turn", times=[(4, 6)])
    assert [(s.row.speaker, s.score) for s in at_five] == [("Ben", 1.0), ("Ana", CONSTANTS.other_time)]


def test_equal_scores_show_the_newer_first_whatever_the_order_of_the_rows() -> None:
    rows = [row(p, 1.0) for p in range(0, 60, 5)]
    random.Random(7).shuffle(rows)
    assert [s.row.position for s in score_rows(rows, [1.0], "turn")] == sorted((r.position for r in rows), reverse=True)


def test_rare_terms_tell_more() -> None:
    assert idf(1000, 1) > idf(1000, 100) > idf(1000, 1000) > 0


def test_a_question_is_expanded_by_what_its_best_rows_share() -> None:
    notes = ["Sings alto in the choir", "The choir rehearses at the chapel", "Repairs old bicycles"]
    rows, idfs = search(notes, "Which choir?")
    ranked = score_rows(rows, idfs, "turn")
    grown = expand({"choir": 1.0}, ranked, lambda r: term_weights(tokenise(r.text)), lambda _: 1.0, leave_out=["alto"])
    assert grown["choir"] == 1.0
    assert "chapel" in grown
    assert "alto" not in grown
    assert max(weight for term, weight in grown.items() if term != "choir") == CONSTANTS.feedback_weight


def test_lanes_add_up_and_the_receipt_says_which() -> None:
    one, two, three = (Scored("impression", row(p), 1.0) for p in range(3))
    fused = fuse({"terms": [one, two], "names": [two, three]})
    assert [s.row.position for s in fused] == [1, 2, 0]
    assert fused[0].score == 2.0
    assert fused[0].receipt == {"terms": 1, "names": 2}  # of equal rows the newer stands first


def test_a_turn_and_an_impression_of_one_name_stay_apart() -> None:
    assert len(fuse({"a": [Scored("turn", row(1), 1.0)], "b": [Scored("impression", row(1), 1.0)]})) == 2


def test_what_repeats_the_chosen_gives_way_to_news() -> None:
    ranked = [
        Scored("impression", row(0, text="likes strong coffee"), 1.00),
        Scored("impression", row(1, text="likes strong coffee"), 0.99),
        Scored("impression", row(2, text="drinks green tea"), 0.98),
    ]
    chosen = fill(ranked, 100, cost, terms_of).chosen
    assert [s.row.position for s in chosen] == [0, 2, 1]


def test_what_is_too_large_is_skipped_and_named() -> None:
    ranked = [Scored("turn", row(0, text="x" * 900), 2.0), Scored("turn", row(1, text="small"), 1.0)]
    filling = fill(ranked, 20, cost, terms_of)
    assert [s.row.position for s in filling.chosen] == [1]
    assert [s.row.position for s in filling.left_out] == [0]


def test_recall_stops_where_evidence_stops() -> None:
    ranked = [Scored("turn", row(0), 10.0), Scored("turn", row(1), 0.5), Scored("turn", row(2), 0.0)]
    assert len(fill(ranked, 100, cost, terms_of, floor=CONSTANTS.floor).chosen) == 1
    assert len(fill(ranked, 100, cost, terms_of).chosen) == 3


def test_nothing_ranked_fills_nothing() -> None:
    filling = fill([], 100, cost, terms_of)
    assert (filling.chosen, filling.left_out, filling.units) == ((), (), 0)


@given(st.lists(st.tuples(st.floats(0, 9), st.text("abc ", max_size=12)), max_size=25), st.integers(0, 60))
def test_a_filling_keeps_its_budget_and_leaves_out_only_what_does_not_fit(
    items: list[tuple[float, str]], budget: int
) -> None:
    kind: Kind = "impression"
    ranked = fuse({"terms": [Scored(kind, row(i, text=text), score) for i, (score, text) in enumerate(items)]})
    filling = fill(ranked, budget, cost, terms_of)
    assert filling == fill(ranked, budget, cost, terms_of)
    assert filling.units == sum(map(cost, filling.chosen)) <= budget
    assert len(filling.chosen) + len(filling.left_out) == len(items)
    assert all(filling.units + cost(scored) > budget for scored in filling.left_out)


@given(st.lists(st.tuples(st.floats(0.01, 9), st.text("abc ", max_size=12)), min_size=1, max_size=15))
def test_each_choice_is_the_best_beside_what_is_chosen(items: list[tuple[float, str]]) -> None:
    """The heap of stale bounds must choose what looking at every row each time would choose."""
    ranked = fuse({"terms": [Scored("turn", row(i, text=text), score) for i, (score, text) in enumerate(items)]})
    pool, shown, plain = list(ranked), [], []
    while pool:

        def worth(scored: Scored, shown: list[str] = shown) -> float:
            own = set(terms_of(scored.row))
            often = CONSTANTS.shown_often
            old = sum(min(shown.count(t), often) for t in own) / (often * len(own)) if own else 0
            return scored.score * (1 - CONSTANTS.novelty * old)

        best = max(pool, key=lambda s: (worth(s), -ranked.index(s)))
        pool.remove(best)
        plain.append(best)
        shown.extend(set(terms_of(best.row)))
    assert list(fill(ranked, 10_000, cost, terms_of).chosen) == plain
