"""Function words of the Latin-script languages that the tokeniser tells apart: data only.

They serve twice: the language whose words stand in a text decides its stemmer, and they are left out of the index,
where they would be the longest lists and say the least.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = {
    "english": _words(
        """a about after again all also am an and any anything are as at be because been before being but by can
        could d did do does doing don down during each else ever few for from get gets getting go goes going gonna got
        had has have having he her here hers him his how i if in into is isn it its just ll like m many may me might
        more most much must my no nor not now of off on once one only or other our out over own quite rather re
        really s same shall she should since so some something such t than that the their them then there these
        they this those though through to too under until up upon us ve very was we were what when where whether
        which while who whom whose why will with would yes yet you your yours"""
    ),
    "german": _words(
        """aber als am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den denn der des
        dich die dir doch du durch ein eine einem einen einer eines er es euch euer für gegen gerade habe haben hat
        hatte ich ihm ihn ihr ihre ihrem ihren im immer in ist ja jetzt kann kein keine man mein meine meinem meinen
        meiner mich mir mit nach nicht noch nur ob oder ohne sehr sein seine seinem seinen seit sich sie sind so
        über um und uns unser unter vom von vor war waren warum was welche welchem welchen welcher welches wem wen
        wenn wer werde werden wie wieder wird wir wo wohin woher wurde zu zum zur zwischen"""
    ),
    "french": _words(
        """à ai as au aussi aux avec avez avons ce ceci cela ces cet cette chez comme comment d dans de des depuis
        donc du elle elles en est et étaient était être eu fait il ils j je l la le les leur leurs lui m ma mais me
        mes moi mon n ne nos notre nous on ont ou où par pas plus pour pourquoi qu quand que quel quelle quelles
        quels qui quoi sa sans se ses si son sont suis sur ta te tes toi ton tu un une vos votre vous y"""
    ),
    "spanish": _words(
        """a al algo aquí así como con cual cuál cuando cuándo cuánto de del desde donde dónde e el él ella ellas
        ellos en entre era eres es esa ese eso está están estaba este esta esto fue ha había han hasta hay la las
        le les lo los más me mi mí mis mucho muy nada ni no nos nosotros o para pero por porque qué que quien quién
        se sea ser si sí sin sobre son soy su sus también te tiene tengo ti tu tus un una uno unos y ya yo"""
    ),
    "italian": _words(
        """a ai al alla alle anche c che chi ci come con cosa d da dai dal dalla degli dei del della delle di dove è
        e era essere fra gli ha hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio nel nella
        nelle noi non nostra nostro o perché per più quale quali quando quanto quello questa questo qui se sei si
        sia siamo sono sta su sua sue sul sulla suo suoi ti tra tu tua tuo un una uno vi voi"""
    ),
    "portuguese": _words(
        """a à ao aos as às até com como da das de dela dele deles do dos e é ela elas ele eles em então era essa
        esse esta está estão este eu foi há isso isto já lhe mais mas me meu meus minha minhas muito na não nas nem
        no nos nós o onde os ou para pela pelo por porque qual quando que quem são se sem ser seu seus sim só sobre
        sua suas também te tem tenho teu tu tua um uma você vocês"""
    ),
    "dutch": _words(
        """aan al als bij dan dat de deze die dit doe doet door dus een en er geen had hebben heb heeft het hier
        hij hoe hun ik is ja je jij jouw kan maar me meer met mij mijn naar niet nog nu of om omdat onder ons onze
        ook op over sinds te toch toen tot u uit voor waar waarom wanneer want was wat we wel welk welke werd wie wij
        wil word worden zal ze zich zij zijn zo zonder"""
    ),
}
