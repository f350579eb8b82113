"""The gate in front of the model: which turns are worth a call. Cheap, and wrong only on the side of asking."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W_]+")
# Words that carry nothing by themselves; a turn of these alone is a greeting, thanks or agreement.
_EMPTY = re.compile(
    r"ok|okay|okey|k+|yes|yeah|yep|yup|no|nope|nah|sure|fine|great|good|nice|cool|perfect|awesome|super|wow|hm+|oh|ah"
    r"|(?:ha)+|lol|thanks?|thank|thx|ty|cheers|please|hi|hello|hey|bye|goodbye|again|continue|go|on|next|more|right"
    r"|exactly|correct|agreed|done|got|it|you|see|understood|very|much|so|well|that|this|is|was|sounds|lovely|amazing"
    r"|and|the|a|all|i|will|do|too|alright|welcome|danke|ja|nein|gut|merci|oui|non|bien|gracias|si|vale|bueno|grazie"
    r"|obrigado|спасибо|да|нет|хорошо|ок"
)
_EMPTY_DENSE = re.compile(
    r"(?:好的?|行|可以|嗯|哦|噢|啊|哈|谢谢|多谢|感谢|是|对|没错|不用?|没事|没关系|明白|知道|收到|了解|继续|然后呢|再见|拜拜|早|早上好|晚安"
    r"|太好了|太棒了|不错|先|はい|ありがとう|うん|そう|네|감사합니다|고마워|吧|啦|呀|了|的|你|您)+"
)


def worth_asking(texts: Sequence[str]) -> bool:
    """Whether what the user said in a turn may hold something to keep.

    Args:
        texts: The user's messages of the turn.

    Returns:
        False for turns of greetings, thanks, agreement, emoji and punctuation alone.
    """
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    return any(not _EMPTY.fullmatch(word) and not _EMPTY_DENSE.fullmatch(word) for word in words)
