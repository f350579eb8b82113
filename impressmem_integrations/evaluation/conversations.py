"""Long conversations between two people, with questions and the ids of the turns that hold the evidence.

A file is a JSON object: `speaker_a`, `speaker_b`; `session_N` (a list of `{speaker, dia_id, text}`, some with
`blip_caption`), `session_N_date_time`; `session_N_observation` (speaker -> list of `[sentence, dia_id or a list]`);
`qa` (a list of `{question, category, evidence}`, categories 1 multi-hop, 2 temporal, 3 open, 4 single-hop).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import Message

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop"}
_DATE = "%I:%M %p on %d %B, %Y"
_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True, slots=True)
class Utterance:
    """What one person said: its id, the speaker, and the text with its photo's caption."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting: when it was, what was said, and one-line observations with the ids they rest on."""

    at: datetime
    utterances: tuple[Utterance, ...]
    observations: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its category (1 to 4), and the ids of its evidence."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One file."""

    name: str
    speakers: tuple[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]

    def messages(self, session: Session) -> list[Message]:
        """A session as chat messages: the first speaker is the user, the second the assistant, both named."""
        return [
            {
                "role": "user" if said.speaker == self.speakers[0] else "assistant",
                "name": said.speaker,
                "content": said.text,
            }
            for said in session.utterances
        ]


def read_folder(path: str | Path) -> list[Conversation]:
    """All conversations of a folder, by file name.

    Raises:
        InvalidInput: There is none, or a file is not of this form; the message names it.
    """
    files = sorted(Path(path).glob("*.json"))
    if not files:
        raise InvalidInput(f"no *.json file in {path}")
    return [_read(file) for file in files]


def _read(file: Path) -> Conversation:
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        speakers = (held["speaker_a"], held["speaker_b"])
        sessions = tuple(_session(held, number) for number in _numbers(held))
        known = {said.id for session in sessions for said in session.utterances}
        questions = tuple(_questions(held["qa"], known))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"{file} is no conversation: {type(error).__name__}: {error}") from error
    return Conversation(file.stem, speakers, sessions, questions)


def _numbers(held: dict[str, Any]) -> list[int]:
    found = (re.fullmatch(r"session_(\d+)", key) for key in held)
    return sorted(int(match[1]) for match in found if match and isinstance(held[match[0]], list))


def _session(held: dict[str, Any], number: int) -> Session:
    at = datetime.strptime(held[f"session_{number}_date_time"].strip(), _DATE).replace(tzinfo=UTC)
    utterances = tuple(
        Utterance(
            said["dia_id"],
            said["speaker"],
            f"{said['text']} [photo: {said['blip_caption']}]" if said.get("blip_caption") else said["text"],
        )
        for said in held[f"session_{number}"]
    )
    observations = tuple(
        (sentence, tuple(_ID.findall(str(ids))))
        for listed in held.get(f"session_{number}_observation", {}).values()
        for sentence, ids in listed
    )
    return Session(at, utterances, observations)


def _questions(listed: list[dict[str, Any]], known: set[str]) -> Iterator[Question]:
    """Questions of categories 1 to 4 whose evidence can be read."""
    for asked in listed:
        evidence = frozenset(_ID.findall(str(asked.get("evidence")))) & known
        if asked["category"] in CATEGORIES and evidence:
            yield Question(asked["question"], asked["category"], evidence)
