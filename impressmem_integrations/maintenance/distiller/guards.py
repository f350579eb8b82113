"""What is cut out of a message before any rule sees it: secrets, quotations, pasted text."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_MESSAGE_CHARACTERS = 2000
"""Nobody types more about themselves in one message; longer ones are taken for pasted text."""

_SECRET_WORD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code|key)s?|pwd|api[ _-]?keys?|access[ _-]?keys?|(?:secret|private)[ _-]?keys?"
    r"|secrets?"
    r"|(?:auth|access|bearer|api|refresh)?[ _-]?tokens?|credentials?|pin(?: code| number)?|cvv|cvc|otp|ssn|iban"
    r"|(?:credit|debit|bank)?[ _-]?card (?:number|no)|social security|login|seed phrase|recovery (?:code|phrase))\b"
    r"|密码|口令|密钥|私钥|秘钥|验证码|身份证号|银行卡号?|信用卡号?|卡号|令牌|助记词|支付码|安全码",
    re.IGNORECASE,
)
_SECRET_SHAPE = re.compile(
    r"(?:sk|pk|rk)[-_][A-Za-z0-9_-]{8,}|gh[pousr]_\w{8,}|github_pat_\w+|xox[abprs]-\S+|AKIA[A-Z0-9]{8,}|AIza[\w-]{10,}"
    r"|eyJ[\w-]{10,}|-----BEGIN|://[^\s/@]+:[^\s/@]+@|(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)"
    r"|(?=[\w+/=-]*\d)(?=[\w+/=-]*[A-Za-z])[A-Za-z0-9+/=_-]{20,}"
)
# What a terminal wrote into a text: escape sequences with their arguments, then single control characters.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])|\x9b[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_FENCE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
# A quotation that never ends takes the rest with it.
_QUOTED = re.compile(
    r'"[^"]*(?:"|\Z)|“[^”]*(?:”|\Z)|«[^»]*(?:»|\Z)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)|《[^》]*》'
    r"|(?<![\w])'[^'\n]*(?:'\w[^'\n]*)*'(?!\w)|(?<!\w)‘[^\n]*?’(?!\w)"
)
_PASTED_AFTER = re.compile(r"[:：]\s*$")
_PASTED_LINE = re.compile(
    r"\s*(?!(?:note|correction|update|fyi|ps|reminder|btw|me|更正|纠正|补充|备注|提醒|对了)\s*[:：])"
    r"(?:>|\||\$ |#|(?:from|to|subject|cc|date|sent|re|fwd)\s*:|发件人|收件人|主题\s*[:：]"
    r"|\[?\d{1,2}:\d\d(?::\d\d)?\]?\s"
    r"|\w[\w ]{0,20}:\s+\S|[\u4e00-\u9fff\w]{1,6}：\s*\S)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r".+?(?:(?<!\bDr)(?<!\bMr)(?<!\bSt)(?<!\bMrs)(?<!\bMs)[.!?…]+(?=\s|$)|[。！？!?；]+|$)")


def holds_secret(text: str) -> bool:
    """Whether the text names a secret or holds something shaped like one."""
    return _SECRET_WORD.search(text) is not None or _SECRET_SHAPE.search(text) is not None


def sentences(message: str) -> Iterator[str]:
    """Yield the sentences that are the user's own words: without code, quotations, pasted lines and secrets.

    Escape sequences and control characters are no words: they are taken out first.
    """
    if len(message) > MAX_MESSAGE_CHARACTERS:
        return
    text = _CONTROL.sub(" ", _ESCAPE.sub("", message))
    text = _QUOTED.sub(" … ", _FENCE.sub(" … ", text))
    for line in text.splitlines():
        if _PASTED_AFTER.search(line):
            return  # what follows "here is the mail:" is somebody else's
        if _PASTED_LINE.match(line):
            continue
        for match in _SENTENCE.finditer(line):
            sentence = match[0].strip()
            if sentence and not holds_secret(sentence):
                yield sentence
