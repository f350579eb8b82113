"""`ImpressionRetriever`: recall as a LangChain retriever."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from pydantic import ConfigDict, Field, PrivateAttr

from impressmem_integrations.availability import DEFAULT_LIMIT_SECONDS
from impressmem_integrations.core.flows.recollect import positive
from impressmem_integrations.langchain.identity import FROM_STORE, Identity, Run, current_context
from impressmem_integrations.langchain.reading import Reader, faults_to
from impressmem_integrations.model import Ranked, Recall
from impressmem_integrations.options import check_options
from impressmem_integrations.store import ImpressionStore

_UNITS_PER_DOCUMENT = 1_000


class ImpressionRetriever(BaseRetriever):
    """Finds what memory holds on a question, best first.

    A document's text is the impression's content, or the message that was said; its metadata hold `clue`, `kind`
    (`impression` or `turn`), `score` and `said_at`, for impressions also `category` and `labels`, for turns `speaker`.

    Attributes:
        store: The memory.
        user: Whose, per run, from the run's context or `configurable`; as for `ImpressionMiddleware`.
        k: The most documents; also an argument of `invoke`.
        category: Only impressions of this category.
        labels: Only impressions with any of these labels.
        fill: Fill up to `k` with the newest impressions, score 0, where fewer bear on the question.
        on_error: What a read that fails does: `log`; `raise`; or a function that gets the error. Unless it is raised,
            nothing is found: a document that memory did not hold would be a wrong one.
        limit_seconds: How long memory is waited for at most.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    store: Any = Field(exclude=True, repr=False)
    user: Any = Field(default=FROM_STORE, exclude=True, repr=False)
    k: int = Field(default=4, ge=1)
    category: str | None = None
    labels: tuple[str, ...] = ()
    fill: bool = False
    on_error: Any = Field(default="log", exclude=True, repr=False)
    limit_seconds: float = DEFAULT_LIMIT_SECONDS

    _identity: Identity = PrivateAttr()
    _reader: Reader = PrivateAttr()

    def __init__(self, **options: Any) -> None:
        # Not a validator: pydantic would bury our errors in its own, with the arguments spelled out.
        check_options(options)
        super().__init__(**options)
        self._identity = Identity(self.store, self.user)
        self._reader = Reader(self.store, self.limit_seconds, faults_to(self.on_error))

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """The documents on a question.

        Raises:
            ConfigurationError: The run does not say whose memory it is.
            InvalidInput: The question, `k` or a filter is wrong.
            StoreError: With `on_error="raise"`.
        """
        config = ensure_config(config)
        return super().invoke(input, config, memory=self._memory(config), **kwargs)

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> list[Document]:
        """The awaitable twin of `invoke`."""
        config = ensure_config(config)
        return await super().ainvoke(input, config, memory=self._memory(config), **kwargs)

    def _memory(self, config: RunnableConfig) -> ImpressionStore:
        return self._identity.of(Run.of(config, current_context()))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        memory: ImpressionStore | None = None,
        k: int | None = None,
    ) -> list[Document]:
        most = self.k if k is None else positive(k, "k")
        memory = memory or self._memory(ensure_config())
        return _documents(self._reader.read(lambda: memory.recall(query, **self._asked(most))), most)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        memory: ImpressionStore | None = None,
        k: int | None = None,
    ) -> list[Document]:
        most = self.k if k is None else positive(k, "k")
        memory = memory or self._memory(ensure_config())
        found = await self._reader.aread(lambda: memory.recall(query, **self._asked(most)))
        return _documents(found, most)

    def _asked(self, most: int) -> dict[str, Any]:
        return {
            "category": self.category,
            "labels": self.labels,
            "budget_units": most * _UNITS_PER_DOCUMENT,
            "fill": self.fill,
        }


def _documents(found: Recall | None, most: int) -> list[Document]:
    return [_document(item) for item in found.items[:most]] if found else []


def _document(item: Ranked) -> Document:
    metadata: dict[str, Any] = {"clue": item.clue, "kind": item.kind, "score": item.score}
    if item.said_at is not None:
        metadata["said_at"] = item.said_at.isoformat()
    if item.impression is not None:
        metadata |= {"category": item.impression.category, "labels": list(item.impression.labels)}
    else:
        metadata["speaker"] = item.speaker
    return Document(page_content=item.content, metadata=metadata)
