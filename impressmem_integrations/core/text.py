"""Text as the store sees it: normal names and contents, sizes in units, and the words an index is made of.

Pure functions. Whatever is computed here ends up in keys and in indexes that other processes read, so a change in
what `tokenise` returns must raise `TOKENIZER_VERSION`.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from impressmem_integrations.core.function_words import FUNCTION_WORDS
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.settings import MAX_NAME_BYTES

TOKENIZER_VERSION = 2

# --- names and contents -------------------------------------------------------------------------------------------

_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")  # \s covers the line and paragraph separators and wide blanks
# What no reader sees: soft hyphen, zero-width and direction marks, byte order mark, fillers. Not the tag characters,
# which end some flags, and not the joiners inside a name, which hold an emoji together.
_UNSEEN = "\u00ad\u034f\u061c\u115f\u1160\u180e\u2800\u3164\ufeff\uffa0" + "".join(
    map(chr, (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), *range(0xFFF9, 0xFFFC)))
)
_EDGE = " " + _UNSEEN
_VISIBLE = re.compile(rf"[^\s\x00-\x1f\x7f-\x9f{_UNSEEN}]")


class Name(NamedTuple):
    """A clue, category or label.

    Attributes:
        key: What decides whether two names are the same.
        shown: What people see; the store keeps the one that was written first.
    """

    key: str
    shown: str


def normal_name(raw: object, what: str) -> Name:
    """Return the normal form of a clue, category or label.

    Names that only differ in composition, width, blanks at the ends or zero-width characters at the ends share a key.
    Case is kept. Line breaks and other control characters become one blank, half a surrogate pair becomes U+FFFD.

    Args:
        raw: Text; an int or a float becomes its text.
        what: The word for it in error messages, e.g. `clue`.

    Raises:
        InvalidInput: It is empty after trimming, longer than 1,024 UTF-8 bytes, or of another type.
    """
    shown = _trimmed(unicodedata.normalize("NFC", _text(raw, what)))
    key = shown if shown.isascii() else _trimmed(unicodedata.normalize("NFKC", shown))
    if not shown or not key:
        raise InvalidInput(f"{what} is empty; give it a name")
    if max(len(shown.encode()), len(key.encode())) > MAX_NAME_BYTES:
        raise InvalidInput(f"{what} is longer than {MAX_NAME_BYTES:,} UTF-8 bytes; shorten it")
    return Name(key, shown)


def normal_content(raw: object, max_bytes: int) -> str:
    """Return a content as it is stored: letter for letter what was given, but half surrogate pairs become U+FFFD.

    Args:
        raw: Text; an int or a float becomes its text.
        max_bytes: The most UTF-8 bytes it may have.

    Raises:
        InvalidInput: It holds nothing visible, is longer than `max_bytes`, or of another type.
    """
    content = _text(raw, "content")
    if not _VISIBLE.search(content):
        raise InvalidInput("content is empty; say what should be remembered")
    size = len(content.encode())
    if size > max_bytes:
        raise InvalidInput(f"content has {size:,} UTF-8 bytes, {max_bytes:,} are allowed; shorten or split it")
    return content


def loose(name: str) -> str:
    """Return a name without ASCII case, blanks, `-`, `_` and `.`: equal for names that are easily mistaken.

    The same on bytes in Lua: `string.lower(name):gsub('[%s%-_%.]', '')` in the C locale.
    """
    return name.translate(_LOOSE)


_LOOSE: dict[int, int | None] = {
    **{code: code + 32 for code in range(ord("A"), ord("Z") + 1)},
    **dict.fromkeys(map(ord, " \t\n\v\f\r-_.")),
}


def content_digest(text: str) -> str:
    """Return 11 ASCII characters that are equal for contents that differ only in spacing, case or composition."""
    plain = " ".join(unicodedata.normalize("NFC", text.casefold()).split())
    digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def units(text: str) -> int:
    """Return the size of a text in units: a third of its UTF-8 bytes, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // 3)


def _text(raw: object, what: str) -> str:
    if isinstance(raw, str):
        text = str.__str__(raw)  # the plain text of a subclass: an enumeration's own str() may be its name
    elif isinstance(raw, int | float) and not isinstance(raw, bool):
        text = str(raw)
    else:
        raise InvalidInput(f"{what} must be text, not {type(raw).__name__}")
    return whole_characters(text)


def whole_characters(text: str) -> str:
    """Return the text with halves of surrogate pairs joined where both are there, else replaced by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _trimmed(text: str) -> str:
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip(" ")  # the common case, at a third of the price
    return _BLANKS.sub(" ", text).strip(_EDGE)


# --- words --------------------------------------------------------------------------------------------------------

# Patterns that are plain text here are for text of other scripts only: `re` compiles and keeps them at their first use.
_MAX_TERM = 40  # characters; a longer word is an address or a code, its beginning tells enough
_NUMBER = r"\d+(?:[.,:/-]\d+)+"
_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_FIRST_DENSE = "\u1100"
_DENSE = _HAN + _HIRAGANA + _KATAKANA + _HANGUL
# Blocks whose vowel signs are no letters to `\w`: taken whole, or every word would fall apart at them.
_MARKED = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e00-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"
_MARKED += "\u0e80-\u0eff\u0f18-\u109f\u1780-\u17d3"
_ASCII_WORDS = re.compile(rf"{_NUMBER}|[^\W_]+", re.ASCII)
_WORDS = rf"{_NUMBER}|(?:[^\W_]|[{_MARKED}])+"
_MIXED_WORDS = rf"{_NUMBER}|[{_DENSE}]+|(?:(?![{_DENSE}])[^\W_]|[{_MARKED}])+"
_DENSE_RUNS = f"[{_HAN}]+|[{_HIRAGANA}]+|[{_KATAKANA}]+|[{_HANGUL}]+"
_LATIN_RUN = re.compile("[A-Za-z0-9]+")
_CAMEL_SEAM = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Pointing of Arabic and Hebrew, and the Arabic stretching dash: written or not, it is the same word.
_POINTING = "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]"
# Chinese particles end a run, so that they do not blur the words beside them; so do pronouns and question words.
_PARTICLES = "[的了吗嗎呢吧啊是在]+"
_ASKING = (
    "(?:为什么|為什麼|什么|什麼|怎么样|怎么|怎麼|怎样|怎樣|哪里|哪裡|哪儿|哪個|哪个|多少"
    "|[谁誰哪我你您他她它咱们們对對的了吗嗎呢吧啊是在])+"
)
_KANA = "[\u3041-\u30ff]"
# Words of one character, which pairs would hide: animals, food, kin, things and doings that people speak of every day.
_WHOLE = frozenset(
    "猫貓狗犬鱼魚鸟鳥马馬牛羊猪豬鸡雞鸭鴨兔蛇茶酒水汤湯饭飯肉蛋奶糖盐鹽菜树樹车車书書琴爸妈媽哥姐弟妹儿兒女孙孫"
    "住吃喝穿买買卖賣爱愛怕读讀唱跑病药藥痛钱錢"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})")

# First code point of a script's blocks -> its stemmer; "" for scripts without one, None for those written unspaced.
_SCRIPTS: tuple[tuple[int, str | None], ...] = (
    (0x1F00, "greek"), (0x1E00, "latin"), (0x1780, None), (0x10A0, ""), (0x1000, None), (0x0F00, ""), (0x0E00, None),
    (0x0C00, ""), (0x0B80, "tamil"), (0x0980, ""), (0x0900, "hindi"), (0x08FF, ""), (0x08A0, "arabic"), (0x0780, ""),
    (0x0750, "arabic"), (0x0700, ""), (0x0600, "arabic"), (0x0590, ""), (0x0530, "armenian"), (0x0400, "russian"),
    (0x0370, "greek"), (0x0000, "latin"),
)  # fmt: skip
_LAST_SCRIPT = "\u2000"


def tokenise(text: str) -> list[str]:
    """Return the terms of a text in order, with repetitions: what the index keeps of it.

    Words are casefolded, stemmed by script and language, and freed of Latin and Greek accents; function words are left
    out unless there is nothing else. Chinese, Japanese and Korean become pairs of characters within a run of one
    script (a run of one character stays, and so do everyday words of one character), Thai, Lao, Khmer and Burmese
    triples. Numbers, times and dates are kept.
    """
    words, language = _split(text)
    return _terms(words, language or "english")


def tokenise_question(text: str) -> list[str]:
    """Return the terms to look a question up by, each once: those of `tokenise` and its other likely stems.

    A note of three words may not tell its language, so its words were stemmed as English; a question of one word may
    not either. So a question is also stemmed as English, and in every language where it does not show its own.
    """
    words, language = _split(text)
    terms = dict.fromkeys(_terms(words, language or "english"))
    if language != "english":
        telling = [word for word in words if word not in FUNCTION_WORDS[language]] if language else words
        for other in ("english",) if language else FUNCTION_WORDS:
            terms.update(dict.fromkeys(_terms(telling, other)))
    return list(terms)


def language_of(text: str) -> str | None:
    """Return the Latin-script language that a text shows by its function words, None where it shows none."""
    return _split(text)[1]


def term_weights(
    tokens: Iterable[str],
    k1: float = 1.2,
    b: float = 0.75,
    average_length: float = 12.0,
    *,
    stressed: Iterable[str] = (),
) -> dict[str, float]:
    """Return the BM25 weight of each term without its idf: `tf (k1 + 1) / (tf + k1 (1 - b + b length / average))`.

    Args:
        tokens: Terms with repetitions.
        k1: How soon repetitions stop to count.
        b: How much a long text is held back, 0 to 1.
        average_length: The length in terms that counts as normal: fixed, so that a weight never has to be rewritten.
        stressed: Terms that count once more, without making the text longer.
    """
    counts = Counter(tokens)
    norm = k1 * (1 - b + b * counts.total() / average_length)
    counts.update(stressed)
    return {term: count * (k1 + 1) / (count + norm) for term, count in counts.items()}


def _split(text: str) -> tuple[list[str], str | None]:
    """Return the casefolded words and the Latin-script language they show, None where they show none."""
    if _CAMEL_SEAM.search(text):  # a pattern of the whole word would look at a long run of letters once per letter
        camels = [run for run in _LATIN_RUN.findall(text) if _CAMEL_SEAM.search(run)]
        text += "".join(" " + _CAMEL_SEAM.sub(" ", word) for word in camels)
    if text.isascii():
        words = _ASCII_WORDS.findall(text.lower())
    else:
        text = re.sub(_POINTING, "", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()))
        words = re.findall(_MIXED_WORDS if max(text, default="") >= _FIRST_DENSE else _WORDS, text)
    present = frozenset(words)
    best, most = None, 0
    for language, function_words in FUNCTION_WORDS.items():  # English comes first and so wins a draw
        found = len(present & function_words)
        if found > most and (found > 1 or language == "english" or not text.isascii()):
            best, most = language, found
    return words, best


def _terms(words: list[str], language: str) -> list[str]:
    terms_of = _TERMS_OF[language]
    terms: list[str] = []
    for word in words:
        terms += _dense_terms(word) if word >= _LAST_SCRIPT else terms_of(word)
    return terms or [_stem(word, language) for word in words]


def _word_terms(language: str, word: str) -> tuple[str, ...]:
    """Return the terms of one word that is no Chinese, Japanese or Korean run; () for a function word."""
    if word in FUNCTION_WORDS[language]:
        return ()
    if word[0].isdecimal():
        return _number_terms("".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in word))
    script = _script(word)
    if script is None:
        return _grams(word, 3)
    return (_stem(word, language),)


_TERMS_OF: dict[str, Callable[[str], tuple[str, ...]]] = {
    language: lru_cache(maxsize=16_384)(partial(_word_terms, language)) for language in FUNCTION_WORDS
}


def _number_terms(word: str) -> tuple[str, ...]:
    if _GROUPED.fullmatch(word):
        return (word.replace(",", ""),)
    day = _DAY.fullmatch(word)
    if day:
        year, month = day[1], f"{day[1]}-{day[2]:0>2}"
        return (f"{month}-{day[3]:0>2}", month, year)
    parts = re.split(r"[,/-]", word)
    return tuple(part[:_MAX_TERM] for part in parts)


def _dense_terms(word: str) -> list[str]:
    terms: list[str] = []
    breaks = _PARTICLES if re.search(_KANA, word) else _ASKING
    for run in re.findall(_DENSE_RUNS, re.sub(breaks, " ", word)):
        if len(run) == 1 and "\u3041" <= run <= "\u309f":
            continue  # a Japanese particle
        terms += _grams(run, 2)
        if len(run) > 1:
            terms += [character for character in run if character in _WHOLE]
    return terms or list(_grams(word, 2))


def _grams(run: str, size: int) -> tuple[str, ...]:
    return (run,) if len(run) <= size else tuple(run[i : i + size] for i in range(len(run) - size + 1))


def _script(word: str) -> str | None:
    if word >= _LAST_SCRIPT:
        return ""
    return next(script for first, script in _SCRIPTS if ord(word[0]) >= first)


def _stem(word: str, language: str) -> str:
    if len(word) > _MAX_TERM:
        return word[:_MAX_TERM]  # no word of a language; stemmers take the square of its length
    script = _script(word)
    if script == "latin":
        script = language
    stem = _stemmer(script).stemWord(word) if script else word
    if not stem.isascii() and script in _FOLDED:
        parts = unicodedata.normalize("NFD", stem)
        stem = "".join(c for c in parts if not unicodedata.combining(c))
    return stem or word


_FOLDED = {*FUNCTION_WORDS, "greek"}
_local = threading.local()


def _stemmer(language: str) -> Any:
    """Return this thread's stemmer: stemmers hold the word they work on, so threads cannot share one."""
    stemmers: dict[str, Any] = _local.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        # Imported late: the import costs as much as the rest of the package, and reading needs no stemmer.
        import snowballstemmer

        stemmers[language] = snowballstemmer.stemmer(language)  # PyStemmer's where it is installed
    return stemmers[language]
