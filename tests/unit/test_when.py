"""Dates that a question names."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from impressmem_integrations.core.when import Named, read_dates

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


def test_a_day_is_one_wherever_it_was_said():
    assert Named(2023, 5, 7).includes(datetime(2023, 5, 7, 12, tzinfo=UTC))
    assert Named(2023, 5, 7).includes(datetime(2023, 5, 8, 3, tzinfo=UTC))  # the evening before, in Honolulu
    assert not Named(2023, 5, 7).includes(datetime(2023, 5, 9, tzinfo=UTC))
    assert Named(None, 12, None).includes(datetime(2019, 12, 24, tzinfo=UTC))
    assert not Named(2021, None, None).includes(datetime(2022, 6, 1, tzinfo=UTC))
