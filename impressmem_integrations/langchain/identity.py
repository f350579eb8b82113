"""Whose memory a run may touch: the application says so at run time, never the model.

A name is filled from the run's context (`invoke(..., context=...)`), then from `config["configurable"]`. What is
missing is an error that says how to give it; nobody ever falls back to a shared memory.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any, Final
from urllib.parse import quote

from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.settings import given_identity, identity
from impressmem_integrations.store import ImpressionStore

_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ENCODED_ALWAYS = re.compile(r"[^A-Za-z0-9_.~%-]")
"""Characters that percent-encoding never leaves in a value, so that one between two fields keeps them apart."""


@dataclass(frozen=True, slots=True)
class Run:
    """What the application said about one run.

    `run["user_id"]` and `run.get("user_id")` look into the context (a mapping, or an object by attribute), then into
    `configurable`; a value None counts as not given.

    Attributes:
        context: What was passed as `context=`, or None.
        configurable: `config["configurable"]`.
    """

    context: Any = None
    configurable: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, config: Mapping[str, Any] | None, context: Any = None) -> Run:
        """The run of a LangChain config."""
        return cls(context, (config or {}).get("configurable") or {})

    def get(self, name: str, default: Any = None) -> Any:
        """A value by its name, or the default."""
        said = self.context.get(name) if isinstance(self.context, Mapping) else getattr(self.context, name, None)
        if said is None:
            said = self.configurable.get(name)
        return default if said is None else said

    def __getitem__(self, name: str) -> Any:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found


Template = str | int | uuid.UUID | Callable[[Run], object]
"""A fixed id, a text with `{fields}`, or a function of the run."""


class Filled:
    """A name that each run fills in.

    Args:
        what: The word for it in errors, e.g. `user`.
        template: A fixed id; a text with fields such as `"{user_id}"`; or a function of the `Run`. Values of several
            fields are percent-encoded, so that no two runs can mean the same name by accident.

    Raises:
        ConfigurationError: The template cannot be used.
    """

    def __init__(self, what: str, template: Template) -> None:
        self._what = what
        self._template = template
        self._fields: list[str] = []
        if callable(template):
            return
        text = given_identity(template, what)
        try:
            parts = list(Formatter().parse(text))
        except ValueError as error:
            raise ConfigurationError(f"{what}={text!r} is no template: {error}") from None
        for at, (literal, name, spec, conversion) in enumerate(parts):
            if name is None:
                continue
            if not _FIELD.fullmatch(name) or spec or conversion:
                raise ConfigurationError(
                    f"{what}={text!r}: a field is a plain name, e.g. {{user_id}}; or give a function"
                )
            if at and self._fields and not _ENCODED_ALWAYS.search(literal):
                raise ConfigurationError(f"{what}={text!r}: put a / or : between two fields, or names could collide")
            self._fields.append(name)

    def of(self, run: Run) -> str:
        """The name in this run.

        Raises:
            ConfigurationError: It is missing, blank or of a type that is no id. The message says how to give it.
        """
        if callable(self._template):
            try:
                return given_identity(self._template(run), self._what)
            except (LookupError, AttributeError) as error:
                raise ConfigurationError(
                    f"{self._what}= is a function that did not find what it needs in this run: "
                    f"{type(error).__name__}: {error}"
                ) from error
        if not self._fields:
            return given_identity(self._template, self._what)
        values = {name: self._value(run, name) for name in self._fields}
        if len(self._fields) > 1:
            values = {name: quote(value, safe="") for name, value in values.items()}
        return given_identity(str(self._template).format_map(values), self._what)

    def _value(self, run: Run, name: str) -> str:
        value = run.get(name)
        if value is None:
            missing = "whose memory it is" if self._what == "user" else f"which {self._what} it belongs to"
            where = _unfit(run.context)
            raise ConfigurationError(
                f"this run names no {name}{where}, so it is not known {missing}: pass "
                f'context={{"{name}": ...}} or config={{"configurable": {{"{name}": ...}}}}'
            )
        return given_identity(value, name)


def _unfit(context: object) -> str:
    """Words for a context that can name nothing; "" for any other."""
    if context is None or isinstance(context, Mapping) or hasattr(context, "__dict__") or hasattr(context, "__slots__"):
        return ""
    if hasattr(context, "_fields"):  # a named tuple
        return ""
    return f" (its context is a {type(context).__name__}, not a mapping or an object with named fields)"


def thread_of(run: Run, given: object = None) -> str | None:
    """The `thread_id` that was given, else that of the run, as text; None where there is none.

    Raises:
        ConfigurationError: It is of a type that is no id.
    """
    found = run.get("thread_id") if given is None or given == "" else given
    return None if found is None or found == "" else identity(found, "thread_id")


class _FromStore:
    """Says that nothing was given."""

    def __repr__(self) -> str:
        return '"{user_id}", or the store\'s own user'


FROM_STORE: Final = _FromStore()
User = Template | None | _FromStore


class Identity:
    """Whose memory it is, run by run.

    Args:
        store: The memory; its bot is the bot.
        user: Whose, as for `Filled`; None for the bot's own shared memory, on purpose. Not given: the store's own user
            if it has one, else `"{user_id}"`.

    Raises:
        ConfigurationError: The store is none, or the template cannot be used.
    """

    def __init__(self, store: ImpressionStore, user: User = FROM_STORE) -> None:
        if not isinstance(store, ImpressionStore):
            raise ConfigurationError(f"store must be an ImpressionStore, not {type(store).__name__}")
        if user is None and store.scope.user is not None:
            raise ConfigurationError("user=None means the bot's own memory: give a store that has no user")
        self.store = store
        if isinstance(user, _FromStore):
            fixed = store.scope.user
            # A user's id may hold braces: it is not a template.
            self._user: Filled | None = Filled("user", "{user_id}" if fixed is None else lambda run: fixed)
        else:
            self._user = None if user is None else Filled("user", user)

    def user(self, run: Run) -> str | None:
        """The user of this run; None for the bot's own memory.

        Raises:
            ConfigurationError: The run does not say who it is.
        """
        return None if self._user is None else self._user.of(run)

    def view(self, user: str | None) -> ImpressionStore:
        """The memory of a user as `user()` gave it."""
        return self.store if user is None else self.store.scoped(user=user)

    def of(self, run: Run) -> ImpressionStore:
        """The memory of this run's user.

        Raises:
            ConfigurationError: The run does not say who it is.
        """
        return self.view(self.user(run))


def current_context() -> Any:
    """The context of the LangGraph run that this code stands in; None outside a graph or without LangGraph."""
    try:
        from langgraph.runtime import get_runtime
    except ImportError:
        return None
    try:
        runtime = get_runtime()
    except (RuntimeError, KeyError):  # no graph runs here
        return None
    return getattr(runtime, "context", None)
