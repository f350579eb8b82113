"""The rule distiller: a maintenance model without a network or a key that really reads the turn.

It answers like any other model, with tool calls, and knows only what its tables say: `english_rules` and
`chinese_rules` hold them; `english` and `chinese` say how clauses are cut, `guards` what is left out before, `dates`
what "next week" means. It would rather miss a fact than make one up.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from impressmem_integrations.maintenance.distiller.chinese import CHINESE
from impressmem_integrations.maintenance.distiller.english import ENGLISH
from impressmem_integrations.maintenance.distiller.guards import holds_secret, sentences
from impressmem_integrations.maintenance.distiller.rules import Note, notes_of
from impressmem_integrations.maintenance.transcript import parse, text_of
from impressmem_integrations.model import Message

SAVE_TOOL = "save_impressions"

_DAY = re.compile(r"^Day of the talk: (\d{4}-\d\d-\d\d)\b", re.MULTILINE)
_TURN = re.compile(r"^<turn>\n(.*?)^</turn>$", re.MULTILINE | re.DOTALL)
_LANGUAGES = (ENGLISH, CHINESE)


class RuleDistiller:
    """A callable model that turns first-person statements in English and Chinese into impressions.

    It reads what users say inside the `<turn>` blocks of the request, or, where there is none, the user messages
    themselves. It never reads assistant text, tool results or the memory in the request. It has no state.
    """

    def __call__(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] | None = None) -> Message:
        """Answer a maintenance request.

        Args:
            messages: A maintenance request or any talk, in OpenAI chat form.
            tools: The tools offered, in OpenAI form. Where they lack `save_impressions` nothing can be kept; None
                offers it.

        Returns:
            An assistant message in OpenAI chat form with `finish_reason`: one call of `save_impressions` whose clues
            are unique and in the order they were said, or the content `IGNORE`.
        """
        offered = tools is None or any((tool.get("function") or {}).get("name") == SAVE_TOOL for tool in tools)
        notes = distill(list(_said(messages))) if offered else []
        if not notes:
            return {"role": "assistant", "content": "IGNORE", "finish_reason": "stop"}
        impressions = [
            {"clue": n.clue, "content": n.content, "category": n.category, "labels": list(n.labels), "pin": n.pin}
            for n in notes
        ]
        arguments = json.dumps({"impressions": impressions}, ensure_ascii=False)
        digest = hashlib.sha256(arguments.encode(errors="replace")).hexdigest()
        call = {
            "id": f"call_{digest[:16]}",
            "type": "function",
            "function": {"name": SAVE_TOOL, "arguments": arguments},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call], "finish_reason": "tool_calls"}


def distill(said: Sequence[tuple[date | None, str]]) -> list[Note]:
    """Return what is worth keeping of what a user said: one note a clue, the one that holds in the end.

    Args:
        said: The user's messages in order, each with the day it was said or None. A game of roles ends the reading.
    """
    notes: dict[str, Note] = {}
    for day, message in said:
        if any(language.game.search(message) for language in _LANGUAGES):
            break
        if any(language.unfit.search(message) for language in _LANGUAGES):
            continue
        for sentence in sentences(message):
            for note in _notes(sentence, day):
                known = notes.get(note.clue)
                if not holds_secret(note.content) and (known is None or note.replaces(known)):
                    notes[note.clue] = note
    return list(notes.values())


def _notes(sentence: str, day: date | None) -> Iterator[Note]:
    for language in _LANGUAGES:
        if language.script.search(sentence):
            for clause in language.clauses(sentence):
                yield from notes_of(clause, language, day)


def _said(messages: Sequence[Message]) -> Iterator[tuple[date | None, str]]:
    texts = [text_of(message) for message in messages if message.get("role") == "user"]
    request = next((text for text in reversed(texts) if _TURN.search(text)), None)
    if request is None:
        yield from ((None, text) for text in texts)
        return
    for turn in _TURN.finditer(request):
        # A day counts where this package wrote it: before the turn, in no turn's text.
        days = _DAY.findall(_TURN.sub("", request[: turn.start()]))
        for message in parse(turn[1].removesuffix("\n")):
            if message["role"] == "user":
                yield _day(days[-1]) if days else None, message["content"]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
