"""Names, contents, units and terms."""

from __future__ import annotations

import enum
import math
import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impressmem_integrations.core.text import (
    Name,
    content_digest,
    loose,
    normal_content,
    normal_name,
    term_weights,
    tokenise,
    tokenise_question,
    units,
)
from impressmem_integrations.errors import InvalidInput

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
any_text = st.text(st.characters(codec=None, categories=None), max_size=40)  # half surrogate pairs included


class Colour(str, enum.Enum):  # noqa: UP042 - the older kind, whose str() is its name
    RED = "red"


# --- names


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Café", "Cafe\u0301"),
        ("ＵＳＥＲ-PREF", "USER-PREF"),
        ("Diet", "Diet\u200b"),
        ("Diet", "\ufeff Diet\u2060\u00a0"),
        ("my  diet", "my diet"),
        ("my\ndiet", "my diet"),
        ("my\u2028diet", "my\u3000diet"),
    ],
)
def test_mq11_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert normal_name(one, "clue").key == normal_name(other, "clue").key


def test_mq11_a_name_is_shown_as_written() -> None:
    assert normal_name(" ＵＳＥＲ-PREF ", "clue") == Name("USER-PREF", "ＵＳＥＲ-PREF")


def test_mq11_similar_names_are_loosely_equal_but_not_the_same() -> None:
    spellings = ["UserPreference", "userpreference", "user_preference", "User Preference", "user-preference"]
    assert len({loose(name) for name in spellings}) == 1
    assert len({normal_name(name, "category").key for name in spellings}) == 5


@given(any_text)
def test_loose_is_what_lua_makes_of_the_bytes(name: str) -> None:
    data = name.encode("utf-8", "surrogatepass").lower()  # bytes.lower is ASCII only, as string.lower in the C locale
    assert loose(name).encode("utf-8", "surrogatepass") == bytes(c for c in data if c not in b" \t\n\v\f\r-_.")


@given(any_text)
def test_a_name_is_clean_and_stable(raw: str) -> None:
    try:
        name = normal_name(raw, "label")
    except InvalidInput:
        return
    for text in name:
        assert text == text.strip()
        assert not any(unicodedata.category(c) in {"Cc", "Cs", "Zl", "Zp"} for c in text)
        assert "  " not in text
        text.encode()
    assert normal_name(name.shown, "label") == name
    assert normal_name(name.key, "label").key == name.key


@pytest.mark.parametrize("raw", ["", "  ", "\n\t", "\u200b\ufeff", "\x00", "\u2800\u3164"])
def test_a_name_needs_something_visible(raw: str) -> None:
    with pytest.raises(InvalidInput, match="clue is empty"):
        normal_name(raw, "clue")


def test_a_name_has_at_most_1024_bytes() -> None:
    assert normal_name("é" * 512, "clue").shown == "é" * 512
    for long in ("é" * 513, "\ufdfa" * 100):  # the second one grows when its key is made
        with pytest.raises(InvalidInput, match="longer than 1,024"):
            normal_name(long, "clue")


def test_numbers_are_names_and_other_things_are_not() -> None:
    assert normal_name(7, "label").key == "7"
    assert normal_name(7.5, "label").key == "7.5"
    assert normal_name(Colour.RED, "label").key == "red"
    for wrong in (None, True, b"x", ["x"], {}):
        with pytest.raises(InvalidInput, match="label must be text, not"):
            normal_name(wrong, "label")


@pytest.mark.parametrize("name", [FAMILY, ENGLAND, "100%", "a\u0301" + "\u0302" * 50, "x\u200dy"])
def test_mq10_unusual_letters_stay_in_names(name: str) -> None:
    assert normal_name(name, "clue").shown == unicodedata.normalize("NFC", name)


def test_mq10_half_a_pair_in_a_name_is_replaced() -> None:
    assert normal_name("a\ud83d", "clue") == Name("a\ufffd", "a\ufffd")


# --- contents


@pytest.mark.parametrize(
    "text", [FAMILY, ENGLAND, "\u200fשלום", "a\x00b", "e" + "\u0301" * 100, " line\r\n\tbreaks \n", "Cafe\u0301 ＡＢ"]
)
def test_mq09_mq10_content_is_kept_letter_for_letter(text: str) -> None:
    assert normal_content(text, 1000) == text


def test_mq10_half_a_pair_in_a_content_is_replaced_and_two_halves_are_joined() -> None:
    assert normal_content("a\ud83db\ude00", 100) == "a\ufffdb\ufffd"
    assert normal_content("\ud83d\ude00", 100) == "\U0001f600"


def test_content_has_bounds() -> None:
    assert normal_content("é" * 5, 10) == "é" * 5
    assert normal_content(42, 10) == "42"
    with pytest.raises(InvalidInput, match="11 UTF-8 bytes, 10 are allowed"):
        normal_content("a" * 11, 10)
    for blank in ("", " \n", "\u200b", "\x00"):
        with pytest.raises(InvalidInput, match="empty"):
            normal_content(blank, 10)
    with pytest.raises(InvalidInput, match="must be text, not list"):
        normal_content(["a"], 10)


def test_mq01_digest_ignores_spacing_and_case() -> None:
    digest = content_digest("Likes green  tea\n")
    assert digest == content_digest("likes GREEN tea")
    assert digest != content_digest("likes greentea")
    assert content_digest("Straße") == content_digest("STRASSE")
    assert len(digest) == 11
    assert digest.isascii()


@given(any_text)
def test_units_are_thirds_of_the_bytes_rounded_up(text: str) -> None:
    assert units(text) == math.ceil(len(text.encode("utf-8", "surrogatepass")) / 3)


# --- terms


def test_english_words_are_stemmed_and_function_words_left_out() -> None:
    assert tokenise("She's been painting the lakes") == ["paint", "lake"]
    assert tokenise("To be or not to be") == ["to", "be", "or", "not", "to", "be"]  # nothing else would be left


def test_numbers_and_dates_are_kept() -> None:
    assert tokenise("paid 1,250.50 at 7:30") == ["paid", "1250.50", "7:30"]
    assert tokenise("2024-5-08") == ["2024-05-08", "2024-05", "2024"]
    assert tokenise("version 3.11, B12, 24/7") == ["version", "3.11", "b12", "24", "7"]
    assert tokenise("٢٠٢٤") == ["2024"]


def test_names_are_found_by_their_parts() -> None:
    assert tokenise("USER-DIET") == ["user", "diet"]
    assert set(tokenise("UserDiet")) == {"userdiet", "user", "diet"}


def test_unspaced_scripts_become_short_runs() -> None:
    assert tokenise("花生过敏") == ["花生", "生过", "过敏"]
    assert tokenise("我的狗") == ["狗"]
    assert tokenise("東京で寿司") == ["東京", "寿司"]
    assert tokenise("コーヒー") == ["コー", "ーヒ", "ヒー"]
    assert tokenise("김치찌개") == ["김치", "치찌", "찌개"]
    assert tokenise("กาแฟ") == ["กาแ", "าแฟ"]
    assert tokenise("2024年5月，用iPad手机") == ["2024", "年", "5", "月", "用", "ipad", "手机", "pad"]


def test_accents_pointing_and_width_do_not_part_a_word() -> None:
    assert tokenise("café") == tokenise("cafe") == tokenise("ｃａｆｅ\u0301")
    assert tokenise("قَهْوَة") == tokenise("قهوة")
    assert tokenise("Çay") == tokenise("cay")


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Paints watercolours on Sundays", "What does she paint?"),
        ("我妻子对花生过敏", "谁对花生过敏？"),
        ("妻は東京で寿司を食べました", "東京で何を食べる？"),
        ("Mein Lieblingsessen sind Käsespätzle", "Lieblingsessen?"),
        ("Vegetarier seit 2024", "Seit wann bist du ein Vegetarier?"),
        ("Spielt am Wochenende mit den Kindern Fußball", "Welche Spiele mag das Kind?"),
        ("Она любит читать исторические книги", "Какую книгу она читает?"),
        ("هي تشرب القهوة العربية كل صباح", "هل تحب قهوة عربية؟"),
        ("Elle habite près d'une école", "Où est l'école ?"),
        ("Le gusta nadar en el mar", "¿Qué le gusta hacer?"),
        ("김치찌개를 좋아해요", "김치찌개 좋아하나요?"),
        ("ชอบกินข้าวผัดกุ้ง", "ข้าวผัดแบบไหน"),
        ("Το παιδί διαβάζει βιβλία", "Ποια βιβλία;"),
        ("उसे किताबें पढ़ना पसंद है", "कौन सी किताब?"),
    ],
)
def test_mq09_a_question_shares_terms_with_a_note_in_its_language(note: str, question: str) -> None:
    assert set(tokenise(note)) & set(tokenise_question(question))


def test_a_question_that_shows_its_language_is_not_stemmed_in_all() -> None:
    assert tokenise_question("What is your favourite food?") == ["favourit", "food"]
    assert tokenise_question("Où est l'école ?") == ["ecol", "ecole"]


@given(any_text)
def test_terms_are_short_clean_and_the_same_each_time(text: str) -> None:
    terms = tokenise(text)
    assert terms == tokenise(text)
    assert set(terms) <= set(tokenise_question(text))
    for term in terms:
        assert 0 < len(term) <= 40
        assert not any(c.isspace() or unicodedata.category(c) == "Cc" for c in term)
        term.encode()


def test_threads_do_not_share_a_stemmer() -> None:
    words = [f"runn{'ing' * (i % 3)}{chr(97 + i % 26)}{chr(97 + i // 26 % 26)}s" for i in range(400)]
    expected = [tokenise(word) for word in words]
    from impressmem_integrations.core import text as module

    for cached in module._TERMS_OF.values():
        cached.cache_clear()  # type: ignore[attr-defined]
    wrong: list[str] = []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def run() -> None:
        wrong.extend(word for word, terms in zip(words, expected, strict=True) if tokenise(word) != terms)

    try:
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []


@pytest.mark.parametrize("language", ["english", "german", "french", "spanish", "russian", "arabic", "greek", "hindi"])
def test_both_stemmers_agree(language: str) -> None:
    fast = pytest.importorskip("Stemmer").Stemmer(language)
    plain = __import__(f"snowballstemmer.{language}_stemmer", fromlist=["x"])
    stemmer = getattr(plain, f"{language.capitalize()}Stemmer")()
    samples = [
        *("generously", "running", "flies", "schönsten", "häuser", "continuellement", "amitiés", "corriendo", "casas"),
        *("книгами", "читает", "любимая", "القهوة", "يشربون", "والكتاب", "βιβλία", "διαβάζει", "किताबें", "पढ़ना"),
    ]
    assert [stemmer.stemWord(word) for word in samples] == [fast.stemWord(word) for word in samples]


def test_weights_grow_with_repetition_and_shrink_with_length() -> None:
    once, twice = term_weights(["tea"]), term_weights(["tea", "tea"])
    assert once["tea"] < twice["tea"] < 2 * once["tea"]
    assert term_weights(["tea", *map(str, range(30))])["tea"] < once["tea"]
    assert term_weights(["a"] * 12, k1=1.2, b=0.75, average_length=12)["a"] == pytest.approx(12 * 2.2 / 13.2)
    assert term_weights([]) == {}
