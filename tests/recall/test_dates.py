"""Questions that ask for a time: what was said then is found without a word of it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.core.commands import said as said_commands
from impressmem_integrations.core.commands.records import encode_record
from tests.scripted import said

ANSWER = "I see."
DAY = datetime(2023, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def alice(client):
    return ImpressionStore(client=client, user="alice")


@pytest.fixture
def noon(client) -> datetime:
    """Noon of the server's day."""
    seconds, _ = client.time()
    return datetime.fromtimestamp(seconds, UTC).replace(hour=12, minute=0, second=0, microsecond=0)


def note(store: ImpressionStore, clue: str, content: str, at: datetime | None = None, **more) -> None:
    store.save(clue, content, category="General", labels=["Note"], said_at=at, **more)


def contents(store: ImpressionStore, question: str, **more) -> list[str]:
    """What a question finds, without the answers that came with what was said."""
    return [item.content for item in store.recall(question, **more).items if item.content != ANSWER]


@pytest.fixture
def may(alice):
    """Notes and turns of some days of May, the notes said on these days and saved today."""
    for day in (3, 5, 7, 9, 11):
        at = DAY.replace(day=day)
        note(alice, f"N{day}", f"note of day {day}: planted beans", at)
        alice.remember_turns(said(f"turn of day {day}, I swam"), thread_id=f"t{day}", at=at)
    return alice


@pytest.mark.parametrize(
    "question",
    [
        "what happened on 7 May 2023?",
        "What did I tell you on 2023-05-07?",
        "What happened on Sunday, 7 May 2023?",
        "what did we talk about on the evening of 7 May 2023?",
        "Was war am 7. Mai 2023?",
        "Was geschah am 7. Mai 2023?",
        "Qu'est-ce que j'ai dit le 7 mai 2023 ?",
        "¿Qué te conté el 7 de mayo de 2023?",
        "我们2023年5月7日聊了什么？",
        "2023年5月7日に何を話しましたか",
    ],
)
def test_a_date_alone_finds_what_was_said_on_it(may, question):
    found = may.recall(question)
    assert {item.content for item in found.items} == {"note of day 7: planted beans", "turn of day 7, I swam", ANSWER}
    assert [dict(item.receipt) for item in found.items] == [{"dates": 1}, {"dates": 2}, {"dates": 3}]
    (day,) = re.findall(r"^\d{4}-.*:$", found.text, re.MULTILINE)
    assert day == "2023-05-07:"


def test_a_month_finds_all_of_it_the_newest_first(may):
    note(may, "JUNE", "picked beans", datetime(2023, 6, 20, tzinfo=UTC))
    found = contents(may, "what happened in May 2023?")
    assert len(found) == 10
    assert "picked beans" not in found
    assert found[0] == "note of day 11: planted beans"


def test_a_month_without_a_year_is_one_of_the_last_ten(may):
    note(may, "OLD", "sowed beans", datetime(2009, 5, 2, tzinfo=UTC))
    found = contents(may, "what happened in May?")
    assert len(found) == 10
    assert "sowed beans" not in found


@pytest.mark.parametrize(
    "question",
    [
        "What did I tell you yesterday?",
        "was habe ich gestern erzählt?",
        "Qu'est-ce que je t'ai dit hier ?",
        "¿Qué te conté ayer?",
        "昨天我们聊了什么",
        "昨日は何を話しましたか",
    ],
)
def test_yesterday_is_told_by_the_servers_clock(alice, noon, question):
    for n in range(20):
        note(alice, f"TELL-{n}", f"wants to tell and told tales of {n} yesterday, hier", noon - timedelta(days=9))
    alice.remember_turns(said("I bought a canoe"), at=noon - timedelta(days=1))
    note(alice, "CANOE", "has a canoe", noon - timedelta(days=1))
    alice.remember_turns(said("I sold a tent"), thread_id="old", at=noon - timedelta(days=4))
    assert set(contents(alice, question)) == {"has a canoe", "I bought a canoe"}


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what did we discuss last week?", 7),
        ("was war letzte Woche los?", 7),
        ("上周我们聊了什么", 7),
        ("2週間前は？", 14),
    ],
)
def test_a_week_is_one_from_monday(alice, noon, question, days):
    monday = noon - timedelta(days=noon.weekday() + days)
    for step in (-2, 0, 6, 9):
        note(alice, f"N{step}", f"note {step}", monday + timedelta(days=step))
    assert contents(alice, question) == ["note 6", "note 0"]


def test_what_was_only_saved_then_counts_by_its_save(alice):
    note(alice, "A", "plays the oboe")
    assert contents(alice, "What did I say today?") == ["plays the oboe"]
    assert contents(alice, "What did I say 5 days ago?") == []


def test_of_its_day_in_utc_comes_before_of_its_day_elsewhere(alice):
    for hours in (-15, -13, 0, 13, 23, 25):
        note(alice, f"H{hours}", f"hour {hours}", datetime(2023, 5, 7, tzinfo=UTC) + timedelta(hours=hours))
    found = contents(alice, "what happened on 7 May 2023?")
    assert found == ["hour 23", "hour 13", "hour 0", "hour 25", "hour -13"]


def test_a_note_that_names_the_date_comes_before_what_was_said_then(may):
    note(may, "CONCERT", "sings at the concert on May 7, 2023, after work", DAY - timedelta(days=60))
    note(may, "OTHER", "paid 2023 euros for 7 lessons", DAY - timedelta(days=60))
    found = may.recall("what happened on 2023-05-07?")
    assert [item.clue for item in found.items][:2] == ["CONCERT", "N7"]
    assert set(found.items[0].receipt) == {"notes"}
    assert "OTHER" not in [item.clue for item in found.items]


def test_a_question_with_words_is_answered_by_words_and_its_date_fills_what_is_left(may):
    for n in range(4):
        note(may, f"KITE-{n}", "owns a kite")
    note(may, "KAYAK", "bought a kayak", DAY)
    found = may.recall("Who planted beans on 7 May 2023?")
    assert found.items[0].clue == "N7"
    assert all("dates" not in item.receipt for item in found.items)
    filled = may.recall("Who planted beans on 7 May 2023?", fill=True).items
    by_clue = {item.clue: item for item in filled}
    assert by_clue["N7"].score == pytest.approx(found.items[0].score)
    assert set(by_clue["N7"].receipt) == {"notes", "dates"}
    assert set(by_clue["KAYAK"].receipt) == {"dates"}
    by_words = [item.score for item in filled if item.receipt.keys() - {"dates"}]
    assert min(by_words) > by_clue["KAYAK"].score > by_clue["KITE-3"].score == 0


def test_what_asks_for_more_than_a_date_shows_nothing_where_words_find_nothing(may):
    assert may.recall("Which zeppelin flew in May?").items == ()


def test_other_days_are_held_back_where_a_question_says_yesterday(alice, noon):
    for days in (1, 5):
        note(alice, f"D{days}", f"painted boat {days}", noon - timedelta(days=days))
    found = {item.clue: item.score for item in alice.recall("Which boat did I paint yesterday?").items}
    assert found["D1"] > 1.5 * found["D5"]


def test_a_context_shows_it_beside_the_question(may):
    for n in range(60):
        note(may, f"FILLER-{n}", f"item number {n} " + "x" * 60)
    made = may.context("what happened on 7 May 2023?", budget_units=500)
    assert "turn of day 7" in made.relevant
    assert "day 5" not in made.relevant


def test_another_scope_is_not_seen(may, client):
    bob = ImpressionStore(client=client, user="bob")
    assert bob.recall("what happened on 7 May 2023?").items == ()
    bob.remember_turns(said("bob's own"), at=DAY)
    assert contents(bob, "what happened on 7 May 2023?") == ["bob's own"]


def test_expired_and_forgotten_notes_are_not_shown(may, client):
    note(may, "SOON", "parked in row 7", DAY, ttl_seconds=3_600)
    assert "parked in row 7" in contents(may, "what happened on 7 May 2023?")
    client.zadd(next(client.scan_iter("*:expiry")), {"SOON": 1})
    may.forget("N7")
    assert contents(may, "what happened on 7 May 2023?") == ["turn of day 7, I swam"]


def test_an_empty_scope_and_one_without_turns(alice, client):
    assert alice.recall("what happened yesterday?").items == ()
    assert alice.recall("what happened yesterday?", fill=True).items == ()
    quiet = ImpressionStore(client=client, user="quiet", limits=Limits(keep_turns=False))
    note(quiet, "A", "likes tea", DAY)
    assert contents(quiet, "what happened on 7 May 2023?") == ["likes tea"]


def test_the_same_question_gives_the_same_bytes_within_the_budget(may):
    for n in range(80):
        may.remember_turns(said(f"more of it, number {n}"), thread_id=f"more{n}", at=DAY)
    texts = {may.recall("what happened on 7 May 2023?", budget_units=200).text for _ in range(5)}
    assert len(texts) == 1
    found = may.recall("what happened on 7 May 2023?", budget_units=200)
    assert found.units <= 200
    assert {omission.why for omission in found.omitted} == {"budget"}


def test_a_date_that_no_calendar_has_finds_nothing(may):
    assert may.recall("what happened on 30 February 2023?").items == ()


@pytest.mark.parametrize(
    "question",
    [
        "what happened between 5 and 9 May 2023?",
        "What did I tell you from May 5 to May 9, 2023?",
        "Was geschah vom 5. bis 9. Mai 2023?",
        "Qu'est-ce que j'ai dit du 5 au 9 mai 2023 ?",
        "¿Qué te conté entre el 5 y el 9 de mayo de 2023?",
        "2023年5月5日到9日我们聊了什么",
        "2023年5月5日から9日まで何を話しましたか",
    ],
)
def test_a_span_finds_all_of_it_the_newest_first(may, question):
    found = contents(may, question)
    notes = [text for text in found if text.startswith("note")]
    assert notes == [f"note of day {day}: planted beans" for day in (9, 7, 5)]
    assert len(found) == 6


def test_since_a_day_reaches_to_today(may, noon):
    note(may, "FIGS", "picked figs", noon - timedelta(days=2))
    note(may, "KEPT", "kept bees", noon)
    assert contents(may, f"what happened since {noon - timedelta(days=3):%Y-%m-%d}?") == ["kept bees", "picked figs"]
    assert contents(may, "what did we talk about in the last 3 days?") == ["kept bees", "picked figs"]
    assert len(contents(may, "what happened since 7 May 2023?", budget_units=2_000)) == 8
    assert contents(may, "what happened before 6 May 2023?") == []


def test_other_times_are_held_back_where_a_question_names_a_span(alice, noon):
    for days in (1, 9):
        note(alice, f"D{days}", f"painted boat {days}", noon - timedelta(days=days))
    found = {item.clue: item.score for item in alice.recall("Which boat did I paint in the last 4 days?").items}
    assert found["D1"] > 1.5 * found["D9"]


@pytest.mark.parametrize(
    "question", ["What did I say on {english}?", "Was habe ich am {german} gesagt?", "星期{chinese}我们聊了什么"]
)
def test_a_weekday_finds_the_newest_of_them(alice, noon, question):
    day = noon - timedelta(days=3)
    at = day.weekday()
    named = question.format(
        english=f"{day:%A}",
        german=["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"][at],
        chinese="一二三四五六日"[at],
    )
    for days in (3, 5, 10):
        note(alice, f"D{days}", f"painted boat {days}", noon - timedelta(days=days))
    assert contents(alice, named) == ["painted boat 3"]


def test_what_says_a_weekday_comes_under_what_was_said_on_it(alice, noon):
    day = noon - timedelta(days=3)
    note(alice, "CLASS", f"has a yoga class on {day:%A}", noon - timedelta(days=40))
    note(alice, "BOAT", "painted the boat", day)
    found = alice.recall(f"What did I say on {day:%A}?").items
    assert [item.clue for item in found] == ["BOAT", "CLASS"]
    assert [dict(item.receipt) for item in found] == [{"dates": 1}, {"notes": 1, "weekday": 1}]
    assert contents(alice, f"What is on {day:%A}?")[0] == f"has a yoga class on {day:%A}"


def test_on_a_weekday_that_is_today_the_last_one_comes_first(alice, noon):
    for days in (0, 7):
        note(alice, f"D{days}", f"painted boat {days}", noon - timedelta(days=days))
    assert contents(alice, f"What did I say on {noon:%A}?") == ["painted boat 7", "painted boat 0"]


@pytest.mark.parametrize("greeting", ["How are you today?", "今日は", "What is the date today?", "今天你在吗"])
def test_a_greeting_is_no_question_for_what_was_said_today(alice, noon, greeting):
    note(alice, "BOAT", "painted the boat", noon)
    assert contents(alice, greeting) == []
    assert alice.context(greeting).relevant == ""


@pytest.mark.parametrize("hours", [34, -10])
def test_of_equal_words_the_nearest_to_the_day_come_first(alice, hours):
    """Both are within the 14 hours that a day may reach elsewhere."""
    day, beside = DAY, DAY.replace(hour=0) + timedelta(hours=hours)
    for clue, at in (("FAR", beside), ("ON", day), ("AFAR", beside)):
        note(alice, clue, "painted the boat", at)
        alice.remember_turns(said(f"I painted a canoe {clue}"), thread_id=clue, at=at)
    found = alice.recall("Who painted the boat on 7 May 2023?").items
    assert next(item.clue for item in found if item.impression) == "ON"
    found = alice.recall("Who painted a canoe on 7 May 2023?").items
    assert next(item.said_at for item in found if "canoe" in item.content) == day
    filed = alice.recall("Who painted the boat on 7 May 2023?", category="General").items
    assert filed[0].clue == "ON"


# --- more is kept than is looked at -----------------------------------------------------------------------------------


@pytest.fixture
def few_looks(monkeypatch):
    monkeypatch.setattr(said_commands, "_MOST_LOOKED_AT", 110)


def test_a_day_is_found_among_many_turns_as_they_were_said(alice, few_looks):
    for day in range(30):
        talk = [message for n in range(10) for message in said(f"day {day} said {n}")]
        alice.remember_turns(talk, thread_id=f"t{day}", at=DAY + timedelta(days=2 * day))
    assert alice.stats().turns == 600
    for day in (0, 13, 29):
        date = f"{DAY + timedelta(days=2 * day):%Y-%m-%d}"
        found = contents(alice, f"what happened on {date}?", budget_units=2_000)
        assert {text for text in found if text.startswith(f"day {day} ")} == {f"day {day} said {n}" for n in range(10)}


def test_gaps_of_forgotten_turns_are_stepped_over(alice, few_looks, client):
    for day in range(200):
        alice.remember_turns(said(f"day {day}"), thread_id=f"t{day}", at=DAY + timedelta(days=2 * day))
    turns = next(client.scan_iter("*:turns"))
    kept = client.hgetall(turns)
    gone = {place: value for place, value in kept.items() if 120 <= int(place) <= 360 and int(place) != 201}
    client.hdel(turns, *gone)
    assert contents(alice, f"what happened on {DAY + timedelta(days=200):%Y-%m-%d}?") == ["day 100"]
    assert contents(alice, f"what happened on {DAY + timedelta(days=20):%Y-%m-%d}?") == ["day 10"]
    client.hset(turns, mapping=gone)


def test_notes_of_a_day_are_found_among_many_touched_since(alice, few_looks):
    alice.save_many(
        {"clue": f"N{n}", "content": f"note {n}", "category": "A", "labels": ["l"]}
        | ({"said_at": DAY} if n > 295 else {})
        for n in range(300)
    )
    assert set(contents(alice, "what happened on 7 May 2023?")) == {f"note {n}" for n in range(296, 300)}
    assert len(contents(alice, "what happened today?", budget_units=8_000)) > 100


def test_the_time_stands_last_on_the_first_line_of_a_record():
    """`lua/said_between.lua` reads it there, though records are bytes to other scripts."""
    assert encode_record("a", "s", {"t": 1}, DAY).startswith(b'{"s":"s","v":{"t":1},"t":1683460800000}\n')
    assert encode_record('x","t":5}\n', "s", {"t": 5}).splitlines()[0].endswith(b"}}")
