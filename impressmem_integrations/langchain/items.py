"""Items of a LangGraph store as impressions: the value whole beside a text that recall finds. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from langgraph.store.base import PutOp, get_text_at_path, tokenize_path

from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.commands import write
from impressmem_integrations.core.commands.records import Facts, draft
from impressmem_integrations.core.commands.terms import wire_terms
from impressmem_integrations.core.text import normal_content, normal_name
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.langchain.namespaces import Namespace, category_of, clue_of
from impressmem_integrations.model import Impression
from impressmem_integrations.settings import Limits

LIMITS: Final = Limits(max_impressions=10**9, max_content_bytes=2**20, min_labels=0, half_life_days=None)
"""A store of values never lets one go for another: capacity, labels and decay are off."""

_TEXT_BYTES: Final = 65_536
"""Of a larger value this much is found by its words; the value itself is kept whole."""


LIFETIME_WORDS: Final = "a number of minutes above 0 and below 10,000,000,000"


def is_lifetime(minutes: object) -> bool:
    """Whether it can be a lifetime in minutes."""
    return isinstance(minutes, int | float) and not isinstance(minutes, bool) and 0 < minutes < 1e10


class Kept(NamedTuple):
    """What an impression of the store holds, and the impression.

    Attributes:
        rest: The segments of its namespace inside its memory.
        key: Its key.
        value: Its value.
        ttl_minutes: Its lifetime from each write or refreshing read, or None.
        indexed: Whether recall finds it by its words.
        record: The impression.
    """

    rest: Namespace
    key: str
    value: dict[str, Any]
    ttl_minutes: float | None
    indexed: bool
    record: Impression


def kept(record: Impression) -> Kept | None:
    """Read an impression; None for one that this store did not write."""
    held = record.value
    if not isinstance(held, Mapping) or not {"namespace", "key", "value"} <= held.keys():
        return None
    rest = tuple(held["namespace"])
    return Kept(rest, held["key"], held["value"], held.get("ttl"), held.get("indexed", True), record)


def put_operation(bound: Bound, rest: Namespace, op: PutOp) -> write.Operation:
    """What a put or (without a value) a deletion does to the impressions.

    Raises:
        InvalidInput: The value is no dict of JSON values, or the key or lifetime cannot be used.
    """
    if not isinstance(op.key, str):
        raise InvalidInput(f"a key must be a text, not {type(op.key).__name__}")
    clue = clue_of(rest, op.key)
    if op.value is None:
        return write.clue_operation("forget", normal_name(clue, "clue"))
    if not isinstance(op.value, Mapping):
        raise InvalidInput(f"a value must be a dict, not {type(op.value).__name__}")
    held: dict[str, Any] = {"namespace": list(rest), "key": op.key, "value": dict(op.value)}
    words = _words(op)
    if words is None:
        held["indexed"] = False
    if op.ttl is not None:
        if not is_lifetime(op.ttl):
            raise InvalidInput(f"ttl must be {LIFETIME_WORDS}, or None, not {op.ttl!r}")
        held["ttl"] = op.ttl
    item = {
        "clue": clue,
        "content": _visible(words or "", op.key, clue),
        "category": category_of(rest),
        "labels": (),
        "value": held,
        "ttl_seconds": None if op.ttl is None else op.ttl * 60,
    }
    return _indexed_by(write.save_operation(draft(bound, item)), () if words is None else (op.key, words))


def _visible(*texts: str) -> str:
    """The first text that holds anything to see: an impression has one, a value may be `""`."""
    for text in texts[:-1]:
        try:
            return normal_content(text, LIMITS.max_content_bytes)
        except InvalidInput:
            continue
    return texts[-1]


def prolong_operation(found: Kept, facts: Facts) -> write.Operation:
    """Keep an item as it is, but until `found.record.expires_at`."""
    texts = (found.key, found.record.content) if found.indexed else ()
    return _indexed_by(write.put_operation(found.record, facts), texts)


def _indexed_by(operation: write.Operation, texts: Sequence[str]) -> write.Operation:
    """The operation with the words of these texts: the segments of a namespace are no words of its items."""
    return operation._replace(args=(*operation.args[:-1], wire_terms(*texts)))


def _words(op: PutOp) -> str | None:
    """The text that recall finds an item by; None where it shall not be found."""
    if op.index is False:
        return None
    value = op.value or {}
    if op.index is not None:
        texts = [text for path in op.index for text in get_text_at_path(value, tokenize_path(path))]
        text = "\n".join(texts)
    elif isinstance(value.get("content"), str) and len(value) == 1:
        text = value["content"]
    else:
        text = _json(value)
    return text.encode("utf-8", "replace")[:_TEXT_BYTES].decode("utf-8", "ignore")


def _json(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"value must be JSON: {error}") from error
