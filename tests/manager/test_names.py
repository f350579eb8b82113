"""Saving again and names in many spellings."""

from __future__ import annotations

import json
import unicodedata

import pytest

from impressmem_integrations import ImpressMemManager, SaveImpressionTool

COMPOSED, DECOMPOSED = unicodedata.normalize("NFC", "Café"), unicodedata.normalize("NFD", "Café")


async def test_mq01_ten_saves_are_one_entry(manager: ImpressMemManager) -> None:
    for _ in range(10):
        await manager.save_impression("DIET", "no nuts", "Food", ["Diet"])
    assert [name for name, _ in await manager.get_recent_clues()] == ["DIET"]
    assert (await manager.store.astats()).impressions == 1
    assert (await manager.build_memory_context()).count("no nuts") == 1


@pytest.mark.parametrize("content", ["no nuts", " No  NUTS ", "no\nnuts"])
async def test_mq01_the_twin_is_named_for_the_model(manager: ImpressMemManager, content: str) -> None:
    await manager.save_impression("DIET", "no nuts", "Food", ["Diet"])
    assert (await manager.save_impression("USER-DIET", content, "Food", ["Diet"])).twin == "DIET"
    arguments = {"clue": "THIRD", "content": content, "category": "Food", "labels": ["Diet"]}
    full, _ = await SaveImpressionTool(manager).execute(json.dumps(arguments))
    assert "same content also stands under" in full
    assert "DIET" in full
    assert (await manager.store.astats()).impressions == 3  # never merged by themselves


async def test_mq01_contents_that_contradict_stand_side_by_side(manager: ImpressMemManager) -> None:
    await manager.save_impression("DIET", "likes nuts", "Food", ["Diet"])
    saved = await manager.save_impression("USER-DIET", "no nuts", "Food", ["Diet"])
    assert saved.twin is None
    assert len(await manager.get_recent_clues()) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (COMPOSED, DECOMPOSED),
        (DECOMPOSED, COMPOSED),
        ("ＵＳＥＲ-PREF", "USER-PREF"),
        ("USER-PREF", "ＵＳＥＲ-PREF"),
        ("USER-PREF", "USER-PREF\u200b"),
        ("USER-PREF", "USER-PREF \u200d"),
    ],
)
async def test_mq11_spellings_that_look_alike_are_one_key_shown_as_first_written(
    manager: ImpressMemManager, first: str, second: str
) -> None:
    assert first != second
    await manager.save_impression(first, "one", first, [first])
    saved = await manager.save_impression(second, "two", second, [second])
    assert saved.status == "changed"
    shown = unicodedata.normalize("NFC", first)
    for listing in (
        manager.get_recent_clues(),
        manager.get_recent_categories(),
        manager.get_recent_labels(),
        manager.get_category_clues(second),
        manager.get_label_clues(second),
        manager.get_category_labels(second),
    ):
        assert [name for name, _ in await listing] == [shown]
    assert await manager.get_impressions_by_clues([first, second]) == [(shown, "two"), (shown, "two")]


async def test_mq11_names_that_differ_in_case_or_dashes_are_offered_not_joined(manager: ImpressMemManager) -> None:
    names = ["UserPreference", "userpreference", "user_preference"]
    results = [await manager.save_impression(f"CLUE-{at}", str(at), name, ["Note"]) for at, name in enumerate(names)]
    assert results[0].similar == ()
    assert results[1].similar == ("UserPreference",)
    assert set(results[2].similar) <= set(names[:2])
    assert results[2].similar
    assert {name for name, _ in await manager.get_recent_categories()} == set(names)
    arguments = {"clue": "CLUE-9", "content": "9", "category": "User Preference", "labels": ["Note"]}
    full, _ = await SaveImpressionTool(manager).execute(json.dumps(arguments))
    assert "Similar names exist" in full
    assert any(name in full for name in names)
