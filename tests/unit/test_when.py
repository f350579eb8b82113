"""Dates that a question names."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from impressmem_integrations.core.times import Named, Perhaps, Span, hours_from, spans_of
from impressmem_integrations.core.when import names_one_of, read_dates

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
        ("on 25/12/2023", [(2023, 12, 25)]),
        ("on 12/25/2023", [(2023, 12, 25)]),
        ("am 13-07-2023", [(2023, 7, 13)]),
        ("on 5/05/2023", [(2023, 5, 5)]),
        ("call 13-07-2023-44", []),
        ("call 5-13-07-2023", []),
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
        ("bis heute", []),
        ("in the last days", []),
        ("in den letzten Tagen", []),
        ("the last week of term", []),
        # weekdays that say which they are
        ("last Tuesday", [(2026, 2, 24)]),
        ("letzten Freitag", [(2026, 2, 27)]),
        ("vendredi dernier", [(2026, 2, 27)]),
        ("el domingo pasado", [(2026, 3, 1)]),
        ("上周五", [(2026, 2, 27)]),
        ("先週の火曜日", [(2026, 2, 24)]),
        ("next Friday", []),
        ("every Friday", []),
        ("下周五", []),
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
        ("What did I say between 3 and 9 May 2023?", True),
        ("what happened in the last three days?", True),
        ("Was habe ich seit Montag gesagt?", True),
        ("what about last week?", True),
        # beside today many a sentence has nothing but function words
        ("today", True),
        ("What happened today?", True),
        ("Where was I today?", True),
        ("What can you tell me about today?", True),
        ("今天我们聊了什么", True),
        ("How are you today?", False),
        ("How are you this week?", False),
        ("Who are you today", False),
        ("What is the date today?", False),
        ("What shall we do today?", False),
        ("Wer bist du heute?", False),
        ("Qui es-tu aujourd'hui ?", False),
        ("¿Qué es hoy?", False),
        ("今天你在吗", False),
        ("今日は", False),
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


SPANS = [
    ("between 3 June and 9 July 2022", "2022-06-03", "2022-07-09"),
    ("between 3 and 9 May 2023", "2023-05-03", "2023-05-09"),
    ("from May 3rd through May 9th, 2023", "2023-05-03", "2023-05-09"),
    ("from May 3 to 9", "2025-05-03", "2025-05-09"),
    ("from January to February", "2026-01-01", "2026-02-28"),
    ("from December to February", "2025-12-01", "2026-02-28"),
    ("from November to February 2023", "2022-11-01", "2023-02-28"),
    ("from November 2022 to February", "2022-11-01", "2023-02-28"),
    ("from 2020 to 2022", "2020-01-01", "2022-12-31"),
    ("2020-2022", "2020-01-01", "2022-12-31"),
    ("3-9 May 2023", "2023-05-03", "2023-05-09"),
    ("May 3–9, 2023", "2023-05-03", "2023-05-09"),
    ("2023-05-03 to 2023-05-09", "2023-05-03", "2023-05-09"),
    ("2023-05-03 - 2023-05-09", "2023-05-03", "2023-05-09"),
    ("zwischen dem 3. und dem 9. Mai 2023", "2023-05-03", "2023-05-09"),
    ("vom 3. bis zum 9. Mai", "2025-05-03", "2025-05-09"),
    ("3.5.2023 bis 9.5.2023", "2023-05-03", "2023-05-09"),
    ("du 3 au 9 mai 2023", "2023-05-03", "2023-05-09"),
    ("entre mai et juillet 2022", "2022-05-01", "2022-07-31"),
    ("del 3 al 9 de mayo de 2023", "2023-05-03", "2023-05-09"),
    ("entre mayo y julio de 2022", "2022-05-01", "2022-07-31"),
    ("5月3日到9日", "2025-05-03", "2025-05-09"),
    ("2023年5月到7月之间", "2023-05-01", "2023-07-31"),
    ("2023年5月3日から9日まで", "2023-05-03", "2023-05-09"),
    ("昨天到今天", "2026-03-01", "2026-03-02"),
    ("between last week and today", "2026-02-23", "2026-03-02"),
    ("from Monday to Wednesday", "2026-02-23", "2026-02-25"),
    ("from Friday to Sunday", "2026-02-27", "2026-03-01"),
    ("from Sunday to Friday", "2026-02-22", "2026-02-27"),
    ("what changed since 2020?", "2020-01-01", "2026-03-02"),
    ("since yesterday", "2026-03-01", "2026-03-02"),
    ("ever since Friday", "2026-02-27", "2026-03-02"),
    ("since May", "2025-05-01", "2026-03-02"),
    ("since 3 January", "2026-01-03", "2026-03-02"),
    ("seit dem 3. Mai 2023", "2023-05-03", "2026-03-02"),
    ("seit Freitag", "2026-02-27", "2026-03-02"),
    ("depuis hier, j'ai mal", "2026-03-01", "2026-03-02"),
    ("depuis vendredi", "2026-02-27", "2026-03-02"),
    ("desde ayer", "2026-03-01", "2026-03-02"),
    ("desde el viernes", "2026-02-27", "2026-03-02"),
    ("desde hace 3 días", "2026-02-27", "2026-03-02"),
    ("从星期五开始", "2026-02-27", "2026-03-02"),
    ("昨天以来", "2026-03-01", "2026-03-02"),
    ("金曜日から", "2026-02-27", "2026-03-02"),
    ("in the last three days", "2026-02-27", "2026-03-02"),
    ("past 2 weeks", "2026-02-16", "2026-03-02"),
    ("in the last week", "2026-02-23", "2026-03-02"),
    ("the past month", "2026-02-02", "2026-03-02"),
    ("in den letzten 3 Tagen", "2026-02-27", "2026-03-02"),
    ("les deux dernières semaines", "2026-02-16", "2026-03-02"),
    ("los últimos tres meses", "2025-12-02", "2026-03-02"),
    ("the last two years", "2024-03-02", "2026-03-02"),
    ("最近三天", "2026-02-27", "2026-03-02"),
    ("ここ3日間", "2026-02-27", "2026-03-02"),
]


@pytest.mark.parametrize(("question", "first", "last"), SPANS)
def test_spans_reach_from_one_day_to_another(question, first, last):
    assert read_dates(question).on(TODAY) == (Span(date.fromisoformat(first), date.fromisoformat(last)),)


@pytest.mark.parametrize(
    ("question", "dates"),
    [
        ("between 3 and 5 people came in May", []),  # a span of something else: no time is sure
        ("since I moved in May 2023", []),
        ("before May 2023", []),
        ("until 2020", []),
        ("nach dem 3. Mai 2023", []),
        ("from 9 May to 3 May 2023", []),
        ("since May 2030", []),
        ("since Friday's lunch", []),
        ("3 - 4 miles", []),
        ("5-10 minutes", []),
        ("May 5-7-2023", [(None, 5, 5)]),
        ("from 2 to 4 pm on 3 May 2023", [(2023, 5, 3)]),
        ("Tell me more from May 2023", [(2023, 5, None)]),
    ],
)
def test_what_is_no_span_of_time_is_none(question, dates):
    assert read_dates(question).on(TODAY) == tuple(Named(*date) for date in dates)


def test_a_month_back_from_its_last_day_ends_on_a_day_that_is_there():
    assert read_dates("the last month").on(date(2026, 3, 31)) == (Span(date(2026, 2, 28), date(2026, 3, 31)),)


@pytest.mark.parametrize(
    "question",
    [
        "What did I say on Friday?",
        "Can you tell me what we talked about on Friday evening?",
        "Was habe ich am Freitag gesagt?",
        "Qu'est-ce que j'ai dit vendredi ?",
        "¿Qué te conté el viernes?",
        "星期五我们聊了什么",
        "周五我说了什么",
        "金曜日に何を話しましたか",
    ],
)
def test_a_weekday_is_the_newest_before_today_where_the_past_is_asked_for(question):
    dated = read_dates(question)
    assert dated.on(TODAY) == (Named(2026, 2, 27),)
    assert dated.alone


@pytest.mark.parametrize(
    "question",
    [
        "What is on Friday?",
        "What happens on Friday?",
        "What will be discussed on Friday?",
        "What did Maria say on Friday?",
        "What did I say on Fridays?",
        "What did I say about next Friday?",
        "Was wird am Freitag besprochen?",
        "Qu'est-ce que j'ai dit le vendredi ?",
        "¿Qué hice los viernes?",
        "下周五我们聊了什么",
        "星期五有什么",
        "来週の金曜日に何を話しましたか",
        "Friday",
    ],
)
def test_a_weekday_that_may_be_any_is_left_to_the_words(question):
    assert read_dates(question).times == ()


def test_on_its_weekday_today_may_be_meant_but_comes_last():
    asked = read_dates("What did I say on Monday?").on(TODAY)
    week_ago = Named(2026, 2, 23)
    assert asked == (week_ago, Perhaps(TODAY))
    noon = datetime(2026, 3, 2, 12, tzinfo=UTC)
    assert [Perhaps(TODAY).includes(noon), Perhaps(TODAY).holds(noon)] == [True, False]
    assert names_one_of("the party on 2 March 2026", asked)
    spans, hours = spans_of(asked, TODAY), timedelta(hours=14)
    assert spans[0] == (datetime(2026, 2, 23, tzinfo=UTC), datetime(2026, 2, 24, tzinfo=UTC))
    assert spans[-1] == (datetime(2026, 3, 2, tzinfo=UTC) - hours, datetime(2026, 3, 3, tzinfo=UTC) + hours)


def test_a_weekday_beside_a_date_belongs_to_it():
    assert read_dates("What happened on Sunday, 7 May 2023?").times == (Named(2023, 5, 7),)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("on 4 May 2023", True),
        ("every year on 4 May", True),
        ("in May 2023", False),
        ("on 10 May 2023", False),
        ("in 2023", False),
    ],
)
def test_a_text_names_a_day_of_a_span(text, names):
    assert names_one_of(text, [Span(date(2023, 5, 3), date(2023, 5, 9))]) is names


def test_a_month_of_a_span_is_named_too():
    span = Span(date(2022, 11, 3), date(2023, 5, 9))
    assert [names_one_of(text, [span]) for text in ("in March 2023", "in March", "in 2023")] == [True, True, False]


@pytest.mark.parametrize(
    ("hour", "away"), [(-30, 15), (-15, 15), (-14, 14), (-1, 1), (0, 0), (23, 0), (24, 1), (37, 14), (38, 15)]
)
def test_hours_are_counted_from_the_nearest_end_of_a_day(hour, away):
    at = datetime(2023, 5, 7, tzinfo=UTC) + timedelta(hours=hour)
    assert hours_from([Named(2021, 1, 1), Named(2023, 5, 7)], at) == away
