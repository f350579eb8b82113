"""English: how a sentence is cut into clauses, and what may fill a slot."""

from __future__ import annotations

import re

from impressmem_integrations.maintenance.distiller.english_dates import find_date
from impressmem_integrations.maintenance.distiller.english_rules import (
    AGE,
    ANY_KIN,
    NAME,
    OF_SEVERAL,
    ONE_OF_A_KIND,
    PETS,
    RULES,
)
from impressmem_integrations.maintenance.distiller.rules import Language, shorn

# From such a message on, nobody speaks as themselves.
_GAME = re.compile(
    r"\b(?:imagine|pretend|role-?play|act as|let'?s play|you are now|you'?re now|from now on,? you|in character"
    r"|you(?:'re| are) an? [\w ]+(?:,| and) (?:i'm|i am|my)"
    r"|in (?:this|the|my) (?:story|game|scenario|novel|dream|script))\b",
    re.IGNORECASE,
)
# A message with one of these is a text to work on or a joke, not a statement about the user.
_UNFIT = re.compile(
    r"\b(?:translate|rewrite|rephrase|reword|paraphrase|proofread|summari[sz]e|example sentence|lyrics|the following"
    r"|correct (?:this|my|the) (?:text|sentence)|(?:just )?(?:kidding|joking)"
    r"|write (?:me )?(?:a|an|the|my) (?:\w+ )?(?:story|poem|song|letter|e?mail|bio|cover letter|essay|speech|dialogue"
    r"|post|review|text|message))\b",
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
        (rf"\b((?:my|our) {AGE}(?:{'|'.join((*ONE_OF_A_KIND, *OF_SEVERAL, *PETS))})), ((?-i:[A-Z])[\w'-]+), ",
        r"\1 \2 "),
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
_ABLE_SUBJECT = re.compile(
    r"(i|we)\b(?!'ll|'d)(?!.*\b(?:you|they|he|she|to|will|how|the(?= (?-i:[a-z])))\b)", re.IGNORECASE
)
_QUESTION = re.compile(
    r"(?:(?:and|so|but|then|ok|any)\s+)*(?:what|where|which|who|when|why|how|can|could|do|does|did|is|are|should|would"
    r"|will|may|any|have you|got|anything)\b",
    re.IGNORECASE,
)
_SPOKEN_OF = re.compile(rf"{ANY_KIN}(?:\s{NAME})?(?=\s|'s|$)", re.IGNORECASE)
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
    sentence = " ".join(sentence.split())
    for pattern, replacement in _REWRITES:
        sentence = pattern.sub(replacement, sentence)
    asked = sentence.rstrip().endswith(("?", "？"))
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
    start, inherited, greeted = 0, "", False
    for match in [*_SPLIT.finditer(sentence), None]:
        piece = _LEAD.sub("", inherited + sentence[start : match.start() if match else None].strip(), count=1)
        inherited = ""
        if re.fullmatch(r"(?:hi|hello|hey)(?: there| everyone| all)?", piece, re.IGNORECASE):
            greeted = True
        else:
            # A greeting is what makes "I'm Ann" a name; "I'm vegan" is one with it and without.
            pieces += [f"hi {piece}", piece] if greeted else [piece]
            greeted = False
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
_NO_PLACE = re.compile(
    r"(?:bed|work|sleep|school|town|lunch|dinner|an?|the (?:next|same|past|moment)|my|this|that|fear|hope|constant"
    r"|total|complete|dark|light|harmony|silence|poverty|pain|peace|here|there|it|now|time)\b"
    r"(?! (?:\w+ )*(?:in|near|outside) )",
    re.IGNORECASE,
)
_DWELLING = re.compile(
    r"\b(?:flat|house|apartment|village|town|city|suburbs?|studio|farm|cabin|countryside|coast|island)\b"
)
_NO_EMPLOYER = re.compile(
    r"(?:the (?:moment|time|same|weekend)|home|night|least|once|present|free|hours|now|fun|myself)\b", re.IGNORECASE
)
# What points at the talk itself, or at nothing that could be understood later.
_DEICTIC = re.compile(
    r"^(?:(?-i:it)|this|that|these|those|them|they|him|her|you|your|what|how|where|when|why|who|if|about|anything|everything"
    r"|something|nothing|all|both|neither|either|one|another|any|the (?:first|second|third|last|next|other|new|same"
    r"|idea|way|one|answer|look|sound|thing|fact)|to (?:see|know|have|get|be|keep|use|think|say|ask|make|thank|hear"
    r"|point|add|take|do)|more|less|better|to)$"
    r"|^(?:it|this|that|these|those|you|your|what|how|where|when|why|who|whether|him|her|them|the (?:first|second|third"
    r"|last|next|other|same|idea|way|one|fact|sound|look)|to (?:see|know|have|get|be|keep|use|think|say|ask|make|thank"
    r"|hear|point|add|take|do)|games? with|a (?:role|part))\s"
    r"|^(?:all )?the (?-i:[a-z])"
    r"|\b(?:i|me|you|your|(?-i:us|it)|mine|yours|myself|they|he|she|something|someone|stuff|things?|similar|option|version"
    r"|title|draft|answer"
    r"|suggestion|paragraph|sentence|response)\b",
    re.IGNORECASE,
)
_NOT_A_NAME = re.compile(
    r"(?:I|I'm|The|A|An|And|But|Not|No|Yes|Ok|Okay|Just|Sorry|Also|Is|Was|Who|When|Always|Never|Back|Later|Home"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)(?:\s|$)"
)
_MAX_WORDS = 8


def clean(slot: str, text: str, clause: str) -> str | None:
    """Trim what a slot caught; None where it is nothing that a note can hold."""
    text = text.strip(" .,;:!?\"'")
    if slot == "name":
        return None if _NOT_A_NAME.match(text) or (text.isupper() and len(text) > 3) else text.removesuffix("'s")
    text = shorn(text, _TAIL)
    if slot == "place":
        text = _PLACE_TAIL.sub("", text)
        # Whoever writes capitals writes them in names; "dark mode" is no place to move to.
        if _NO_PLACE.match(text) or (text.islower() and not clause.islower() and not _DWELLING.search(text)):
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
    script=re.compile("[A-Za-z]"),
    rules=RULES,
    game=_GAME,
    unfit=_UNFIT,
    clauses=clauses,
    find_date=find_date,
    clean=clean,
    canonical={
        **ONE_OF_A_KIND, **PETS, "grandma": "GRANDMOTHER", "grandpa": "GRANDFATHER",
    },
)  # fmt: skip
