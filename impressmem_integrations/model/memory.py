"""Values of the memory: impressions and what operations on them return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, overload

from impressmem_integrations.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Impression:
    """One note about the world.

    Attributes:
        clue: Its identity inside one scope.
        content: The note itself.
        category: The domain it is filed under.
        labels: One to five attributes, in the order given.
        pin: Never evicted, never expired, never left out of a context.
        created_at: When the clue was first saved (UTC).
        updated_at: When it was last saved (UTC).
        revision: 1 when first saved, one more at each change of this record.
        source: The id of the turn it came from, or what the caller gave; None where unknown.
        uses: How often it was confirmed as used and right.
        also: Other categories it can be recalled by, after a merge of clues from several domains.
        seq: Its place in the order in which the scope's clues were first saved. One that left and is saved anew gets
            another.
        expires_at: When it expires, or None.
        pinned_at: When it was pinned, or None.
        value: Any JSON value that an adapter keeps beside the content, or None.
        said_at: When it was said, where that is known; else `updated_at` tells.
    """

    clue: str
    content: str
    category: str
    labels: tuple[str, ...]
    pin: bool
    created_at: datetime
    updated_at: datetime
    revision: int
    source: str | None = None
    uses: int = 0
    also: tuple[str, ...] = ()
    seq: int = 0
    expires_at: datetime | None = None
    pinned_at: datetime | None = None
    value: Any = None
    said_at: datetime | None = None

    @property
    def version(self) -> tuple[int, int]:
        """`seq` and `revision`: what plans compare to see that nothing moved."""
        return self.seq, self.revision

    @property
    def shown_at(self) -> datetime:
        """When it was said, else when it was last saved."""
        return self.said_at or self.updated_at


class Named(str):
    """A category or a label in a listing: text, with `.name` and the time of its impressions' last change (UTC)."""

    __slots__ = ("touched_at",)
    touched_at: datetime

    def __new__(cls, name: str, touched_at: datetime) -> Named:
        """Make a name with its time."""
        made = super().__new__(cls, name)
        made.touched_at = touched_at
        return made

    @property
    def name(self) -> str:
        """The plain text."""
        return str.__str__(self)


@dataclass(frozen=True, slots=True)
class SaveResult:
    """What became of one saved item.

    Attributes:
        clue: The clue as stored (first spelling wins).
        status: `created`, `changed`, `unchanged` (only its time moved) or `refused` (see `error`).
        transaction: The id that `undo` takes; None where refused.
        revision: The record's revision after the save.
        evicted: Clues of weaker impressions that left because the scope is full.
        twin: Another clue that holds the same content, if there is one: a candidate for a merge.
        similar: Existing names that differ from a name new in this save only by case, blanks, `-` or `_`.
        error: Why it was refused, or None.
    """

    clue: str
    status: Literal["created", "changed", "unchanged", "refused"]
    transaction: str | None = None
    revision: int = 0
    evicted: tuple[str, ...] = ()
    twin: str | None = None
    similar: tuple[str, ...] = ()
    error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the item is stored."""
        return self.status != "refused"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What a merge did.

    Attributes:
        level: `category`, `label` or `clue`.
        sources: The names that were merged away.
        target: The name that stands afterwards.
        moved: Clues of the impressions whose filing or content changed, in creation order within each 1,000.
        labels_moved: For categories: how many different labels came along.
        transaction: The id that `undo` takes.
    """

    level: Literal["category", "label", "clue"]
    sources: tuple[str, ...]
    target: str
    moved: tuple[str, ...]
    labels_moved: int
    transaction: str


@dataclass(frozen=True, slots=True)
class PinResult:
    """What `pin` or `unpin` did: the clue, its state now, and whether that is a change."""

    clue: str
    pin: bool
    changed: bool
    transaction: str | None


@dataclass(frozen=True, slots=True)
class ForgetCertificate:
    """What was erased, and what this package cannot reach.

    Attributes:
        bot, user: Whose memory; `user` is None for the bot's own.
        clues: How many impressions were erased.
        journal_entries: How many journal entries were erased with them; an entry of several notes is erased for all.
        at: When (UTC).
        transaction: The id of the journal entry that records the act (not what was forgotten).
        not_covered: Places outside the live data set that may still hold bytes, in words.
    """

    bot: str
    user: str | None
    clues: int
    journal_entries: int
    at: datetime
    transaction: str | None
    not_covered: tuple[str, ...] = (
        "the append-only file until the server rewrites it",
        "backups and replicas that are cut off",
        "the server's slow log",
    )


Why = Literal["budget", "weak"]


@dataclass(frozen=True, slots=True)
class Omission:
    """Something a context or recall left out: `count` entries of one kind, and about how many units more show them.

    Attributes:
        what: `pinned`, `impressions`, `turns`, `categories` or `labels`.
        count: How many, of those that were looked at.
        units: What they take.
        clues: The first 20 of them.
        why: `budget`: a larger one shows them; `weak`: they say too little of the question, `fill=True` shows more of
            them, up to 400 of each kind.
    """

    what: str
    count: int
    units: int
    clues: tuple[str, ...] = ()
    why: Why = "budget"


@dataclass(frozen=True, slots=True)
class Ranked:
    """One item of a recall.

    Attributes:
        clue: The impression's clue, or the turn's id.
        kind: `impression` or `turn`.
        content: Its text.
        impression: The record, for impressions.
        score: Higher is better; comparable within one recall only.
        receipt: Which lanes found it and at what rank, e.g. `{"notes": 1}`.
        said_at: When it was said or last saved.
        speaker: For a turn: who said it.
    """

    clue: str
    kind: Literal["impression", "turn"]
    content: str
    impression: Impression | None = None
    score: float = 0.0
    receipt: Mapping[str, float] = field(default_factory=dict)
    said_at: datetime | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Recall:
    """What memory holds on a question, category or labels; to be walked, counted and indexed as its items are.

    Attributes:
        items: Best first.
        text: The same as one block for a model, within the budget.
        omitted: What was found and did not fit.
        labels: Labels that occur together with what was asked for, newest first.
        near: Existing names close to an asked name that does not exist (at most five).
        units: Units of `text`.
    """

    items: tuple[Ranked, ...]
    text: str
    omitted: tuple[Omission, ...] = ()
    labels: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    units: int = 0

    def __iter__(self) -> Iterator[Ranked]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, at: int) -> Ranked: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Ranked, ...]: ...
    def __getitem__(self, at: int | slice) -> Ranked | tuple[Ranked, ...]:
        return self.items[at]


def common_prefix(first: str, second: str) -> int:
    """Characters that two texts share at the front.

    Raises:
        InvalidInput: One of them is no text.
    """
    for text in (first, second):
        if not isinstance(text, str):
            raise InvalidInput(f"common_prefix compares two texts; one is {type(text).__name__}")
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class Context:
    """The memory text for a prompt.

    Attributes:
        text: Stable core and what changed since; "" while nothing is stored.
        relevant: Lines for the current question that `text` does not show; "" without a question.
        included: Clues shown in `text`.
        omitted: What was left out and the budget that would bring it in.
        epoch: Number of the frozen core; a new one means the provider's prompt cache starts anew.
        pins_complete: False when a pinned impression did not fit.
        units: Units of `text`.
    """

    text: str
    relevant: str = ""
    included: tuple[str, ...] = ()
    omitted: tuple[Omission, ...] = ()
    epoch: int = 0
    pins_complete: bool = True
    units: int = 0

    def __str__(self) -> str:
        return self.text

    def stable_prefix(self, previous: Context | None) -> float:
        """The share of this text (0 to 1) that repeats the previous one from its start: what a prompt cache reuses.

        Without a previous one it is 0.

        Raises:
            InvalidInput: The previous one is no context.
        """
        if previous is None:
            return 0.0
        if not isinstance(previous, Context):
            raise InvalidInput(
                f"previous must be a Context as context() returns it, or None, not {type(previous).__name__}"
            )
        return common_prefix(previous.text, self.text) / len(self.text) if self.text else 1.0


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One transaction of the journal, or one numbered chunk of a large one.

    Attributes:
        transaction: The id that `undo` takes.
        operation: `save`, `merge`, `pin`, `forget`, `evict`, `expire`, `confirm`, `import`, `repair`; `+` joins some.
        at: When (UTC).
        clues: The clues whose records changed.
        source, reason: The turn or caller it came from, and why, where the writer said so.
        before: The records as they were, None where there was none, in the order of `clues`.
    """

    transaction: str
    operation: str
    at: datetime
    clues: tuple[str, ...]
    source: str | None = None
    reason: str | None = None
    before: tuple[Impression | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one scope.

    Attributes:
        impressions: Impressions that readers see: not those that have expired and leave with the next write.
        categories: Categories in use.
        labels: Labels in use.
        pins: Pinned impressions.
        journal_entries: Journal entries kept.
        journal_bytes: Bytes of before-images in the journal.
        max_impressions: The capacity in force.
        generation: How often the scope was erased.
        seq: Its change counter.
        content_bytes: Bytes of their records, estimated where there are many.
        turns: Messages kept as evidence.
        turn_bytes: Their bytes.
        model_calls: Calls of maintenance models so far.
        input_tokens: Their input tokens, as far as the providers report them.
        output_tokens: Their output tokens.
        model_ms: Milliseconds spent in them.
        tokens_today: Tokens that count for the (UTC) day of the last call, with those reserved for answers that
            told of none or never came.
        reused_units: Units of contexts that repeated the text before, over all changes of a context. One that is read
            again unchanged is not counted, since reading it writes nothing: a lower bound of what a cache can reuse.
            One that is not stored at once, because it differs little, counts with the next one that is.
        fresh_units: Units of contexts that did not.
    """

    impressions: int
    categories: int
    labels: int
    pins: int
    journal_entries: int
    journal_bytes: int
    max_impressions: int
    generation: int
    seq: int
    content_bytes: int
    turns: int = 0
    turn_bytes: int = 0
    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_ms: int = 0
    tokens_today: int = 0
    reused_units: int = 0
    fresh_units: int = 0
