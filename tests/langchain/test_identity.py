"""Whose memory a run may touch."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.langchain import maintenance_chain
from impressmem_integrations.langchain.identity import Filled, Identity, Run, current_context, thread_of

NOWHERE = "redis://127.0.0.1:1/0"


@dataclass
class Context:
    user_id: str | None = "alice"


def test_the_context_comes_before_configurable():
    assert Filled("user", "{user_id}").of(Run({"user_id": "alice"}, {"user_id": "bob"})) == "alice"
    assert Filled("user", "{user_id}").of(Run(Context(), {"user_id": "bob"})) == "alice"
    assert Filled("user", "{user_id}").of(Run(Context(None), {"user_id": "bob"})) == "bob"
    assert Filled("user", "{user_id}").of(Run.of({"configurable": {"user_id": "bob"}})) == "bob"


@pytest.mark.parametrize("run", [Run(), Run({}), Run(Context(None)), Run.of(None), Run.of({"configurable": None})])
def test_lc_08_a_run_that_names_nobody_is_an_error_that_says_how(run):
    with pytest.raises(ConfigurationError, match=r'names no user_id.*context=\{"user_id": ...\}'):
        Filled("user", "{user_id}").of(run)


def test_lc_07_ids_that_are_no_strings():
    here = uuid.UUID(int=7)
    user = Filled("user", "{user_id}")
    assert user.of(Run({"user_id": 1})) == user.of(Run({"user_id": "1"})) == "1"
    assert user.of(Run({"user_id": here})) == str(here)
    for wrong in ("", 1.5, True, ["alice"], b"alice"):
        with pytest.raises(ConfigurationError):
            user.of(Run({"user_id": wrong}))


def test_lc_08_a_thread_or_context_that_is_missing_is_not_taken_for_a_missing_user():
    with pytest.raises(ConfigurationError, match="names no conv, so it is not known which thread it belongs to"):
        Filled("thread", "{conv}").of(Run())
    for context in ("x", 7, ["alice"]):
        with pytest.raises(ConfigurationError, match=f"its context is a {type(context).__name__}, not a mapping"):
            Filled("user", "{user_id}").of(Run(context))


@pytest.mark.parametrize("blank", ["", "   ", "\t\n", "\u2003"])
def test_lc_08_blanks_name_nobody(blank):
    with pytest.raises(ConfigurationError, match=r"user_id (is empty|holds only blanks); give an id"):
        Filled("user", "{user_id}").of(Run({"user_id": blank}))
    with pytest.raises(ConfigurationError, match="user"):
        Filled("user", lambda run: blank).of(Run())
    with pytest.raises(ConfigurationError, match="user"):
        Filled("user", blank)


def test_other_characters_are_taken_as_they_are(valkey_server):
    with ImpressionStore.from_url(valkey_server.url) as store:
        odd = ["a\x00b", "a\x01b", "ab", " ab", "ab "]
        for user in odd:
            store.scoped(user=Filled("user", "{user_id}").of(Run({"user_id": user}))).save(
                "NAME", repr(user), category="General", labels=["Note"]
            )
        assert [store.scoped(user=user).get("NAME").content for user in odd] == [repr(user) for user in odd]
        assert sorted(one.user for one in store.scopes()) == sorted(odd)


@pytest.mark.parametrize("thread", [["x"], {"x": 1}, 1.5, True, b"x"], ids=repr)
def test_lc_07_a_thread_is_a_text_or_a_number(thread):
    with pytest.raises(ConfigurationError, match="thread_id"):
        thread_of(Run({}, {"thread_id": thread}))
    with pytest.raises(ConfigurationError, match="thread_id"):
        maintenance_chain(ImpressionStore.from_url(NOWHERE), print, user="alice").invoke(
            {"messages": [("user", "I drink tea")], "thread_id": thread}
        )
    assert thread_of(Run({}, {"thread_id": 0})) == "0"
    assert thread_of(Run({}, {"thread_id": ""})) is None


def test_several_fields_never_mean_the_same_name_by_accident():
    both = Filled("user", "{tenant}/{user_id}")
    one = both.of(Run({"tenant": "a/b", "user_id": "c"}))
    other = both.of(Run({"tenant": "a", "user_id": "b/c"}))
    assert one != other
    with pytest.raises(ConfigurationError, match="put a / or :"):
        Filled("user", "{tenant}-{user_id}")


@pytest.mark.parametrize(
    "template", ["{user.id}", "{user[0]}", "{}", "{0}", "{user!r}", "{user:>9}", "{user", "", None]
)
def test_a_template_with_more_than_names_is_refused(template):
    with pytest.raises(ConfigurationError):
        Filled("user", template)


def test_a_function_of_the_run():
    assert Filled("user", lambda run: run["user_id"]).of(Run(Context())) == "alice"
    assert Filled("user", lambda run: run.context.user_id).of(Run(Context())) == "alice"
    for blind in (lambda run: run["nobody"], lambda run: run.context.nobody, lambda run: None, lambda run: ""):
        with pytest.raises(ConfigurationError):
            Filled("user", blind).of(Run(Context()))


def test_the_stores_own_user_counts_where_none_is_given():
    store = ImpressionStore.from_url(NOWHERE, bot="b")
    assert Identity(store.scoped(user="{odd}")).user(Run()) == "{odd}"
    assert Identity(store).user(Run({"user_id": 5})) == "5"
    with pytest.raises(ConfigurationError):
        Identity(store).user(Run())
    assert Identity(store.scoped(user="carol"), "{user_id}").of(Run({"user_id": "dan"})).scope.user == "dan"


def test_the_bots_own_memory_only_on_purpose():
    store = ImpressionStore.from_url(NOWHERE, bot="b")
    shared = Identity(store, None)
    assert shared.user(Run({"user_id": "alice"})) is None
    assert shared.of(Run()).scope.user is None
    assert shared.of(Run()).scope.bot == "b"
    with pytest.raises(ConfigurationError, match="a store that has no user"):
        Identity(store.scoped(user="alice"), None)


def test_a_fixed_user():
    assert Identity(ImpressionStore.from_url(NOWHERE), "alice").of(Run({"user_id": "bob"})).scope.user == "alice"


def test_what_is_no_store_is_refused():
    with pytest.raises(ConfigurationError, match="ImpressionStore"):
        Identity(object())


def test_outside_a_graph_there_is_no_context():
    assert current_context() is None
