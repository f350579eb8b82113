"""Forty sentences held out for the rule distiller: written before its rules, and not to be tuned to.

Each language has ten sentences with something to keep and ten with nothing. `facts` are words that the notes must
hold (each counts once); `also` are words of other true statements in it, so that a note about them is no invention.
All were said on Wednesday, 11 March 2026.
"""

from __future__ import annotations

from dataclasses import dataclass

DAY = "2026-03-11"


@dataclass(frozen=True)
class Sentence:
    text: str
    facts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


ENGLISH = (
    Sentence("We finally moved to Lisbon in January and honestly the light here is unreal.", ("Lisbon",)),
    Sentence("Just so you know, I can't eat shellfish, last time I ended up in the ER.", ("shellfish",)),
    Sentence("I've been working as a paramedic for about six years now.", ("paramedic",), ("six years",)),
    Sentence(
        "my brother Tobias is getting married in October so I'm a bit stressed about the speech",
        ("Tobias", "2026-10"),
        ("brother",),
    ),
    Sentence("Ugh, mornings. I really hate getting up before nine.", ("getting up before nine",)),
    Sentence("Our cat Pixel threw up on the rug again, so that was my evening.", ("Pixel",)),
    Sentence("It's Katharina on paper but everyone just calls me Kat.", ("Kat",)),
    Sentence("I'm flying to Oslo tomorrow, what should I pack?", ("Oslo", "2026-03-12")),
    Sentence(
        "I grew up speaking Portuguese at home, English only came later at school.", ("Portuguese",), ("English",)
    ),
    Sentence("I had to give up tennis last year, my knee just wouldn't have it anymore.", ("tennis",), ("knee",)),
    Sentence("If I lived in Madrid I'd probably never cook again."),
    Sentence("Can you rewrite this paragraph so it sounds less stiff?"),
    Sentence("My neighbour says he's allergic to cats, is that even a thing?"),
    Sentence("Imagine you're a pirate captain and I'm your first mate. I live at sea and I love rum!"),
    Sentence("The wifi password is sunflower-8842, can you make a little sign for the guests?"),
    Sentence("lol ok thanks, that's perfect"),
    Sentence("Translate this into French: 'I am a vegetarian and I live in Geneva.'"),
    Sentence("Do I need a visa for Japan if I only change planes there?"),
    Sentence('He goes "I work at the harbour and I love it" and then just walks off.'),
    Sentence("I'd love a shorter version, and I like the second title better."),
)

CHINESE = (
    Sentence("我上个月刚从成都搬到杭州，还在适应这边的天气。", ("杭州",), ("成都",)),
    Sentence("提醒一下哈，我对花生过敏，推荐菜的时候注意点。", ("花生",)),
    Sentence("我是做室内设计的，平时加班挺多。", ("室内设计",), ("加班",)),
    Sentence("我女儿叫小满，今年刚上二年级。", ("小满",), ("二年级",)),
    Sentence("香菜我是真的吃不了，放一点点都难受。", ("香菜",)),
    Sentence("家里养了一只仓鼠，名字叫团团，半夜老跑轮子。", ("团团",), ("仓鼠",)),
    Sentence("不用那么客气，大家一般都叫我阿哲。", ("阿哲",)),
    Sentence("下周三我要去青岛出差，帮我看看那边冷不冷", ("青岛", "2026-03-18")),
    Sentence("我周末最喜欢去江边钓鱼，一坐就是一下午。", ("钓鱼",)),
    Sentence("其实我不在银行上班了，现在在一家出版社做编辑。", ("出版社", "编辑"), ("银行",)),
    Sentence("要是我住在海边，肯定每天都去游泳。"),
    Sentence("帮我把这段话改得正式一点，谢谢"),
    Sentence("我同事说他特别喜欢爬山，周末老约人。"),
    Sentence("我的邮箱密码是 qiuTian#2291，你先帮我记着。"),
    Sentence("你喜欢什么颜色呀？"),
    Sentence("哈哈哈好的，那就这样吧！"),
    Sentence("假装你是一个侦探，我是你的助手，我住在贝克街。"),
    Sentence("把这句话翻译成英文：“我在大阪当厨师。”"),
    Sentence("我是不是应该先保存再关机啊"),
    Sentence("我觉得第二个标题更好，就用这个吧。"),
)
