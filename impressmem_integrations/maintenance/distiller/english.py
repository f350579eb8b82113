"""The rules for English: what people say about themselves, as tables."""

from __future__ import annotations

import re

from impressmem_integrations.maintenance.distiller.english_dates import find_date
from impressmem_integrations.maintenance.distiller.rules import Language, Rule, Tense

_ADVERB = (
    r"(?:(?:really|absolutely|just|also|actually|still|currently|recently|finally|always|usually|mostly|mainly|now"
    r"|do|definitely|truly|totally|quite|honestly|already|originally|generally|normally|personally|simply|kindly"
    r"|strictly|deathly|severely|badly)\s+)*"
)
_I = rf"(?:i|we)\s+{_ADVERB}"
_AM = rf"(?:i'?m|i\s+am|we'?re|we\s+are)\s+{_ADVERB}"
_HAVE = rf"(?:i|we)(?:'ve|\s+have)\s+{_ADVERB}"
_I_HAVE = rf"(?:{_HAVE}|{_I})"
_NAME = r"(?P<name>(?-i:[A-Z][\w'’-]*[^\W_](?:\s[A-Z][\w'’-]*[^\W_])?))"
_PLACE = r"(?P<place>[^\W\d_].*)"
_THING = r"(?P<thing>\S.*)"
_ACT = r"(?:(?P<act>drinking|eating|to\s+drink|to\s+eat)\s+)?"
_A = r"(?:an?|the|one|some|my|our|another)\s+"

# Who or what is called by a name. The clue's word stands right; several of one kind are told apart by name.
_ONE_OF_A_KIND = {
    "wife": "WIFE", "husband": "HUSBAND", "partner": "PARTNER", "girlfriend": "GIRLFRIEND", "boyfriend": "BOYFRIEND",
    "fiancé": "FIANCE", "fiancée": "FIANCEE", "fiance": "FIANCE", "fiancee": "FIANCEE", "mother": "MOTHER",
    "mum": "MOTHER", "mom": "MOTHER", "father": "FATHER", "dad": "FATHER", "boss": "BOSS", "manager": "MANAGER",
}  # fmt: skip
_OF_SEVERAL = (
    "brother", "sister", "son", "daughter", "grandmother", "grandma", "grandfather", "grandpa", "granddaughter",
    "grandson", "aunt", "uncle", "cousin", "niece", "nephew", "friend", "flatmate", "roommate", "housemate",
    "colleague", "coworker", "kid", "child", "baby", "twin",
)  # fmt: skip
_PETS = {
    "dog": "DOG", "puppy": "DOG", "cat": "CAT", "kitten": "CAT", "rabbit": "RABBIT", "bunny": "RABBIT",
    "hamster": "HAMSTER", "parrot": "PARROT", "budgie": "BUDGIE", "tortoise": "TORTOISE", "turtle": "TURTLE",
    "horse": "HORSE", "pony": "HORSE", "snake": "SNAKE", "lizard": "LIZARD", "gecko": "GECKO", "ferret": "FERRET",
    "guinea pig": "GUINEA-PIG", "goldfish": "GOLDFISH", "chinchilla": "CHINCHILLA",
}  # fmt: skip
_AGE = r"(?:(?:older|younger|elder|little|big|best|new|other|old|eldest|youngest|twin|late)\s+)*"
_PARTNER = rf"(?:my|our)\s+{_AGE}(?P<kin>{'|'.join(_ONE_OF_A_KIND)})\b"
_KIN = rf"(?:my|our)\s+{_AGE}(?P<kin>{'|'.join(_OF_SEVERAL)})\b"
_ANY_KIN = rf"(?:my|our)\s+{_AGE}(?P<kin>{'|'.join((*_ONE_OF_A_KIND, *_OF_SEVERAL))})\b"
_PET = rf"(?P<pet>{'|'.join(_PETS)})\b"
_IS_CALLED = r"(?:'s\s+name\s+is|'s\s+called|\s+is\s+(?:called|named)|\s+called|\s+named|'s|\s+is)?"
_NAMED = rf"{_IS_CALLED}\s+{_NAME}"

_DIETS = (
    r"(?:vegetarian|vegan|pescatarian|flexitarian|lactose[- ]intolerant|gluten[- ]free|gluten[- ]intolerant"
    r"|celiac|coeliac|diabetic|teetotal)"
)
_JOBS = (
    r"(?:[\w-]+\s+){0,2}(?:\w+(?:ologist|ographer|geon|sician|trician)|accountant|actor|actress|analyst|architect"
    r"|artist|assistant|author|baker|barber|barista|bartender|bookkeeper|brewer|builder|bus driver|butcher|carpenter"
    r"|cashier|chef|cleaner|coach|composer|consultant|cook|dancer|data scientist|dentist|designer|developer"
    r"|dietician|director|doctor|driver|economist|editor|electrician|engineer|farmer|firefighter|florist|gardener"
    r"|hairdresser|illustrator|interpreter|joiner|journalist|judge|lawyer|lecturer|librarian|locksmith|machinist"
    r"|manager|mechanic|midwife|musician|notary|nurse|nutritionist|optician|painter|paralegal|paramedic|pharmacist"
    r"|photographer|physicist|physio(?:therapist)?|pilot|plumber|police officer|postman|potter|producer|professor"
    r"|programmer|researcher|sailor|scientist|secretary|singer|social worker|soldier|statistician|student|tailor"
    r"|teacher|technician|therapist|translator|tutor|vet|veterinarian|waiter|waitress|welder|writer)"
)
_BELONGINGS = (
    r"(?:(?:[\w-]+\s+){0,3}(?:car|van|bike|bicycle|e-bike|motorbike|motorcycle|scooter|boat|house|flat|apartment"
    r"|cabin|caravan|campervan|garden|allotment|greenhouse|balcony|piano|guitar|violin|cello|telescope|camera|laptop"
    r"|tent|kayak|sauna|fireplace|3d printer))\b.*"
)
_TRAVEL = r"(?:flying|going|travell?ing|driving|heading|taking the train)(?:\s+(?:back|over|up|down|out|home))?\s+to"
_EVENTS = (
    r"(?:appointment|interview|exam|test|surgery|operation|meeting|wedding|concert|flight|deadline|race|marathon|trip"
    r"|check-?up|presentation|conference|party|recital|hearing|holiday|reservation|match|lesson)"
)


def _rule(
    pattern: str, clue: str, content: str, category: str, *labels: str, pin: bool = False, tense: Tense | None = None,
    needs_date: bool = False, ended: bool = False,
) -> Rule:  # fmt: skip
    compiled = re.compile(pattern, re.IGNORECASE)
    return Rule(compiled, clue, content, category, labels, pin, tense, needs_date, ended)


RULES = (
    # Names and people
    _rule(rf"my\s+(?:full\s+|first\s+|real\s+)?name(?:'s|\s+is)\s+(?P<name>[^\W\d_][\w'’-]*(?:\s(?-i:[A-Z])[\w'’-]*)?)$",
          "USER-NAME", "Name: {name}", "Identity", "Name", pin=True),
    _rule(rf"(?:hi|hello|hey)(?:\s+there)?\s+(?:i'?m|i\s+am|this\s+is)\s+{_NAME}$",
          "USER-NAME", "Name: {name}", "Identity", "Name", pin=True),
    _rule(rf"(?:(?:you\s+can|people|everyone|everybody|(?:my\s+|all\s+my\s+)?friends|they\s+all|most\s+people)\s+)?"
          rf"{_ADVERB}(?:please\s+)?calls?\s+me\s+{_NAME}$", "USER-NICKNAME", "Goes by {name}", "Identity", "Name"),
    _rule(rf"{_I}go\s+by\s+{_NAME}$", "USER-NICKNAME", "Goes by {name}", "Identity", "Name"),
    _rule(rf".*\b{_PARTNER}\s+{_NAME}", "USER-{kin}", "{kin}: {name}", "People", "Family", "Name"),
    _rule(rf".*\b{_KIN}\s+{_NAME}", "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    _rule(rf"{_PARTNER}{_NAMED}", "USER-{kin}", "{kin}: {name}", "People", "Family", "Name"),
    _rule(rf"{_KIN}{_NAMED}", "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    _rule(rf"{_I_HAVE}(?:got\s+)?{_A}{_AGE}(?P<kin>{'|'.join(_OF_SEVERAL)}){_NAMED}",
          "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    _rule(rf"{_ANY_KIN}(?:\s{_NAME})?\s+(?:now\s+)?(?:lives\s+in|moved\s+to)\s+{_PLACE}",
          "USER-{kin}-HOME", "{kin}[ {name}] lives in {place}", "People", "Family", "Home"),
    _rule(rf"{_ANY_KIN}(?:\s{_NAME})?(?:\s+is|'s|\s+works\s+as)\s+an?\s+(?P<job>{_JOBS})\b",
          "USER-{kin}-JOB", "{kin}[ {name}] works as {job}", "People", "Family", "Job"),
    _rule(rf"{_ANY_KIN}(?:\s{_NAME})?(?:\s+is|'s)\s+allergic\s+to\s+{_THING}",
          "USER-{kin}-ALLERGY", "{kin}[ {name}] is allergic to {thing}", "People", "Family", "Allergy", pin=True),
    _rule(rf"{_ANY_KIN}(?:\s{_NAME})?'s\s+birthday(?:\s+is|'s)",
          "USER-{kin}-BIRTHDAY", "Birthday of {kin}[ {name}]: {when}", "People", "Family", "Birthday",
          needs_date=True),
    _rule(rf"{_ANY_KIN}(?:\s{_NAME})?(?:\s+is|\s+are|'s)\s+"
          r"(?P<thing>(?:getting\s+married|visiting|coming\s+to\s+visit|coming\s+over|turning\s+\d+|moving)\b.*)",
          "USER-{kin}-PLAN", "{kin}[ {name}] is {thing} ({when})", "People", "Family", "Plan", tense="future",
          needs_date=True),
    _rule(rf"{_I_HAVE}(?:got\s+)?(?P<count>an?|one|two|three|four|five|\d)\s+(?P<child>kids?|children|sons?|daughters?)$",
          "USER-CHILDREN", "Has {count} {child}", "People", "Family"),
    # Animals
    _rule(rf".*\b(?:my|our)\s+{_AGE}{_PET}\s+{_NAME}",
          "USER-PET-{pet}", "Has a {pet} called {name}", "Pets", "Pet", "Name"),
    _rule(rf"(?:my|our)\s+{_AGE}{_PET}{_NAMED}", "USER-PET-{pet}", "Has a {pet} called {name}", "Pets", "Pet", "Name"),
    _rule(rf"{_I_HAVE}(?:got\s+)?(?:have\s+|own\s+|adopted\s+|keep\s+)?{_A}(?:\w+\s+){{0,2}}?{_PET}"
          rf"(?:\s+(?:called|named)\s+{_NAME})?$",
          "USER-PET-{pet}", "Has a {pet}[ called {name}]", "Pets", "Pet"),
    # Places
    _rule(rf"(?:{_I_HAVE}(?:been\s+)?(?:live|lived|living|reside)|{_AM}(?:living|based))\s+(?P<prep>in|at|near|outside|on)"
          rf"\s+{_PLACE}", "USER-HOME", "Lives {prep} {place}[ ({when})]", "Home", "Residence", tense="past"),
    _rule(rf"{_I_HAVE}(?:moved|relocated)\s+(?:back\s+|here\s+|over\s+|house\s+)?(?:from\s+.+?\s+)?to\s+{_PLACE}",
          "USER-HOME", "Lives in {place}[ (moved {when})]", "Home", "Residence", tense="past"),
    _rule(rf"{_AM}(?:moving|relocating)\s+(?:back\s+|over\s+)?(?:from\s+.+?\s+)?to\s+{_PLACE}",
          "USER-PLAN-MOVE", "Plans to move to {place}[ ({when})]", "Plans", "Move", "Home", tense="future"),
    _rule(rf"(?:{_AM}from|{_I}(?:come|hail)\s+from)\s+{_PLACE}",
          "USER-ORIGIN", "Comes from {place}", "Identity", "Origin"),
    _rule(rf"{_I}(?:grew\s+up|was\s+raised)\s+in\s+{_PLACE}", "USER-CHILDHOOD", "Grew up in {place}", "Identity", "Origin"),
    _rule(rf"{_I}was\s+born(?:\s+and\s+raised)?\s+in\s+{_PLACE}", "USER-BIRTHPLACE", "Born in {place}", "Identity", "Origin"),
    _rule(rf"{_I}(?:no\s+longer|don'?t)\s+live\s+(?:in|at|near|outside|on)\s+(?P<place>.+?)(?:\s+any\s?more)$",
          "USER-HOME", "No longer lives in {place}", "Home", "Residence", ended=True),
    _rule(rf"{_I}no\s+longer\s+live\s+(?:in|at|near|outside|on)\s+{_PLACE}",
          "USER-HOME", "No longer lives in {place}", "Home", "Residence", ended=True),
    # Work and study
    _rule(rf"(?:{_I_HAVE}(?:been\s+)?(?:work|worked|working)|{_AM}working|{_I}(?:earn\s+my\s+living))\s+as\s+(?:an?\s+|the\s+)?"
          r"(?P<job>\S.*)", "USER-JOB", "Works as {job}[ ({when})]", "Work", "Job", tense="past"),
    _rule(rf"{_AM}(?:an?\s+)(?P<job>{_JOBS})\b(?!-)", "USER-JOB", "Works as {job}", "Work", "Job"),
    _rule(rf"(?:{_I_HAVE}(?:been\s+)?(?:work|working)|{_AM}working|{_I}(?:got|found|started)\s+{_A}(?:new\s+)?job"
          rf"|{_I}(?:got\s+hired|started(?:\s+working)?))\s+(?:at|for)\s+(?P<employer>\S.*)",
          "USER-EMPLOYER", "Works at {employer}[ ({when})]", "Work", "Employer", tense="past"),
    _rule(rf"{_I_HAVE}(?:been\s+)?(?:work|working)\s+in\s+(?P<field>(?!the\b|an?\b|my\b|pairs|silence)\S.*|(?:the|an?)\s+[\w\s-]*"
          r"(?:industry|sector|business|trade|hospital|school|office|lab|library|museum|kitchen|factory|warehouse|clinic))$", "USER-FIELD", "Works in {field}", "Work", "Field"),
    _rule(rf"(?:{_I_HAVE}(?:been\s+)?(?:work|working)|{_AM}working)\s+as\s+.+?\s+(?:at|for)\s+(?P<employer>\S.*)",
          "USER-EMPLOYER", "Works at {employer}", "Work", "Employer"),
    _rule(rf"{_I}teach\s+(?!people\b|others\b|kids\s+to\b|someone\b){_THING}", "USER-JOB", "Teaches {thing}", "Work", "Job"),
    _rule(rf"{_I}(?:run|own)\s+(?:an?\s+|my\s+own\s+)(?P<thing>(?:[\w-]+\s+){{0,2}}(?:bakery|shop|store|caf[eé]|restaurant|studio"
          r"|company|business|farm|bookshop|bar|agency|salon|school)\b.*)", "USER-BUSINESS", "Runs a {thing}", "Work", "Business"),
    _rule(rf"(?:{_I}study|{_AM}studying)\s+(?!for\b){_THING}", "USER-STUDIES", "Studies {thing}", "Work", "Studies"),
    _rule(rf"(?:{_I}(?:no\s+longer\s+work|quit\s+my\s+job|left\s+my\s+job)|{_I}don'?t\s+work)\s+(?:at|for)\s+"
          r"(?P<employer>.+?)(?:\s+any\s?more)?$",
          "USER-EMPLOYER", "No longer works at {employer}[ ({when})]", "Work", "Employer", tense="past", ended=True),
    _rule(rf"{_I_HAVE}lost\s+my\s+job(?:\s+(?:at|with)\s+(?P<employer>.+))?$",
          "USER-EMPLOYER", "Lost the job[ at {employer}][ ({when})]", "Work", "Employer", tense="past", ended=True),
    _rule(rf"(?:{_I}volunteer|{_AM}volunteering|{_HAVE}been\s+volunteering)\s+(?:at|for|with)\s+{_THING}",
          "USER-VOLUNTEERING", "Volunteers at {thing}[ ({when})]", "Work", "Volunteering", tense="past"),
    _rule(rf"(?:{_AM}(?:now\s+)?retired|{_I}retired)$", "USER-JOB", "Retired[ ({when})]", "Work", "Job", tense="past"),
    # Health and food
    _rule(rf"{_AM}allergic\s+to\s+{_THING}", "USER-ALLERGY-{thing}", "Allergic to {thing}", "Health", "Allergy", pin=True),
    _rule(rf"{_AM}(?:not|no\s+longer)\s+(?:\w+\s+)?allergic\s+to\s+(?P<thing>.+?)(?:\s+any\s?more)?$",
          "USER-ALLERGY-{thing}", "Not allergic to {thing}", "Health", "Allergy", ended=True),
    _rule(rf"{_I_HAVE}(?:got\s+|have\s+)?an?\s+(?:\w+\s+)?(?P<thing>(?!bad\b|severe\b|serious\b|mild\b)[\w-]+)\s+allergy\b",
          "USER-ALLERGY-{thing}", "Allergic to {thing}", "Health", "Allergy", pin=True),
    _rule(rf"(?:{_AM}|{_I_HAVE}(?:been|gone|went|turned|became)\s+)(?:an?\s+)?(?:\w+\s+)?(?P<diet>{_DIETS})\b",
          "USER-DIET", "Is {diet}[ ({when})]", "Health", "Diet", tense="past"),
    _rule(rf"(?:{_I}no\s+longer|{_AM}no\s+longer|{_AM}not)\s+(?:an?\s+)?(?P<diet>{_DIETS})\b(?:\s+any\s?more)?$",
          "USER-DIET", "No longer {diet}", "Health", "Diet", ended=True),
    _rule(rf"{_I}(?:eat|started\s+eating)\s+(?P<thing>(?:meat|fish|dairy|eggs|everything)(?:\s+again)?)$",
          "USER-DIET", "Eats {thing}[ ({when})]", "Health", "Diet", tense="past"),
    _rule(rf"{_I}(?:don'?t|can'?t|cannot|never|must\s+not|mustn'?t)\s+(?P<verb>eat|drink|tolerate)\s+(?!any\s+more|much)(?P<thing>.+?)"
          r"(?:\s+any\s?more)?$", "USER-AVOIDS-{thing}", "Does not {verb} {thing}", "Health", "Diet"),
    _rule(rf"{_I}no\s+longer\s+(?P<verb>eat|drink)\s+{_THING}",
          "USER-AVOIDS-{thing}", "No longer {verb}s {thing}[ ({when})]", "Health", "Diet", tense="past"),
    # Preferences
    _rule(rf"{_I_HAVE}(?P<verb>love|loved|adore|enjoy|enjoyed|like|liked)\s+{_ACT}{_THING}",
          "USER-TASTE-{thing}", "Likes [{act} ]{thing}", "Preferences", "Likes"),
    _rule(rf"{_I}prefer\s+(?P<thing>.+?)(?:\s+(?:over|to|rather\s+than)\s+(?P<other>.+))?$",
          "USER-TASTE-{thing}", "Prefers {thing}[ to {other}]", "Preferences", "Likes"),
    _rule(rf"{_AM}(?:(?:an?\s+)?(?:big|huge)\s+fan\s+of|fond\s+of|(?:very\s+|so\s+|super\s+|big\s+)?into|crazy\s+about)\s+{_THING}",
          "USER-TASTE-{thing}", "Likes {thing}", "Preferences", "Likes"),
    _rule(rf"(?:{_I}(?:no\s+longer\s+(?:like|love|enjoy)|hate|dislike|loathe|can'?t\s+stand|cannot\s+stand|don'?t\s+(?:really\s+|particularly\s+)?(?:like|enjoy))"
          rf"|{_AM}not\s+(?:an?\s+)?(?:(?:big|huge|great)\s+)?(?:fan\s+of|keen\s+on|fond\s+of))\s+{_ACT}(?P<thing>.+?)(?:\s+any\s?more)?$",
          "USER-TASTE-{thing}", "Dislikes [{act} ]{thing}", "Preferences", "Dislikes"),
    _rule(r"my\s+(?:all-time\s+)?favou?rite\s+(?P<kind>[\w-]+(?:\s[\w-]+)?)\s+(?:is|are)\s+(?P<thing>\S.*)",
          "USER-FAVOURITE-{kind}", "Favourite {kind}: {thing}", "Preferences", "Likes"),
    # What somebody does, has, speaks
    _rule(rf"{_I_HAVE}(?:been\s+)?(?P<verb>play|playing|collect|collecting|practi[sc]e|practi[sc]ing)\s+(?P<thing>\S.*)",
          "USER-HOBBY-{thing}", "Hobby: {verb} {thing}", "Hobbies", "Hobby"),
    _rule(rf"{_I_HAVE}(?:started|took\s+up|taken\s+up)\s+(?P<act>playing\s+|collecting\s+|practi[sc]ing\s+)?"
          r"(?P<thing>(?(act)\S.*|(?:running|swimming|climbing|cycling|knitting|painting|gardening|boxing|rowing|skiing|surfing"
          r"|dancing|yoga|karate|judo|golf|pottery|ballet|pilates)))$",
          "USER-HOBBY-{thing}", "Took up [{act} ]{thing}[ ({when})]", "Hobbies", "Hobby", tense="past"),
    _rule(rf"(?:{_I}no\s+longer\s+play|{_I}don'?t\s+play|{_I_HAVE}(?:stopped\s+playing|gave\s+up|given\s+up))\s+"
          r"(?P<thing>.+?)(?:\s+any\s?more)?$",
          "USER-HOBBY-{thing}", "No longer does {thing}[ ({when})]", "Hobbies", "Hobby", tense="past", ended=True),
    _rule(rf"{_I_HAVE}(?:no\s+longer\s+smoke|(?:stopped|quit|gave\s+up|given\s+up)\s+smoking)$",
          "USER-HABIT-SMOKING", "No longer smokes[ ({when})]", "Health", "Habit", tense="past"),
    _rule(rf"{_I_HAVE}(?:no\s+longer\s+drink|(?:stopped|quit|gave\s+up|given\s+up)\s+drinking)(?:\s+alcohol)?$",
          "USER-HABIT-DRINKING", "No longer drinks alcohol[ ({when})]", "Health", "Habit", tense="past"),
    _rule(rf"{_I_HAVE}(?:drive|own|ride|bought|got\s+myself)\s+(?P<thing>(?:an?|two|three)\s+\S.*)",
          "USER-HAS-{thing}", "Has {thing}[ (since {when})]", "Possessions", "Possession", tense="past"),
    _rule(rf"{_I_HAVE}(?:got\s+|have\s+)?(?P<thing>(?:an?|two|three)\s+{_BELONGINGS})",
          "USER-HAS-{thing}", "Has {thing}", "Possessions", "Possession"),
    _rule(rf"{_I}(?:sold|got\s+rid\s+of)\s+(?:my|our|the)\s+(?P<thing>{_BELONGINGS})",
          "USER-HAS-{thing}", "No longer has a {thing}[ (sold {when})]", "Possessions", "Possession", tense="past", ended=True),
    _rule(rf"{_I}speak\s+(?!to\b|with\b|from\b|for\b|about\b)(?P<language>(?:fluent\s+|some\s+|a\s+bit\s+of\s+)?(?-i:[A-Z])\w+(?:(?:,\s|\sand\s)(?-i:[A-Z])\w+)*)",
          "USER-LANGUAGES", "Speaks {language}", "Identity", "Language"),
    _rule(r"my\s+(?:native|first|mother)\s+(?:language|tongue)\s+is\s+(?P<language>\w+)",
          "USER-NATIVE-LANGUAGE", "Native language: {language}", "Identity", "Language"),
    _rule(rf"(?:{_AM}(?:learning|taking\s+lessons\s+in)|{_HAVE}been\s+learning|{_I}started\s+learning)\s+(?!how\b|about\b|an?\b|the\b|from\b|that\b){_THING}",
          "USER-LEARNING-{thing}", "Is learning {thing}[ (since {when})]", "Hobbies", "Learning", tense="past"),
    # Dates
    _rule(r"my\s+birthday(?:\s+is|'s)", "USER-BIRTHDAY", "Birthday: {when}", "Identity", "Birthday", needs_date=True),
    _rule(rf"{_I}was\s+born$", "USER-BIRTHDAY", "Born {when}", "Identity", "Birthday", needs_date=True),
    _rule(rf"{_AM}(?P<age>1[89]|[2-9]\d)(?:\s+years\s+old)?$", "USER-AGE", "Age: {age}", "Identity", "Age"),
    _rule(rf"(?:{_AM}{_TRAVEL}|{_I}(?:will\s+be|'ll\s+be)\s+in|(?:i'll|we'll)\s+be\s+in)\s+{_PLACE}",
          "USER-PLAN-{place}", "Plan: trip to {place}, {when}", "Plans", "Travel", tense="future", needs_date=True),
    _rule(rf"{_AM}(?P<thing>(?:starting|visiting|meeting|seeing|getting\s+married|hosting)\b.*|(?:running|taking|having)\s+\S.*?(?:marathon|race|exam|test|driving\s+lesson|surgery|operation|baby)\b.*)",
          "USER-PLAN-{thing}", "Plan: {thing}, {when}", "Plans", "Plan", tense="future", needs_date=True),
    _rule(rf"(?:{_I_HAVE}(?:got\s+|have\s+)?(?:an?|my|our|the)\s+|my\s+|our\s+)(?P<thing>(?:[\w'-]+\s+){{0,3}}{_EVENTS})\b(?!s)",
          "USER-PLAN-{thing}", "Plan: {thing}, {when}", "Plans", "Appointment", tense="future", needs_date=True),
    _rule(rf"{_I}(?:was|were|went|travell?ed|flew|visited)\s+(?:in|to|back\s+to|back\s+in)?\s*(?P<place>(?-i:[A-Z]).*)",
          "USER-TRIP-{place}", "Was in {place}, {when}", "Travel", "Trip", tense="past", needs_date=True),
)  # fmt: skip

# A message with one of these is a text to work on, a game or a joke, not a statement about the user.
_UNFIT = re.compile(
    r"\b(?:imagine|pretend|role-?play|act as|let'?s play|you are (?:now )?an? |you'?re (?:now )?an? |in character"
    r"|translate|rewrite|rephrase|reword|paraphrase|proofread|summari[sz]e|correct (?:this|my|the) (?:text|sentence)"
    r"|write (?:me )?(?:a|an|the|my) (?:\w+ )?(?:story|poem|song|letter|e?mail|bio|cover letter|essay|speech|dialogue"
    r"|post|review|text|message)|example sentence|(?:just )?(?:kidding|joking)|lyrics|the following)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"\A(?:(?:and|but|so|well|oh|ok|okay|btw|by the way|also|actually|honestly|fyi|sorry|no|yes|yeah|yep|plus|anyway"
    r"|anyways|ugh|hmm|haha|lol|correction|then|because|since|although|though|while|remember(?: that)?"
    r"|(?:please )?(?:note|remember|keep in mind|be aware) that|for (?:the|your) record|in fact|of course|sadly"
    r"|luckily|unfortunately|apparently not|these days|nowadays|at the moment|right now|i told you(?: that)?)\s+)+",
    re.IGNORECASE,
)
# Corrections in one breath become plain statements of what is so.
_REWRITES = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"[’‘]", "'"),
        (r"(\d)(?:st|nd|rd|th)?,\s*((?:19|20)\d\d)\b", r"\1 \2"),
        (r"\b(i|we) (?:don't|do not) (\w+) (in|at|for|as) [^,.;]+?,? but(?: (?:in|at|for|as))? ", r"\1 \2 \3 "),
        (r"\b(i'?m|i am|we're) not (from|based in) [^,.;]+?,? but(?: (?:from|in|to))? ", r"\1 \2 "),
        (r"\b(i'?m|i am) not allergic to ([^,.;]+?),? but (?:to )?", r"\1 not allergic to \2, \1 allergic to "),
        (r"\bmy ([\w' ]+?) (?:is not|isn't) (?:called )?[^,.;]+?,? (?:but|it's|it is) ", r"my \1 is "),
        (r"\b(is|in|at|for|to|from) not [^,.;]+?,? but ", r"\1 "),
        (r",? (?:and )?(?:his|her|its|their) name(?:'s| is) ", " called "),
        (r", (called|named) ", r" \1 "),
        (rf"\b((?:my|our) {_AGE}(?:{'|'.join((*_ONE_OF_A_KIND, *_OF_SEVERAL, *_PETS))})), ((?-i:[A-Z])[\w'-]+), ", r"\1 \2 "),
    )
)  # fmt: skip
_SUBJECT = r"(?:i|i'm|im|i've|i'll|we|we're|we've|my|our|he|she|it|they|you|his|her|its|their|the|this|that|there)\b"
_VERB = (
    r"(?:work|live|love|like|hate|prefer|enjoy|play|speak|drive|own|collect|teach|study|run|have|can't|don't|moved)\b"
)
_SPLIT = re.compile(
    rf"\s*[,;:–—]\s+|\s+-\s+|\s*[()]\s*|\s+(?:and|or)\s+(?={_SUBJECT})|\s+(?:but|so|because|although|though|whereas)\s+"
    rf"|\s+(?:while|since|then)\s+(?={_SUBJECT})|\s+(?P<same>and|but)\s+(?:also\s+)?(?=(?:now\s+)?{_VERB})",
    re.IGNORECASE,
)
# "I live in Rome and work ..." goes on about me; "I know you swim and run", "I'll cook and play" do not.
_ABLE_SUBJECT = re.compile(r"(i|we)\b(?!'ll|'d)(?!.*\b(?:you|they|he|she|to|will|how|the)\b)", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:(?:and|so|but|then|ok|any)\s+)*(?:what|where|which|who|when|why|how|can|could|do|does|did|is|are|should|would"
    r"|will|may|any|have you|got|anything)\b",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(rf"{_ANY_KIN}(?:\s{_NAME})?(?=\s|'s|$)", re.IGNORECASE)
_SHE = re.compile(r"\A(?:she|he)\b(?=\s|')", re.IGNORECASE)
_CONDITION = re.compile(r"(?:\w+\s+)?(?:if|unless|suppose|supposing|assuming|in case|say)\b", re.IGNORECASE)
_UNSURE = re.compile(
    r"\b(?:if|unless|wish|would|wouldn't|might|maybe|perhaps|could|hopefully|used to|almost|nearly|i'd|we'd|probably"
    r"|considering|thinking (?:of|about)|as if|not sure|supposedly|doubt|dreamt|dreamed)\b",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"^(?!i\b|we\b).*\b(?:said|says|told|asks?|asked|thinks?|thought|wrote|writes|claims?|claimed|goes|quote|reads)\b"
    r"|^i (?:read|heard|quote)\b",
    re.IGNORECASE,
)


def clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that may state facts, without lead-ins such as `actually`."""
    for pattern, replacement in _REWRITES:
        sentence = pattern.sub(replacement, sentence)
    asked = sentence.rstrip().endswith("?")
    pieces = _pieces(sentence.strip().rstrip(".!?… "))
    if asked:
        # "I'm off to Rome, what should I pack?" states something; "I live in Rome, right?" asks for it.
        pieces = pieces[:-1] if _QUESTION.match(pieces[-1]) else []
    kept: list[str] = []
    kin = ""
    for piece in pieces:
        if kin:
            piece = _SHE.sub(kin, piece)
        kin = match[0] if (match := _SPOKEN_OF.match(piece)) else kin
        if _CONDITION.match(piece) or _HEARSAY.search(piece):
            break
        if not _UNSURE.search(piece):
            kept.append(piece)
    return kept


def _pieces(sentence: str) -> list[str]:
    pieces: list[str] = []
    start, inherited = 0, ""
    for match in [*_SPLIT.finditer(sentence), None]:
        piece = _LEAD.sub("", inherited + sentence[start : match.start() if match else None].strip(), count=1)
        if re.fullmatch(r"(?:hi|hello|hey)(?: there| everyone| all)?", piece, re.IGNORECASE):
            inherited = "hi "  # a greeting is what makes "I'm Ann" a name
        else:
            pieces.append(piece)
            inherited = ""
        if match:
            start = match.end()
            if match["same"] and pieces and (subject := _ABLE_SUBJECT.match(pieces[-1])):
                inherited = subject[1] + " "
    return pieces


_TAIL = re.compile(
    r"\s+(?:(?:which|because|that|when|where|who|if|although|though|since|until|and then|as well|lately|these days"
    r"|nowadays|at the moment|right now|at home|anyway|either|instead|by the way|btw|lol|haha|for (?:about |almost "
    r"|nearly |over |the (?:last|past) )?(?:\w+ )?(?:years?|months?|weeks?|ages|a while))\b.*|now|too|again|also|a lot"
    r"|very much|so much|the most|the best|most|best|more|better|though|already|still|anymore|actually|really|please"
    r"|honestly|together|and|but|or)$",
    re.IGNORECASE,
)
_PLACE_TAIL = re.compile(r"\s+(?:from|for|with|to|after|before|because|as|and)\b.*$", re.IGNORECASE)
_NO_PLACE = re.compile(r"(?:an?|the (?:next|same|past|moment)|my|this|that|fear|hope|peace|here|there|it|now|time)\b(?! (?:\w+ )*(?:in|near|outside) )", re.IGNORECASE)  # fmt: skip
_NO_EMPLOYER = re.compile(
    r"(?:the (?:moment|time|same|weekend)|home|night|least|once|present|free|hours|now|fun|myself)\b", re.IGNORECASE
)
# What points at the talk itself, or at nothing that could be understood later.
_DEICTIC = re.compile(
    r"^(?:it|this|that|these|those|them|they|him|her|you|your|what|how|where|when|why|who|if|about|anything|everything"
    r"|something|nothing|all|both|neither|either|one|another|any|the (?:first|second|third|last|next|other|new|same"
    r"|idea|way|one|answer|look|sound|thing|fact)|to (?:see|know|have|get|be|keep|use|think|say|ask|make|thank|hear"
    r"|point|add|take|do)|more|less|better|to)$"
    r"|^(?:it|this|that|these|those|you|your|what|how|where|when|why|who|whether|him|her|them|the (?:first|second|third"
    r"|last|next|other|same|idea|way|one|fact|sound|look)|to (?:see|know|have|get|be|keep|use|think|say|ask|make|thank"
    r"|hear|point|add|take|do)|games? with|a (?:role|part))\s"
    r"|^(?:all )?the (?-i:[a-z])"
    r"|\b(?:i|me|you|your|us|it|they|he|she|something|someone|stuff|things?|similar|option|version|title|draft|answer|suggestion|paragraph|sentence|response)\b",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"(?:I|I'm|The|A|An|And|But|Not|No|Yes|Ok|Okay|Just|Sorry|Also|Is|Was|Who|When|Always|Never|Back|Later|Home"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)(?:\s|$)"
)
_MAX_WORDS = 8


def clean(slot: str, text: str) -> str | None:
    """Trim what a slot caught; None where it is nothing that a note can hold."""
    text = text.strip(" .,;:!?\"'")
    if slot == "name":
        return None if _NOT_A_NAME.match(text) else text.removesuffix("'s")
    before = None
    while before != text:
        before, text = text, _TAIL.sub("", text)
    if slot == "place":
        text = _PLACE_TAIL.sub("", text)
        if _NO_PLACE.match(text):
            return None
    elif slot == "job":
        text = re.sub(r"\s+(?:at|for|in|with)\s.*$", "", text)
    elif slot == "employer" and _NO_EMPLOYER.match(text):
        return None
    if slot in ("thing", "other", "place", "employer", "field"):
        if _DEICTIC.search(text):
            return None
        text = re.sub(r"\b(?:my|our)\b", "their", text, flags=re.IGNORECASE)
    words = text.split()
    return text if words and len(words) <= _MAX_WORDS else None


ENGLISH = Language(
    rules=RULES,
    unfit=_UNFIT,
    clauses=clauses,
    find_date=find_date,
    clean=clean,
    canonical={
        **_ONE_OF_A_KIND, **_PETS, "grandma": "GRANDMOTHER", "grandpa": "GRANDFATHER",
    },
)  # fmt: skip
