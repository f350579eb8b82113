"""Merges through the manager and through the organize tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from impressmem_integrations import ImpressMemManager, OrganizeImpressionsTool
from impressmem_integrations.errors import InvalidInput, NotFound
from impressmem_integrations.model import Impression
from tests.servers import RunningServer

SOURCE = "ZEBRA-SOURCE"


def names(scored: list[tuple[str, float]]) -> list[str]:
    return [name for name, _ in scored]


async def everything(manager: ImpressMemManager) -> list[Impression]:
    return [item async for item in manager.store.aimpressions()]


def members(server: RunningServer) -> set[str]:
    """Every key, set member and hash field of the server.

    Apart from the two records of what happened, which no reading goes through: the journal, and the list of withdrawn
    clues that tells running contexts what to take back.
    """
    found: set[bytes] = set()
    readers: dict[Any, Callable[[Any], Any]] = {
        b"zset": lambda key: server.admin.zrange(key, 0, -1),
        b"set": server.admin.smembers,
        b"hash": server.admin.hkeys,
    }
    for key in server.admin.scan_iter(count=1000):
        kind = server.admin.type(key)
        if kind == b"stream" or key.endswith(b":withdrawn"):
            continue
        found |= {key, *(readers[kind](key) if kind in readers else ())}
    return {item.decode(errors="replace") for item in found}


async def many_newer(manager: ImpressMemManager) -> None:
    await manager.store.asave_many(
        {"clue": f"N-{at}", "content": f"note {at}", "category": f"Other{at}", "labels": [f"Label{at}"]}
        for at in range(2000)
    )


async def test_mq14_im45_a_merge_of_clues_keeps_what_belonged_to_the_parts(
    manager: ImpressMemManager, valkey_server: RunningServer
) -> None:
    await manager.save_impression(SOURCE, "a", "C1", ["x", "y"], pin=True)
    await many_newer(manager)
    await manager.save_impression("B", "b", "C2", ["z"])
    done = await manager.merge_clues([SOURCE], "B", "a and b")
    assert done == {"level": "clue", "from": [SOURCE], "to": "B", "saved_content": "a and b"}
    assert names(await manager.get_pinned_clues()) == ["B"]
    held = await manager.store.aget("B")
    assert held is not None
    assert held.content == "a and b"
    assert set(held.labels) == {"x", "y", "z"}
    for category in ("C1", "C2"):
        assert names(await manager.get_category_clues(category)) == ["B"]
    for label in "xyz":
        assert names(await manager.get_label_clues(label)) == ["B"]
    assert await manager.get_impressions_by_clues([SOURCE]) == []
    assert not [member for member in members(valkey_server) if "ZEBRA" in member]


async def test_mq14_labels_of_a_merge_are_at_most_five(manager: ImpressMemManager) -> None:
    await manager.save_impression("A", "a", "C1", ["a1", "a2", "a3", "a4"])
    await manager.save_impression("B", "b", "C1", ["b1", "b2", "b3"])
    await manager.merge_clues(["A"], "B", "both")
    held = await manager.store.aget("B")
    assert held is not None
    assert len(held.labels) == 5
    assert set(held.labels) >= {"b1", "b2", "b3"}


async def test_mq14_im43_a_merge_of_categories_moves_all_and_leaves_nothing(
    manager: ImpressMemManager, valkey_server: RunningServer
) -> None:
    await manager.save_impression("A", "a", SOURCE, ["x", "y"], pin=True)
    await many_newer(manager)
    await manager.save_impression("B", "b", "Food", ["z"])
    done = await manager.merge_categories(SOURCE, "Food")
    assert done == {"level": "category", "from": SOURCE, "to": "Food", "labels_moved": 2, "clues_moved": 1}
    assert set(names(await manager.get_category_clues("Food"))) == {"A", "B"}
    assert set(names(await manager.get_category_labels("Food"))) == {"x", "y", "z"}
    assert names(await manager.get_pinned_clues()) == ["A"]
    assert await manager.get_category_clues(SOURCE) == []
    assert not [member for member in members(valkey_server) if "ZEBRA" in member]


async def test_mq14_im44_a_merge_of_labels_rewires_every_category(
    manager: ImpressMemManager, valkey_server: RunningServer
) -> None:
    await manager.save_impression("A", "a", "C1", [SOURCE, "x"], pin=True)
    await many_newer(manager)
    await manager.save_impression("B", "b", "C2", ["Diet"])
    done = await manager.merge_labels([SOURCE], "Diet")
    assert done == {"level": "label", "from": [SOURCE], "to": "Diet", "clues_moved": 1}
    assert set(names(await manager.get_label_clues("Diet"))) == {"A", "B"}
    assert set(names(await manager.get_category_labels("C1"))) == {"Diet", "x"}
    assert not [member for member in members(valkey_server) if "ZEBRA" in member]


# --- merges that make no sense ----------------------------------------------------------------------------------


async def two(manager: ImpressMemManager) -> list[Impression]:
    for name in ("A", "B"):
        await manager.save_impression(name, f"text {name}", f"C{name}", [f"L{name}"])
    return await everything(manager)


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("NONE", "B", NotFound),
        ("A", "NONE", NotFound),
        ("A", "A", InvalidInput),
        ("", "B", InvalidInput),
        ("A", " ", InvalidInput),
    ],
)
@pytest.mark.parametrize("level", ["category", "label", "clue"])
async def test_mq15_im46_senseless_merges_change_nothing_and_say_why(
    manager: ImpressMemManager, level: str, source: str, target: str, error: type[Exception]
) -> None:
    before = await two(manager)
    prefix = {"category": "C", "label": "L", "clue": ""}[level]
    source, target = (f"{prefix}{name}" if name.strip() else name for name in (source, target))
    merging = {
        "category": lambda: manager.merge_categories(source, target),
        "label": lambda: manager.merge_labels([source], target),
        "clue": lambda: manager.merge_clues([source], target, "both"),
    }
    with pytest.raises(error):
        await merging[level]()
    assert await everything(manager) == before


@pytest.mark.parametrize("content", ["", " \n", "\u200b"])
async def test_mq15_a_merge_of_clues_needs_a_content(manager: ImpressMemManager, content: str) -> None:
    before = await two(manager)
    with pytest.raises(InvalidInput, match="content"):
        await manager.merge_clues(["A"], "B", content)
    with pytest.raises(InvalidInput):
        await manager.merge_clues([], "B", "both")
    assert await everything(manager) == before


async def test_mq15_a_ring_leaves_the_one_that_stands(manager: ImpressMemManager) -> None:
    await two(manager)
    await manager.merge_clues(["A"], "B", "both")
    with pytest.raises(NotFound, match="no clue 'A'"):
        await manager.merge_clues(["B"], "A", "both")
    assert names(await manager.get_recent_clues()) == ["B"]


# --- the organize tool ------------------------------------------------------------------------------------------


def organize(**fields: Any) -> str:
    asked: dict[str, Any] = {
        "level": "clue",
        "from_items": ["A"],
        "to_item": "B",
        "new_content": "both",
        "reason": "the same",
        "check": "nothing is lost",
        "is_redundant": True,
        "is_confirm": True,
    }
    return json.dumps({name: value for name, value in (asked | fields).items() if value is not ...})


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        ({}, ("clue", ["B"])),
        ({"level": "category", "from_items": ["CA"], "to_item": "CB", "new_content": ...}, ("category", ["CB"])),
        ({"level": "label", "from_items": ["LA"], "to_item": "LB", "new_content": ...}, ("label", ["LB"])),
    ],
)
async def test_im40_a_confirmed_merge_is_carried_out(
    manager: ImpressMemManager, fields: dict[str, Any], left: tuple[str, list[str]]
) -> None:
    await two(manager)
    full, summary = await OrganizeImpressionsTool(manager).execute(organize(**fields))
    assert full.startswith(f"Merged {left[0]} ")
    assert summary.startswith(f"Merged {left[0]} ")
    assert "\n" not in summary
    listing = {
        "clue": manager.get_recent_clues,
        "category": manager.get_recent_categories,
        "label": manager.get_recent_labels,
    }
    assert names(await listing[left[0]]()) == left[1]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"is_redundant": False}, "Skipped"),
        ({"is_redundant": ...}, "Skipped"),
        ({"is_confirm": False}, "Not confirmed"),
        ({"is_confirm": ...}, "Not confirmed"),
        ({"reason": ""}, "Not confirmed"),
        ({"check": ...}, "Not confirmed"),
        ({"from_items": ["NONE"]}, "NONE"),
        ({"to_item": "NONE"}, "NONE"),
        ({"to_item": "A"}, "same name"),
        ({"new_content": ""}, "new_content"),
        ({"new_content": ...}, "new_content"),
        ({"from_items": []}, "from_items"),
        ({"level": "category", "from_items": ["CA", "CB"], "to_item": "CC"}, "exactly one"),
        ({"level": "note"}, "level"),
        ({"from_items": ["CNONE"], "level": "category", "to_item": "CB"}, "CNONE"),
        ({"from_items": ["LA"], "level": "label", "to_item": "LNONE"}, "LNONE"),
    ],
)
async def test_mq15_im41_im42_without_sense_or_confirmation_nothing_is_merged(
    manager: ImpressMemManager, fields: dict[str, Any], says: str
) -> None:
    before = await two(manager)
    full, summary = await OrganizeImpressionsTool(manager).execute(organize(**fields))
    assert says in full
    assert "Nothing was" in full
    assert summary
    assert "\n" not in summary
    assert await everything(manager) == before
