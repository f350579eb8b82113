"""Whose memory a component uses and who maintains it: what can be neither copied nor written down.

LlamaIndex deep-copies and pickles memories and blocks with a workflow's context. A copy keeps the very same store. A
pickle holds no client and no password: the process that made it finds its store again, another one opens the URL anew.
"""

from __future__ import annotations

import os
import pickle
import threading
import uuid
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

from impressmem_integrations.errors import ConfigurationError, ModelError
from impressmem_integrations.llama_index.room import window_of
from impressmem_integrations.maintenance.models import answering
from impressmem_integrations.settings import identity
from impressmem_integrations.store import ImpressionStore

_URL_VARIABLE = "IMPRESSMEM_URL"


class _FromStore:
    """Says that nothing was given."""

    def __repr__(self) -> str:
        return "the store's own user"


FROM_STORE: Final = _FromStore()
User = str | int | uuid.UUID | None | Mapping[str, object] | Callable[[str], object] | _FromStore
"""One user's id; None for the bot's own shared memory, on purpose; or session id -> user."""


def without_password(url: str) -> tuple[str, bool]:
    """A URL that may be written down, and whether a password was taken out of it."""
    if url.startswith("embedded"):
        return url, False
    parts = urlsplit(url)
    name, _, host = parts.netloc.rpartition("@")
    user, colon, _ = name.partition(":")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(key, value) for key, value in pairs if key != "password"]
    netloc = f"{user}@{host}" if user else host
    query = f"?{urlencode(kept)}" if kept else ""
    return f"{parts.scheme}://{netloc}{parts.path}{query}", bool(colon) or len(kept) < len(pairs)


_NO_MODEL: Final = (
    "no model decides what is kept: give model=, or set llama_index.core.Settings.llm before (LlamaIndex' own default "
    "is not used)"
)


def set_llm() -> Any:
    """The LLM that the application set as `Settings.llm`; None where there is none, or LLMs were switched off."""
    from llama_index.core import Settings
    from llama_index.core.llms import MockLLM

    # Only this tells: to read the public attribute makes an OpenAI client where nothing was set.
    found = getattr(Settings, "_llm", None)
    return None if type(found) is MockLLM else found  # `Settings.llm = None` leaves an echo there


class Attachment:
    """The store, the user and the maintenance model of a component.

    Args:
        store: The memory, or its URL.
        user: Whose, see `User`.
        model: Decides what to keep; None for `Settings.llm` where it is set now. A copy in another process takes what
            is set there. LlamaIndex' own default, OpenAI, is never asked: a private talk would go there unnoticed.
        sessions: Whether a user may be given by session.

    Raises:
        ConfigurationError: The store is none, the model is none, or it is not said whose memory it is.
    """

    def __init__(self, store: ImpressionStore | str, user: User, model: Any = None, *, sessions: bool = False) -> None:
        if isinstance(store, str):
            self._url: str | None = store
            self._store: ImpressionStore | None = ImpressionStore.from_url(store)  # checks the URL, opens nothing
        elif isinstance(store, ImpressionStore):
            self._url, self._store = None, store
        else:
            raise ConfigurationError(f"store must be an ImpressionStore or a URL, not {type(store).__name__}")
        self.bot = self._store.scope.bot
        self.user = self._checked(user, self._store.scope.user, sessions)
        self._model = set_llm() if model is None else model
        if self._model is not None:
            answering(self._model)  # raises now for what would only fail in the background
        self._begin(uuid.uuid4().hex)
        self._plain = None if self._url is None else without_password(self._url)[0]

    def _begin(self, token: str) -> None:
        self._token = token
        self._lock = threading.Lock()
        _living[token] = self

    @staticmethod
    def _checked(user: User, own: str | None, sessions: bool) -> Any:
        if isinstance(user, _FromStore):
            if own is None:
                raise ConfigurationError(
                    "whose memory is it? give user=, or a store that has one; user=None means the bot's shared memory"
                )
            return own
        if user is None:
            if own is not None:
                raise ConfigurationError("user=None means the bot's own memory: give a store that has no user")
            return None
        if isinstance(user, Mapping) or callable(user):
            if not sessions:
                raise ConfigurationError("user must be one user's id: make one of these for each user, it is cheap")
            return dict(user) if isinstance(user, Mapping) else user
        return identity(user, "user")

    @property
    def url(self) -> str | None:
        """The URL without its password; None for a store that was handed in."""
        return self._plain

    def memory(self, session: str | None = None) -> ImpressionStore:
        """The store of one user.

        Args:
            session: The session that asks, where users are given by session.

        Raises:
            ConfigurationError: The session belongs to nobody, or a copy does not know how to reach its store.
        """
        user = self._user_of(session)
        store = self._opened()
        return store if user == store.scope.user else store.scoped(user=user)

    def _user_of(self, session: str | None) -> str | None:
        if not isinstance(self.user, Mapping) and not callable(self.user):
            name: str | None = self.user
            return name
        if session is None:
            raise ConfigurationError("users are given by session here: say which, session_id=...")
        try:
            found = self.user[session] if isinstance(self.user, Mapping) else self.user(session)
        except LookupError:
            found = None
        if found is None:
            raise ConfigurationError(f"session {session!r} belongs to no user: user= does not know it")
        return identity(found, "user")

    def _opened(self) -> ImpressionStore:
        with self._lock:
            if self._store is None:
                self._store = ImpressionStore.from_url(self._whole_url(), bot=self.bot)
            return self._store

    def _whole_url(self) -> str:
        if self._url is not None:
            return self._url
        found = os.environ.get(_URL_VARIABLE)
        if found and (self._plain is None or without_password(found)[0] == self._plain):
            return found
        where = self._plain or "a client that was handed in"
        raise ConfigurationError(
            f"this copy comes from another process and was saved without the way to its store ({where}): set "
            f"{_URL_VARIABLE}, or give the original a URL without a password"
        )

    @property
    def window(self) -> object:
        """The context window that the model states, in tokens; None where it does not."""
        return window_of(self._model)

    def must_learn(self, switch: str) -> None:
        """Check that there is a model where the switch says that turns are learnt from.

        Raises:
            ConfigurationError: There is none.
        """
        if switch == "on" and self._model is None and set_llm() is None:
            raise ConfigurationError(f'{_NO_MODEL}, or switch="read-only" to show memory without learning')

    def model(self) -> Any:
        """The maintenance model.

        Raises:
            ModelError: None was given and none is set.
        """
        found = set_llm() if self._model is None else self._model
        if found is None:
            raise ModelError(_NO_MODEL)
        return found

    def close(self) -> None:
        """Close a store that was opened here, for all copies; the next use opens it again."""
        with self._lock:
            if self._plain is not None and self._store is not None:
                self._store.close()
                self._store = None

    # --- copies -----------------------------------------------------------------------------------------------------

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        secret = self._url is None or without_password(self._url)[1]
        return _found_again, (self._token, self._plain, secret, self.bot, _picklable(self.user))

    def __repr__(self) -> str:
        return f"<Attachment bot={self.bot!r} at {self._plain or 'a given store'}>"


_living: weakref.WeakValueDictionary[str, Attachment] = weakref.WeakValueDictionary()


def _picklable(user: Any) -> Any:
    """The user as it can be pickled; a function of which only this process knows is left out."""
    try:
        pickle.dumps(user)
    except (pickle.PicklingError, AttributeError, TypeError):
        return {}
    return user


def _found_again(token: str, plain: str | None, secret: bool, bot: str, user: Any) -> Attachment:
    """The original in the process that made it, else one that opens its store anew when it is used."""
    living = _living.get(token)
    if living is not None:
        return living
    made = Attachment.__new__(Attachment)
    made._url = None if secret else plain
    made._plain, made._store, made._model, made.bot, made.user = plain, None, None, bot, user
    made._begin(token)
    return made
