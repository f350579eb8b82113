"""Dates that a question names."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from impressmem_integrations.core.when import Named, names_one_of, read_dates, spans_of

TODAY = date(2026, 3, 2)  # a Monday


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What did she paint in May 2023?", [(2023, 5, None)]),
        ("What happened on 7 May, 2023?", [(2023, 5, 7)]),
        ("What happened on May 7th 2023?", [(2023, 5, 7)]),
        ("What happened on the 3rd of August?", [(None, 8, 3)]),
        ("Who came in December?", [(None, 12, None)]),
        ("Where was I in 2021?", [(2021, None, None)]),
        ("notes of 2023-05-07", [(2023, 5, 7)]),
        ("what about 2023/5?", [(2023, 5, None)]),
        ("我2023年5月7日去了哪里？", [(2023, 5, 7)]),
        ("5月に何をしましたか", [(None, 5, None)]),
        ("on 3 June and 9 July 2022", [(None, 6, 3), (2022, 7, 9)]),
        ("between 3 June and 9 July 2022", []),
        ("what changed since 2020?", []),
        ("Was war am 7. Mai 2023?", [(2023, 5, 7)]),
        ("Theater im Mai 2023", [(2023, 5, None)]),
        ("Wer kam im März?", [(None, 3, None)]),
        ("am 7.5.2023 und am 17. 12. 2022", [(2023, 5, 7), (2022, 12, 17)]),
        ("le 7 mai 2023", [(2023, 5, 7)]),
        ("en août", [(None, 8, None)]),
        ("el 7 de mayo de 2023", [(2023, 5, 7)]),
        ("en marzo de 2023", [(2023, 3, None)]),
        ("Is there life on Mars?", []),
        ("on 05/07/2023", []),
        ("May I bring nuts?", []),
        ("May 7 people come?", [(None, 5, 7)]),
        ("Did they march in protest?", []),
        ("How many of the 2000 books were sold?", []),
        ("What is in March's bag?", []),
        ("Call 2023-05-07-1234", [(2023, 5, 7)]),
        ("", []),
    ],
)
def test_dates_are_read_as_they_are_named(question, dates):
    assert sorted(read_dates(question).on(TODAY), key=str) == sorted((Named(*date) for date in dates), key=str)


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("What did I say today?", [(2026, 3, 2)]),
        ("what's up tonight", [(2026, 3, 2)]),
        ("What did I say YESTERDAY?", [(2026, 3, 1)]),
        ("the day before yesterday", [(2026, 2, 28)]),
        ("what was that last month?", [(2026, 2, None)]),
        ("and this month?", [(2026, 3, None)]),
        ("3 days ago", [(2026, 2, 27)]),
        ("two  months ago", [(2026, 1, None)]),
        ("three months ago", [(2025, 12, None)]),
        ("a year ago", [(2025, None, None)]),
        ("Was habe ich heute gesagt?", [(2026, 3, 2)]),
        ("vorgestern und gestern", [(2026, 2, 28), (2026, 3, 1)]),
        ("Was war vor drei Tagen los?", [(2026, 2, 27)]),
        ("im letzten Monat", [(2026, 2, None)]),
        ("diesen Monat", [(2026, 3, None)]),
        ("vor einem Monat", [(2026, 2, None)]),
        ("Qu'est-ce que j'ai dit hier ?", [(2026, 3, 1)]),
        ("avant-hier", [(2026, 2, 28)]),
        ("Aujourd’hui", [(2026, 3, 2)]),
        ("le mois dernier", [(2026, 2, None)]),
        ("il y a 10 jours", [(2026, 2, 20)]),
        ("l'année dernière", [(2025, None, None)]),
        ("¿Qué dije ayer?", [(2026, 3, 1)]),
        ("anteayer", [(2026, 2, 28)]),
        ("el mes pasado", [(2026, 2, None)]),
        ("hace dos días", [(2026, 2, 28)]),
        ("昨天我们聊了什么", [(2026, 3, 1)]),
        ("前天和今天", [(2026, 2, 28), (2026, 3, 2)]),
        ("上個月我們聊了什麼", [(2026, 2, None)]),
        ("三天前我说了什么", [(2026, 2, 27)]),
        ("两个月前", [(2026, 1, None)]),
        ("昨日何を話しましたか", [(2026, 3, 1)]),
        ("一昨日", [(2026, 2, 28)]),
        ("先月は", [(2026, 2, None)]),
        ("3日前", [(2026, 2, 27)]),
        ("3ヶ月前", [(2025, 12, None)]),
        ("yesterday and on 7 May 2023", [(2026, 3, 1), (2023, 5, 7)]),
        ("last night", [(2026, 3, 1)]),
        ("this morning", [(2026, 3, 2)]),
        ("hier soir", [(2026, 3, 1)]),
        ("antes de ayer", [(2026, 2, 28)]),
        ("anoche", [(2026, 3, 1)]),
        ("ce matin", [(2026, 3, 2)]),
        ("cet après-midi", [(2026, 3, 2)]),
        ("hoy", [(2026, 3, 2)]),
        ("esta noche", [(2026, 3, 2)]),
        ("ce mois-ci", [(2026, 3, None)]),
        ("este mes", [(2026, 3, None)]),
        ("hace un mes", [(2026, 2, None)]),
        ("il y a deux mois", [(2026, 1, None)]),
        ("this year", [(2026, None, None)]),
        ("dieses Jahr", [(2026, None, None)]),
        ("cette année", [(2026, None, None)]),
        ("este año", [(2026, None, None)]),
        ("last year", [(2025, None, None)]),
        ("letztes Jahr", [(2025, None, None)]),
        ("l'an dernier", [(2025, None, None)]),
        ("el año pasado", [(2025, None, None)]),
        ("vor 2 Jahren", [(2024, None, None)]),
        ("il y a un an", [(2025, None, None)]),
        ("hace tres años", [(2023, None, None)]),
        ("今年と去年", [(2026, None, None), (2025, None, None)]),
        ("三年前", [(2023, None, None)]),
        # what only looks like a date
        ("may", []),
        ("I may go", []),
        ("I may go on the second", []),
        ("Give me a second", []),
        ("Did they march on the town?", []),
        ("Wer war hier?", []),
        ("wie is hier", []),
        ("hier", []),
        ("It costs $7.50, or 2,023 yen", []),
        ("7 May-bugs for 5.20 euros", [(None, 5, 7)]),
        ("目前天气怎么样", []),
        ("以前天天跑步", []),
        ("晚上周末", []),
        ("hoy en día", []),
        ("十二天前", []),
        ("ago", []),
        ("a long time ago", []),
        ("in the last week", []),
        ("since yesterday", []),
        ("bis heute", []),
        ("depuis hier, j'ai mal", []),
        ("desde ayer", []),
        ("everyday", []),
        ("non-today", []),
        ("5月3日前", [(None, 5, 3)]),
        ("İstanbul today", [(2026, 3, 2)]),
    ],
)
def test_times_from_today_on_are_read_in_six_languages(question, dates):
    assert sorted(read_dates(question).on(TODAY), key=str) == sorted((Named(*date) for date in dates), key=str)


@pytest.mark.parametrize(
    ("question", "monday"),
    [
        ("this week", date(2026, 3, 2)),
        ("last week's plan", date(2026, 2, 23)),
        ("letzte Woche", date(2026, 2, 23)),
        ("diese Woche", date(2026, 3, 2)),
        ("cette semaine", date(2026, 3, 2)),
        ("la semana pasada", date(2026, 2, 23)),
        ("in der vergangenen Woche", date(2026, 2, 23)),
        ("la semaine dernière", date(2026, 2, 23)),
        ("esta semana", date(2026, 3, 2)),
        ("上周", date(2026, 2, 23)),
        ("上个星期", date(2026, 2, 23)),
        ("先週", date(2026, 2, 23)),
        ("今週", date(2026, 3, 2)),
        ("2 weeks ago", date(2026, 2, 16)),
        ("vor einer Woche", date(2026, 2, 23)),
        ("il y a deux semaines", date(2026, 2, 16)),
        ("hace 2 semanas", date(2026, 2, 16)),
        ("两周前", date(2026, 2, 16)),
        ("1週間前", date(2026, 2, 23)),
    ],
)
@pytest.mark.parametrize("weekday", [0, 6])
def test_a_week_is_its_seven_days(question, monday, weekday):
    days = [monday + timedelta(days=step) for step in range(7)]
    asked = read_dates(question).on(TODAY + timedelta(days=weekday))
    assert asked == tuple(Named(day.year, day.month, day.day) for day in days)


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("What did I tell you yesterday?", True),
        ("what happened on 7 May 2023?", True),
        ("Can you remind me what we talked about last week, please?", True),
        ("yesterday", True),
        ("was habe ich letzte Woche erzählt?", True),
        ("Worüber haben wir gestern gesprochen?", True),
        ("De quoi avons-nous parlé hier ?", True),
        ("il y a deux semaines, on a parlé de quoi ?", True),
        ("¿De qué hablamos hace 2 semanas?", True),
        ("昨天我们聊了什么", True),
        ("我2023年5月7日去了哪里？", True),
        ("昨日何を話しましたか？", True),
        ("先週はどんな話をした？", True),
        ("What did I eat yesterday?", False),
        ("What did Maria tell me yesterday?", False),
        ("Was hat Jonas gestern gekauft?", False),
        ("昨天我吃了什么水果", False),
        ("昨日、京都で何を食べましたか", False),
        ("昨日さくらの話をした？", False),
        ("What did I tell you?", False),
        ("", False),
    ],
)
def test_a_question_asks_for_nothing_else_than_a_time(question, alone):
    assert read_dates(question).alone is alone


def test_of_a_text_full_of_dates_the_first_count():
    days = " ".join(f"{1 + n % 28} May {1990 + n % 30} yesterday" for n in range(400))
    assert len(read_dates(days).on(TODAY)) == 40


def test_spans_are_the_dates_newest_first_then_the_hours_around_them():
    asked = (Named(2023, 5, 7), Named(2023, 5, 8), Named(2021, 12, None))
    days = [datetime(2023, 5, 7, tzinfo=UTC), datetime(2021, 12, 1, tzinfo=UTC)]
    ends = [datetime(2023, 5, 9, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)]
    hours = timedelta(hours=14)
    around = [span for day, end in zip(days, ends, strict=True) for span in ((end, end + hours), (day - hours, day))]
    assert spans_of(asked, TODAY) == [*zip(days, ends, strict=True), *around]
    assert spans_of([Named(2023, 2, 30)], TODAY) == []


def test_a_date_without_a_year_is_the_last_ten_that_had_begun():
    starts = [start.year for start, _ in Named(None, 12, None).spans(TODAY)]
    assert starts == list(range(2025, 2016, -1))
    assert [start.year for start, _ in Named(None, 2, 29).spans(TODAY)] == [2024, 2020]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("the concert is on May 7, 2023, after work", True),
        ("Konzert am 7.5.2023", True),
        ("every year on 7 May", True),
        ("in May 2023", False),
        ("in 2023", False),
        ("2023 for 7", False),
        ("7 May 2022", False),
    ],
)
def test_a_text_names_a_date_itself(text, names):
    assert names_one_of(text, [Named(2023, 5, 7)]) is names


def test_a_day_is_one_wherever_it_was_said():
    assert Named(2023, 5, 7).includes(datetime(2023, 5, 7, 12, tzinfo=UTC))
    assert Named(2023, 5, 7).includes(datetime(2023, 5, 8, 3, tzinfo=UTC))  # the evening before, in Honolulu
    assert not Named(2023, 5, 7).includes(datetime(2023, 5, 9, tzinfo=UTC))
    assert Named(None, 12, None).includes(datetime(2019, 12, 24, tzinfo=UTC))
    assert not Named(2021, None, None).includes(datetime(2022, 6, 1, tzinfo=UTC))
