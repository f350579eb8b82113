"""Names and contents that break things, in one table. Every test that wants hostile input takes it from here."""

from __future__ import annotations

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
MARKS = "q" + "\u0301" * 100

NAMES = {
    "colon": "a:b",
    "percent": "100%",
    "encoded": "a%3Ab",
    "star": "*",
    "question": "h?llo[a-z]",
    "braces": "{}",
    "tag": "{assistant/bob}:0:facts",
    "double quote": 'say "hi"',
    "quote": "it's",
    "backslash": "C:\\new\\table",
    "slash": "assistant/bob",
    "emoji": FAMILY,
    "flag": "\U0001f1e9\U0001f1ea",
    "cjk": "饮食习惯",
    "right to left": "שלום\u200fא",
    "arabic": "مرحبا",
    "thai": "อาหาร",
    "umlaut": "Grüße",
    "marks": MARKS,
    "lua": "%d%s%%",
    "number": "0",
    "minus": "-inf",
    "newline escape": "\\n",
    "long": "x" * 1024,
}
"""Stored letter for letter."""

SPELLINGS = {
    "composition": ("Café", "Cafe\u0301"),
    "width": ("ＵＳＥＲ-PREF", "USER-PREF"),
    "zero width": ("Diet", "Diet\u200b"),
    "blanks": ("Diet", "  Diet\t"),
    "line break": ("a b", "a\nb"),
    "NUL": ("a b", "a\x00b"),
}
"""Pairs that are one name, shown as it was written first."""

LOOKALIKES = ("UserPreference", "userpreference", "user_preference")
"""Different names that are offered as similar."""

CONTENTS = {
    **NAMES,
    "line breaks": "one\ntwo\r\n\tthree\u2028four",
    "NUL": "a\x00b",
    "separators": "a\x1d\x1e\x1fb",
    "json": '{"c": "x", "s": [1]}',
    "blank edges": "  keeps its blanks  ",
    "large": "家" * 21_845,
}
"""Stored letter for letter."""

REPLACED = {"half pair": ("x\ud800y", "x\ufffdy"), "other half": ("\udfff", "\ufffd")}
"""What is given, and what is stored: half of a surrogate pair is no text."""

SCOPES = ("1", "a:b", "a/b", "a%2Fb", "a}", "{a}", "*", "A", "a", " a", "Café", "Cafe\u0301", "ａ", "a\x00", "家", '"')
"""Ids of bots and users, no two of them the same."""
