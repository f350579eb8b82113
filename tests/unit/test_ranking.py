"""Fusing lanes, filling a budget: own small examples, no server."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from impressmem_integrations.core.ranking import CONSTANTS, Kind, Row, Scored, fill, fuse
from impressmem_integrations.core.text import tokenise, units


def cost(scored: Scored) -> int:
    return units(f"- {scored.row.text}\n")


def terms_of(row: Row) -> list[str]:
    return tokenise(row.text)


def row(position: int, *, text: str = "") -> Row:
    return Row(f"k{position}", position, text or f"word{position}")


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
    ranked = [Scored("turn", row(0), 10.0), Scored("turn", row(1), 0.4), Scored("turn", row(2), 0.0)]
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
