"""How models say in words of their own that there is nothing to do, where the agreed word was asked for.

Every word counts: one that is not listed ("Nothing new, but she moved to Oslo") makes it prose.
"""

from __future__ import annotations

import re

_MOST_CHARACTERS = 100
_WORD = re.compile(r"[^\W_]+")
_BRACES = re.compile(r"[{}\[\]]")
# A bare "no" is left out: "No, save this."
_NONE = (
    r"nothing|no(?: new| relevant| further| additional)? (?:facts?|information|impressions?|changes)"
    r"|nichts|rien|nada|niente|nulla|нечего|ничего"
)
_FILLING = (
    # English
    r"there|is|are|was|i|see|found|have|here|to|that|which|be|needs?|should|worth|new|else|more|or|and|in|from|of|for"
    r"|this|these|the|it|turns?|conversations?|talk|memory|now|do|done|saved?|saving|stored?|storing|keep|keeping|kept"
    r"|remember(?:ed|ing)?|record(?:ed|ing)?|add(?:ed)?|tidy|tidied|merged?|updated?|changed?|s"
    # German, French, Spanish, Portuguese, Italian, Russian
    r"|es|gibt|hier|ist|zu|neues|und|oder|aus|diesem|gespräch|speichern|merken|behalten|tun|aufräumen"
    r"|il|n|y|a|à|de|nouveau|ici|enregistrer|retenir|mémoriser|garder|sauvegarder|faire"
    r"|no|hay|que|para|nuevo|aquí|guardar|recordar|almacenar|hacer"
    r"|não|há|novo|aqui|salvar|lembrar|armazenar|fazer"
    r"|non|c|è|e|di|nuovo|da|qui|salvare|ricordare|memorizzare|conservare|fare"
    r"|здесь|нет|нового|сохранять|сохранить|запоминать|запомнить|делать"
)
_SPACED = re.compile(rf"(?:(?:{_FILLING}) )*(?:{_NONE})(?: (?:{_FILLING}))*")
# Chinese, Japanese, Korean
_NONE_DENSE = re.compile("没有|沒有|无需|無需|不需要|没什么|沒什麼|ありません|ない|なし|없습니다|없음|없어요")
_KEEP_DENSE = re.compile(
    "记住|記住|记忆|記憶|记录|記錄|記録|保存|储存|儲存|存储|保留|整理|覚える|저장|기억|기록|정리"
)  # fmt: skip
_DENSE = re.compile(
    rf"(?:{_NONE_DENSE.pattern}|{_KEEP_DENSE.pattern}|这里|這裡|本轮|本次|目前|任何|什么|什麼|新|需要|要|值得|可以|应该"
    "|應該|被|或|的|了|内容|內容|信息|資訊|事实|事實|东西|東西|する|すべき|べき|こと|もの|情報|事実|は|が|も|特に|です"
    "|할|해야|새로운|내용|것|정보|사실|이|은|는|도)+"
)


def says_nothing_in_words(text: str) -> bool:
    """Whether a text says that there is nothing to keep or to tidy, and nothing else."""
    if len(text) > _MOST_CHARACTERS or _BRACES.search(text):
        return False
    words = _WORD.findall(text.casefold())
    if _SPACED.fullmatch(" ".join(words)):
        return True
    dense = "".join(words)
    return all(part.search(dense) for part in (_NONE_DENSE, _KEEP_DENSE)) and _DENSE.fullmatch(dense) is not None
