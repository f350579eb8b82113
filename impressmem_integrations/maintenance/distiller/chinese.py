"""Chinese: how a sentence is cut into clauses, and what may fill a slot."""

from __future__ import annotations

import re

from impressmem_integrations.maintenance.distiller.chinese_dates import find_date
from impressmem_integrations.maintenance.distiller.chinese_rules import (
    ANY_KIN,
    OF_SEVERAL,
    ONE_OF_A_KIND,
    PETS,
    RULES,
    any_of,
)
from impressmem_integrations.maintenance.distiller.rules import Language, shorn

_GAME = re.compile("假装|扮演|假设你|想象|设想|角色|从现在起你|你现在是")
_UNFIT = re.compile(
    "翻译成|翻译一下|翻译下|译成|润色|改写|改得|改成(?:正式|英文|中文|口语)|总结一下|概括|造句|例句|歌词|台词"
    "|写[一个]?(?:篇|首|封|段|个)|开玩笑|逗你|骗你的|以下(?:内容|文字|是)|下面(?:这|是)"
)
_LEAD = re.compile(
    "\\A(?:(?:其实|对了|另外|还有|顺便说一下|顺便说|顺便|提醒一下哈?|提醒你一下|说实话|老实说|那个|嗯+|哦+|哎+|唉+"
    "|哈+|不过|但是|但|而且|所以"
    "|因为|然后|请记住|请记得|记住|记得|记一下|更正一下|更正|纠正一下|说错了|我说错了|不对|你好|您好|嗨|主要是"
    "|不用客气|告诉你|跟你说|坦白讲"
    "|结果|于是|只是|以前说错了|之前说错了)[\\s:：]*)+"
)
# Corrections in one breath become plain statements of what is so.
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        ("(我(?:其实)?)不是?(住在|在|叫|来自|姓)[^，。；]+?[，、]?(?:而是|是(?!因))(?:住在|在|叫|来自|姓)?", r"\1\2"),
        ("(我(?:的|家)?[\u4e00-\u9fff]{1,6}?)不是?(叫|在|是)[^，。；]+?[，、]?(?:而是|是(?!因))(?:叫|在)?", r"\1\2"),
        (
            "我(?:其实)?不是对([^，。；]+?)(?:过敏)?[，、]?(?:而是|是)(?:对)?([^，。；]+?)(?:过敏)?(?=[，。；]|$)",
            r"我不是对\1过敏，我对\2过敏",
        ),
        ("(生日|老家|名字|母语)不(是|在|叫)[^，。；]+?[，、]?(?:而是|而在|是|在|叫)", r"\1\2"),
        ("[，,]\\s*(?:它|他|她)?(?:的)?(?:名字|大名|小名)?(?:叫做|叫作|叫|是叫)", "叫"),
    )
)
_KIN_OR_OTHER = re.compile(
    f"(?:我们|我)(?:的|家)?(?:{any_of({**ONE_OF_A_KIND, **OF_SEVERAL})}|邻居|上司|老师|同学|客户|房东|爸妈|父母|亲戚"
    f"|舅|姨|姑|叔|伯)"
)
_SPLIT = re.compile(r"\s*[，,；;：:—]+\s*|\s+")
_QUESTION = re.compile(
    "[吗嘛么]$|呢$|什么|怎么|哪[里儿个些]?|是不是|有没有|能不能|可不可以|会不会|要不要|该不该|好不好|多少|几点|谁"
    "|为什么|为啥|是否|咋"
)
_TAG = re.compile("(?:对吧|是吧|对吗|是吗|没错吧|对不对)$")
_CONDITION = re.compile("如果|要是|假如|假设|万一|倘若|要不是|除非|的话|比如")
_UNSURE = re.compile(
    "希望|可能|也许|大概|好像|差点|本来想|想要|恨不得|梦见|梦到|曾经|以前|应该会|说不定|考虑|打算要不|似乎|觉得|估计"
)
_HEARSAY = re.compile(
    "^(?!我(?:想)?(?:说|告诉你)|[你您]说).*(?:说|讲|告诉我|问我|认为|声称|写道|回答)(?!话|[英中日法德韩]"
    "|\\w{0,3}[语话])"
)


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that may state facts; one without a subject takes over a first-person one."""
    for pattern, replacement in _REWRITES:
        sentence = pattern.sub(replacement, sentence)
    asked = re.search(r"[?？]\s*$", sentence) is not None
    pieces = [piece for piece in _SPLIT.split(_joined(sentence).strip("。！？!?.…~～ ")) if piece]
    if asked and pieces:
        pieces = [] if _TAG.search(pieces[-1]) else pieces[:-1]
    kept: list[str] = []
    subject, kin = "", ""
    for piece in pieces:
        if _CONDITION.search(piece) or _HEARSAY.search(piece):
            break
        plain = _LEAD.sub("", piece, count=1)
        if not plain or _QUESTION.search(plain) or _UNSURE.search(plain):
            continue
        if kin:
            plain = re.sub("\\A[他她](?!们)", kin, plain)
        if spoken_of := re.match(ANY_KIN, plain):
            kin = spoken_of[0]
        if re.match("我|咱", plain):
            subject = "" if _KIN_OR_OTHER.match(plain) else "我"
        elif re.search("我|你|他|她|它|这|那|大家", plain):
            subject = ""
        kept.append(plain)
        if subject and not re.match("我|咱", plain):
            kept.append(subject + plain)
    return kept


def _joined(sentence: str) -> str:
    """Blanks between Chinese and Latin letters are typography, not the end of a clause."""
    return re.sub(r"(?<=[\w、])\s+(?=\w)", "", sentence) if re.search("[A-Za-z0-9]", sentence) else sentence


_TAIL = re.compile("(?:了|啦|呢|啊|呀|哦|哈|吧|的时候|这种东西|之类的|什么的|也|都|就好|就行|一点|多年|很久|好久)$")
_NO_NAME = re.compile(
    "^(?:了|车|过|着|人|去|来|做|帮|起床|起来|吃|早|别|不|先|回|过|出|快|赶|开|一|什么|干|说|买|写|多|好|他|她|你|我"
    "|再|加|上|下)"
)
_DEICTIC = re.compile(
    "^(?:这|那|它|他|她|你|您|第[一二三四五两几]|上面|下面|前面|后面|刚才|谁|什么|怎么|哪|哪里|家|里面|外面)"
    "|[你您]|方案|标题|版本|回答|建议|选项|答案|这个|那个|这样|那样|怎"
)
_MAX_CHARACTERS = 16


def clean(slot: str, text: str, clause: str) -> str | None:
    """Trim what a slot caught; None where it is nothing that a note can hold."""
    text = text.strip(" 。，、！!.")
    if slot == "name":
        return None if _NO_NAME.match(text) else text
    text = shorn(text, _TAIL)
    if slot == "employer":
        text = re.sub("^(?:一家|一个|一所|这家)", "", text)
    if slot in ("thing", "place", "employer", "field", "kind") and _DEICTIC.search(text):
        return None
    return text if text and len(text) <= _MAX_CHARACTERS else None


CHINESE = Language(
    script=re.compile("[\u4e00-\u9fff]"),
    rules=RULES,
    game=_GAME,
    unfit=_UNFIT,
    clauses=clauses,
    find_date=find_date,
    clean=clean,
    canonical={**ONE_OF_A_KIND, **OF_SEVERAL, **PETS},
)
