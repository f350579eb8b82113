"""Which turns of a history a thread has already seen."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impressmem_integrations.turns import align, cut_turns, digest_of, next_ids


@pytest.mark.parametrize(
    ("stored", "window", "old"),
    [
        ("", "", 0),
        ("", "AB", 0),
        ("AB", "", 0),
        ("AB", "ABC", 2),
        ("ABC", "BCD", 2),  # trimmed
        ("ABC", "CDE", 1),
        ("ABC", "D", 0),  # all of the old was summarised away
        ("ABC", "ABC", 3),  # replays
        ("ABC", "BC", 2),
        ("ABC", "AB", 2),
        ("ABA", "AB", 2),
        ("A", "A", 1),
        ("A", "AA", 1),  # the same said again
        ("AA", "AAA", 2),
        ("BAA", "AAC", 2),
        ("ABAB", "ABC", 2),
        ("AB", "BA", 1),
        ("ABC", "AD", 1),  # another branch
        ("AXBY", "ABC", 2),  # X and Y were said in another framework
        ("AX", "AB", 1),
        ("AXB", "ABC", 2),
        ("ABC", "AC", 2),
        ("ABXA", "ABA", 3),  # A was said twice here, and X elsewhere
        ("ABXA", "ABAC", 3),
        ("AXBYA", "ABAB", 3),
    ],
)
def test_where_a_window_meets_the_thread(stored: str, window: str, old: int) -> None:
    assert align(stored, window) == old


@pytest.mark.parametrize(
    ("stored", "window", "old"),
    [("CD", "ABCDE", 4), ("CD", "ABCD", 4), ("CD", "DE", 1), ("CD", "AB", 0), ("CC", "CCCCE", 4), ("", "AB", 0)],
)
def test_a_list_that_lost_its_oldest_turns_may_begin_inside_the_window(stored: str, window: str, old: int) -> None:
    assert align(stored, window, trimmed=True) == old


turns = st.lists(st.integers(0, 10**6).map(str), unique=True, max_size=12)


@given(turns, st.data())
def test_any_window_onto_a_thread_of_different_turns_meets_it(thread: list[str], data: st.DataObject) -> None:
    """Trimmed or summarised at the front, and longer at the end: what was stored is old, the rest is new."""
    seen = data.draw(st.integers(0, len(thread)), label="turns already stored")
    start = data.draw(st.integers(0, seen), label="turns trimmed away")
    assert align(thread[:seen], thread[start:]) == seen - start


@given(turns, st.data())
def test_the_same_where_the_store_keeps_only_the_newest(thread: list[str], data: st.DataObject) -> None:
    seen = data.draw(st.integers(0, len(thread)))
    lost = data.draw(st.integers(0, max(seen - 1, 0)))
    start = data.draw(st.integers(0, seen))
    assert align(thread[lost:seen], thread[start:], trimmed=True) == seen - start


@given(st.lists(st.sampled_from("AB"), max_size=8), st.lists(st.sampled_from("AB"), max_size=8), st.booleans())
def test_with_equal_turns_old_is_whatever_may_be(stored: list[str], window: list[str], trimmed: bool) -> None:
    old = align(stored, window, trimmed=trimmed)
    subsequences = {tuple(part) for size in range(len(stored) + 1) for part in combinations(stored, size)}
    in_order = max(size for size in range(len(window) + 1) if tuple(window[:size]) in subsequences)
    if trimmed and old > in_order:
        run = min(old, len(stored))
        assert window[old - run : old] == stored[-run:]
    else:
        assert old == in_order


@given(st.lists(st.sampled_from("AB"), max_size=6), st.integers(0, 6))
def test_a_replay_after_a_run_brings_nothing_new(thread: list[str], start: int) -> None:
    assert align(thread, thread[start:]) == len(thread[start:])


def test_ids_go_on_counting() -> None:
    known = next_ids([], ["a-b", "c", "a-b"])
    assert known == ["a-b-1", "c-1", "a-b-2"]
    assert [digest_of(key) for key in known] == ["a-b", "c", "a-b"]
    assert next_ids(known, ["a-b", "d", "a-b"]) == ["a-b-3", "d-1", "a-b-4"]
    assert next_ids(known[2:], ["a-b"]) == ["a-b-3"]
    assert next_ids(reversed(known), ["a-b"]) == ["a-b-3"], "in any order"


def test_a_whole_history_gets_the_ids_that_cutting_gives() -> None:
    turns = cut_turns([("user", "u"), ("assistant", "a")] * 3)
    assert next_ids([], [turn.digest for turn in turns]) == [turn.id for turn in turns]


def test_a_thread_seen_step_by_step_through_trimmed_windows_gets_each_turn_once() -> None:
    history = [("user", "u1"), ("assistant", "a"), ("user", "ok"), ("assistant", "fine"), ("user", "ok"),
               ("assistant", "fine"), ("user", "u4"), ("assistant", "a")]  # fmt: skip
    known: list[str] = []
    for end in (2, 4, 6, 6, 8, 8):
        window = [("system", "summary"), *history[max(0, end - 6) : end]]
        digests = [turn.digest for turn in cut_turns(window)]
        old = align([digest_of(key) for key in known], digests)
        known += next_ids(known, digests[old:])
    assert known == [turn.id for turn in cut_turns(history)]
