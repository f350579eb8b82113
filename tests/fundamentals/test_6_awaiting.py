"""Chapter 6: every operation has an awaitable twin with an `a` in front; both kinds of calls meet in one memory."""

from __future__ import annotations

import asyncio

import redis.asyncio

from impressmem_integrations import ImpressionStore
from impressmem_integrations.maintenance.distiller import RuleDistiller


async def test_twins_do_the_same(alice):
    saved = await alice.asave("ALICE-DIET", "vegetarian", category="Health", labels=["Diet"])
    assert saved.status == "created"
    assert (await alice.aget("ALICE-DIET")) == alice.get("ALICE-DIET")
    assert (await alice.arecall("vegetarian?")).text == alice.recall("vegetarian?").text
    assert (await alice.acontext()).text == alice.context().text


async def test_listings_are_walked_with_async_for(alice):
    alice.save("ALICE-DIET", "vegetarian", category="Health", labels=["Diet"])
    assert [item.clue async for item in alice.aimpressions()] == ["ALICE-DIET"]


async def test_many_at_once(alice):
    await asyncio.gather(
        *(alice.asave(f"NOTE-{at}", f"note {at}", category="Notes", labels=["Many"]) for at in range(20))
    )
    assert len(list(alice.impressions())) == 20


async def test_maintenance_takes_async_models(alice):
    async def model(messages, tools):
        return RuleDistiller()(messages, tools)

    report = await alice.amaintain([{"role": "user", "content": "I'm allergic to peanuts."}], model)
    assert report.saved == ("USER-ALLERGY-PEANUTS",)


def test_a_store_outlives_event_loops(alice):
    for word in ("one", "two"):
        asyncio.run(alice.asave("LOOP", f"loop {word}", category="Notes", labels=["Loop"]))
    assert alice.get("LOOP").content == "loop two"


async def test_an_asyncio_client_of_ones_own_is_used_and_not_closed(server, client):
    async with redis.asyncio.Redis.from_url(server.url) as awaited:
        store = ImpressionStore(client=client, async_client=awaited, user="alice")
        await store.asave("ALICE-DIET", "vegetarian", category="Health", labels=["Diet"])
        await store.aclose()
        assert await awaited.ping()
    assert client.ping()
