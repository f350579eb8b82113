"""`ImpressionBaseStore`: LangGraph's key-value store over impressions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from langgraph.store.base import BaseStore, Op, Result, TTLConfig

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Flow
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain.batch import Batch
from impressmem_integrations.langchain.items import LIFETIME_WORDS, LIMITS, is_lifetime
from impressmem_integrations.langchain.namespaces import USER_FIELD, Layout
from impressmem_integrations.options import check_options
from impressmem_integrations.store import ImpressionStore

BY_USER: Final = ("users", USER_FIELD)


class ImpressionBaseStore(BaseStore):
    """A LangGraph `BaseStore` in plain Redis or Valkey: for `create_agent(store=...)`, `ToolRuntime.store`, LangMem.

    The first segments of a namespace say whose memory it is. Values are JSON, of any shape and size, and are never
    let go for others. They are kept under a bot of their own, apart from the impressions of agents, whose limits are
    others.

    The puts of one batch to one user's memory are one transaction, all or nothing, up to 1,000 puts or 8 MB; more go
    in chunks, in order. Reads of a batch see what was there before its puts; the last put to a key wins. Between the
    reads and the puts of a batch other writers may write.

    `search` gives the items put last first. With a query the items that recall finds by its words come first, best
    first with their score, then the others, whose score is None; per user the best 100 hits count, before prefix and
    filter. A search or listing whose namespace leaves the user open reads the registry of all scopes: on the path of
    a request, name the user.

    It is a store of data, so an outage is raised: an answer without the value would be a wrong one. A call waits for
    the server as long as the connection does, 5 seconds unless the URL says `socket_timeout`.

    Attributes:
        ttl_config: `default_ttl` in minutes and `refresh_on_read`, for items that say nothing else. The server itself
            lets go of what is over: there is nothing to sweep.
    """

    supports_ttl = True

    def __init__(
        self,
        store: ImpressionStore,
        *,
        template: Sequence[str] | None = None,
        shared: bool = False,
        bot: str | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        """Nothing is opened before the first call.

        Args:
            store: The connection; closing it closes this.
            template: The first segments of a namespace, one of which is `{user}`. Not given: `("users", "{user}")`,
                or no segments at all where the store has a user, so that everything is that user's. Give `()` to keep
                everything in the bot's own memory.
            shared: Keep namespaces that do not begin like the template in the bot's own memory; otherwise they are
                refused.
            bot: The bot under which values are kept; the store's own with `:values` after it where None.
            ttl: Lifetimes; see `ttl_config`.

        Raises:
            ConfigurationError: An argument is wrong.
        """
        if not isinstance(store, ImpressionStore):
            raise ConfigurationError(f"store must be an ImpressionStore, not {type(store).__name__}")
        if template is None:
            template = BY_USER if store.scope.user is None else ()
        elif template and store.scope.user is not None:
            raise ConfigurationError("a template names the user: give a store that has none")
        if not isinstance(template, list | tuple):
            raise ConfigurationError('template must be a tuple of segments, e.g. ("users", "{user}")')
        check_options({"shared": shared})
        self._layout = Layout(tuple(template), shared)
        self._memory = store.scoped(bot=f"{store.scope.bot}:values" if bot is None else bot, user=store.scope.user)
        self.ttl_config = _checked(ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry operations out; results in their order.

        Raises:
            InvalidInput: An operation is wrong; nothing was written.
            StoreError: The server failed.
        """
        return self._memory.perform(self._flow(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The awaitable twin of `batch`."""
        return await self._memory.aperform(self._flow(ops))

    def memory_of(self, namespace: Sequence[str]) -> ImpressionStore:
        """The memory that holds a namespace: for `forget_everything()`, `journal()`, `stats()` and `export_jsonl()`.

        Raises:
            InvalidInput: The namespace names nobody's memory.
        """
        user = self._layout.place(namespace).user
        return self._memory if user is None else self._memory.scoped(user=user)

    def __repr__(self) -> str:
        return f"<ImpressionBaseStore template={self._layout.template!r} over {self._memory!r}>"

    def _flow(self, ops: Iterable[Op]) -> Callable[[Bound], Flow[list[Result]]]:
        wanted, now_ms = list(ops), time.time() * 1000
        return lambda bound: Batch(replace(bound, limits=LIMITS), self._layout, now_ms).run(wanted)


def _checked(ttl: TTLConfig | None) -> TTLConfig | None:
    if ttl is None:
        return None
    known = TTLConfig.__annotations__
    if not isinstance(ttl, Mapping) or not known.keys() >= ttl.keys():
        raise ConfigurationError(f"ttl must be a dict with some of {', '.join(sorted(known))}, or None")
    default, refresh = ttl.get("default_ttl"), ttl.get("refresh_on_read", True)
    if default is not None and not is_lifetime(default):
        raise ConfigurationError(f"ttl: default_ttl must be {LIFETIME_WORDS}, or None, not {default!r}")
    if not isinstance(refresh, bool):
        raise ConfigurationError(f"ttl: refresh_on_read must be True or False, not {refresh!r}")
    return ttl
