"""The part of an audit that looks at posting lists: each says what records and messages say, in one place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from impressmem_integrations.core.audit_view import Looking
from impressmem_integrations.core.commands.keep import Write, exact, exact_bytes
from impressmem_integrations.core.commands.terms import read_terms
from impressmem_integrations.core.postings import Form, bucket, forms, pack, score, unpack, weight_of
from impressmem_integrations.core.truth import whole, whole_score

_PAIRS_AT_ONCE = 200

Postings = dict[int, int]


def check_postings(audit: Looking, index: str, documents: Mapping[str, int]) -> None:
    """Compare the posting lists of an index with the terms of its rows.

    Args:
        audit: The audit that is told.
        index: "" for impressions, "turn-" for messages.
        documents: Clue or position -> its number in the lists.
    """
    held = audit.table(index + "terms")
    audit.remove_others(audit.key(index + "terms"), held, documents, "has no record")
    expected: defaultdict[str, Postings] = defaultdict(dict)
    for owner, document in documents.items():
        for term, weight in read_terms(held.get(owner, "")).items():
            expected[term][document] = weight
    places = _places(audit, index)
    for term in {**expected, **places}:
        _compare(audit, index, term, expected.get(term, {}), places.get(term, {}))


def _places(audit: Looking, index: str) -> dict[str, dict[str, str | Postings]]:
    """Term -> where something of its list stands (a key's name) -> what: packed text, or members of a sorted set."""
    found: defaultdict[str, dict[str, str | Postings]] = defaultdict(dict)
    for name in (*audit.names(index + "posting:"), index + "postings"):
        for term, text in audit.table(name).items():
            found[term][name] = text
    for name in audit.names(index + "term:"):
        found[name.removeprefix(index + "term:")][name] = _members(audit.table(name))
    return found


def _members(table: Mapping[str, str]) -> Postings:
    """The postings of a sorted set; none where a member or a score is none of ours."""
    members = {int(document): weight_of(whole_score(at) or 0) for document, at in table.items() if whole(document)}
    scores = {str(document): str(score(document, weight)) for document, weight in members.items()}
    return members if scores == table else {}


def _place(index: str, term: str, form: Form) -> str:
    match form:
        case Form.FEW:
            return f"{index}posting:{bucket(term)}"
        case Form.MANY:
            return f"{index}postings"
        case Form.SET:
            return f"{index}term:{term}"


def _written(index: str, term: str, form: Form, postings: Postings) -> dict[str, str | Postings]:
    """What stands where if a list has a form."""
    if form is Form.SET:
        return {_place(index, term, Form.MANY): "", _place(index, term, form): postings}
    return {_place(index, term, form): exact(pack(postings))}


def _compare(audit: Looking, index: str, term: str, wanted: Postings, found: Mapping[str, str | Postings]) -> None:
    good = forms(term, len(wanted)) if wanted else ()
    if any(_same(found, _written(index, term, form, wanted)) for form in good) or not (wanted or found):
        return
    name = next(iter(found), "") or _place(index, term, good[0])
    message = "does not hold what the terms of the records say" if wanted else "is a term of nothing that lives"
    audit.report(audit.key(name), term, message, *_anew(audit, index, term, wanted, found))


def _same(found: Mapping[str, str | Postings], wanted: Mapping[str, str | Postings]) -> bool:
    return found.keys() == wanted.keys() and all(_read(found[name]) == _read(text) for name, text in wanted.items())


def _read(held: str | Postings) -> Postings | None:
    return unpack(exact_bytes(held)) if isinstance(held, str) else held


def _anew(
    audit: Looking, index: str, term: str, wanted: Postings, found: Mapping[str, str | Postings]
) -> Iterable[Write]:
    for name, held in found.items():
        key = audit.key(name)
        yield Write("HDEL", key, (term,)) if isinstance(held, str) else Write("UNLINK", key)
    for name, held in _written(index, term, forms(term, len(wanted))[0], wanted).items() if wanted else ():
        key = audit.key(name)
        if isinstance(held, str):
            yield Write("HSET", key, (term, held))
        else:
            pairs = [
                part for document, weight in held.items() for part in (str(score(document, weight)), str(document))
            ]
            for at in range(0, len(pairs), 2 * _PAIRS_AT_ONCE):
                yield Write("ZADD", key, tuple(pairs[at : at + 2 * _PAIRS_AT_ONCE]))
