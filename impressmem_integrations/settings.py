"""Scope and limits: frozen, validated at construction, units in the names."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from operator import index
from urllib.parse import quote

from impressmem_integrations.errors import ConfigurationError

LAYOUT_VERSION = 1
MAX_NAME_BYTES = 1024


def identity(name: object, what: str) -> str:
    """Return the text form of a bot or user id. `1` and `"1"` are the same; it is never folded or trimmed.

    Args:
        name: A non-empty `str`, an `int` or a `uuid.UUID`.
        what: The word for it in error messages.

    Raises:
        ConfigurationError: It is empty, None, of another type, over 1,024 UTF-8 bytes or not valid Unicode.
    """
    if isinstance(name, bool) or not isinstance(name, str | int | uuid.UUID):
        raise ConfigurationError(f"{what} must be a non-empty text, an integer or a UUID, not {type(name).__name__}")
    text = str(name)
    if not text:
        raise ConfigurationError(f"{what} is empty; give an id or a name")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ConfigurationError(f"{what} holds half of a surrogate pair and cannot be sent to the server") from None
    if size > MAX_NAME_BYTES:
        raise ConfigurationError(f"{what} is longer than {MAX_NAME_BYTES} UTF-8 bytes")
    return text


def given_identity(name: object, what: str) -> str:
    """`identity` for what an application fills in at run time: there blanks alone mean that nothing was filled in.

    Other characters are taken as they are, control characters too: each id is one memory of its own.

    Raises:
        ConfigurationError: As `identity`, or it holds only blanks.
    """
    text = identity(name, what)
    if not text.strip():
        raise ConfigurationError(f"{what} holds only blanks; give an id or a name")
    return text


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is: a bot and, unless it is the bot's own shared memory, one user.

    Attributes:
        bot: The assistant's name.
        user: The user's id, or None for the bot's shared memory.
    """

    bot: str = "assistant"
    user: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "bot", identity(self.bot, "bot"))
        if self.user is not None:
            object.__setattr__(self, "user", identity(self.user, "user"))

    def __str__(self) -> str:
        """As messages name it."""
        return f"bot {self.bot!r}" if self.user is None else f"user {self.user!r} of bot {self.bot!r}"

    @property
    def tag(self) -> str:
        """The Cluster hash tag without braces: percent-encoded with no safe characters, so no two scopes meet."""
        return f"{quote(self.bot, safe='')}/{quote(self.user or '', safe='')}"


_COUNTS = (
    "max_impressions",
    "max_content_bytes",
    "max_labels",
    "max_journal_bytes",
    "max_journal_entries",
    "max_turns",
    "max_turn_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one scope. A value over a limit is an error for that item, never a silent cut.

    Attributes:
        max_impressions: Impressions a scope holds; at capacity the weakest unpinned one leaves.
        max_content_bytes: UTF-8 bytes of one content.
        min_labels: Labels one impression must have at least.
        max_labels: Labels one impression may have.
        half_life_days: Half-life of an impression's strength in days; None means no decay.
        ttl_seconds: Seconds after its last change at which an unpinned impression expires; None means never.
        max_journal_bytes: Bytes of before-images the journal of a scope keeps.
        max_journal_entries: Entries the journal of a scope keeps.
        max_journal_days: Age in days after which a journal entry leaves.
        keep_turns: Keep the messages of distilled turns as evidence that recall finds.
        max_turns: Messages kept as evidence; the oldest leave. A turn of more is not kept.
        max_turn_bytes: Bytes of messages kept as evidence; the oldest leave. A turn of more is not kept.
        max_turn_days: Age in days after which a message kept as evidence leaves.
    """

    max_impressions: int = 10_000
    max_content_bytes: int = 65_536
    min_labels: int = 1
    max_labels: int = 5
    half_life_days: float | None = 30.0
    ttl_seconds: float | None = None
    max_journal_bytes: int = 1_048_576
    max_journal_entries: int = 10_000
    max_journal_days: float = 365.0
    keep_turns: bool = True
    max_turns: int = 5_000
    max_turn_bytes: int = 4_194_304
    max_turn_days: float = 365.0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ConfigurationError(f"{name} must be a whole number of at least 1, not {value!r}")
        if isinstance(self.min_labels, bool) or self.min_labels not in range(self.max_labels + 1):
            raise ConfigurationError(f"min_labels must be a whole number from 0 to max_labels, not {self.min_labels!r}")
        if not isinstance(self.keep_turns, bool):
            raise ConfigurationError(f"keep_turns must be True or False, not {self.keep_turns!r:.100}")
        for name in ("half_life_days", "ttl_seconds", "max_journal_days", "max_turn_days"):
            value = getattr(self, name)
            if value is None and name in ("half_life_days", "ttl_seconds"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
                raise ConfigurationError(f"{name} must be a finite number above 0, not {value!r}")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """Counts the units of a text for budgets, e.g. a model's tokens.

    Attributes:
        name: Names the measure; contexts counted by different measures are kept apart.
        count: The number of units of a text, a whole number of at least 0.
    """

    name: str
    count: Callable[[str], int]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not callable(self.count):
            raise ConfigurationError(
                f"a Tokenizer needs a name (text, not empty) and a function that counts, not {self.name!r:.100} and"
                f" {type(self.count).__name__}"
            )

    def measure(self, text: str) -> int:
        """The units of a text, checked: the counter is the caller's code.

        Raises:
            ConfigurationError: The counter gave no whole number of at least 0; the message names it. What it raises
                itself passes through, with a note that names it.
        """
        try:
            found = self.count(text)
        except Exception as error:
            error.add_note(f"raised by the tokenizer {self.name!r}")
            raise
        try:
            units = index(found)
        except TypeError:
            units = -1
        if units < 0:
            raise ConfigurationError(
                f"the tokenizer {self.name!r} must count a whole number of at least 0, not {found!r:.100}"
            )
        return units

    @classmethod
    def of(cls, given: object) -> Tokenizer:
        """Accept a `Tokenizer`, a `(name, count)` pair, or an object with `.name` and `.encode(text)`.

        Raises:
            ConfigurationError: It is none of these or has no name.
        """
        if isinstance(given, Tokenizer):
            return given
        if (
            isinstance(given, tuple)
            and len(given) == 2
            and isinstance(given[0], str)
            and given[0]
            and callable(given[1])
        ):
            return cls(*given)
        name, encode = getattr(given, "name", None), getattr(given, "encode", None)
        if isinstance(name, str) and name and callable(encode):
            return cls(name, lambda text: len(encode(text)))
        raise ConfigurationError(
            "tokenizer must be a Tokenizer(name, count), a (name, count) pair, or an object with name and encode"
        )
