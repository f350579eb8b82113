"""`impressmem eval longconv` on a small conversation, the one that its page shows."""

from __future__ import annotations

import json

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.cli.main import main
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.evaluation import longconv
from impressmem_integrations.evaluation.conversations import read_folder
from tests.docs.markdown import blocks, page


@pytest.fixture
def folder(tmp_path):
    """A folder with the conversation that the page of evaluation shows."""
    (shown,) = [body for language, body, _ in blocks(page("docs/evaluation.md")) if language == "json"]
    (tmp_path / "one.json").write_text(shown, encoding="utf-8")
    return tmp_path


@pytest.fixture
def evaluate(folder, valkey_server, capsys):
    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["eval", "longconv", "--path", str(folder), "--url", valkey_server.url, *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_the_page_s_conversation_is_read(folder):
    (talk,) = read_folder(folder)
    assert [said.text for said in talk.sessions[0].utterances][1] == "Look at this! [photo: an oboe on a chair]"
    assert talk.questions[0].evidence == {"D1:1"}


def test_without_turns_nothing_can_be_shown_word_for_word(evaluate):
    _, shown, _ = evaluate("--budgets", "500")
    rows = {line.split()[0]: line.split() for line in shown.splitlines()}
    assert rows["track"][2] == "verbatim"
    assert (rows["T"][2], rows["O"][2], rows["both"][2]) == ("1.000", "-", "1.000")
    assert rows["O"][3] == "1.000"


def test_the_document_has_no_number_where_the_table_has_none(evaluate):
    _, shown, _ = evaluate("--budgets", "500", "--json")
    rows = {row["track"]: row for row in json.loads(shown)["rows"]}
    assert (rows["O"]["verbatim"], rows["O"]["newest_verbatim"]) == (None, None)
    assert rows["O"]["cited"] == rows["T"]["verbatim"] == 1.0
    assert rows["T"]["newest_verbatim"] is not None


@pytest.mark.parametrize("budgets", [["0"], ["500", "-1"]])
def test_a_wrong_budget_is_refused_before_anything_is_kept(evaluate, valkey_server, budgets):
    code, shown, error = evaluate("--budgets", *budgets)
    assert (code, shown) == (2, "")
    assert "a budget must be a whole number of at least 1" in error
    assert "questions" not in error
    assert valkey_server.admin.dbsize() == 0


def test_a_wrong_budget_from_code_is_refused_too(folder, client):
    store = ImpressionStore(client=client)
    with pytest.raises(InvalidInput, match="a budget"):
        list(longconv.run(store, read_folder(folder), budgets=[2_000, 0]))
    assert client.dbsize() == 0


def test_every_column_is_explained():
    head = longconv.table([])
    text = page("docs/evaluation.md")
    columns = ["verbatim", "cited", "95 % of cited", "all", "spent", "newest"]
    assert [name for name in columns if name not in head or f"| `{name}` |" not in text] == []
