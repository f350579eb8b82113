"""`ImpressionMemory`: memory for chains and `AgentExecutor` of classic LangChain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables.config import ensure_config
from pydantic import ConfigDict, Field, PrivateAttr

from impressmem_integrations.availability import DEFAULT_LIMIT_SECONDS, availability_of
from impressmem_integrations.errors import (
    BacklogFull,
    ConfigurationError,
    JobError,
    MissingExtra,
    RunnerClosed,
)
from impressmem_integrations.langchain.exchange import STEPS, input_key_of, output_key_of, text_of, turn_messages
from impressmem_integrations.langchain.identity import Identity, Run, current_context, thread_of
from impressmem_integrations.langchain.injection import as_text, query_of
from impressmem_integrations.langchain.reading import Reader, faults_to
from impressmem_integrations.langchain.talks import Talks
from impressmem_integrations.langchain.upkeep import Job, Upkeep
from impressmem_integrations.maintenance.models import answering
from impressmem_integrations.maintenance.runner import Runner
from impressmem_integrations.model import Context, ForgetCertificate
from impressmem_integrations.options import check_options

try:
    from langchain_classic.base_memory import BaseMemory
except ImportError:
    try:
        # Where langchain-core is older than 1.0.
        from langchain_core.memory import BaseMemory  # type: ignore[import-not-found,no-redef,unused-ignore]
    except ImportError as error:
        raise MissingExtra("ImpressionMemory", "langchain-classic") from error


class ImpressionMemory(BaseMemory):
    """Long-term memory of a user for classic chains: what is remembered goes into the prompt, each turn is distilled.

    Works in `ConversationChain`, `LLMChain` and `AgentExecutor`, alone or in `CombinedMemory` and
    `ReadOnlySharedMemory`, blocking and in asyncio code. Unknown keywords are refused.

    Attributes:
        store: The memory.
        user: Whose: a fixed id, a text with fields such as `"{user_id}"` or a function of the `Run`, filled from the
            run's `configurable` where the chain is a step of a runnable; None for the bot's own shared memory, on
            purpose.
        model: Decides what to keep, as for `ImpressionStore.maintain`; None only reads.
        memory_key: The prompt variable that gets what is remembered.
        input_key: The input that the user said; needed where there are several.
        output_key: The output that the assistant said; needed where there are several.
        return_messages: Give a list with one system message, for `MessagesPlaceholder`, instead of text.
        budget_units: The most units of memory text; 10,000 where None.
        thread_id: Whose turns are counted together; one common thread for each user where None.
        on_error: What a fault of the store does: `log`, `raise`, or a function that gets the error. The errors of
            maintenance are what `flush` returns.
        on_report: Gets the `Report` of each maintenance, in another thread.
        settings: How maintenance asks and what it may cost.
        runner: A background runner to share with others; it is not closed here.
        limit_seconds: How long a chain waits for memory at most.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    store: Any = Field(exclude=True, repr=False)
    user: Any = Field(exclude=True, repr=False)
    model: Any = Field(exclude=True, repr=False)
    memory_key: str = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    budget_units: int | None = None
    thread_id: str | None = None
    on_error: Any = Field(default="log", exclude=True, repr=False)
    on_report: Any = Field(default=None, exclude=True, repr=False)
    settings: Any = Field(default=None, exclude=True, repr=False)
    runner: Any = Field(default=None, exclude=True, repr=False)
    limit_seconds: float = DEFAULT_LIMIT_SECONDS

    _identity: Identity = PrivateAttr()
    _reader: Reader = PrivateAttr()
    _fault: Callable[[Exception], None] = PrivateAttr()
    _upkeep: Upkeep = PrivateAttr()
    _talks: Talks = PrivateAttr(default_factory=Talks)

    def __init__(self, **options: Any) -> None:
        # Not a validator: pydantic would bury our errors in its own, with the arguments spelled out.
        check_options(options)
        super().__init__(**options)
        if self.memory_key in (self.input_key, "stop"):
            raise ConfigurationError(f"memory_key={self.memory_key!r} is what the user says: give memory another name")
        self._identity = Identity(self.store, self.user)
        self._fault = faults_to(self.on_error)
        self._reader = Reader(self.store, self.limit_seconds, self._fault)
        if self.model is not None:
            answering(self.model)
        runner = self.runner or Runner(full_wait_seconds=0)  # no chain waits for room in the queue
        self._upkeep = Upkeep(availability_of(self.store), self._fault, self.on_report, self.settings, runner)

    @property
    def memory_variables(self) -> list[str]:
        """The one prompt variable that is filled."""
        return [self.memory_key]

    # --- before the chain -------------------------------------------------------------------------------------------

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What is remembered, and what of it bears on the input.

        Raises:
            ConfigurationError: It is not known whose memory it is.
        """
        return self._variables(self._reader.read(self._reading(inputs)))

    async def aload_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """The awaitable twin of `load_memory_variables`."""
        return self._variables(await self._reader.aread(self._reading(inputs)))

    def _reading(self, inputs: Mapping[str, Any]) -> Callable[[], Context]:
        memory = self._identity.of(self._run())
        try:
            said = text_of(inputs[input_key_of(inputs, self.input_key, self.memory_variables)])
        except ConfigurationError:
            said = ""  # saving says it: some chains load without an input
        query = query_of([HumanMessage(said)])
        return lambda: memory.context(query, self.budget_units)

    def _variables(self, context: Context | None) -> dict[str, Any]:
        text = as_text(context)
        if self.return_messages:
            return {self.memory_key: [SystemMessage(text)] if text else []}
        return {self.memory_key: text}

    def _run(self) -> Run:
        return Run.of(ensure_config(), current_context())

    # --- after the chain --------------------------------------------------------------------------------------------

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Hand the turn to maintenance in the background: never waits for the store or the model.

        Raises:
            ConfigurationError: Which input or output was said is not told; the message lists what there is. Or it is
                not known whose memory it is.
            InvalidInput: Inputs or outputs are no dict.
        """
        said = text_of(inputs[input_key_of(inputs, self.input_key, self.memory_variables)])
        answer = text_of(outputs[output_key_of(outputs, self.output_key)])
        talk, now = self._talk(), datetime.now(UTC)
        if self.model is None:
            return
        steps = outputs.get(STEPS) or ()
        messages = self._talks.add(talk, turn_messages(said, answer, steps, now.isoformat()))
        user, thread = talk
        try:
            self._upkeep.submit(Job(self._identity.view(user), messages, self.model, thread, now))
        except (BacklogFull, RunnerClosed) as error:
            self._fault(error)  # the conversation's next turn brings this one along

    def _talk(self) -> tuple[str | None, str | None]:
        """Whose conversation it is, and which."""
        run = self._run()
        return self._identity.user(run), thread_of(run, self.thread_id)

    async def asave_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """The awaitable twin of `save_context`, which does not wait either."""
        self.save_context(inputs, outputs)

    # --- forgetting -------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget the conversation: turns that wait to be distilled are dropped. What is remembered stays.

        Raises:
            ConfigurationError: It is not known whose conversation it is.
        """
        self._talks.clear(self._talk())

    async def aclear(self) -> None:
        """The awaitable twin of `clear`."""
        self.clear()

    def forget_all(self) -> ForgetCertificate:
        """Erase all that is remembered of the user, after what is being distilled at the moment.

        Raises:
            ConfigurationError: It is not known whose memory it is.
            StoreError: The server failed.
        """
        memory = self._identity.of(self._run())
        self.clear()
        self._upkeep.runner.submit(memory.scope, lambda: None).result()
        return memory.forget_everything()

    async def aforget_all(self) -> ForgetCertificate:
        """The awaitable twin of `forget_all`."""
        memory = self._identity.of(self._run())
        self.clear()
        done = self._upkeep.runner.submit(memory.scope, lambda: None)
        await asyncio.wrap_future(done)
        return await memory.aforget_everything()

    # --- background work --------------------------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> list[JobError]:
        """Wait for background maintenance, e.g. before a script ends. Returns the errors since the last flush.

        Raises:
            TimeoutError: Not all was done in time; it goes on.
        """
        return self._upkeep.runner.flush(timeout)

    async def aflush(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `flush`."""
        return await self._upkeep.runner.aflush(timeout)

    def close(self, timeout: float | None = None) -> list[JobError]:
        """Finish background maintenance and take no more of it; a shared runner is only flushed. As `flush` else."""
        return self._upkeep.runner.close(timeout) if self.runner is None else self.flush(timeout)

    async def aclose(self, timeout: float | None = None) -> list[JobError]:
        """The awaitable twin of `close`."""
        return await (self._upkeep.runner.aclose(timeout) if self.runner is None else self.aflush(timeout))
