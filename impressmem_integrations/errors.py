"""Every error this package raises.

    ImpressMemError
    ├── ConfigurationError(ValueError)      a setting, URL or scope is wrong
    ├── InvalidInput(ValueError)            a clue, content, label ... is wrong; nothing was written
    │   └── InvalidToolCall                 a tool call cannot be read; the text is written for the model
    ├── NotFound(LookupError)               the named impression, category, label or plan does not exist
    ├── CapacityError                       the scope is full of pinned impressions
    ├── StalePlan                           a plan names records that changed since it was made
    ├── HistoryTrimmed(LookupError)         the journal does not reach back that far
    ├── StoreError
    │   ├── StoreUnavailable(ConnectionError)   no server answers there
    │   │   └── StoreTimeout(TimeoutError)      the server did not answer in time
    │   └── CorruptStore                    a key holds something this package did not write
    ├── ModelError                          the maintenance model failed or cannot be used
    │   └── ToolsUnsupported                it takes no tools: JSON mode works
    ├── JobError                            a background job failed for good; names its key and tries
    ├── BacklogFull                         too much background work waits; the job was not taken
    ├── RunnerClosed(RuntimeError)          the background runner takes no more work; the job was not taken
    └── MissingExtra(ImportError)           an optional part is not installed; names the extra

Errors name scopes, clues and counts, never the content of a memory, and no password.
"""

from __future__ import annotations

from collections.abc import Hashable


class ImpressMemError(Exception):
    """The base of every error of this package."""


class ConfigurationError(ImpressMemError, ValueError):
    """A setting, URL or scope is wrong. The message names it and says what is allowed."""


class InvalidInput(ImpressMemError, ValueError):
    """An argument is wrong. Nothing was written."""


class InvalidToolCall(InvalidInput):
    """A tool call cannot be read or carried out. The message is written for the model that sent it."""


class NotFound(ImpressMemError, LookupError):
    """The named impression, category, label or plan does not exist. Nothing was written.

    Attributes:
        kind: `clue`, `category`, `label` or `plan`.
        name: The name that was not found.
        place: Which operation of the transaction names it, from 0; 0 also where a transaction has no such operation.
    """

    def __init__(self, kind: str, name: str, place: int = 0) -> None:
        super().__init__(f"there is no {kind} {name!r}")
        self.kind = kind
        self.name = name
        self.place = place


class CapacityError(ImpressMemError):
    """The scope is full and everything in it is pinned. Nothing was written."""


class StalePlan(ImpressMemError):
    """What the plan was made from changed after it was made: its records, or all. Nothing was written.

    Attributes:
        clues: The names whose records changed; none where the memory was erased or the plan's thread went on.
    """

    def __init__(self, message: str, clues: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.clues = clues


class HistoryTrimmed(ImpressMemError, LookupError):
    """The journal no longer reaches back to the asked transaction or time."""


class StoreError(ImpressMemError):
    """The server answered with an error or not at all."""


class StoreUnavailable(StoreError, ConnectionError):
    """No server answers there. The message names host and port, never the password."""


class StoreTimeout(StoreUnavailable, TimeoutError):
    """The server did not answer within the socket timeout. Whether a write arrived is not known."""


class CorruptStore(StoreError):
    """A key of this scope holds something that this package did not write. Nothing was written."""


class ModelError(ImpressMemError):
    """The maintenance model failed, or the object given as a model cannot be used as one.

    Attributes:
        passing: Whether asking again later may succeed: a rate limit, an overload, a timeout, no connection.
        after_seconds: How long the provider asked to wait, where it did.
    """

    def __init__(self, message: str, *, passing: bool = False, after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.passing = passing
        self.after_seconds = after_seconds


class ToolsUnsupported(ModelError):
    """The model takes no tools. `mode="auto"` asks it in JSON instead."""


class JobError(ImpressMemError):
    """A background job failed for good; `__cause__` is the job's error.

    Its text never holds what the job worked on: it says what failed where the cause is one of this package's errors
    about a model, a store or a setting, and only the type of any other cause.

    Attributes:
        key: The key the job was submitted under.
        tries: How often it was tried.
    """

    def __init__(self, key: Hashable, tries: int, cause: BaseException) -> None:
        told = str(cause) if isinstance(cause, _TELLABLE) else ""
        why = told or type(cause).__name__
        super().__init__(f"a background job of {name_of_key(key)} failed after {tries_in_words(tries)}: {why}")
        self.key = key
        self.tries = tries
        self.__cause__ = cause


_TELLABLE = (ConfigurationError, CapacityError, StoreError, ModelError)
"""Errors whose text names no clue and holds nothing that somebody said."""


def tries_in_words(tries: int) -> str:
    """`1 try`, `2 tries`."""
    return "1 try" if tries == 1 else f"{tries} tries"


def name_of_key(key: Hashable) -> str:
    """How messages name the key of a background job: a text in quotes, so that it stays in its line."""
    return repr(key) if isinstance(key, str) else str(key)


class BacklogFull(ImpressMemError):
    """Too much background work waits already. The job was not taken and will not run."""


class RunnerClosed(ImpressMemError, RuntimeError):
    """The background runner is closed, or the interpreter is ending. The job was not taken and will not run."""


class MissingExtra(ImpressMemError, ImportError):
    """An optional part is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional part: pip install 'impressmem-integrations[{extra}]'")
        self.extra = extra
