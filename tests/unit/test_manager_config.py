"""Settings of a manager: what each one changes, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import uuid
from datetime import UTC, timedelta, timezone

import pytest

from impressmem_integrations import ImpressMemConfig, ImpressMemManager, RecallImpressionsTool
from impressmem_integrations.errors import ConfigurationError, StoreUnavailable
from tests.servers import RunningServer, free_port, valkey_binary


@pytest.fixture
def make(valkey_server):
    """Makes managers on the test's server; settings are those of the config."""
    made = []

    def manager(**settings) -> ImpressMemManager:
        config = ImpressMemConfig(**{"redis_config": {"url": valkey_server.url}, **settings})
        made.append(ImpressMemManager(config))
        return made[-1]

    yield manager
    for one in made:
        one.store.close()


async def fill(manager: ImpressMemManager, count: int = 6) -> None:
    for n in range(count):
        saved = await manager.save_impression(f"CLUE-{n}", f"note number {n}", f"Category{n}", [f"Label{n}"])
        assert saved.ok


# --- each field changes what the manager returns ----------------------------------------------------------------


async def test_bot_name_chooses_the_memory_and_case_counts(make):
    await fill(make(bot_name="Bot A"), 1)
    assert [name for name, _ in await make(bot_name="Bot A").get_recent_clues()] == ["CLUE-0"]
    assert [name for name, _ in await make(bot_id="Bot A").get_recent_clues()] == ["CLUE-0"]
    for other in ("bot a", "Bot_A", "Bot A "):
        assert await make(bot_name=other).get_recent_clues() == []


async def test_categories_per_set(make):
    await fill(make())
    few = make(categories_per_set=2)
    assert [name for name, _ in await few.get_recent_categories()] == ["Category5", "Category4"]
    assert "Categories, oldest first: Category4, Category5\n" in await few.build_memory_context()
    assert len(await make().get_recent_categories()) == 6


async def test_labels_per_set(make):
    await fill(make())
    few = make(labels_per_set=2)
    assert [name for name, _ in await few.get_recent_labels()] == ["Label5", "Label4"]
    assert len(await few.get_mixed_labels()) == 2
    text, _ = await RecallImpressionsTool(few).execute("{}")
    assert "Related labels: Label5, Label4\n" in text
    assert len(await make().get_recent_labels()) == 6


async def test_clues_per_set(make):
    await fill(make())
    few = make(clues_per_set=2)
    assert [name for name, _ in await few.get_recent_clues()] == ["CLUE-5", "CLUE-4"]
    assert len(await few.get_mixed_impressions()) == 2
    assert "(4 more notes are stored and not shown.)" in await few.build_memory_context()
    assert len(await make().get_mixed_impressions()) == 6


async def test_impression_text_units_per_set(make):
    await fill(make())
    few = make(impression_text_units_per_set=50)  # two lines of about 20 units
    assert len(await few.get_mixed_impressions()) == 2
    assert len(await few.get_impressions_by_clues([f"CLUE-{n}" for n in range(6)])) == 6  # 8 units each
    _, summary = await RecallImpressionsTool(few).execute("{}")
    assert summary != (await RecallImpressionsTool(make()).execute("{}"))[1] == "Recalled 6 impressions"


async def test_the_two_marks(make):
    manager = make(unpinned_emoji="◽", pinned_emoji="🔒")
    await manager.save_impression("A", "a", "C", ["L"])
    await manager.save_impression("B", "b", "C", ["L"], pin=True)
    assert [mark for mark, _, _ in await manager.get_mixed_impressions()] == ["🔒", "◽"]
    context = await manager.build_memory_context()
    assert "][◽][A]a" in context
    assert "][🔒][B]b" in context


async def test_the_pinned_mark_pins_and_the_other_unpins(make):
    manager = make(unpinned_emoji="◽", pinned_emoji="🔒")
    await manager.save_impression("A", "a", "C", ["L"], pin="🔒")
    assert [name for name, _ in await manager.get_pinned_clues()] == ["A"]
    await manager.save_impression("A", "a", "C", ["L"], pin="◽")
    assert await manager.get_pinned_clues() == []
    refused = await manager.save_impression("A", "a", "C", ["L"], pin="📌")  # not this manager's mark
    assert (refused.status, "pin" in refused.error) == ("refused", True)


async def test_mq07_two_managers_show_one_instant_each_in_its_zone(make):
    tokyo, utc = make(timezone="Asia/Tokyo"), make()
    await tokyo.save_impression("A", "a", "C", ["L"])
    texts = [await manager.build_memory_context() for manager in (tokyo, utc, make(timezone=timezone(timedelta(0))))]
    assert "+09:00][⚪][A]a" in texts[0]
    assert "+00:00][⚪][A]a" in texts[1]
    assert texts[1] == texts[2]
    assert "+09:00][A]a" in (await RecallImpressionsTool(tokyo).execute("{}"))[0]


# --- where the server is -----------------------------------------------------------------------------------------


async def saves_and_reads(redis_config) -> bool:
    async with ImpressMemManager(ImpressMemConfig(redis_config=redis_config)) as manager:
        await manager.save_impression("A", "a", "C", ["L"])
        return [name for name, _ in await manager.get_recent_clues()] == ["A"]


async def test_fields_and_url_reach_the_server_they_name():
    with RunningServer(valkey_binary(), tcp=True, password="hunter2") as server:
        secret = "p@ss:w/ord"
        server.admin.acl_setuser("a:nn", enabled=True, passwords=[f"+{secret}"], keys=["*"], commands=["+@all"])
        place = {"host": "127.0.0.1", "port": server.port}
        assert await saves_and_reads({**place, "password": "hunter2"})
        assert await saves_and_reads({**place, "db": 3, "username": "a:nn", "password": secret})
        assert await saves_and_reads({"url": f"redis://:hunter2@127.0.0.1:{server.port}/5"})
        assert set(server.admin.info("keyspace")) == {"db0", "db3", "db5"}
        for wrong in ({**place, "password": "hunter3"}, place, {**place, "password": ""}):
            with pytest.raises(ConfigurationError) as caught:
                await saves_and_reads(wrong)
            assert "hunter" not in str(caught.value)


async def test_the_embedded_server_is_a_url():
    assert await saves_and_reads({"url": "embedded://:memory:"})


def test_the_default_is_localhost():
    assert ImpressMemConfig().url == "redis://localhost:6379/0"
    assert ImpressMemConfig(redis_config={"host": "cache.example"}).url == "redis://cache.example:6379/0"
    assert ImpressMemConfig(redis_config={"host": "::1", "port": "7000"}).url == "redis://[::1]:7000/0"


async def test_constructing_opens_nothing_and_the_error_names_the_place():
    port = free_port()
    manager = ImpressMemManager(ImpressMemConfig(redis_config={"host": "127.0.0.1", "port": port}))
    with pytest.raises(StoreUnavailable, match=f"127.0.0.1:{port}"):
        await manager.build_memory_context()
    await manager.close()
    await manager.close()


# --- what is refused ---------------------------------------------------------------------------------------------


async def test_lc07_bot_names_that_are_no_texts(make):
    await fill(make(bot_name=1), 1)
    assert len(await make(bot_name="1").get_recent_clues()) == 1
    key = uuid.UUID(int=7)
    await fill(make(bot_id=key), 1)
    assert len(await make(bot_name=str(key)).get_recent_clues()) == 1


@pytest.mark.parametrize("wrong", ["", None, True, 1.5, b"x"])
@pytest.mark.parametrize("field", ["bot_name", "bot_id"])
def test_lc07_no_name_is_an_error_and_no_default(field, wrong):
    with pytest.raises(ConfigurationError, match="bot"):
        ImpressMemConfig(**{field: wrong})


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"bot_name": "a", "bot_id": "b"}, "bot_id"),
        ({"categories_per_set": 0}, "categories_per_set"),
        ({"labels_per_set": "9"}, "labels_per_set"),
        ({"clues_per_set": True}, "clues_per_set"),
        ({"impression_text_units_per_set": -1}, "impression_text_units_per_set"),
        ({"pinned_emoji": ""}, "pinned_emoji"),
        ({"unpinned_emoji": "a\nb"}, "unpinned_emoji"),
        ({"pinned_emoji": "⚪"}, "differ"),
        ({"timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"timezone": 9}, "timezone"),
        ({"redis_config": None}, "redis_config"),
        ({"redis_config": {"hots": "x"}}, "hots"),
        ({"redis_config": {"url": ""}}, "url"),
        ({"redis_config": {"url": "redis://h", "db": 1}}, "alone"),
        ({"redis_config": {"host": "redis://h"}}, "host"),
        ({"redis_config": {"port": 0}}, "port"),
        ({"redis_config": {"db": "x"}}, "db"),
        ({"redis_config": {"password": 5}}, "password"),
    ],
)
def test_a_wrong_setting_is_named(settings, named):
    with pytest.raises(ConfigurationError, match=named):
        ImpressMemConfig(**settings)


def test_a_url_of_another_kind_is_refused_when_the_manager_is_made():
    with pytest.raises(ConfigurationError, match="http"):
        ImpressMemManager(ImpressMemConfig(redis_config={"url": "http://h"}))


def test_sp09_no_password_in_repr():
    config = ImpressMemConfig(redis_config={"host": "h", "password": "hunter2"})
    assert "hunter2" not in f"{config!r} {ImpressMemManager(config)!r}"


def test_nb04_no_handler_of_ours():
    """In a process of its own: other tests set levels to look at what is logged."""
    code = """
import logging
from impressmem_integrations import ImpressMemConfig, ImpressMemManager
ImpressMemManager(ImpressMemConfig())
ours = [logging.getLogger(name) for name in logging.Logger.manager.loggerDict if name.startswith("impressmem")]
assert ours
assert all(isinstance(h, logging.NullHandler) for logger in ours for h in logger.handlers)
assert all(logger.level == logging.NOTSET for logger in ours)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_zone_is_utc_unless_set():
    assert ImpressMemConfig().zone is UTC
