"""Nothing to do, in words: of several languages, and nothing else in the sentence."""

from __future__ import annotations

import pytest

from impressmem_integrations.maintenance.json_mode import says_nothing
from impressmem_integrations.maintenance.nothing import says_nothing_in_words


@pytest.mark.parametrize(
    "text",
    [
        "Nothing to save.",
        "nothing",
        "There is nothing to remember here.",
        "There's nothing new to save in this turn.",
        "No new facts to remember.",
        "There are no facts to save or merge.",
        "没有需要记住的内容",
        "这里没有什么值得保存的信息。",
        "无需保存",
        "保存すべき情報はありません。",
        "저장할 내용이 없습니다.",
        "Es gibt hier nichts zu speichern.",
        "Il n'y a rien à retenir.",
        "No hay nada que guardar.",
        "Não há nada para salvar.",
        "Non c'è niente da ricordare.",
        "Нечего сохранять.",
    ],
)
def test_words_for_nothing(text):
    assert says_nothing_in_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure!",
        "I cannot.",
        "I cannot save this.",
        "No, save this.",
        "I have nothing for you, sorry.",
        "Nothing new, but she moved to Oslo.",
        "没有什么新的，但她搬到了奥斯陆",
        "没有",
        "不要保存",
        "nothing to save {}",
        "[nothing to save]",
        "Nothing to save. " * 10,
    ],
)
def test_prose_is_no_nothing(text):
    assert not says_nothing_in_words(text)
    assert not says_nothing(text)


@pytest.mark.parametrize("text", ['{"calls": []}', "```json\n[]\n```", '{"impressions": []}'])
def test_an_empty_plan_is_nothing(text):
    assert says_nothing(text)


@pytest.mark.parametrize("text", ['{"calls": [', '{"impressions": [{}]}', '{"name": "x", "arguments": {}}'])
def test_a_plan_that_is_broken_or_asks_for_something_is_not(text):
    assert not says_nothing(text)
