"""Values of a conversation and of its maintenance: messages, turns, tool calls, answers, reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from impressmem_integrations.model.memory import MergeResult

Message = dict[str, Any]
"""One chat message in canonical (OpenAI chat) form: `role`, `content`, and where present `name`, `tool_calls`
(`{"id", "type": "function", "function": {"name", "arguments": str}}`) and `tool_call_id`."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a talk in canonical form.

    Attributes:
        id: Survives a replay and differs for two equal turns of one thread.
        messages: The turn: all its user messages and whole tool exchanges.
        background: The previous assistant answer, or ().
        at: When it was said, if known.
        digest: Digest of its canonical messages, without position.
    """

    id: str
    messages: tuple[Message, ...]
    background: tuple[Message, ...] = ()
    at: datetime | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call read from a model's answer.

    Attributes:
        name: The tool's name as the model wrote it, without framework prefixes.
        arguments: The decoded arguments, or None where `error` says why they cannot be used.
        id: The call's id, or None.
        error: What is wrong with it, in words for the model.
    """

    name: str
    arguments: Mapping[str, Any] | None
    id: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls, as the provider reports them; 0 where it reports none."""

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        if not isinstance(other, Usage):
            return NotImplemented  # Python's own error then names both types
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens, self.calls + other.calls
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A chat model's answer, whatever it came as.

    Attributes:
        text: Its text without reasoning.
        calls: Its tool calls in order, unreadable ones included (with `error`).
        finish_reason: The provider's word, lower-cased, or None.
        usage: Tokens, if known.
        seconds: How long the call took, where whoever asked measured it.
        notes: What whoever asked has to say about how it was asked, in words.
        model: Who answered, for messages: a class or function, with the model's name where it has one.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    model: str = "the model"

    @property
    def cut_off(self) -> bool:
        """Whether the output limit ended the answer."""
        return self.finish_reason in {
            "length",
            "max_tokens",
            "model_length",
            "max_output_tokens",
            "model_context_window_exceeded",
        }


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a model's answer that was not carried out: which tool or clue, and why."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One change that a maintenance model asks for.

    Attributes:
        kind: `add`, `change`, `pin`, `unpin` or `nothing` for a save, as compared with memory; or `merge`.
        clue: The clue to save, or the name that a merge leaves standing.
        content: The note; for a merge only at level clue.
        category: For a save: where it is filed.
        labels: For a save: its labels.
        pin: For a save: whether it is pinned afterwards; None where the model does not say, which keeps a pin.
        level: For a merge: `category`, `label` or `clue`.
        sources: For a merge: the names that go.
        reason: For a merge: the model's reason.
        base: Clues the step was made from, with `Impression.version` at that time; (0, 0) for one that did not
            exist. Empty for a merge of categories or labels, which takes whatever is filed there when it is applied.
    """

    kind: Literal["add", "change", "pin", "unpin", "nothing", "merge"]
    clue: str
    content: str = ""
    category: str = ""
    labels: tuple[str, ...] = ()
    pin: bool | None = False
    level: Literal["category", "label", "clue"] = "clue"
    sources: tuple[str, ...] = ()
    reason: str = ""
    base: tuple[tuple[str, tuple[int, int]], ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a maintenance model wants to change, before it is carried out: all of it or nothing.

    Attributes:
        id: Names it among the collected plans.
        thread: The thread whose turns it comes from.
        turns: Ids of these turns.
        steps: The changes in the order of the model's calls.
        generation: The scope's generation when it was made; an erasure makes it stale.
        said_at: When the newest of the turns was said.
    """

    id: str
    thread: str
    turns: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    generation: int
    said_at: datetime | None = None


ReportStatus = Literal[
    "stored", "nothing_to_store", "already_done", "skipped", "rejected", "model_failed", "cut_off", "store_unavailable"
]


@dataclass(frozen=True, slots=True)
class Report:
    """What one maintenance call did. Silence is never success.

    Attributes:
        status: One word of `ReportStatus`.
        saved: Clues that are new.
        changed: Clues whose record was replaced, pinned or unpinned.
        merged: Merges that were carried out.
        refused: Parts of the answer that were not carried out, with the reason.
        usage: Model calls and their tokens.
        seconds: Wall-clock time of the call.
        transaction: The id that `undo` takes; None where nothing was written.
        turns: Ids of the turns that this call distilled.
        reason: Why, in one sentence, for every status but `stored`.
        text: The model's own words, where it used none of the tools.
        warnings: What was mended in the answer, left out of the request, asked in another way than was set up, or too
            large to be kept as evidence, in words.
        plan: The collected plan's id, with `review="collect"`.
        given_up: Ids of turns that failed too often and are not asked about again.
        passing: Whether asking again later may succeed: for `model_failed`, as after a rate limit or a timeout; for
            `rejected`, where memory kept changing while the model answered.
        after_seconds: How long the provider asked to wait for that, where it did.
        silent: For `store_unavailable`: whether a server took the call and then said nothing until the time was up.
    """

    status: ReportStatus
    saved: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    merged: tuple[MergeResult, ...] = ()
    refused: tuple[Refusal, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
    transaction: str | None = None
    turns: tuple[str, ...] = ()
    reason: str = ""
    text: str = ""
    warnings: tuple[str, ...] = ()
    plan: str | None = None
    given_up: tuple[str, ...] = ()
    passing: bool = False
    after_seconds: float | None = None
    silent: bool = False
