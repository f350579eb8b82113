"""The account of tokens: what a question may take is reserved before it is asked, and settled with what it took."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import write
from impressmem_integrations.core.effects import AskModel, Flow, ask
from impressmem_integrations.maintenance.settings import Settings
from impressmem_integrations.model import Answer, Usage

_BYTES_PER_TOKEN = 2
"""Texts have more bytes to a token; instructions and tools, in English, about four."""


class TokensSpent(Exception):
    """The bound of the day leaves no room for this question. Nobody was asked."""


@dataclass(slots=True)
class Account:
    """The questions of one group of turns.

    Attributes:
        bound: The scope.
        settings: What maintenance may cost.
        now: The server's time; its UTC day is the one that is charged.
        total: What was used, failed answers included as far as they told it.
    """

    bound: Bound
    settings: Settings
    now: datetime
    total: Usage = field(default_factory=Usage)

    def ask(self, question: AskModel) -> Flow[Answer]:
        """Ask the model. An answer that tells of no tokens is charged with all that was reserved for it.

        Raises:
            TokensSpent: What it may take would pass the bound.
            ModelError: The model failed; nothing is charged, since a failure tells no tokens.
        """
        reserved = 0
        most = self.settings.max_tokens_per_day
        if most is not None:
            reserved = reservation(question, self.settings.answer_tokens)
            if not (yield from ask(write.account(self.bound, self._day, reserve=reserved, most=most))):
                raise TokensSpent("the tokens of the day are spent")
        try:
            answer = yield from ask(question)
        except Exception:
            if reserved:
                yield from ask(write.account(self.bound, self._day, release=reserved))
            raise
        usage = replace(answer.usage, calls=max(1, answer.usage.calls))
        yield from self._charge(answer, usage, release=reserved if _tokens(usage) else 0)
        return answer

    def ask_fallback(self, question: AskModel) -> Flow[Answer]:
        """Ask the fallback. The bound does not hold it back, but what it tells of is charged.

        One that tells of no tokens, as the rule distiller, costs nothing and is no call.

        Raises:
            ModelError: It failed.
        """
        answer = yield from ask(question)
        if _tokens(answer.usage):
            yield from self._charge(answer, replace(answer.usage, calls=1))
        return answer

    def _charge(self, answer: Answer, usage: Usage, *, release: int = 0) -> Flow[None]:
        self.total = self.total + usage
        milliseconds = round(1000 * answer.seconds)
        yield from ask(write.account(self.bound, self._day, release=release, usage=usage, milliseconds=milliseconds))

    @property
    def _day(self) -> str:
        return self.now.astimezone(UTC).date().isoformat()


def reservation(question: AskModel, answer_tokens: int) -> int:
    """The tokens that a question and its answer are expected not to pass."""
    size = sum(len(message["content"].encode("utf-8", "surrogatepass")) for message in question.messages)
    if question.tools is not None:
        size += len(json.dumps(list(question.tools), ensure_ascii=False).encode())
    return size // _BYTES_PER_TOKEN + answer_tokens


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
