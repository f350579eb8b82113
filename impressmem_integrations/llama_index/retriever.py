"""Recall as a LlamaIndex retriever."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from impressmem_integrations.core.bound import DEFAULT_RECALL_UNITS
from impressmem_integrations.core.render import plain
from impressmem_integrations.core.text import normal_name
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.llama_index.attachment import FROM_STORE, Attachment, User
from impressmem_integrations.llama_index.checks import check_fields
from impressmem_integrations.llama_index.reading import DEFAULT_LIMIT_SECONDS, aread, read
from impressmem_integrations.llama_index.switch import Switch, in_force
from impressmem_integrations.model import Ranked, Recall
from impressmem_integrations.store import ImpressionStore

OnError = Literal["log", "raise"]


class ImpressionRetriever(BaseRetriever):
    """Finds what is remembered on a question, for query engines and as a tool beside documents.

    Nodes come best first, and each is something that is remembered: where the store cannot be reached there are none,
    and the log says so, or the error is raised. Their metadata holds `kind` (`impression` or `turn`), `clue`, `bot` and
    `user`, and for impressions `category`, `labels`, `pin` and `updated_at`; only category, labels and time are shown
    to models.
    """

    def __init__(
        self,
        store: ImpressionStore | str,
        *,
        user: User = FROM_STORE,
        category: str | None = None,
        labels: Sequence[str] = (),
        budget_units: int | None = None,
        limit_seconds: float = DEFAULT_LIMIT_SECONDS,
        switch: Switch = "on",
        on_error: OnError = "log",
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
    ) -> None:
        """Choose what is looked up; nothing is opened before the first query.

        Args:
            store: The memory, or its URL.
            user: Whose; None for the bot's own shared memory. Not given: the store's own user.
            category: Only what is filed there.
            labels: Only what has one of these.
            budget_units: The most units of all texts together; None for 1,000.
            limit_seconds: How long a query waits at most.
            switch: `off` finds nothing.
            on_error: What happens where the store fails or is late: `log` finds nothing, `raise` raises.
            callback_manager: As for every retriever.
            verbose: As for every retriever.

        Raises:
            ConfigurationError: An argument is wrong, or it is not said whose memory it is.
            InvalidInput: The category or a label is no name.
        """
        options = {"budget_units": budget_units, "limit_seconds": limit_seconds, "switch": switch}
        check_fields(options)
        if on_error not in ("log", "raise"):
            raise ConfigurationError(f'on_error must be "log" or "raise", not {on_error!r}')
        if isinstance(labels, str) or not isinstance(labels, Sequence):
            raise ConfigurationError(f"labels must be a list of texts, not {type(labels).__name__}")
        self._attachment = Attachment(store, user)
        self._category = None if category is None else normal_name(category, "category").shown
        self._labels = tuple(normal_name(label, "labels").shown for label in labels)
        self._budget_units = DEFAULT_RECALL_UNITS if budget_units is None else budget_units
        self._limit_seconds = limit_seconds
        self._switch = switch
        self._raises = on_error == "raise"
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if in_force(self._switch) == "off":
            return []
        call = self._call(query_bundle)
        return self._nodes(read(self._attachment.memory(), call, self._limit_seconds, raises=self._raises))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if in_force(self._switch) == "off":
            return []
        call = self._call(query_bundle)
        return self._nodes(await aread(self._attachment.memory(), call, self._limit_seconds, raises=self._raises))

    def _call(self, query: QueryBundle) -> Callable[[ImpressionStore], Recall]:
        return lambda memory: memory.recall(
            query.query_str, category=self._category, labels=self._labels, budget_units=self._budget_units
        )

    def _nodes(self, found: Recall | None) -> list[NodeWithScore]:
        if found is None:
            return []
        return [NodeWithScore(node=self._node(item), score=item.score) for item in found.items]

    def _node(self, item: Ranked) -> TextNode:
        scope = self._attachment.memory().scope
        held = item.impression
        metadata: dict[str, Any] = {"kind": item.kind, "clue": item.clue, "bot": scope.bot, "user": scope.user}
        if held is not None:
            metadata |= {
                "category": held.category,
                "labels": list(held.labels),
                "pin": held.pin,
                "updated_at": held.updated_at.isoformat(),
            }
        # The same note is the same node in every query, so that fusion and reranking can tell.
        name = hashlib.sha256(f"{scope.tag}\x00{item.kind}\x00{item.clue}".encode()).hexdigest()[:32]
        hidden = ["kind", "clue", "bot", "user", "pin"]
        return TextNode(
            id_=name,
            text=plain(item.content),
            metadata=metadata,
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=hidden,
        )
