"""The manager's methods: what they take, what they return, in which order."""

from __future__ import annotations

import time
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore, ImpressMemManager
from impressmem_integrations.errors import InvalidInput
from tests.manager.conftest import MakeManager
from tests.servers import RunningServer


async def fill(manager: ImpressMemManager, *rows: tuple[str, str, list[str]]) -> None:
    for clue, category, labels in rows:
        await manager.save_impression(clue, f"about {clue}", category, labels)


ROWS = (("ONE", "Food", ["Diet", "Taste"]), ("TWO", "Travel", ["City"]), ("THREE", "Food", ["Allergy", "Diet"]))


def names(scored: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in scored]


def test_im15_nothing_is_opened_before_the_first_call() -> None:
    manager = ImpressMemManager()
    assert manager.config.bot_name == "Bot"
    assert "localhost:6379" in repr(manager.store)


async def test_im15_closing_twice_is_fine(make_manager: MakeManager) -> None:
    manager = make_manager()
    await manager.close()
    await manager.close()


async def test_im16_a_save_tells_what_became_of_it(manager: ImpressMemManager) -> None:
    first = await manager.save_impression("  DIET  ", "no nuts", " Food ", ["Diet", "", "  "])
    again = await manager.save_impression("DIET", "no nuts, no milk", "Food", ["Diet"])
    same = await manager.save_impression("DIET", "no nuts, no milk", "Food", ["Diet"])
    assert [result.status for result in (first, again, same)] == ["created", "changed", "unchanged"]
    assert first.clue == "DIET"
    assert await manager.get_impressions_by_clues(["DIET"]) == [("DIET", "no nuts, no milk")]
    assert names(await manager.get_recent_labels()) == ["Diet"]


@pytest.mark.parametrize(
    "fields",
    [
        {"clue": ""},
        {"content": " \n"},
        {"category": ""},
        {"labels": []},
        {"labels": ["", " "]},
        {"labels": None},
        {"labels": "Diet"},
        {"labels": 5},
        {"labels": list("abcdef")},
        {"clue": None},
        {"content": None},
    ],
)
async def test_im16_a_missing_field_is_an_error_and_saves_nothing(
    manager: ImpressMemManager, fields: dict[str, Any]
) -> None:
    given: dict[str, Any] = {"clue": "DIET", "content": "no nuts", "category": "Food", "labels": ["Diet"]}
    saved = await manager.save_impression(**given | fields)
    assert (saved.ok, saved.status) == (False, "refused")
    assert saved.error
    assert await manager.get_recent_clues() == []


async def test_im17_saving_again_elsewhere_leaves_no_old_entries(manager: ImpressMemManager) -> None:
    await manager.save_impression("DIET", "no nuts", "Food", ["Diet"])
    await manager.save_impression("DIET", "no nuts", "Health", ["Allergy"])
    assert names(await manager.get_recent_categories()) == ["Health"]
    assert names(await manager.get_recent_labels()) == ["Allergy"]
    assert await manager.get_category_clues("Food") == []
    assert await manager.get_label_clues("Diet") == []


async def test_im18_pins_follow_the_newest_save(manager: ImpressMemManager) -> None:
    await manager.save_impression("A", "text", "General", ["Note"], pin=True)
    assert names(await manager.get_pinned_clues()) == ["A"]
    await manager.save_impression("A", "text", "General", ["Note"])
    assert await manager.get_pinned_clues() == []


async def test_im19_the_oldest_pin_is_named_first(manager: ImpressMemManager) -> None:
    for clue in ("A", "B", "C"):
        await manager.save_impression(clue, f"text {clue}", "General", ["Note"], pin=True)
    assert names(await manager.get_pinned_clues()) == ["A", "B", "C"]
    assert names(await manager.get_pinned_clues(2)) == ["A", "B"]


async def test_im22_im24_listings_are_names_with_milliseconds_newest_first(manager: ImpressMemManager) -> None:
    began = time.time() * 1000
    await fill(manager, *ROWS)
    for found, expected in (
        (await manager.get_recent_categories(), ["Food", "Travel"]),
        (await manager.get_recent_clues(), ["THREE", "TWO", "ONE"]),
        (await manager.get_category_clues("Food"), ["THREE", "ONE"]),
        (await manager.get_label_clues("Diet"), ["THREE", "ONE"]),
    ):
        assert names(found) == expected
        times = [at for _, at in found]
        assert times == sorted(times, reverse=True)
        assert all(isinstance(at, float) and abs(at - began) < 60_000 for at in times)
    assert set(names(await manager.get_recent_labels())) == {"Diet", "Taste", "City", "Allergy"}
    assert names(await manager.get_category_labels("Food"))[:2] == ["Allergy", "Diet"]
    assert set(names(await manager.get_category_labels("Food"))) == {"Allergy", "Diet", "Taste"}
    assert await manager.get_category_clues("Nothing") == []


async def test_im22_limits_and_times_narrow_a_listing(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    newest = (await manager.get_recent_clues())[0]
    assert names(await manager.get_recent_clues(2)) == ["THREE", "TWO"]
    before = await manager.get_recent_clues(timestamp=newest[1])
    assert "THREE" not in names(before)
    assert names(await manager.get_recent_clues(timestamp=newest[1] + 1))[0] == "THREE"
    assert names(await manager.get_recent_clues(timestamp=newest[1] + 0.25))[0] == "THREE"
    assert await manager.get_recent_categories(timestamp=1.0) == []
    assert names(await manager.get_category_clues("Food", 1)) == ["THREE"]
    assert await manager.get_label_clues("Diet", timestamp=1.0) == []
    assert await manager.get_category_labels("Food", timestamp=1.0) == []


@pytest.mark.parametrize("wrong", [-1, True, 2.5, "5"])
async def test_im22_a_limit_that_is_no_count_is_refused(manager: ImpressMemManager, wrong: Any) -> None:
    for listing in (
        manager.get_recent_clues(wrong),
        manager.get_pinned_clues(wrong),
        manager.get_mixed_labels(wrong),
        manager.get_mixed_impressions(wrong),
        manager.get_impressions_by_clues([], wrong),
        manager.build_memory_context(max_labels=wrong),
        manager.build_memory_context(max_impression_text_units=wrong),
    ):
        with pytest.raises(InvalidInput, match="whole number"):
            await listing


@pytest.mark.parametrize("wrong", ["now", True, float("nan"), float("inf")])
async def test_im22_a_time_that_is_no_number_is_refused(manager: ImpressMemManager, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="milliseconds since 1970"):
        await manager.get_recent_clues(timestamp=wrong)


async def test_im25_contents_come_in_the_shape_that_was_given(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    assert await manager.get_impressions_by_clues(["TWO", "NONE", "ONE"]) == [
        ("TWO", "about TWO"),
        ("ONE", "about ONE"),
    ]
    pairs = await manager.get_recent_clues(2)
    assert await manager.get_impressions_by_clues(pairs) == [
        (("THREE", "about THREE"), pairs[0][1]),
        (("TWO", "about TWO"), pairs[1][1]),
    ]
    assert await manager.get_impressions_by_clues([]) == []


@pytest.mark.parametrize("wrong", [None, 5, "TWO", {"TWO": 1.0}, [()], [("TWO",)], [5.0, ("TWO", 1.0, 2.0)]])
async def test_im25_clues_are_a_list_of_names_or_pairs(manager: ImpressMemManager, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="clues must be"):
        await manager.get_impressions_by_clues(wrong)


async def test_im25_clues_may_come_one_by_one(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    assert await manager.get_impressions_by_clues(iter(["TWO"])) == [("TWO", "about TWO")]


async def test_im22_a_limit_beyond_all_counting_is_no_bound(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    assert await manager.get_recent_clues(10**400) == await manager.get_recent_clues()


async def test_im25_one_that_does_not_fit_empties_nothing(manager: ImpressMemManager) -> None:
    await manager.save_impression("LONG", "x" * 3000, "General", ["Note"])
    await manager.save_impression("SHORT", "y", "General", ["Note"])
    assert await manager.get_impressions_by_clues(["LONG", "SHORT"], 100) == [("SHORT", "y")]


async def test_im26_mixed_labels_reach_every_category(manager: ImpressMemManager) -> None:
    await fill(manager, ("OLD", "Quiet", ["Rare"]))
    await fill(manager, *((f"CLUE-{at}", "Busy", [f"Label{at}"]) for at in range(20)))
    mixed = names(await manager.get_mixed_labels(10))
    assert len(mixed) == 10
    assert "Rare" in mixed  # far beyond the ten newest
    assert mixed[0] == "Label19"


async def test_im28_a_context_is_read_in_a_fixed_number_of_scripts(
    make_manager: MakeManager, valkey_server: RunningServer
) -> None:
    manager = make_manager(bot_name="Aide", labels_per_set=20)
    await manager.store.asave_many(
        {"clue": f"CLUE-{at}", "content": "text", "category": f"Category{at}", "labels": [f"Label{at}"]}
        for at in range(100)
    )
    await manager.build_memory_context()  # the scripts are known from here on
    valkey_server.admin.config_resetstat()
    assert "Category99" in await manager.build_memory_context()
    assert valkey_server.admin.info("commandstats")["cmdstat_evalsha"]["calls"] == 4


async def test_im27_mixed_impressions_fill_the_budget_over_all_categories(manager: ImpressMemManager) -> None:
    await manager.save_impression("PINNED", "p" * 60, "Quiet", ["Note"], pin=True)
    await manager.save_impression("OLD", "o" * 60, "Quiet", ["Note"])
    await manager.save_impression("HUGE", "h" * 60_000, "Busy", ["Note"])
    for at in range(30):
        await manager.save_impression(f"CLUE-{at}", "c" * 60, "Busy", ["Note"])
    mixed = await manager.get_mixed_impressions(500)
    clues = [clue for _, (clue, _), _ in mixed]
    assert {"PINNED", "OLD", "CLUE-29"} <= set(clues)
    assert "HUGE" not in clues
    assert len(clues) >= 10  # a note costs at most 40 units
    assert mixed[0][:2] == ("⚪", ("CLUE-29", "c" * 60))
    assert [at for _, _, at in mixed] == sorted((at for _, _, at in mixed), reverse=True)
    assert ("📌", ("PINNED", "p" * 60)) in [row[:2] for row in mixed]


async def test_im20_pins_are_never_left_out_silently(manager: ImpressMemManager) -> None:
    for at in range(10):
        await manager.save_impression(f"PIN-{at}", "p" * 60, "General", ["Note"], pin=True)
    context = await manager.build_memory_context(max_impression_text_units=150)
    shown = context.count("][📌][PIN-")
    assert 0 < shown < 10
    assert f"({10 - shown} more notes are stored and not shown.)" in context


async def test_im29_what_has_expired_is_not_counted_as_left_out(
    manager: ImpressMemManager, valkey_server: RunningServer
) -> None:
    await fill(manager, *ROWS)
    await manager.store.asave("GONE", "about GONE", category="General", labels=["Note"], ttl_seconds=60)
    before = await manager.build_memory_context()
    with valkey_server.client() as client:
        client.zadd(next(client.scan_iter("*:expiry")), {"GONE": 1})
    after = await manager.build_memory_context()
    assert "about GONE" in before
    assert "about GONE" not in after
    assert "not shown" not in after


async def test_im29_the_context_lists_everything_oldest_first(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    context = await manager.build_memory_context()
    assert "Categories, oldest first: Travel, Food\n" in context
    positions = [context.index(f"[{clue}]about {clue}") for clue in ("ONE", "TWO", "THREE")]
    assert positions == sorted(positions)
    assert "more note" not in context
    assert "do not quote this block" in context


async def test_im30_limits_per_call(manager: ImpressMemManager) -> None:
    await fill(manager, *ROWS)
    context = await manager.build_memory_context(max_categories=1, max_labels=1, max_impression_text_units=30)
    assert "Categories, oldest first: Food\n" in context
    assert "City" not in context
    assert "ONE" not in context


async def test_tc06_nothing_stored_gives_no_heading_and_no_empty_block(manager: ImpressMemManager) -> None:
    context = await manager.build_memory_context()
    assert context.strip()
    assert "<memory>" not in context
    assert "oldest first" not in context
    assert await manager.get_mixed_impressions() == []
    assert await manager.get_mixed_labels() == []


async def test_tc06_a_content_that_only_looks_blank_is_not_stored(manager: ImpressMemManager) -> None:
    report = await manager.execute_maintain_tool_calls(
        [
            {
                "function": {
                    "name": "save_impression",
                    "arguments": {"clue": "BLANK", "content": "\u200b \n", "category": "General", "labels": ["Note"]},
                }
            }
        ]
    )
    assert report.status == "rejected"
    assert await manager.get_recent_clues() == []


async def test_im01_the_manager_and_the_store_share_one_memory(
    manager: ImpressMemManager, valkey_server: RunningServer
) -> None:
    await fill(manager, ROWS[0])
    with valkey_server.client() as client:
        found = ImpressionStore(client=client, bot="Aide").get("ONE")
    assert found is not None
    assert (found.category, found.labels) == ("Food", ("Diet", "Taste"))
