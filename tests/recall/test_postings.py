"""Posting lists: where they stand as they grow and shrink, and that their form changes no answer."""

from __future__ import annotations

import random

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.postings import Form, bucket, forms, pack, score, unpack, weight_of

NOW = "impressmem:1:{assistant/ann}:0:"


@pytest.fixture
def store(client):
    return ImpressionStore(client=client, user="ann")


def form_of(server, term: str) -> Form | None:
    """Where a list stands, told from the keys themselves."""
    many = server.admin.hget(NOW + "postings", term)
    few = server.admin.hget(f"{NOW}posting:{bucket(term)}", term)
    set_there = server.admin.exists(NOW + "term:" + term)
    assert bool(set_there) == (many == b"")
    assert few is None or many is None
    return Form.SET if set_there else Form.MANY if many else Form.FEW if few else None


def save(store, numbers, content="tea") -> None:
    store.save_many({"clue": f"N{n}", "content": content, "category": "Q", "labels": ["Z"]} for n in numbers)


@pytest.mark.parametrize(
    ("count", "expected"), [(1, Form.FEW), (12, Form.FEW), (13, Form.MANY), (500, Form.MANY), (501, Form.SET)]
)
def test_where_a_list_stands_follows_from_its_length(server, store, count, expected):
    save(store, range(count))
    assert form_of(server, "tea") is expected


def test_a_list_that_shrinks_goes_back_and_vanishes_with_its_last_posting(server, client):
    store = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=501))
    save(store, range(501))
    assert form_of(server, "tea") is Form.SET
    save(store, range(250), "rain")
    assert form_of(server, "tea") is Form.SET  # 251: a list at the border does not go to and fro
    save(store, [250], "rain")
    assert form_of(server, "tea") is Form.MANY
    assert store.check() == []
    save(store, range(251, 489), "rain")
    assert form_of(server, "tea") is Form.FEW
    save(store, range(489, 501), "rain")
    assert form_of(server, "tea") is None
    assert form_of(server, "rain") is Form.SET


def test_the_form_of_a_list_changes_no_answer(server, store):
    for note in range(20):
        store.save(f"N{note}", "green tea with rice" if note % 3 else "tea", category="Q", labels=["Z"])

    def answer():
        return [(item.clue, item.score, item.receipt) for item in store.recall("green tea", budget_units=4_000).items]

    packed = answer()
    assert form_of(server, "tea") is Form.MANY
    postings = unpack(server.admin.hget(NOW + "postings", "tea"))
    server.admin.hset(NOW + "postings", "tea", "")
    server.admin.zadd(
        NOW + "term:tea", {str(document): score(document, weight) for document, weight in postings.items()}
    )
    assert answer() == packed
    store.repair()
    assert form_of(server, "tea") is Form.MANY
    assert answer() == packed


def test_of_a_word_that_stands_everywhere_the_newest_are_found(store):
    save(store, range(700))
    found = [item.clue for item in store.recall("tea", budget_units=300)]
    assert found[:3] == ["N699", "N698", "N697"]


def test_a_long_word_does_not_make_a_small_hash_a_large_one(server, store):
    word = "щ" * 40  # 80 bytes, and a hash with a field of more than 64 is no small one any more
    store.save("A", word, category="Q", labels=["Z"])
    assert form_of(server, word) is Form.MANY
    assert [item.clue for item in store.recall(word)] == ["A"]


@pytest.mark.parametrize("seed", range(4))
def test_any_sequence_of_changes_keeps_lists_and_terms_in_step(client, seed):
    """The fixture that checks a scope after each test would report what differs; here it is looked at on the way."""
    chance = random.Random(seed)
    store = ImpressionStore(client=client, user="ann", limits=Limits(max_impressions=40))
    words = ["tea", "rain", "snow", "piano", "garden"]

    def text() -> str:
        return " ".join(chance.choices(words, k=chance.randint(1, 6)))

    for step in range(240):
        clue = f"N{chance.randrange(60)}"
        match chance.randrange(6):
            case 0 if store.get(clue):
                store.forget(clue)
            case 1 if len(living := [item.clue for item in store.impressions()]) > 2:
                one, other = chance.sample(living, 2)
                store.merge_clues([one], other, text())
            case 2:
                store.remember_turns([{"role": "user", "content": text()}, {"role": "assistant", "content": text()}])
            case _:
                store.save(clue, text(), category="Q", labels=["Z"])
        if step % 40 == 39:
            assert store.check() == []


def test_packed_postings_are_read_back():
    postings = {1: 57, 2**32 - 1: 125, 70_000: 1}
    assert unpack(pack(postings)) == postings
    assert weight_of(score(2**32 - 1, 125)) == 125
    assert unpack(b"\1\0\0\0") is None
    assert unpack(pack({7: 1}) * 2) is None


def test_forms_say_first_what_is_written():
    assert forms("tea", 12) == (Form.FEW,)
    assert forms("x" * 65, 1) == (Form.MANY,)
    assert forms("tea", 251) == (Form.MANY, Form.SET)
    assert forms("tea", 501) == (Form.SET,)


def test_how_many_say_a_word_is_told_where_not_all_can_be_shown(store):
    save(store, range(150))
    store.remember_turns([{"role": "user", "content": "no such word"}, {"role": "assistant", "content": "ok"}])
    found = store.recall("tea", budget_units=10_000)
    (omission,) = (one for one in found.omitted if one.what == "impressions")
    assert (omission.why, omission.count + len(found)) == ("weak", 150)
    assert not any(one.what == "turns" for one in found.omitted)
    assert store.recall("rain", budget_units=10_000).omitted == ()
