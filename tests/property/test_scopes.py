"""Two different spellings of a bot or user never meet, whatever they are made of."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
from hypothesis import HealthCheck, assume, given, settings

from impressmem_integrations import ImpressionStore
from impressmem_integrations.core import keys
from impressmem_integrations.settings import Scope
from tests.cases import SCOPES

ids = st.one_of(
    st.sampled_from(SCOPES),
    st.text(alphabet=":/%{}*?[]\\ \n\x00aA1é́ａ家\U0001f468\u200d", min_size=1, max_size=8),
    st.text(min_size=1, max_size=20).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text)),
)
scopes = st.builds(Scope, ids, st.none() | ids)


@settings(max_examples=1_000)
@given(scopes, scopes)
def test_no_key_of_one_scope_begins_like_those_of_another(one, other):
    assume(one != other)
    assert not keys.scope_prefix(one).startswith(keys.scope_prefix(other))
    assert "{" not in one.tag
    assert "}" not in one.tag
    assert not keys.scope_prefix(one).startswith(keys.PREFIX + "{scopes:")


@settings(max_examples=60, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(scopes, scopes)
def test_what_one_scope_saves_no_other_sees(client, server, one, other):
    assume(one != other)
    server.admin.flushall()
    first = ImpressionStore(client=client, bot=one.bot, user=one.user)
    second = ImpressionStore(client=client, bot=other.bot, user=other.user)
    first.save("A", "4417", category="C", labels=["l"])
    assert second.get("A") is None
    second.forget_everything()
    second.save("A", "else", category="C", labels=["l"])
    assert (first.get("A").content, second.get("A").content) == ("4417", "else")
    assert set(first.scopes()) == {one, other}
    assert first.check() == second.check() == []


def test_sp01_every_pair_of_hostile_ids_is_apart(client):
    base = ImpressionStore(client=client)
    for user in SCOPES:
        base.scoped(user=user).save("A", f"of {user}", category="C", labels=["l"])
        base.scoped(bot=user).save("A", f"of bot {user}", category="C", labels=["l"])
    for user in SCOPES:
        assert base.scoped(user=user).get("A").content == f"of {user}"
        assert base.scoped(bot=user).get("A").content == f"of bot {user}"
    assert len(set(base.scopes())) == 2 * len(SCOPES)
    assert all(one.tag != other.tag for one, other in itertools.combinations(base.scopes(), 2))
