"""What people say about themselves in English, as tables: each rule is one way to state a fact."""

from __future__ import annotations

from impressmem_integrations.maintenance.distiller.rules import rule

_ADVERB = (
    r"(?:(?:really|absolutely|just|also|actually|still|currently|recently|finally|always|usually|mostly|mainly|now"
    r"|do|definitely|truly|totally|quite|honestly|already|originally|generally|normally|personally|simply|kindly"
    r"|strictly|deathly|severely|badly) )*"
)
_I = rf"(?:i|we) {_ADVERB}"
_AM = rf"(?:i'?m|i am|we'?re|we are) {_ADVERB}"
_HAVE = rf"(?:i|we)(?:'ve| have) {_ADVERB}"
_I_HAVE = rf"(?:{_HAVE}|{_I})"
NAME = r"(?P<name>(?-i:[A-Z][\w'’-]*[^\W_](?: [A-Z][\w'’-]*[^\W_])?))"
_PLACE = r"(?P<place>[^\W\d_].*)"
_THING = r"(?P<thing>\S.*)"
_ACT = r"(?:(?P<act>drinking|eating|to drink|to eat) )?"
_A = r"(?:an?|the|one|some|my|our|another) "

# Who or what is called by a name. The clue's word stands right; several of one kind are told apart by name.
ONE_OF_A_KIND = {
    "wife": "WIFE", "husband": "HUSBAND", "partner": "PARTNER", "girlfriend": "GIRLFRIEND", "boyfriend": "BOYFRIEND",
    "fiancé": "FIANCE", "fiancée": "FIANCEE", "fiance": "FIANCE", "fiancee": "FIANCEE", "mother": "MOTHER",
    "mum": "MOTHER", "mom": "MOTHER", "father": "FATHER", "dad": "FATHER", "boss": "BOSS", "manager": "MANAGER",
}  # fmt: skip
OF_SEVERAL = (
    "brother", "sister", "son", "daughter", "grandmother", "grandma", "grandfather", "grandpa", "granddaughter",
    "grandson", "aunt", "uncle", "cousin", "niece", "nephew", "friend", "flatmate", "roommate", "housemate",
    "colleague", "coworker", "kid", "child", "baby", "twin",
)  # fmt: skip
PETS = {
    "dog": "DOG", "puppy": "DOG", "cat": "CAT", "kitten": "CAT", "rabbit": "RABBIT", "bunny": "RABBIT",
    "hamster": "HAMSTER", "parrot": "PARROT", "budgie": "BUDGIE", "tortoise": "TORTOISE", "turtle": "TURTLE",
    "horse": "HORSE", "pony": "HORSE", "snake": "SNAKE", "lizard": "LIZARD", "gecko": "GECKO", "ferret": "FERRET",
    "retriever": "DOG", "labrador": "DOG", "poodle": "DOG", "terrier": "DOG", "dachshund": "DOG", "beagle": "DOG",
    "corgi": "DOG", "husky": "DOG", "spaniel": "DOG", "collie": "DOG", "guinea pig": "GUINEA-PIG",
    "goldfish": "GOLDFISH", "chinchilla": "CHINCHILLA",
}  # fmt: skip
AGE = r"(?:(?:older|younger|elder|little|big|best|new|other|old|eldest|youngest|twin|late) )*"
_PARTNER = rf"(?:my|our) {AGE}(?P<kin>{'|'.join(ONE_OF_A_KIND)})\b"
_KIN = rf"(?:my|our) {AGE}(?P<kin>{'|'.join(OF_SEVERAL)})\b"
ANY_KIN = rf"(?:my|our) {AGE}(?P<kin>{'|'.join((*ONE_OF_A_KIND, *OF_SEVERAL))})\b"
_PET = rf"(?P<pet>{'|'.join(PETS)})\b"
_IS_CALLED = r"(?:'s name is|'s called| is (?:called|named)| called| named)?"
_NAMED = rf"{_IS_CALLED} {NAME}"

_DIETS = (
    r"(?:vegetarian|vegan|pescatarian|flexitarian|lactose[- ]intolerant|gluten[- ]free|gluten[- ]intolerant"
    r"|celiac|coeliac|diabetic|teetotal)"
)
_JOBS = (
    r"(?!(?:very |really )?(?:good|bad|great|terrible|better|worse|big|huge|decent|lousy|poor|slow|fast|careful"
    r"|former|aspiring"
    r"|wannabe|would-be|hopeless|keen|amateur|hobby|home|nervous|happy) )(?:[\w-]+ ){0,2}(?:\w+(?:ologist|ographer"
    r"|geon|sician|trician)|accountant|actor|actress|analyst|architect"
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
    r"(?:(?:[\w-]+ ){0,3}(?:car|van|bike|bicycle|e-bike|motorbike|motorcycle|scooter|boat|house|flat|apartment"
    r"|cabin|caravan|campervan|garden|allotment|greenhouse|balcony|piano|guitar|violin|cello|telescope|camera|laptop"
    r"|tent|kayak|sauna|fireplace|3d printer)\b(?: (?:in|with|from|near|at|on) .*)?)$"
)
_TRAVEL = r"(?:flying|going|travell?ing|driving|heading|taking the train)(?: (?:back|over|up|down|out|home))? to"
_EVENTS = (
    r"(?:appointment|interview|exam|test|surgery|operation|meeting|wedding|concert|flight|deadline|race|marathon|trip"
    r"|check-?up|presentation|conference|party|recital|hearing|holiday|reservation|match|lesson)"
)


RULES = (
    # Names and people
    rule(r"my (?:full |first |real )?name(?:'s| is) (?P<name>[^\W\d_][\w'’-]*(?: (?-i:[A-Z])[\w'’-]*)?)$",
          "USER-NAME", "Name: {name}", "Identity", "Name", pin=True),
    rule(rf"(?:hi|hello|hey)(?: there)? (?:i'?m|i am|this is) {NAME}$",
          "USER-NAME", "Name: {name}", "Identity", "Name", pin=True),
    rule(rf"(?:(?:you can|people|everyone|everybody|(?:my |all my )?friends|they all|most people) )?"
          rf"{_ADVERB}(?:please )?calls? me {NAME}$", "USER-NICKNAME", "Goes by {name}", "Identity", "Name"),
    rule(rf"{_I}go by {NAME}$", "USER-NICKNAME", "Goes by {name}", "Identity", "Name"),
    rule(rf".*\b{_PARTNER} {NAME}", "USER-{kin}", "{kin}: {name}", "People", "Family", "Name"),
    rule(rf".*\b{_KIN} {NAME}", "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    rule(rf"{_PARTNER}{_NAMED}", "USER-{kin}", "{kin}: {name}", "People", "Family", "Name"),
    rule(rf"{_KIN}{_NAMED}", "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    rule(rf"{_I_HAVE}(?:got )?{_A}{AGE}(?P<kin>{'|'.join(OF_SEVERAL)}){_NAMED}",
          "USER-{kin}-{name}", "{kin}: {name}", "People", "Family", "Name"),
    rule(rf"{ANY_KIN}(?: {NAME})? (?:now )?(?:lives in|moved to) {_PLACE}",
          "USER-{kin}-HOME", "{kin}[ {name}] lives in {place}", "People", "Family", "Home"),
    rule(rf"{ANY_KIN}(?: {NAME})?(?: is|'s| works as) an? (?P<job>{_JOBS})\b",
          "USER-{kin}-JOB", "{kin}[ {name}] works as {job}", "People", "Family", "Job"),
    rule(rf"{ANY_KIN}(?: {NAME})?(?: is|'s) allergic to {_THING}",
          "USER-{kin}-ALLERGY", "{kin}[ {name}] is allergic to {thing}", "People", "Family", "Allergy", pin=True),
    rule(rf"{ANY_KIN}(?: {NAME})?'s birthday(?: is|'s)",
          "USER-{kin}-BIRTHDAY", "Birthday of {kin}[ {name}]: {when}", "People", "Family", "Birthday",
          needs_date=True),
    rule(rf"{ANY_KIN}(?: {NAME})?(?: is| are|'s) "
          r"(?P<thing>(?:getting married|visiting|coming to visit|coming over|turning \d+|moving)\b.*)",
          "USER-{kin}-PLAN", "{kin}[ {name}] is {thing} ({when})", "People", "Family", "Plan", tense="future",
          needs_date=True),
    rule(rf"{_I_HAVE}(?:got )?(?P<count>an?|one|two|three|four|five|\d) (?P<child>kids?|children|sons?|daughters?)$",
          "USER-CHILDREN", "Has {count} {child}", "People", "Family"),
    # Animals
    rule(rf".*\b(?:my|our) {AGE}{_PET} {NAME}",
          "USER-PET-{pet}", "Has a {pet} called {name}", "Pets", "Pet", "Name"),
    rule(rf"(?:my|our) {AGE}{_PET}{_NAMED}", "USER-PET-{pet}", "Has a {pet} called {name}", "Pets", "Pet", "Name"),
    rule(rf"{_I_HAVE}(?:got )?(?:have |own |adopted |keep )?{_A}(?:\w+ ){{0,2}}?{_PET}"
          rf"(?: (?:called|named) {NAME})?$",
          "USER-PET-{pet}", "Has a {pet}[ called {name}]", "Pets", "Pet"),
    # Places
    rule(rf"(?:{_I_HAVE}(?:been )?(?:live|living|reside)|{_AM}(?:living|based)) (?P<prep>in|at|near|outside|on)"
          rf" {_PLACE}", "USER-HOME", "Lives {prep} {place}[ ({when})]", "Home", "Residence", tense="past"),
    rule(rf"{_HAVE}(?:been|lived) in (?=.* for ){_PLACE}", "USER-HOME", "Lives in {place}", "Home", "Residence"),
    rule(rf"{_HAVE}(?:been|lived) in {_PLACE}", "USER-HOME", "Lives in {place} ({when})", "Home", "Residence",
          tense="past", needs_date=True),
    rule(rf"{_I_HAVE}(?:moved|relocated) (?:back |here |over |house )?(?:from .+? )?to {_PLACE}",
          "USER-HOME", "Lives in {place}[ (moved {when})]", "Home", "Residence", tense="past"),
    rule(rf"{_AM}(?:moving|relocating) (?:back |over )?(?:from .+? )?to {_PLACE}",
          "USER-PLAN-MOVE", "Plans to move to {place}[ ({when})]", "Plans", "Move", "Home", tense="future"),
    rule(rf"(?:{_AM}from|{_I}(?:come|hail) from) {_PLACE}",
          "USER-ORIGIN", "Comes from {place}", "Identity", "Origin"),
    rule(rf"{_I}(?:grew up|was raised) in {_PLACE}", "USER-CHILDHOOD", "Grew up in {place}", "Identity", "Origin"),
    rule(rf"{_I}was born(?: and raised)? in {_PLACE}", "USER-BIRTHPLACE", "Born in {place}", "Identity", "Origin"),
    rule(rf"{_I}(?:no longer|don'?t) live (?:in|at|near|outside|on) (?P<place>.+?)(?: any ?more)$",
          "USER-HOME", "No longer lives in {place}", "Home", "Residence", ended=True),
    rule(rf"{_I}no longer live (?:in|at|near|outside|on) {_PLACE}",
          "USER-HOME", "No longer lives in {place}", "Home", "Residence", ended=True),
    # Work and study
    rule(rf"(?:{_I_HAVE}(?:been )?(?:work|working)|{_AM}working|{_I}(?:earn my living)) as (?:an? |the )?"
          r"(?P<job>\S.*)", "USER-JOB", "Works as {job}[ ({when})]", "Work", "Job", tense="past"),
    rule(rf"{_AM}(?:an? )(?P<job>{_JOBS})\b(?!-)", "USER-JOB", "Works as {job}", "Work", "Job"),
    rule(rf"(?:{_I_HAVE}(?:been )?(?:work|working)|{_AM}working|{_I}(?:got|found|started) {_A}(?:new )?job"
          rf"|{_I}(?:got hired|started(?: working)?)) (?:at|for) (?P<employer>\S.*)",
          "USER-EMPLOYER", "Works at {employer}[ ({when})]", "Work", "Employer", tense="past"),
    rule(rf"{_I_HAVE}(?:been )?(?:work|working) in (?P<field>(?!(?:the|an?|my|pairs|silence)\b|.*\bmode$)(?-i:[a-z]"
          rf"|[A-Z]{{2}}\b).*|(?:the|an?) [\w -]*"
          r"(?:industry|sector|business|trade|hospital|school|office|lab|library|museum|kitchen|factory|warehouse"
          r"|clinic))$", "USER-FIELD", "Works in {field}", "Work", "Field"),
    rule(rf"(?:{_I_HAVE}(?:been )?(?:work|working)|{_AM}working) as .+? at (?P<employer>\S.*)",
          "USER-EMPLOYER", "Works at {employer}", "Work", "Employer"),
    rule(rf"{_I}teach (?!people\b|others\b|myself\b|kids to\b|someone\b){_THING}", "USER-JOB", "Teaches {thing}",
          "Work", "Job"),
    rule(rf"{_I}(?:run|own) (?:an? |my own )(?P<thing>(?:[\w-]+ ){{0,2}}(?:bakery|shop|store|caf[eé]|restaurant|studio"
          r"|company|business|farm|bookshop|bar|agency|salon|school)\b.*)", "USER-BUSINESS", "Runs a {thing}", "Work",
          "Business"),
    rule(rf"(?:{_I}study|{_AM}studying) (?!for\b){_THING}", "USER-STUDIES", "Studies {thing}", "Work", "Studies"),
    rule(rf"(?:{_I}(?:no longer work|quit my job|left my job)|{_I}don'?t work) (?:at|for) "
          r"(?P<employer>.+?)(?: any ?more)?$",
          "USER-EMPLOYER", "No longer works at {employer}[ ({when})]", "Work", "Employer", tense="past", ended=True),
    rule(rf"{_I_HAVE}lost my job(?: (?:at|with) (?P<employer>.+))?$",
          "USER-EMPLOYER", "Lost the job[ at {employer}][ ({when})]", "Work", "Employer", tense="past", ended=True),
    rule(rf"(?:{_I}volunteer|{_AM}volunteering|{_HAVE}been volunteering) (?:at|for|with) {_THING}",
          "USER-VOLUNTEERING", "Volunteers at {thing}[ ({when})]", "Work", "Volunteering", tense="past"),
    rule(rf"(?:{_AM}(?:now )?retired|{_I}retired)$", "USER-JOB", "Retired[ ({when})]", "Work", "Job", tense="past"),
    # Health and food
    rule(rf"{_AM}allergic to {_THING}", "USER-ALLERGY-{thing}", "Allergic to {thing}", "Health", "Allergy", pin=True),
    rule(rf"{_AM}(?:not|no longer) (?:\w+ )?allergic to (?P<thing>.+?)(?: any ?more)?$",
          "USER-ALLERGY-{thing}", "Not allergic to {thing}", "Health", "Allergy", ended=True),
    rule(rf"{_I_HAVE}(?:got |have )?an? (?:\w+ )?(?P<thing>(?!bad\b|severe\b|serious\b|mild\b)[\w-]+) allergy\b",
          "USER-ALLERGY-{thing}", "Allergic to {thing}", "Health", "Allergy", pin=True),
    rule(rf"(?:{_AM}|{_I_HAVE}(?:been|gone|went|turned|became) )(?:an? )?(?:(?!(?:not|no|never|hardly"
          rf"|almost)\b)\w+ )?(?P<diet>{_DIETS})\b",
          "USER-DIET", "Is {diet}[ ({when})]", "Health", "Diet", tense="past"),
    rule(rf"(?:{_AM}no longer (?:an? )?(?P<diet>{_DIETS})|{_AM}not (?:an? )?(?P<past>{_DIETS}) any ?more)$",
          "USER-DIET", "No longer [{diet}][{past}]", "Health", "Diet", ended=True),
    rule(rf"{_AM}not (?:an? )?(?P<diet>{_DIETS})$", "USER-DIET", "Not {diet}", "Health", "Diet", ended=True),
    rule(rf"{_I}(?:eat|started eating) (?P<thing>(?:meat|fish|dairy|eggs|everything)(?: again)?)$",
          "USER-DIET", "Eats {thing}[ ({when})]", "Health", "Diet", tense="past"),
    rule(rf"{_I}(?:don'?t|can'?t|cannot|never|must not|mustn'?t) (?P<verb>eat|drink|tolerate) "
          r"(?!(?:any ?more|much|right|now|at|in|on|out|yet|alone|before|after|until|and|or|well|fast|enough)\b)"
          r"(?P<thing>.+?)(?: any ?more)?$", "USER-AVOIDS-{thing}", "Does not {verb} {thing}", "Health", "Diet"),
    rule(rf"{_I}no longer (?P<verb>eat|drink) {_THING}",
          "USER-AVOIDS-{thing}", "No longer {verb}s {thing}[ ({when})]", "Health", "Diet", tense="past"),
    # Preferences
    rule(rf"(?:{_I}(?:love|adore|enjoy|like)|{_HAVE}(?:loved|enjoyed|liked)) {_ACT}{_THING}",
          "USER-TASTE-{thing}", "Likes [{act} ]{thing}", "Preferences", "Likes"),
    rule(rf"{_I}prefer (?P<thing>.+?)(?: (?:over|to|rather than) (?P<other>.+))?$",
          "USER-TASTE-{thing}", "Prefers {thing}[ to {other}]", "Preferences", "Likes"),
    rule(rf"{_AM}(?:(?:an? )?(?:big|huge) fan of|fond of|(?:very |so |super |big )?into|crazy about) {_THING}",
          "USER-TASTE-{thing}", "Likes {thing}", "Preferences", "Likes"),
    rule(rf"(?:{_I}(?:no longer (?:like|love|enjoy)|hate|dislike|loathe|can'?t stand|cannot stand|don'?t (?:really "
          rf"|particularly )?(?:like|enjoy))"
          rf"|{_AM}not (?:an? )?(?:(?:big|huge|great) )?(?:fan of|keen on"
          rf"|fond of)) {_ACT}(?P<thing>.+?)(?: any ?more)?$",
          "USER-TASTE-{thing}", "Dislikes [{act} ]{thing}", "Preferences", "Dislikes"),
    rule(r"my (?:all-time )?favou?rite (?P<kind>[\w-]+(?: [\w-]+)?) (?:is|are) (?P<thing>\S.*)",
          "USER-FAVOURITE-{kind}", "Favourite {kind}: {thing}", "Preferences", "Likes"),
    # What somebody does, has, speaks
    rule(rf"{_I_HAVE}(?:been )?(?P<verb>play|playing|collect|collecting|practi[sc]e|practi[sc]ing) "
          r"(?!(?:with|it|along|around|by|on|a|to|for|my|our|your|nice|fair|safe)\b)(?P<thing>\S.*)",
          "USER-HOBBY-{thing}", "Hobby: {verb} {thing}", "Hobbies", "Hobby"),
    rule(rf"{_I_HAVE}(?:started|took up|taken up) (?P<act>playing |collecting |practi[sc]ing )?"
          r"(?P<thing>(?(act)\S.*|(?:running|swimming|climbing|cycling|knitting|painting|gardening|boxing|rowing"
          r"|skiing|surfing"
          r"|dancing|yoga|karate|judo|golf|pottery|ballet|pilates)))$",
          "USER-HOBBY-{thing}", "Took up [{act} ]{thing}[ ({when})]", "Hobbies", "Hobby", tense="past"),
    rule(rf"(?:{_I}no longer play|{_I}don'?t play|{_I_HAVE}(?:stopped playing|gave up|given up)) "
          r"(?P<thing>.+?)(?: any ?more)?$",
          "USER-HOBBY-{thing}", "No longer does {thing}[ ({when})]", "Hobbies", "Hobby", tense="past", ended=True),
    rule(rf"{_I_HAVE}(?:no longer smoke|(?:stopped|quit|gave up|given up) smoking)$",
          "USER-HABIT-SMOKING", "No longer smokes[ ({when})]", "Health", "Habit", tense="past"),
    rule(rf"{_I_HAVE}(?:no longer drink|(?:stopped|quit|gave up|given up) drinking)(?: alcohol)?$",
          "USER-HABIT-DRINKING", "No longer drinks alcohol[ ({when})]", "Health", "Habit", tense="past"),
    rule(rf"{_I}(?:drive|own|ride) (?P<thing>(?:an?|two|three) (?!hard bargain|lot\b)\S.*)",
          "USER-HAS-{thing}", "Has {thing}[ (since {when})]", "Possessions", "Possession", tense="past"),
    rule(rf"{_I_HAVE}(?:got |have )?(?P<thing>(?:an?|two|three) {_BELONGINGS})",
          "USER-HAS-{thing}", "Has {thing}", "Possessions", "Possession"),
    rule(rf"{_I}(?:sold|got rid of) (?:my|our|the) (?P<thing>{_BELONGINGS})",
          "USER-HAS-{thing}", "No longer has a {thing}[ (sold {when})]", "Possessions", "Possession", tense="past",
          ended=True),
    rule(rf"{_I}speak (?!to\b|with\b|from\b|for\b|about\b)(?P<language>(?:fluent |some "
          rf"|a bit of )?(?-i:[A-Z])\w+(?:(?:, | and )(?-i:[A-Z])\w+)*)",
          "USER-LANGUAGES", "Speaks {language}", "Identity", "Language"),
    rule(r"my (?:native|first|mother) (?:language|tongue) is (?P<language>\w+)",
          "USER-NATIVE-LANGUAGE", "Native language: {language}", "Identity", "Language"),
    rule(rf"(?:{_AM}(?:learning|taking lessons in)|{_HAVE}been learning|{_I}started learning) (?!how\b|about\b|an?\b"
          rf"|the\b|from\b|that\b){_THING}",
          "USER-LEARNING-{thing}", "Is learning {thing}[ (since {when})]", "Hobbies", "Learning", tense="past"),
    # Dates
    rule(r"my birthday(?: is|'s)", "USER-BIRTHDAY", "Birthday: {when}", "Identity", "Birthday", needs_date=True),
    rule(rf"{_I}was born$", "USER-BIRTHDAY", "Born {when}", "Identity", "Birthday", needs_date=True),
    rule(rf"(?:{_AM}|{_I_HAVE}turned )(?P<age>1[89]|[2-9]\d)(?: years old)?$", "USER-AGE", "Age: {age}", "Identity",
          "Age"),
    rule(rf"(?:{_AM}{_TRAVEL}|{_I}(?:will be|'ll be) in|(?:i'll|we'll) be in) (?P<place>(?-i:[A-Z]).*)",
          "USER-PLAN-{place}", "Plan: trip to {place}, {when}", "Plans", "Travel", tense="future", needs_date=True),
    rule(rf"{_AM}(?P<thing>(?:visiting|meeting|seeing|getting married|hosting)\b.*|(?:running|taking"
          rf"|having|starting) \S.*?(?:job|school|university|course|training|internship|degree|class|marathon|race"
          rf"|exam|test|driving lesson|surgery|operation|baby)\b.*)",
          "USER-PLAN-{thing}", "Plan: {thing}, {when}", "Plans", "Plan", tense="future", needs_date=True),
    rule(rf"(?:{_I_HAVE}(?:got |have )?(?:an?|my|our|the) |my |our )(?P<thing>(?:[\w'-]+ ){{0,3}}{_EVENTS})\b(?!s)",
          "USER-PLAN-{thing}", "Plan: {thing}, {when}", "Plans", "Appointment", tense="future", needs_date=True),
    rule(rf"{_I}(?:was|were|went|travell?ed|flew|visited)(?: in| to| back to| back in)? (?P<place>(?-i:[A-Z]).*)",
          "USER-TRIP-{place}", "Was in {place}, {when}", "Travel", "Trip", tense="past", needs_date=True),
)  # fmt: skip
