"""Words with which people ask for what was said or done, beside function words: data only.

A question that has no others beside its date may ask for all of that time: `core/asking.py`.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PAST_WORDS = {
    "english": _words(
        """asked been chatted did discussed done got had happened heard learned learnt mentioned said shared spoke
        spoken talked told was went were written wrote"""
    ),
    "german": _words(
        """besprochen erwähnt erzählte fragte gab gefragt gemacht geredet gesagt geschah geschehen geschrieben
        gesprochen getan ging hatte hatten hattest passierte sagte sagtest sprachen tat war waren warst wurde"""
    ),
    "french": _words(
        """appris arrivé avais avait avions demandé dis disais discuté dit eu mentionné parlions parlé passé passée
        racontais raconté écrit étaient était étions"""
    ),
    "spanish": _words(
        """contado contamos contaste conté dicho dije dijimos dijiste dijo era escribí fue ha hablado hablamos hablaste
        hablé había habíamos han has he hecho hemos hice hicimos hiciste hizo hubo mencionado mencioné ocurrió
        pasado pasó pregunté sucedió"""
    ),
}
"""Verbs and participles of what was; function words are among them."""

SAYING_WORDS = {
    "english": _words(
        """ask chat conversation conversations discuss discussion happen happening happens hear know learn mention
        recall remember say saying says speak summarise summarize summary talk talking tell telling write"""
    ),
    "german": _words(
        """erinnerst erzähl erzähle erzählen erzählst erzählt gespräch passiert reden sag sage sagen sprechen
        unterhalten weißt"""
    ),
    "french": _words("conversation dire discuter faire fait parler raconter souviens"),
    "spanish": _words("contar decir digo hablar recuerda recuerdas"),
}
"""Words of saying, remembering and happening that show no past."""

OTHER_WORDS = {
    "english": _words(
        """afternoon anything asking date day evening everything friday let monday morning new night
        noon please remind saturday stuff sunday thing things thursday tuesday wednesday"""
    ),
    "german": _words(
        """abend alles bitte darüber davon dienstag dir donnerstag etwas freitag früh gibt hast los mittag mittwoch
        montag morgen nachmittag nacht neues samstag sonnabend sonntag tag vormittag worüber wovon"""
    ),
    "french": _words(
        """a après chose choses dimanche jeudi jour lundi mardi matin mercredi midi nuit quelque rappelle s samedi soir
        t tout vendredi"""
    ),
    "spanish": _words(
        """cosa cosas domingo día jueves lunes martes mañana mediodía miércoles noche sábado tarde todo viernes"""
    ),
}
"""What may stand beside them and asks for nothing by itself."""

FUTURE_WORDS = {
    "english": _words("am are going gonna is isn ll m re shall should will would"),
    "german": _words("werde werden wird"),
    "french": frozenset[str](),
    "spanish": frozenset[str](),
}
"""Function words that turn a participle into what is or will be: `what will be discussed`."""

# Of scripts without blanks, the longer ones first: each is taken out of a question where it stands.
ASKING_DENSE = (
    # Chinese
    "哪里|哪裡|哪儿|哪兒|讨论|討論|告诉|告訴|提到|发生|發生|没有|沒有|什么|什麼|哪些|怎么|怎麼|怎样|怎樣|事情|话题|話題|内容|內容|记得|記得|知道|一下"
    "|一起|总结|總結|回忆|回憶|我们|我們|咱们|你们|你們|[我你您他她它们們都又还還也就和跟与與对對把给給在有了的吗嗎呢吧啊过過说說聊谈談讲講"
    "问問做干些啥事话話是那天里裡请請去谁誰]"
    # Japanese
    "|会話|どんな|どこ|だれ|出来事|あなた|私|僕|俺|君|何|言|教|伝|起|覚|行|えてくれましたか|えてくれました|えてくれた|ていましたか|ていました|ていた"
    "|きましたか|きました|きた|いましたか|いました|った|していた|しましたか|しました|した|えましたか|えました|えた|ありましたか|ありました"
    "|あった|っけ|こと|なに|なん|でしたか|でした|ですか|です|[をにはがのとでもかへねよ]"
)

DENSE_PAST = _words(
    """了 过 過 えてくれましたか えてくれました えてくれた ていましたか ていました ていた きましたか
    きました きた いましたか いました った していた しましたか しました した えましたか えました えた ありましたか
    ありました あった っけ でしたか でした"""
)
"""Those of them that show a past."""

DENSE_SAYING = DENSE_PAST | _words(
    """讨论 討論 告诉 告訴 提到 发生 發生 事情 话题 話題 内容 內容 记得 記得 总结 總結 回忆 回憶 说 說 聊 谈 談 讲 講
    问 問 做 干 事 话 話 去 会話 出来事 言 教 伝 起 覚 行"""
)
"""Those, and words of saying, doing and happening."""
