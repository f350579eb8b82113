"""What a rule is, and how a clause of talk becomes notes by a table of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from impressmem_integrations.maintenance.distiller.dates import Tense, When, lies_in


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth keeping.

    Attributes:
        clue: Its identity: the same fact in other words gives the same clue.
        content: The note.
        category: Where it is filed.
        labels: One to five attributes.
        pin: Never to be lost.
        ended: It says that something is no longer so.
        about: The words of the user's that it holds.
    """

    clue: str
    content: str
    category: str
    labels: tuple[str, ...]
    pin: bool
    ended: bool
    about: tuple[str, ...]

    def replaces(self, known: Note) -> bool:
        """Whether it takes the place of an earlier note of its clue.

        The later one does, but for one case: "I live in Bonn now, I no longer live in Rome" still says Bonn.
        """
        return not self.ended or not self.about or any(words in known.content for words in self.about)


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to state a fact.

    Attributes:
        pattern: Must match at the start of a clause, whose date and lead-in are already cut off.
        clue: Template of the clue; slots are the pattern's groups. The same fact in other words gives the same clue.
        content: Template of the note. A part in square brackets is left out where one of its slots is missing. `when`
            is the clause's date.
        category: Where it is filed.
        labels: One to five attributes.
        pin: Never to be lost, e.g. an allergy.
        tense: Which year or week a date without one means.
        needs_date: Say nothing where the clause holds no date.
        ended: The note says that something is no longer so.
    """

    pattern: re.Pattern[str]
    clue: str
    content: str
    category: str
    labels: tuple[str, ...]
    pin: bool = False
    tense: Tense | None = None
    needs_date: bool = False
    ended: bool = False


def rule(
    pattern: str,
    clue: str,
    content: str,
    category: str,
    *labels: str,
    pin: bool = False,
    tense: Tense | None = None,
    needs_date: bool = False,
    ended: bool = False,
) -> Rule:
    """Return a rule from the way a table writes it. Patterns ignore case; a clause holds no two blanks in a row."""
    return Rule(re.compile(pattern, re.IGNORECASE), clue, content, category, labels, pin, tense, needs_date, ended)


@dataclass(frozen=True, slots=True)
class Language:
    """The tables and steps of one language.

    Attributes:
        script: A letter of it; sentences without one are not read.
        rules: Tried on each clause, all of them.
        game: From a message that holds this on, the user speaks as somebody else.
        unfit: A message that holds this is no statement about the user but a text to work on or a joke.
        clauses: Cuts one sentence into clauses that may state facts; leaves out questions, hypotheticals, hearsay.
        find_date: Cuts the date out of a clause: the clause without it, and the date or None.
        clean: Trims what a slot (its name, its text, the whole clause) caught; None refuses the match.
        canonical: Names of kinds (`mum`, `狗`) as they stand in clues (`MOTHER`, `DOG`).
    """

    script: re.Pattern[str]
    rules: tuple[Rule, ...]
    game: re.Pattern[str]
    unfit: re.Pattern[str]
    clauses: Callable[[str], list[str]]
    find_date: Callable[[str, date | None], tuple[str, When | None]]
    clean: Callable[[str, str, str], str | None]
    canonical: Mapping[str, str]


def notes_of(clause: str, language: Language, day: date | None) -> Iterator[Note]:
    """Yield a note for each rule of the language that the clause fits, in table order.

    Args:
        clause: One clause, as `Language.clauses` gives it.
        language: Whose rules.
        day: The day of the talk, to which relative dates refer, or None.
    """
    bare, found = language.find_date(clause, day)
    for rule in language.rules:
        match = rule.pattern.match(bare)
        if match is None:
            continue
        slots: dict[str, str | None] = {}
        for name, caught in match.groupdict().items():
            slots[name] = language.clean(name, caught, bare) if caught is not None else None
        if any(caught is not None and slots[name] is None for name, caught in match.groupdict().items()):
            continue
        when = found.resolve(rule.tense) if found else None
        if rule.needs_date and (when is None or not _fits(when, rule.tense, day)):
            continue
        names = {name: slug(language.canonical.get(value.lower(), value)) for name, value in slots.items() if value}
        if not all(names.values()):  # "I love 🍕" has no name to file it under
            continue
        content = fill(rule.content, {**slots, "when": when})
        yield Note(
            rule.clue.format_map(names), content[:1].upper() + content[1:], rule.category, rule.labels, rule.pin,
            rule.ended, tuple(value for value in slots.values() if value),
        )  # fmt: skip


def shorn(text: str, tail: re.Pattern[str]) -> str:
    """Return the text without the tails at its end, however many stand in a row."""
    before = None
    while before != text:
        before, text = text, tail.sub("", text)
    return text


def _fits(when: str, tense: Tense | None, day: date | None) -> bool:
    """Whether a plan lies ahead and a memory behind."""
    side = lies_in(when, day) if day and tense else None
    return side in (None, tense)


def fill(template: str, slots: Mapping[str, str | None]) -> str:
    """Return the template with its slots filled, without the bracketed parts that miss one."""

    def part(match: re.Match[str]) -> str:
        names = re.findall(r"{(\w+)}", match[1])
        return match[1] if all(slots.get(name) for name in names) else ""

    # The brackets are decided on the template, before any content of the user's is in it.
    return re.sub(r"\[([^\]]*)\]", part, template).format_map(slots)


def slug(text: str) -> str:
    """Return the text as one part of a clue: upper case, letters and digits of any script, joined by `-`."""
    words = re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).upper())
    return "-".join(word for word in words if word not in {"A", "AN", "THE"})
