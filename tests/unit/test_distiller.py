"""The rule distiller: forty sentences held out, and what each of its guards and steps is for."""

from __future__ import annotations

import json

import pytest

from impressmem_integrations.maintenance.distiller import RuleDistiller
from impressmem_integrations.maintenance.transcript import render
from tests.distiller_sentences import CHINESE, DAY, ENGLISH, Sentence


def request(*talk, day="2026-05-20"):
    """A maintenance request around one turn."""
    turn = render([{"role": role, "content": text} for role, text in talk])
    head = f"Day of the talk: {day} (Wednesday)\n" if day else ""
    return [
        {"role": "system", "content": "Keep what is worth keeping. I live in Atlantis."},
        {"role": "user", "content": f"{head}<turn>\n{turn}\n</turn>\nChanged since: USER-HOME Lives in Atlantis"},
    ]


def kept(*said, day="2026-05-20"):
    """Clue to content for what one user says."""
    answer = RuleDistiller()(request(*(("user", text) for text in said), day=day))
    if answer["content"] == "IGNORE":
        return {}
    (call,) = answer["tool_calls"]
    return {item["clue"]: item["content"] for item in json.loads(call["function"]["arguments"])["impressions"]}


def measure(sentences: tuple[Sentence, ...]):
    found, expected, invented = 0, 0, []
    for sentence in sentences:
        notes = list(kept(sentence.text, day=DAY).values())
        expected += len(sentence.facts)
        found += sum(any(fact in note for note in notes) for fact in sentence.facts)
        true = sentence.facts + sentence.also
        invented += [(sentence.text, note) for note in notes if not any(word in note for word in true)]
    return found, expected, invented


@pytest.mark.parametrize(("name", "sentences"), [("English", ENGLISH), ("Chinese", CHINESE)])
def test_held_out_sentences(name, sentences, capsys):
    found, expected, invented = measure(sentences)
    with capsys.disabled():
        print(
            f"\nrule distiller, {name}: {found} of {expected} facts found"
            f" in {len(sentences)} held-out sentences, {len(invented)} invented"
        )
    assert found >= 0.6 * expected
    assert invented == []
