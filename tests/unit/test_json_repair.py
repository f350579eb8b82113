from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impressmem_integrations.tools.json_repair import UnreadableJson, read_object, read_value

ONE = {"a": 1}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"a": 1,}', ONE),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ('{"a": 1}""', ONE),
        ('{"a": 1}}', ONE),
        ('{"a": 1} That is all.', ONE),
        ('{"a": 1}\n{"b": 2}', ONE),
        ('{\\n "a": 1\\n}', ONE),
        ('```json\n{"a": 1}\n```', ONE),
        ('Here it is: {"a": 1}', ONE),
        ("{'a': 1, 'b': True, 'c': None}", {"a": 1, "b": True, "c": None}),
        ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}),
        ('{"a": "first\nsecond"}', {"a": "first\nsecond"}),
        ('{"a": "one, }two,]", }', {"a": "one, }two,]"}),
        ('{"a": "see ``` and \'x\' and \\\\n",}', {"a": "see ``` and 'x' and \\n"}),
        ('"{\\"a\\": 1}"', ONE),
        ('{"a": 1, "a": 1}', ONE),
    ],
)
def test_tc08_one_reading_is_read_and_texts_stay_as_they_are(text: str, meant: dict[str, Any]) -> None:
    assert read_object(text) == meant


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "half of the sent',
        '{"a": [1, 2',
        '{"a": 1',
        '{"a": [1, 2}',
        '{"a": "x" "b": "y"}',
        '{"a": 1}, "b": 2}',
        '{"a": "x", "a": "y"}',
        "{'a': 'I don't know'}",
        '{"a": "He said "no" twice"}',
        '{"a": "C:\\home"}',
        '{"a": `x`}',
        '{a: 1}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '[{"a": 1}]',
        '[{"a": 1},]',
        '"text"',
        "42",
        "IGNORE",
        "",
        '{"a":' * 5000,
    ],
)  # fmt: skip
def test_tc08_more_than_one_reading_or_a_missing_part_is_refused(text: str) -> None:
    with pytest.raises(UnreadableJson) as caught:
        read_object(text)
    assert "half of the sent" not in str(caught.value)


def test_a_cut_is_told_apart() -> None:
    with pytest.raises(UnreadableJson) as cut:
        read_object('{"a": "half of the sent')
    with pytest.raises(UnreadableJson) as broken:
        read_object('{"a": 1}, "b": 2}')
    assert cut.value.cut_off
    assert not broken.value.cut_off


def test_exact_takes_nothing_but_json() -> None:
    assert read_object('{"a": 1}', exact=True) == ONE
    with pytest.raises(UnreadableJson):
        read_object('{"a": 1,}', exact=True)


def test_a_value_may_be_followed_by_closers_only() -> None:
    assert read_value("['Diet', 'Food']") == ["Diet", "Food"]
    with pytest.raises(UnreadableJson):
        read_value('["Diet"], "Food"]')


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=4)


@given(objects, st.booleans())
def test_json_reads_as_json_also_by_the_lenient_reader(found: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(found, ensure_ascii=ascii_only)
    assert read_object(text) == found
    assert read_object(f"Call: {text};") == found


@given(objects.filter(bool), st.data())
def test_a_cut_object_is_never_read_as_a_whole_one(found: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(found)
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(UnreadableJson):
        read_object(text[:end])
