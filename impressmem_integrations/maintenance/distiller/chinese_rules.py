"""What people say about themselves in Chinese, as tables: each rule is one way to state a fact."""

from __future__ import annotations

from impressmem_integrations.maintenance.distiller.rules import rule

_ADVERB = (
    "(?:(?:现在|目前|平时|平常|一直|最近|其实|真的|真|特别|非常|很|挺|超级|超|最|比较|还是|也|都|就|已经|刚刚|刚|才"
    "|从小|一般|通常"
    "|主要|本来|可|还|又|更|终于|正式|周末|每天|下班后|有空|是真的|确实|正在|这辈子|打小|老家)\\s*)*"
)
_I = f"(?:我们|咱们|我|咱)(?:家|自己|这个人|这人)?{_ADVERB}"
_NAME = "(?P<name>[\u4e00-\u9fff]{1,4}|[A-Za-z][\\w·]*)"
_PLACE = "(?P<place>[\u4e00-\u9fffA-Za-z·]{2,12}?)"
_THING = "(?P<thing>\\S.*)"
_END = "(?:了|啦|呢|啊|呀|哦|的|吧)?$"

ONE_OF_A_KIND = {
    "老婆": "WIFE", "妻子": "WIFE", "太太": "WIFE", "媳妇": "WIFE", "老公": "HUSBAND", "丈夫": "HUSBAND",
    "先生": "HUSBAND", "女朋友": "GIRLFRIEND", "男朋友": "BOYFRIEND", "妈妈": "MOTHER", "母亲": "MOTHER",
    "老妈": "MOTHER", "妈": "MOTHER", "爸爸": "FATHER", "父亲": "FATHER", "老爸": "FATHER", "爸": "FATHER",
    "爱人": "SPOUSE", "老板": "BOSS", "领导": "BOSS",
}  # fmt: skip
OF_SEVERAL = {
    "女儿": "DAUGHTER", "闺女": "DAUGHTER", "儿子": "SON", "哥哥": "BROTHER", "弟弟": "BROTHER", "姐姐": "SISTER",
    "妹妹": "SISTER", "表哥": "COUSIN", "表弟": "COUSIN", "表姐": "COUSIN", "表妹": "COUSIN", "孩子": "CHILD",
    "宝宝": "CHILD", "孙子": "GRANDSON", "孙女": "GRANDDAUGHTER", "奶奶": "GRANDMOTHER", "外婆": "GRANDMOTHER",
    "爷爷": "GRANDFATHER", "外公": "GRANDFATHER", "室友": "FLATMATE", "朋友": "FRIEND", "闺蜜": "FRIEND",
    "同事": "COLLEAGUE", "哥": "BROTHER", "弟": "BROTHER", "姐": "SISTER", "妹": "SISTER",
}  # fmt: skip
PETS = {
    "小狗": "DOG", "狗狗": "DOG", "狗": "DOG", "小猫": "CAT", "猫咪": "CAT", "猫": "CAT", "兔子": "RABBIT",
    "仓鼠": "HAMSTER", "鹦鹉": "PARROT", "乌龟": "TURTLE", "金毛": "DOG", "柯基": "DOG", "泰迪": "DOG",
    "橘猫": "CAT", "布偶猫": "CAT", "英短": "CAT", "金鱼": "GOLDFISH", "蜥蜴": "LIZARD",
}  # fmt: skip


def any_of(words: dict[str, str]) -> str:
    """Return a pattern for any of the words, longer ones first."""
    return "|".join(sorted(words, key=len, reverse=True))


_PARTNER = f"(?:我们|我)(?:的|家)?(?P<kin>{any_of(ONE_OF_A_KIND)})"
_KIN = f"(?:我们|我)(?:的|家)?(?:大|小|二)?(?P<kin>{any_of(OF_SEVERAL)})"
ANY_KIN = f"(?:我们|我)(?:的|家)?(?:大|小|二)?(?P<kin>{any_of({**ONE_OF_A_KIND, **OF_SEVERAL})})"
_PET = f"(?P<pet>{any_of(PETS)})"
_IS_CALLED = "(?:的)?(?:名字|大名|小名)?(?:叫做|叫作|叫|是叫)"
_COUNT = "(?P<count>[一两三四五六1-9])"
_DIETS = "(?P<diet>素食主义者|素食者|纯素食者|乳糖不耐受|乳糖不耐|糖尿病患者|清真饮食)"
_JOBS = (
    "(?P<job>[\u4e00-\u9fffA-Za-z]{0,8}(?:老师|教师|医生|护士|律师|会计|厨师|司机|工程师|设计师|程序员|记者|编辑|翻译"
    "|演员|作家|画家"
    "|歌手|警察|消防员|学生|研究生|博士生|大学生|教授|研究员|销售|产品经理|项目经理|经理|助理|导游|摄影师|理发师"
    "|药剂师|咖啡师|飞行员"
    "|空姐|农民|木匠|电工|公务员|自由职业者|插画师|建筑师|牙医|兽医|教练|瑜伽老师|架构师|分析师))"
)
_LANGUAGES = (
    "(?P<language>(?:(?!笑|谎|坏|大|好|电|废|空|真|实|假|这|那|你)[\u4e00-\u9fff]{1,4}(?:语|话|文)(?:、|和|跟)?)+)"
)
_BELONGINGS = "(?:车|电动车|自行车|摩托车|房子|公寓|院子|花园|钢琴|吉他|相机|电脑|帐篷|望远镜|船|小提琴|古筝)"


RULES = (
    # Names and people
    rule(f"(?:{_I}(?:叫|名叫|的名字叫|的名字是|大名叫)|我姓名是|我的(?:中文|英文)?名字?(?:叫|是)){_NAME}{_END}",
          "USER-NAME", "名字：{name}", "Identity", "Name", pin=True),
    rule(f"(?:大家|朋友们?|同事们?|家里人|别人|你|您)?(?:可以|一般|平时|通常|都|就|直接|以后)*(?:叫|喊"
          f"|称呼)我{_NAME}(?:就好|就行|吧|即可)?{_END}",
          "USER-NICKNAME", "称呼：{name}", "Identity", "Name"),
    rule(f"{_PARTNER}{_IS_CALLED}{_NAME}{_END}", "USER-{kin}", "{kin}：{name}", "People", "Family", "Name"),
    rule(f"{_KIN}{_IS_CALLED}{_NAME}{_END}", "USER-{kin}-{name}", "{kin}：{name}", "People", "Family", "Name"),
    rule(f"{_I}有[一两三]?个(?P<kin>{any_of(OF_SEVERAL)}){_IS_CALLED}{_NAME}{_END}",
          "USER-{kin}-{name}", "{kin}：{name}", "People", "Family", "Name"),
    rule(f"{ANY_KIN}{_ADVERB}(?:住在|搬到|搬去){_PLACE}{_END}",
          "USER-{kin}-HOME", "{kin}住在{place}", "People", "Family", "Home"),
    rule(f"{ANY_KIN}{_ADVERB}对(?P<thing>.+?)过敏", "USER-{kin}-ALLERGY", "{kin}对{thing}过敏", "People", "Family",
          "Allergy",
          pin=True),
    rule(f"{ANY_KIN}{_ADVERB}是(?:一?[名个位])?{_JOBS}{_END}",
          "USER-{kin}-JOB", "{kin}是{job}", "People", "Family", "Job"),
    rule(f"{ANY_KIN}的?生日(?:是|在)?", "USER-{kin}-BIRTHDAY", "{kin}的生日：{when}", "People", "Family", "Birthday",
          needs_date=True),
    rule(f"{ANY_KIN}{_ADVERB}(?:要|会|就要|打算)(?P<thing>(?:结婚|来看我|来我家|过来|毕业|出国|高考|搬家).*?){_END}",
          "USER-{kin}-PLAN", "{kin}{when}{thing}", "People", "Family", "Plan", tense="future", needs_date=True),
    rule(f"{_I}有{_COUNT}个(?P<child>孩子|儿子|女儿|娃){_END}", "USER-CHILDREN", "有{count}个{child}", "People",
          "Family"),
    # Animals
    rule(f"(?:{_I}|家里)的?(?:那只|那条|这只)?{_PET}{_IS_CALLED}{_NAME}{_END}",
          "USER-PET-{pet}", "养了{pet}，叫{name}", "Pets", "Pet", "Name"),
    rule(f"(?:{_I}|家里{_ADVERB})(?:养了|养着|养|有|领养了){_COUNT}?(?:只|条|个"
          f"|缸)?[^不没起\\s]{{0,4}}?{_PET}(?:{_IS_CALLED}{_NAME})?{_END}",
          "USER-PET-{pet}", "养了{pet}[，叫{name}]", "Pets", "Pet"),
    # Places
    rule(f"{_I}(?:住在|定居在|定居|租住在|住){_PLACE}(?:这边|那边|附近)?{_END}",
          "USER-HOME", "住在{place}[（{when}）]", "Home", "Residence", tense="past"),
    rule(f"{_I}在{_PLACE}(?:定居|租房|住){_END}", "USER-HOME", "住在{place}[（{when}）]", "Home", "Residence",
          tense="past"),
    rule(f"{_I}(?:从\\S+?)?(?:搬到|搬来|搬回|搬去){_PLACE}(?:来|去|住|生活)?{_END}",
          "USER-HOME", "住在{place}[（{when}搬来）]", "Home", "Residence", tense="past"),
    rule(f"{_I}(?:要|准备|打算|计划|会|将)(?:从\\S+?)?(?:搬到|搬去|搬回){_PLACE}(?:去|住|生活)?{_END}",
          "USER-PLAN-MOVE", "打算搬到{place}[（{when}）]", "Plans", "Move", "Home", tense="future"),
    rule(f"{_I}(?:不住在?|不在)(?P<place>[\u4e00-\u9fff]{{2,8}}?)(?:住了|住|了)$",
          "USER-HOME", "已不住在{place}", "Home", "Residence", ended=True),
    rule(f"{_I}(?:来自|老家在|是从)(?P<place>[\u4e00-\u9fffA-Za-z]{{2,8}}?)(?:来的)?{_END}",
          "USER-ORIGIN", "来自{place}", "Identity", "Origin"),
    rule(f"我的?老家(?:就)?(?:在|是){_PLACE}{_END}", "USER-ORIGIN", "来自{place}", "Identity", "Origin"),
    rule(f"{_I}是(?P<place>(?!外地|本地|[一第个好老坏男女独哪什]|成年|负责|联系|当事|年轻|普通"
          f"|内部)[\u4e00-\u9fff]{{2,6}})人{_END}", "USER-ORIGIN", "来自{place}", "Identity", "Origin"),
    rule(f"{_I}(?:在{_PLACE}长大|是在{_PLACE.replace('place', 'town')}长大)", "USER-CHILDHOOD",
          "在[{place}][{town}]长大",
          "Identity", "Origin"),
    # Work and study
    rule(f"{_I}(?:是做|是搞|做|从事)(?P<field>[\u4e00-\u9fffA-Za-z]{{2,10}}?)(?:这行|这一行|工作|行业|方面)?的$",
          "USER-FIELD", "做{field}", "Work", "Field"),
    rule(f"{_I}(?:是|当|做了?)(?:一?[名个位])?{_JOBS}{_END}", "USER-JOB", "是{job}", "Work", "Job"),
    rule(f"{_I}在(?P<employer>(?!家)[\u4e00-\u9fffA-Za-z0-9]{{2,14}}?)(?:里)?(?:上班|工作|任职|做事|实习){_END}",
          "USER-EMPLOYER", "在{employer}工作[（{when}）]", "Work", "Employer", tense="past"),
    rule(f"{_I}在(?P<employer>(?!家)[\u4e00-\u9fffA-Za-z0-9]{{2,14}}?)(?:里)?(?:做|当"
          f"|担任)(?:一[名个位])?{_JOBS}{_END}",
          "USER-JOB", "在{employer}做{job}[（{when}）]", "Work", "Job", "Employer", tense="past"),
    rule(f"{_I}(?:跳槽到|跳槽去|入职|换到)了?(?P<employer>[\u4e00-\u9fffA-Za-z0-9]{{2,14}}?){_END}",
          "USER-EMPLOYER", "在{employer}工作[（{when}入职）]", "Work", "Employer", tense="past"),
    rule(f"{_I}(?:不在|从)(?P<employer>[\u4e00-\u9fffA-Za-z0-9]{{2,14}}?)(?:上班了|工作了|干了|做了|辞职了|离职了)$",
          "USER-EMPLOYER", "已不在{employer}工作", "Work", "Employer", ended=True),
    rule(f"{_I}(?:在\\S+?)?(?:学的是|读的是|主修|学的专业是)(?P<thing>[\u4e00-\u9fff]{{2,10}}?)(?:专业)?{_END}",
          "USER-STUDIES", "专业：{thing}", "Work", "Studies"),
    rule(f"{_I}退休{_END}", "USER-JOB", "已退休[（{when}）]", "Work", "Job", tense="past"),
    # Health and food
    rule(f"{_I}(?:是)?对(?P<thing>[^，]+?){_ADVERB}(?:严重)?过敏", "USER-ALLERGY-{thing}", "对{thing}过敏", "Health",
          "Allergy", pin=True),
    rule(f"{_I}(?:不是|不再|不|没有)对(?P<thing>[^，]+?)过敏(?:了)?$", "USER-ALLERGY-{thing}", "对{thing}不过敏",
          "Health", "Allergy",
          ended=True),
    rule(f"{_I}(?:是(?:一?个)?|有){_DIETS}{_END}", "USER-DIET", "是{diet}[（{when}）]", "Health", "Diet"),
    rule(f"{_I}(?:是)?(?:吃素|吃全素|吃纯素)(?:的)?{_END}", "USER-DIET", "吃素[（{when}）]", "Health", "Diet",
          tense="past"),
    rule(f"{_I}(?:不是{_DIETS}了|不(?:再)?吃素了|不再吃素)", "USER-DIET", "不再吃素", "Health", "Diet", ended=True),
    rule(f"{_I}(?:开始|重新|恢复|改成|改|又)+吃(?P<thing>肉|鱼|蛋|奶制品|荤){_END}", "USER-DIET",
          "吃{thing}[（{when}）]", "Health", "Diet",
          tense="past"),
    rule(f"{_I}(?:从来)?(?:不能|不可以|不)(?P<verb>吃|喝)(?P<thing>(?!酒(?:了)?$|素|饭|早|午|晚|这|那|了|完|药|亏|醋"
          f"|点)[\u4e00-\u9fffA-Za-z、和]{{1,10}}?){_END}",
          "USER-AVOIDS-{thing}", "不{verb}{thing}", "Health", "Diet"),
    rule(f"(?P<thing>[\u4e00-\u9fff]{{2,6}}){_I}(?:吃不了|吃不惯|不能吃|不吃|不敢吃|喝不了|不能喝|不喝){_END}",
          "USER-AVOIDS-{thing}", "不能吃{thing}", "Health", "Diet"),
    rule(f"{_I}(?:戒了|戒掉了?|戒)(?P<thing>烟|酒|咖啡)了?$", "USER-HABIT-{thing}", "已戒{thing}[（{when}）]", "Health",
          "Habit",
          tense="past"),
    rule(f"{_I}不再?(?P<verb>抽|喝)(?P<thing>烟|酒)了?$", "USER-HABIT-{thing}", "不{verb}{thing}", "Health", "Habit"),
    # Preferences
    rule(f"{_I}(?:喜欢上了?|喜欢|爱上了?|爱(?!人|死)|热爱|迷上了?|偏爱)(?!的)(?P<act>吃|喝|看|听|玩|打"
          f"|去)?(?P<thing>[^，]+?){_END}",
          "USER-TASTE-{thing}", "喜欢[{act}]{thing}", "Preferences", "Likes"),
    rule(f"{_I}(?:不太喜欢|不怎么喜欢|不喜欢|不再喜欢|不爱|不太爱|讨厌|受不了|最烦)(?P<act>吃|喝|看|听|玩|打"
          f"|去)?(?P<thing>[^，]+?){_END}",
          "USER-TASTE-{thing}", "不喜欢[{act}]{thing}", "Preferences", "Dislikes"),
    rule("我最(?:喜欢|爱)的(?P<kind>[\u4e00-\u9fff]{1,6})是(?P<thing>[^，]+)$",
          "USER-FAVOURITE-{kind}", "最喜欢的{kind}：{thing}", "Preferences", "Likes"),
    # What somebody does, has, speaks
    rule(f"{_I}(?:的)?(?:爱好|业余爱好)是(?P<thing>[^，]+?){_END}", "USER-HOBBIES", "爱好：{thing}", "Hobbies",
          "Hobby"),
    rule(f"{_I}(?:在|开始)学(?:习)?(?!校|的)(?P<thing>[\u4e00-\u9fffA-Za-z]{{2,10}}?){_END}",
          "USER-LEARNING-{thing}", "在学{thing}[（{when}）]", "Hobbies", "Learning", tense="past"),
    rule(f"{_I}(?:会说|会讲|能说){_LANGUAGES}{_END}", "USER-LANGUAGES", "会说{language}", "Identity", "Language"),
    rule(f"(?:{_I}的?|我)母语是(?P<language>[\u4e00-\u9fff]{{2,6}}?){_END}", "USER-NATIVE-LANGUAGE", "母语：{language}",
          "Identity",
          "Language"),
    rule(f"{_I}(?:买了|有了|有|开的是|开)(?:[一两三](?:辆|台|架|套|把|艘|部|间|个))(?P<thing>\\S{{0,8}}?{_BELONGINGS})",
          "USER-HAS-{thing}", "有{thing}[（{when}）]", "Possessions", "Possession", tense="past"),
    rule(f"{_I}开(?:着|的是)?(?:一辆)(?P<thing>\\S{{2,8}}?){_END}", "USER-HAS-{thing}", "开{thing}", "Possessions",
          "Possession"),
    rule(f"{_I}(?:把)(?P<thing>\\S{{0,6}}{_BELONGINGS})卖(?:掉)?了", "USER-HAS-{thing}", "{thing}已卖掉", "Possessions",
          "Possession", ended=True),
    # Dates
    rule(f"{_I}的?生日(?:是|在)?", "USER-BIRTHDAY", "生日：{when}", "Identity", "Birthday", needs_date=True),
    rule(f"{_I}(?:是)?出生(?:的|在|于)?", "USER-BIRTHDAY", "出生：{when}", "Identity", "Birthday", needs_date=True),
    rule(f"{_I}(?P<age>1[89]|[2-9][0-9]|[二三四五六七八]十[一二三四五六七八九]?)岁{_END}", "USER-AGE", "{age}岁",
          "Identity", "Age"),
    rule(f"{_I}(?:要|会|准备|打算|得)?(?:坐\\S+?)?(?:去|飞|到)(?P<place>(?!了|过|上班|上学|看|吃|买"
          f"|跑)[\u4e00-\u9fffA-Za-z]{{2,6}}?)"
          f"(?P<thing>出差|旅游|旅行|玩|度假|开会|参加\\S+|探亲|看展){_END}",
          "USER-PLAN-{place}", "计划：{when}去{place}{thing}", "Plans", "Travel", tense="future", needs_date=True),
    rule(f"{_I}(?:要|准备|打算|得|会|约了)(?P<thing>(?:飞(?!起)|考|参加|入职|面试|结婚|手术|做手术|体检|看牙|看医生"
          f"|牙医"
          f"|复查|搬家|答辩|跑)\\S*?){_END}",
          "USER-PLAN-{thing}", "计划：{when}{thing}", "Plans", "Plan", tense="future", needs_date=True),
    rule(f"{_I}有(?:一?[场个次])(?P<thing>\\S{{0,8}}?(?:考试|面试|会议|手术|婚礼|演出|比赛|答辩|体检|演讲|聚会)){_END}",
          "USER-PLAN-{thing}", "计划：{when}{thing}", "Plans", "Appointment", tense="future", needs_date=True),
    rule(f"{_I}(?:去了|去过|去|在)(?P<place>[\u4e00-\u9fffA-Za-z]{{2,6}}?)(?:一趟|玩了\\S*|旅游了?|出差了?|旅行了?"
          f"|回来)了?$",
          "USER-TRIP-{place}", "{when}去过{place}", "Travel", "Trip", tense="past", needs_date=True),
)  # fmt: skip
