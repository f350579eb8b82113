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
# English, German, French, Spanish. Words of everyday use that are also something else ("clave", "code") need company.
_WORDS = (
    r"pass(?:word|phrase|code|wd)?|pwd|pin(?: code)?|secret|token|api[ _-]?key|access[ _-]?key|login",
    r"passwort|kennwort|pin-?code|pin-?nummer|geheimzahl|zugangscode|(?:api|zugangs)[ -]?schlüssel",
    r"mot de passe|code (?:secret|pin|d['’]accès)|clé (?:api|secrète|d['’]accès)",
    r"contraseña|contrasena|clave (?:de acceso|secreta|del? wi-?fi|api)|código (?:secreto|pin|de acceso)",
)
_FOR = r"for|of|to|on|für|vom|von|zum|zur|fürs|pour|du|de|para|del"
_IS = r"is|was|to|ist|war|lautet|est|était|es|era"
# A word that announces a secret, and what is given as one: the second group goes.
_ANNOUNCED = (
    re.compile(
        rf"(\b(?:{'|'.join(_WORDS)})\b(?:\s+(?:{_FOR})\s+[^\s:=]+(?:\s+[^\s:=]+){{0,3}})?"
        rf"\s*(?:=|:|\b(?:{_IS})\b(?![-'’]):?)\s*[\"'`“„«]?)"
        r"((?=[^\s\"'`”“»]*(?:\d|[^\w\s\"'`”“».,;!?]))[^\s\"'`”“»]{4,})",
        re.IGNORECASE,
    ),
    re.compile(
        r"((?:密[码碼钥鑰]|口令|[验驗][证證][码碼]|パスワード|비밀번호)"
        r"\s*(?:就?是|[改设設换換][成为為]?|[为為]|叫|：|:|=|は|は：)?\s*[「『\"']?)([A-Za-z0-9@#$%^&*!_\-+=.]{4,})"
    ),
    re.compile(r"([?&](?:token|key|api_key|access_token|secret|password|sig|signature)=)([^\s&#\"']+)", re.IGNORECASE),
    re.compile(r"(\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]+:)([^\s/@]+)(?=@)", re.IGNORECASE),
    re.compile(r"(\bBearer\s+)([A-Za-z0-9._~+/=-]{8,})"),
)


def masked(text: str) -> str:
    """The text with secrets replaced by `[secret]`.

    A word such as "password" alone is no secret: only what is given as one is masked, and only where it holds a digit
    or a symbol, as secrets do. Such words are known in English, German, French, Spanish and Chinese, and the word
    itself in Japanese and Korean; keys, tokens and card numbers are known by their shape.
    """
    for shape in _SHAPES:
        text = shape.sub(MASK, text)
    for announced in _ANNOUNCED:
        text = announced.sub(lambda match: match[1] + MASK, text)
    return text
