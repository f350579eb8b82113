"""Words with which people ask for what was said or done, beside function words: data only.

A question that has no others beside its date asks for all of that time.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ASKING_WORDS = {
    "english": _words(
        """anything asked asking ask chat chatted conversation conversations date day discuss discussed discussion
        everything happen happened happening happens hear heard know learn learned learnt let mention mentioned new
        please recall remember remind said say saying says shared speak spoke spoken stuff summarise summarize summary
        talk talked talking tell telling thing things told went write written wrote
        monday tuesday wednesday thursday friday saturday sunday morning noon afternoon evening night"""
    ),
    "german": _words(
        """alles besprochen bitte darüber davon dir erinnerst erwähnt erzähl erzähle erzählen erzählst erzählt erzählte
        etwas fragte gab gefragt gemacht geredet gesagt geschah geschehen geschrieben gespräch gesprochen getan gibt
        ging hattest hatten los neues passiert passierte reden sag sage sagen sagte sagtest sprachen sprechen tag tat
        unterhalten weißt worüber wovon
        montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag morgen früh vormittag mittag nachmittag
        abend nacht"""
    ),
    "french": _words(
        """a appris arrivé avais avait avions chose choses conversation demandé dire dis discuté discuter disais dit
        écrit étions faire fait jour mentionné parlé parler parlions passé passée quelque raconté raconter racontais
        rappelle s souviens t tout
        lundi mardi mercredi jeudi vendredi samedi dimanche matin midi après soir nuit"""
    ),
    "spanish": _words(
        """cosa cosas contado contamos contar contaste conté decir dicho digo dije dijimos dijiste dijo día escribí
        habíamos hablado hablamos hablar hablaste hablé has he hecho hemos hice hiciste hicimos hizo hubo mencionado
        mencioné ocurrió pasado pasó pregunté recuerda recuerdas sucedió todo
        lunes martes miércoles jueves viernes sábado domingo mañana mediodía tarde noche"""
    ),
}

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
