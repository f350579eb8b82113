"""Text that is no language must not hold up the process: what reads it takes time in proportion to its length.

The limits only tell a hang from a slow machine: with the square of the length each of these would take minutes.
"""

from __future__ import annotations

import pytest

from impressmem_integrations.core.secrets import masked
from impressmem_integrations.core.text import tokenise, tokenise_question

LENGTH = 300_000
RUNS = (
    "z", "deadbeef", "aA", "A", "1", "1.", "1,", "-", " ", "\n", "a.", "a/", "a@", "eyJ", "x=", "中", "ก", "é",
    "e\u0301", "あ", "ا", "'", "(", "_", "http://a:", "password ",
)  # fmt: skip


@pytest.mark.timeout(60)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("reads", [tokenise, tokenise_question, masked])
def test_a_long_run_of_anything_is_read_in_proportion_to_its_length(reads, run):
    text = "I live in Berlin. " + (run * LENGTH)[:LENGTH]
    assert len(reads(text)) > 0


def test_a_word_longer_than_any_language_has_is_found_by_its_beginning():
    assert tokenise("deadbeef" * 100) == ["deadbeef" * 5]
    assert tokenise("fooBarBazQux") == ["foobarbazqux", "foo", "bar", "baz", "qux"]
