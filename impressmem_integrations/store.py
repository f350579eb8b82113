"""`ImpressionStore`: one scope's memory as a table of operations, each blocking and, with an `a` in front, awaitable.

Signature, annotations and docstring of an operation exist once, at its flow in `core/flows`. What few programs do at
their start is loaded when it is first asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Command, Effect, Flow, adrive, drive
from impressmem_integrations.core.flows import change, contexts, recollect
from impressmem_integrations.core.flows import recall as recalls
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.facade import Flows, as_it_is, asking, asking_awaited, awaited, blocking, listed
from impressmem_integrations.settings import Limits, Scope, Tokenizer

if TYPE_CHECKING:
    from impressmem_integrations import transfer
    from impressmem_integrations.connect import Connection
    from impressmem_integrations.core.flows import keep
    from impressmem_integrations.maintenance import decide, evidence, operation
else:
    decide, evidence, operation = map(Flows, ("maintenance.decide", "maintenance.evidence", "maintenance.operation"))
    keep, transfer = Flows("core.flows.keep"), Flows("transfer")

R = TypeVar("R")


class ImpressionStore:
    """One scope's memory in plain Redis or Valkey.

    Nothing is opened before the first call. The store is thread-safe; its async twins work in any event loop, also one
    after the other.
    """

    def __init__(
        self,
        *,
        client: Any,
        async_client: Any = None,
        bot: object = "assistant",
        user: object = None,
        limits: Limits | None = None,
        tokenizer: Any = None,
        embeddings: Any = None,
    ) -> None:
        """Use clients of your own; they are never closed here.

        Args:
            client: A `redis.Redis` (any decoding, RESP2 or RESP3).
            async_client: A `redis.asyncio` client of one event loop; None runs async twins in threads.
            bot: The assistant's name.
            user: The user's id; None for the bot's own shared memory.
            limits: Bounds of each scope.
            tokenizer: Counts units for budgets; see `settings.Tokenizer.of`. None: UTF-8 bytes / 3, rounded up.
            embeddings: Reserved for the semantic lane; must be None.

        Raises:
            ConfigurationError: An argument is wrong.
        """
        from impressmem_integrations.connect import wrap  # late, as in `from_url`

        self._set_up(wrap(client, async_client), bot, user, limits, tokenizer, embeddings)

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        async_client: Any = None,
        bot: object = "assistant",
        user: object = None,
        limits: Limits | None = None,
        tokenizer: Any = None,
        embeddings: Any = None,
    ) -> Self:
        """Use the server of a URL: `embedded`, `embedded:///path/dir`, `embedded://:memory:`, `redis://`, `unix://`.

        Arguments and errors are those of the constructor.
        """
        from impressmem_integrations.connect import connect  # late: it loads redis, which takes longer than all else

        store = cls.__new__(cls)
        store._set_up(connect(url, async_client), bot, user, limits, tokenizer, embeddings)
        return store

    @classmethod
    def from_env(cls, **options: Any) -> Self:
        """Use `IMPRESSMEM_URL` and `IMPRESSMEM_BOT`; the embedded server where unset. Options as in `from_url`."""
        options.setdefault("bot", os.environ.get("IMPRESSMEM_BOT") or "assistant")
        return cls.from_url(os.environ.get("IMPRESSMEM_URL") or "embedded", **options)

    def _set_up(
        self, connection: Connection, bot: object, user: object, limits: Limits | None, tokenizer: Any, embeddings: Any
    ) -> None:
        if limits is not None and not isinstance(limits, Limits):
            raise ConfigurationError("limits must be a Limits(...)")
        if embeddings is not None:
            raise ConfigurationError("embeddings are not supported by this version; leave them out")
        scope = Scope(bot, user)  # type: ignore[arg-type]  # Scope accepts and checks ids of other types
        counter = Tokenizer.of(tokenizer) if tokenizer is not None else None
        measure = (counter.measure, counter.name) if counter else ()
        self._connection = connection
        self._bound = Bound(scope, limits or Limits(), *measure)

    def scoped(self, *, bot: object = None, user: object = None) -> Self:
        """A view of another scope over the same connections.

        Args:
            bot: Another assistant; None keeps this one.
            user: Another user; None keeps this one where no bot is given.

        Raises:
            ConfigurationError: A name is wrong, or neither is given.
        """
        if bot is None and user is None:
            raise ConfigurationError("scoped() needs bot=, user= or both; None is nobody")
        here = self._bound.scope
        scope = Scope(here.bot if bot is None else bot, here.user if user is None else user)  # type: ignore[arg-type]  # as above
        view = type(self).__new__(type(self))
        view._connection = self._connection
        view._bound = Bound(
            scope,
            self._bound.limits,
            self._bound.count_units,
            self._bound.unit_name,
            self._bound.salt,
            self._bound.registered,
            self._bound.unstored,
        )
        return view

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._bound.scope

    @property
    def limits(self) -> Limits:
        """The bounds in force."""
        return self._bound.limits

    def __repr__(self) -> str:
        return f"<ImpressionStore bot={self.scope.bot!r} user={self.scope.user!r} at {self._connection.shown}>"

    def _answer(self, effect: Effect[Any]) -> Any:
        assert isinstance(effect, Command)
        return self._connection.send(effect)

    async def _aanswer(self, effect: Effect[Any]) -> Any:
        assert isinstance(effect, Command)
        return await self._connection.asend(effect)

    def perform(self, flow: Callable[[Bound], Flow[R]]) -> R:
        """Run a flow of one's own on this scope and wait for it; for adapters."""
        return drive(flow(self._bound), self._answer)

    async def aperform(self, flow: Callable[[Bound], Flow[R]]) -> R:
        """The awaitable twin of `perform`."""
        return await adrive(flow(self._bound), self._aanswer)

    # --- operations: what they do stands at the flows -------------------------------------------------------------

    save = blocking(change.save)
    asave = awaited(change.save)
    save_many = blocking(change.save_many)
    asave_many = awaited(change.save_many)
    get = blocking(recollect.get)
    aget = awaited(recollect.get)
    recall = blocking(recalls.recall)
    arecall = awaited(recalls.recall)
    context = blocking(contexts.context)
    acontext = awaited(contexts.context)
    merge_categories = blocking(change.merge_categories)
    amerge_categories = awaited(change.merge_categories)
    merge_labels = blocking(change.merge_labels)
    amerge_labels = awaited(change.merge_labels)
    merge_clues = blocking(change.merge_clues)
    amerge_clues = awaited(change.merge_clues)
    pin = blocking(change.pin)
    apin = awaited(change.pin)
    unpin = blocking(change.unpin)
    aunpin = awaited(change.unpin)
    confirm = blocking(change.confirm)
    aconfirm = awaited(change.confirm)
    forget = blocking(change.forget)
    aforget = awaited(change.forget)
    forget_everything = blocking(change.forget_everything)
    aforget_everything = awaited(change.forget_everything)
    history = blocking(recollect.history)
    ahistory = awaited(recollect.history)
    journal = blocking(recollect.journal)
    ajournal = awaited(recollect.journal)
    stats = blocking(recollect.stats)
    astats = awaited(recollect.stats)
    impressions = listed(recollect.impressions)
    aimpressions = listed(recollect.impressions, "a")
    categories = listed(recollect.categories)
    acategories = listed(recollect.categories, "a")
    labels = listed(recollect.labels)
    alabels = listed(recollect.labels, "a")
    scopes = listed(recollect.scopes)
    ascopes = listed(recollect.scopes, "a")
    maintain = asking(operation.maintain)
    amaintain = asking_awaited(operation.maintain)
    check = blocking(keep.check)
    acheck = awaited(keep.check)
    repair = blocking(keep.repair)
    arepair = awaited(keep.repair)
    export_jsonl = as_it_is(transfer.export_jsonl)
    aexport_jsonl = as_it_is(transfer.aexport_jsonl)
    import_jsonl = as_it_is(transfer.import_jsonl)
    aimport_jsonl = as_it_is(transfer.aimport_jsonl)
    plans = blocking(decide.plans)
    aplans = awaited(decide.plans)
    apply = blocking(decide.apply)
    aapply = awaited(decide.apply)
    reject = blocking(decide.reject)
    areject = awaited(decide.reject)
    remember_turns = blocking(evidence.remember_turns)
    aremember_turns = awaited(evidence.remember_turns)

    def close(self) -> None:
        """Close what this store opened, for all its views. Closing twice is fine."""
        self._connection.close()

    async def aclose(self) -> None:
        """The awaitable twin of `close`."""
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
