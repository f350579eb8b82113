"""Masking secrets: keys, tokens, passwords and card numbers are replaced before anything is stored."""

from __future__ import annotations

import re

MASK = "[secret]"

# Shapes that are secrets wherever they stand.
_SHAPES = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:sk|pk|rk)[-_][A-Za-z0-9][A-Za-z0-9_-]{10,}"),
    re.compile(r"\b(?:ghp|gho|ghu|ghs|github_pat|glpat|xox[abprs]|hf|npm|pypi)[-_][A-Za-z0-9_-]{10,}"),
    re.compile(r"\bAKIA[A-Z0-9]{12,}\b|\bAIza[A-Za-z0-9_-]{30,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    re.compile(r"\b(?:\d[ -]?){15}\d\b"),
)
# A word that announces a secret, and what is given as one: the second group goes.
_ANNOUNCED = (
    re.compile(
        r"(\b(?:pass(?:word|phrase|code|wd)?|pwd|pin(?: code)?|secret|token|api[ _-]?key|access[ _-]?key|login)\b"
        r"(?:\s+(?:for|of|to|on)\s+[^\s:=]+(?:\s+[^\s:=]+){0,3})?\s*(?:=|:|\bis\b:?|\bwas\b|\bto\b)\s*[\"'`“]?)"
        r"((?=[^\s\"'`”]*(?:\d|[^\w\s\"'`”.,;!?]))[^\s\"'`”]{4,})",
        re.IGNORECASE,
    ),
    re.compile(
        r"((?:密码|口令|密钥|验证码|パスワード|비밀번호)\s*(?:是|为|：|:|=|は|は：)?\s*[「『\"']?)([A-Za-z0-9@#$%^&*!_\-+=.]{4,})"
    ),
    re.compile(r"([?&](?:token|key|api_key|access_token|secret|password|sig|signature)=)([^\s&#\"']+)", re.IGNORECASE),
    re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]+:)([^\s/@]+)(?=@)", re.IGNORECASE),
    re.compile(r"(\bBearer\s+)([A-Za-z0-9._~+/=-]{8,})"),
)


def masked(text: str) -> str:
    """The text with secrets replaced by `[secret]`.

    A word such as "password" alone is no secret: only what is given as one is masked, and only where it holds a digit
    or a symbol, as secrets do.
    """
    for shape in _SHAPES:
        text = shape.sub(MASK, text)
    for announced in _ANNOUNCED:
        text = announced.sub(lambda match: match[1] + MASK, text)
    return text
