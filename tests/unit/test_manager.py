"""The manager's methods: what they return, in which order, and what they refuse."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime, timedelta

import pytest

from impressmem_integrations import ImpressMemConfig, ImpressMemManager, slice_new_turn_messages
from impressmem_integrations.errors import InvalidInput, NotFound, StoreUnavailable
from tests import request_rules
from tests.loopback_model import tool_call

SAVE = {"clue": "USER-DIET", "content": "vegan", "category": "Health", "labels": ["Diet"], "pin": False}


@pytest.fixture
def manager(valkey_server):
    made = ImpressMemManager(ImpressMemConfig(bot_name="bot", redis_config={"url": valkey_server.url}))
    yield made
    made.store.close()


@pytest.fixture
async def filled(manager):
    """Three impressions, oldest first: DIET (pinned), TEA, JOB."""
    for clue, content, category, labels, pin in (
        ("DIET", "vegan since 2024", "Health", ["Diet", "Food"], True),
        ("TEA", "likes green tea", "Taste", ["Food"], False),
        ("JOB", "works at a school", "Work", ["School"], False),
    ):
        await manager.save_impression(clue, content, category, labels, pin)
    return manager


def names(scored) -> list[str]:
    assert all(isinstance(name, str) and isinstance(score, float) for name, score in scored)
    return [name for name, _ in scored]


# --- readings ----------------------------------------------------------------------------------------------------


async def test_listings_are_names_with_times_newest_first(filled):
    before = datetime.now(UTC).timestamp() * 1000 - 60_000
    assert names(await filled.get_recent_categories()) == ["Work", "Taste", "Health"]
    assert set(names(await filled.get_recent_labels())) == {"School", "Food", "Diet"}
    assert names(await filled.get_recent_clues()) == ["JOB", "TEA", "DIET"]
    assert names(await filled.get_category_labels("Health")) == ["Diet", "Food"]
    assert names(await filled.get_category_clues("Health")) == ["DIET"]
    assert names(await filled.get_label_clues("Food")) == ["TEA", "DIET"]
    assert names(await filled.get_label_clues("Nothing")) == []
    assert all(before < score < before + 120_000 for _, score in await filled.get_recent_clues())


async def test_pinned_clues_come_oldest_first(filled):
    await filled.save_impression("KEY", "spare key at Ann's", "Home", ["Key"], pin=True)
    assert names(await filled.get_pinned_clues()) == ["DIET", "KEY"]
    assert names(await filled.get_pinned_clues(1)) == ["DIET"]


async def test_limits(filled):
    assert names(await filled.get_recent_clues(2)) == ["JOB", "TEA"]
    assert await filled.get_recent_clues(0) == []
    for wrong in (-1, 1.5, "2", True):
        with pytest.raises(InvalidInput, match="whole number"):
            await filled.get_recent_clues(wrong)


async def test_a_timestamp_reads_what_was_before(filled):
    (_, newest), (_, second), _ = await filled.get_recent_clues()
    assert names(await filled.get_recent_clues(timestamp=newest)) == ["TEA", "DIET"]
    assert names(await filled.get_recent_clues(timestamp=second + 0.5)) == ["TEA", "DIET"]
    assert names(await filled.get_recent_clues(timestamp=second)) == ["DIET"]
    assert names(await filled.get_recent_categories(timestamp=newest)) == ["Taste", "Health"]
    assert names(await filled.get_label_clues("Food", timestamp=second)) == ["DIET"]


async def test_a_timestamp_may_be_seconds_or_a_datetime(filled):
    now = datetime.now(UTC)
    for later in (now + timedelta(minutes=1), now.timestamp() + 60, (now.timestamp() + 60) * 1000):
        assert len(await filled.get_recent_clues(timestamp=later)) == 3
    for earlier in (now - timedelta(minutes=1), now.timestamp() - 60, (now.timestamp() - 60) * 1000):
        assert await filled.get_recent_clues(timestamp=earlier) == []
    for wrong in (now.replace(tzinfo=None), "now", -1, float("nan"), True):
        with pytest.raises(InvalidInput):
            await filled.get_recent_clues(timestamp=wrong)


async def test_impressions_by_clues_match_the_shape_they_are_asked_in(filled):
    assert await filled.get_impressions_by_clues(["JOB", "GONE", "DIET"]) == [
        ("JOB", "works at a school"),
        ("DIET", "vegan since 2024"),
    ]
    pairs = await filled.get_recent_clues()
    assert await filled.get_impressions_by_clues(pairs) == [
        (("JOB", "works at a school"), pairs[0][1]),
        (("TEA", "likes green tea"), pairs[1][1]),
        (("DIET", "vegan since 2024"), pairs[2][1]),
    ]
    assert await filled.get_impressions_by_clues([]) == []


async def test_an_impression_that_does_not_fit_stops_no_other(filled):
    await filled.save_impression("LONG", "x" * 3_000, "Work", ["School"])
    assert await filled.get_impressions_by_clues(["LONG", "TEA"], 20) == [("TEA", "likes green tea")]
    assert [clue for _, (clue, _), _ in await filled.get_mixed_impressions(100)] == ["JOB", "TEA", "DIET"]
    assert "likes green tea" in await filled.build_memory_context(max_impression_text_units=100)


async def test_mixed_impressions(filled):
    found = await filled.get_mixed_impressions()
    assert [(mark, pair) for mark, pair, _ in found] == [
        ("⚪", ("JOB", "works at a school")),
        ("⚪", ("TEA", "likes green tea")),
        ("📌", ("DIET", "vegan since 2024")),
    ]
    assert [score for _, _, score in found] == [score for _, score in await filled.get_recent_clues()]
    assert await filled.get_mixed_impressions(0) == []


async def test_mixed_labels_and_impressions_reach_an_old_category_past_a_busy_one(manager):
    await manager.save_impression("OLD", "the old one", "Quiet", ["Old"])
    await manager.store.asave_many(
        {"clue": f"B{n}", "content": f"busy {n}", "category": "Busy", "labels": [f"L{n}"]} for n in range(300)
    )
    assert "Old" in names(await manager.get_mixed_labels(20))
    assert len(await manager.get_mixed_labels(20)) == 20
    found = await manager.get_mixed_impressions(400)
    assert found[0][1][0] == "B299"
    assert found[-1][1][0] == "OLD"
    context = await manager.build_memory_context(max_impression_text_units=400)
    lines = [line for line in context.splitlines() if line.startswith("[")]
    assert 380 <= sum(-(-len(f"{line}\n".encode()) // 3) for line in lines) <= 400


async def test_contexts_list_everything_oldest_first_and_name_what_is_left_out(filled):
    context = await filled.build_memory_context()
    assert "Categories, oldest first: Health, Taste, Work\n" in context
    lines = [line for line in context.splitlines() if line.startswith("[")]
    assert [line.partition("]")[2] for line in lines] == [
        "[📌][DIET]vegan since 2024",
        "[⚪][TEA]likes green tea",
        "[⚪][JOB]works at a school",
    ]
    assert "not shown" not in context
    few = await filled.build_memory_context(max_categories=1, max_labels=1, max_impression_text_units=25)
    assert "Categories, oldest first: Work\n" in few
    assert "Labels, oldest first: School\n" in few
    assert "[DIET]" in few
    assert "(2 more notes are stored and not shown.)" in few


async def test_the_same_memory_gives_the_same_text(filled):
    assert await filled.build_memory_context() == await filled.build_memory_context()


async def test_tc06_with_nothing_stored_the_text_is_one_sentence_without_headings(manager):
    context = await manager.build_memory_context()
    assert len(context.splitlines()) == 1
    assert ":" not in context
    assert "<" not in context
    turn = slice_new_turn_messages([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}])
    messages = [
        {"role": "system", "content": context},
        *turn,
        {"role": "user", "content": manager.get_maintain_prompt()},
    ]
    tools = manager.get_maintain_tool_definitions()
    faults = {name: check(messages, tools) for name, check in request_rules.CHECKERS.items()}
    assert not any(faults.values()), faults


# --- saves and merges --------------------------------------------------------------------------------------------


async def test_saving_the_clue_again_moves_it(filled):
    result = await filled.save_impression("TEA", "likes black tea", "Drinks", ["Tea"])
    assert (result.status, result.revision) == ("changed", 2)
    assert names(await filled.get_category_clues("Taste")) == []
    assert "Taste" not in names(await filled.get_recent_categories())
    assert names(await filled.get_label_clues("Food")) == ["DIET"]
    assert await filled.get_impressions_by_clues(["TEA"]) == [("TEA", "likes black tea")]


async def test_a_save_without_pin_unpins(filled):
    await filled.save_impression("DIET", "vegan since 2024", "Health", ["Diet", "Food"])
    assert await filled.get_pinned_clues() == []


async def test_texts_are_trimmed_and_blank_labels_dropped(manager):
    await manager.save_impression("  A\n", "a", " C ", ["L", " ", ""])
    assert names(await manager.get_recent_clues()) == ["A"]
    assert names(await manager.get_category_labels("C")) == ["L"]


@pytest.mark.parametrize(
    "wrong",
    [{"clue": " "}, {"content": ""}, {"category": None}, {"labels": []}, {"labels": "L"}, {"labels": None},
     {"labels": list("abcdef")}, {"pin": "maybe"}, {"content": "x" * 70_000}],
)  # fmt: skip
async def test_a_wrong_field_is_refused_without_raising(manager, caplog, wrong):
    with caplog.at_level(logging.DEBUG):
        result = await manager.save_impression(**{**SAVE, **wrong})
    assert result.status == "refused"
    assert next(iter(wrong)).rstrip("s") in result.error
    assert await manager.get_recent_clues() == []
    assert "vegan" not in caplog.text
    assert "not saved" in caplog.text


async def test_mq01_ten_saves_are_one_entry_and_a_second_clue_names_the_first(manager):
    results = [await manager.save_impression(**SAVE) for _ in range(10)]
    assert [result.status for result in results] == ["created", *["unchanged"] * 9]
    assert len(await manager.get_recent_clues()) == 1
    twin = await manager.save_impression(**{**SAVE, "clue": "DIET", "content": " VEGAN "})
    assert twin.twin == "USER-DIET"
    assert (await manager.save_impression(**{**SAVE, "clue": "OTHER", "content": "eats meat"})).twin is None


async def test_mq11_spellings_of_one_name_meet_and_similar_ones_are_named(manager):
    for category in ("Café", "Cafe\u0301", "Café\u200b"):
        await manager.save_impression(f"A{len(category)}", "x", category, ["L"])
    assert names(await manager.get_recent_categories()) == ["Café"]
    await manager.save_impression("ＵＳＥＲ-PREF", "old", "UserPreference", ["L"])
    await manager.save_impression("USER-PREF", "new", "UserPreference", ["L"])
    assert await manager.get_impressions_by_clues(["USER-PREF"]) == [("ＵＳＥＲ-PREF", "new")]
    other = await manager.save_impression("B", "b", "user_preference", ["L"])
    assert other.similar == ("UserPreference",)
    assert set(names(await manager.get_recent_categories())) == {"Café", "UserPreference", "user_preference"}


async def test_merges_return_what_they_did(filled):
    await filled.save_impression("RUN", "runs daily", "Sport", ["Run", "Food"])
    assert await filled.merge_categories("Sport", "Health") == {
        "level": "category",
        "from": "Sport",
        "to": "Health",
        "labels_moved": 2,
        "clues_moved": 1,
    }
    assert await filled.merge_labels(["Run", "Food"], "Diet") == {
        "level": "label",
        "from": ["Run", "Food"],
        "to": "Diet",
        "clues_moved": 3,
    }
    assert await filled.merge_clues(["TEA"], "DIET", "vegan, likes green tea") == {
        "level": "clue",
        "from": ["TEA"],
        "to": "DIET",
        "saved_content": "vegan, likes green tea",
    }
    assert names(await filled.get_recent_clues())[0] == "DIET"
    assert await filled.get_impressions_by_clues(["TEA", "DIET"]) == [("DIET", "vegan, likes green tea")]


async def test_mq14_a_merge_keeps_what_belonged_to_the_parts(manager, valkey_server):
    await manager.save_impression("A", "a", "C1", ["x", "y"], pin=True)
    await manager.save_impression("B", "b", "C2", ["z"])
    await manager.store.asave_many(
        {"clue": f"N{n}", "content": f"n{n}", "category": f"New{n}", "labels": [f"new{n}"]} for n in range(2_000)
    )
    await manager.merge_clues(["A"], "B", "a and b")
    assert names(await manager.get_pinned_clues()) == ["B"]
    for category in ("C1", "C2"):
        assert names(await manager.get_category_clues(category)) == ["B"]
    for label in ("x", "y", "z"):
        assert names(await manager.get_label_clues(label)) == ["B"]
    await manager.merge_categories("C1", "C2")
    await manager.merge_labels(["x"], "y")
    assert names(await manager.get_category_clues("C2")) == ["B"]
    assert names(await manager.get_label_clues("y")) == ["B"]
    for read in (manager.get_category_clues("C1"), manager.get_label_clues("x")):
        assert await read == []
    assert await manager.store.aget("A") is None
    assert b"A" not in {
        member
        for key in valkey_server.admin.scan_iter("*", count=10_000, _type="zset")
        for member in valkey_server.admin.zrange(key, 0, -1)
        if not key.endswith(b":withdrawn")  # says that it left
    }


@pytest.mark.parametrize(
    ("method", "given", "error"),
    [
        ("merge_categories", ("Nowhere", "Health"), NotFound),
        ("merge_categories", ("Health", "Nowhere"), NotFound),
        ("merge_categories", ("Health", " Health "), ValueError),
        ("merge_categories", ("", "Health"), ValueError),
        ("merge_labels", (["Nothing"], "Food"), NotFound),
        ("merge_labels", (["Food"], "Nothing"), NotFound),
        ("merge_labels", (["Food"], "Food"), ValueError),
        ("merge_labels", ([], "Food"), ValueError),
        ("merge_clues", (["GONE"], "TEA", "x"), NotFound),
        ("merge_clues", (["TEA"], "GONE", "x"), NotFound),
        ("merge_clues", (["TEA"], "TEA", "x"), ValueError),
        ("merge_clues", (["TEA"], "DIET", " "), ValueError),
    ],
)
async def test_mq15_a_merge_that_makes_no_sense_changes_nothing(filled, method, given, error):
    before = await filled.build_memory_context()
    with pytest.raises(error):
        await getattr(filled, method)(*given)
    assert await filled.build_memory_context() == before


async def test_mq15_a_ring_leaves_one(filled):
    await filled.merge_clues(["TEA"], "DIET", "both")
    with pytest.raises(NotFound, match="TEA"):
        await filled.merge_clues(["DIET"], "TEA", "both again")
    assert names(await filled.get_recent_clues()) == ["DIET", "JOB"]


# --- maintenance -------------------------------------------------------------------------------------------------


def test_maintenance_gets_the_save_and_the_organize_tool(manager):
    definitions = manager.get_maintain_tool_definitions()
    assert [definition["function"]["name"] for definition in definitions] == ["save_impression", "organize_impressions"]
    definitions[0]["function"]["parameters"].clear()
    assert manager.get_maintain_tool_definitions()[0]["function"]["parameters"]
    assert "IGNORE" in manager.get_maintain_prompt()


async def test_calls_are_carried_out_in_order_as_one_transaction(filled):
    report = await filled.execute_maintain_tool_calls(
        [
            tool_call("save_impression", {**SAVE, "pin": "📌"}),
            tool_call("save_impressions", {"impressions": [{**SAVE, "clue": "JOB", "content": "has left the school"}]}),
            tool_call("organize_impressions", ORGANIZE),
        ]
    )
    assert (report.status, report.saved, report.changed) == ("stored", ("USER-DIET",), ("JOB",))
    assert [(merge.sources, merge.target) for merge in report.merged] == [(("USER-DIET",), "DIET")]
    assert report.refused == ()
    assert report.seconds > 0
    (newest,) = await filled.store.ajournal(1)
    assert newest.transaction == report.transaction
    assert {"JOB", "DIET"} <= set(newest.clues)
    assert names(await filled.get_pinned_clues()) == ["DIET"]


ORGANIZE = {
    "level": "clue",
    "from_items": ["USER-DIET"],
    "to_item": "DIET",
    "new_content": "vegan since 2024",
    "reason": "the same",
    "check": "nothing is lost",
    "is_redundant": True,
    "is_confirm": True,
}


async def test_bad_calls_are_refused_and_stop_no_other(filled, caplog):
    report = await filled.execute_maintain_tool_calls(
        [
            tool_call("drop_database", {}),
            tool_call("save_impression", '{"clue": "A", "content": "half of'),
            tool_call("save_impressions", {"impressions": [{"clue": "B"}, {**SAVE, "clue": "GOOD"}]}),
            tool_call("organize_impressions", {**ORGANIZE, "from_items": ["GONE"]}),
            tool_call("organize_impressions", {**ORGANIZE, "is_confirm": False}),
            tool_call("recall_impressions", {}),
        ]
    )
    assert (report.status, report.saved) == ("stored", ("GOOD",))
    reasons = [refusal.reason for refusal in report.refused]
    assert len(reasons) == 6
    for word in ("drop_database", "cut off", "content is missing", "GONE", "Not confirmed", "recall_impressions"):
        assert [reason for reason in reasons if word in reason], word
    assert any(record.levelno == logging.WARNING for record in caplog.records)
    assert "vegan" not in caplog.text


@pytest.mark.parametrize("nothing", [None, [], (), {"role": "assistant", "content": "IGNORE"}])
async def test_no_calls_are_nothing_to_store(manager, nothing):
    report = await manager.execute_maintain_tool_calls(nothing)
    assert (report.status, report.reason) == ("nothing_to_store", "no tool was called")


async def test_only_bad_calls_are_rejected_and_known_facts_are_nothing_new(filled):
    report = await filled.execute_maintain_tool_calls([tool_call("nope", {})])
    assert (report.status, report.transaction) == ("rejected", None)
    known = {"clue": "TEA", "content": "likes green tea", "category": "Taste", "labels": ["Food"], "pin": False}
    report = await filled.execute_maintain_tool_calls([tool_call("save_impression", known)])
    assert report.status == "nothing_to_store"


async def test_a_thousand_calls_are_carried_out(manager):
    calls = [tool_call("save_impression", {**SAVE, "clue": f"N{n}", "content": f"n{n}"}) for n in range(1_100)]
    report = await manager.execute_maintain_tool_calls(calls)
    assert len(report.saved) == 1_100
    assert len(await manager.get_recent_clues(2_000)) == 1_100


async def test_a_store_that_is_away_is_a_status():
    manager = ImpressMemManager(ImpressMemConfig(redis_config={"url": "unix:///nowhere/at-all.sock"}))
    report = await manager.execute_maintain_tool_calls([tool_call("save_impression", SAVE)])
    assert report.status == "store_unavailable"
    assert "/nowhere/at-all.sock" in report.reason
    with pytest.raises(StoreUnavailable):
        await manager.save_impression(**SAVE)


async def test_blocking_code_uses_the_same_memory(filled):
    assert filled.store.get("TEA").content == "likes green tea"
    assert json.dumps([item.clue for item in filled.store.impressions()]) == '["JOB", "TEA", "DIET"]'
