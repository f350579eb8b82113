"""SP-13: what is exported comes back the same, once; what is not a whole good file changes nothing."""

from __future__ import annotations

import json

import pytest

from impressmem_integrations import ImpressionStore, Limits
from impressmem_integrations.errors import InvalidInput, StoreUnavailable
from tests.cases import CONTENTS, NAMES, SPELLINGS
from tests.dumps import contents
from tests.servers import RunningServer, valkey_binary


@pytest.fixture
def store(client):
    made = ImpressionStore(client=client, user="ann")
    items = [
        {"clue": f"{name} {n}", "content": content, "category": name, "labels": [name, "all"], "pin": n % 9 == 0}
        for n, (name, content) in enumerate(zip([*NAMES.values()] * 2, CONTENTS.values(), strict=False))
        if len(name) < 500
    ]
    made.save_many(items)
    made.save(SPELLINGS["width"][0], "wide", category="Ｗ", labels=["ｌ"], value={"a": [], "b": 12345678901234567890})
    made.save("Old", "expires", category="C", labels=["x"], ttl_seconds=10_000, source="turn-7")
    made.save("Part", "part", category="C2", labels=["y"])
    made.merge_clues(["Part"], "Old", "both")
    made.confirm(["Old"])
    return made


def fill(store, count):
    store.save_many(
        {
            "clue": f"c{n}",
            "content": f"note {n} 家\U0001f600",
            "category": f"C{n % 9}",
            "labels": [f"l{n % 5}"],
            "pin": n < 3,
        }
        for n in range(count)
    )


def test_sp13_export_and_import_are_lossless(store, tmp_path):
    path = tmp_path / "memory.jsonl"
    before, context = list(store.impressions()), store.context().text
    assert store.export_jsonl(path) == len(before)
    assert store.forget_everything().clues == len(before)
    done = store.import_jsonl(path)
    assert (done.created, done.changed, done.unchanged, done.kept, done.forgotten) == (len(before), 0, 0, 0, 0)
    assert store.context().text == context
    again = tmp_path / "again.jsonl"
    store.export_jsonl(again)
    assert again.read_bytes() == path.read_bytes()
    assert store.check() == []


def test_sp13_a_second_import_changes_nothing(server, store, tmp_path):
    fill(store, 1_500)
    path = tmp_path / "memory.jsonl"
    count = store.export_jsonl(path)
    context, before = store.context().text, contents(server)
    done = store.import_jsonl(path)
    assert (done.unchanged, done.created + done.changed, done.transaction) == (count, 0, None)
    assert store.context().text == context
    assert contents(server) == before


def test_sp13_another_scope_takes_the_file(store, tmp_path):
    path = tmp_path / "memory.jsonl"
    store.export_jsonl(path)
    bob = store.scoped(user="bob")
    bob.import_jsonl(path)
    assert bob.context().text == store.context().text
    bob.save("Later", "newer than all", category="C", labels=["x"])
    assert next(iter(bob.impressions())).clue == "Later"
    assert bob.check() == []


def test_sp13_what_is_newer_here_or_forgotten_here_stays_so(store, tmp_path):
    path = tmp_path / "memory.jsonl"
    store.save("Gone", "secret", category="C", labels=["x"])
    store.export_jsonl(path)
    store.save("Old", "changed since", category="C", labels=["x"])
    store.forget("Gone")
    done = store.import_jsonl(path)
    assert (done.kept, done.forgotten) == (1, 1)
    assert store.get("Old").content == "changed since"
    assert store.get("Gone") is None


def test_the_file_is_readable_text_in_creation_order(store, tmp_path):
    path = tmp_path / "memory.jsonl"
    store.save("Last", "日本", category="C", labels=["x"])
    store.save("Last but first", "x", category="C", labels=["x"])
    store.save("Last", "日本", category="C", labels=["x"])
    count = store.export_jsonl(path)
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    head = json.loads(lines[0])
    assert (head["format"], head["version"], head["user"], head["count"]) == ("impressmem-impressions", 1, "ann", count)
    assert [json.loads(line)["clue"] for line in lines[-2:]] == ["Last", "Last but first"]
    assert "日本" in lines[-2]
    assert path.stat().st_mode & 0o077 == 0


def damaged(lines: list[bytes], how: str) -> list[bytes]:
    record = json.loads(lines[2])
    head = json.loads(lines[0])

    def with_record(**changes):
        made = {name: value for name, value in {**record, **changes}.items() if value is not ...}
        return [*lines[:2], json.dumps(made).encode() + b"\n", *lines[3:]]

    def with_head(**changes):
        return [json.dumps({**head, **changes}).encode() + b"\n", *lines[1:]]

    return {
        "newer version": with_head(version=2),
        "another format": with_head(format="else"),
        "no header": lines[1:],
        "empty": [],
        "line missing": lines[:-1],
        "line too many": [*lines, lines[-1].replace(b'"clue":"', b'"clue":"more')],
        "cut off": [*lines[:-1], lines[-1][:-20]],
        "no JSON": [*lines[:2], b"{oops\n", *lines[3:]],
        "a list": [*lines[:2], b"[]\n", *lines[3:]],
        "bytes that are no text": [*lines[:2], b'{"clue": "\xff"}\n', *lines[3:]],
        "twice": [*lines[:2], lines[1], *lines[3:]],
        "field missing": with_record(content=...),
        "field unknown": with_record(colour="red"),
        "wrong type": with_record(revision="1"),
        "time out of range": with_record(created_at=-1),
        "pin contradicted": with_record(pin=True, pinned_at=None),
        "empty content": with_record(content=" "),
        "too many labels": with_record(labels=list("abcdef")),
    }[how]


@pytest.mark.parametrize(
    "how",
    [
        "newer version", "another format", "no header", "empty", "line missing", "line too many", "cut off", "no JSON",
        "a list", "bytes that are no text", "twice", "field missing", "field unknown", "wrong type",
        "time out of range", "pin contradicted", "empty content", "too many labels",
    ],
)  # fmt: skip
def test_sp13_a_bad_file_is_refused_whole(server, client, tmp_path, how):
    source = ImpressionStore(client=client, user="ann")
    source.save_many({"clue": f"c{n}", "content": f"n{n}", "category": "C", "labels": ["l"]} for n in range(5))
    path = tmp_path / "memory.jsonl"
    source.export_jsonl(path)
    path.write_bytes(b"".join(damaged(path.read_bytes().splitlines(keepends=True), how)))
    before = contents(server)
    with pytest.raises(InvalidInput, match="othing was imported"):
        source.scoped(user="bob").import_jsonl(path)
    assert contents(server) == before


def test_a_file_that_does_not_fit_is_refused_whole(client, tmp_path):
    store = ImpressionStore(client=client, user="ann")
    fill(store, 20)
    path = tmp_path / "memory.jsonl"
    store.export_jsonl(path)
    small = ImpressionStore(client=client, user="bob", limits=Limits(max_impressions=10))
    with pytest.raises(InvalidInput, match="max_impressions"):
        small.import_jsonl(path)
    assert small.stats().impressions == 0


def test_an_export_that_fails_leaves_the_older_file(tmp_path):
    path = tmp_path / "memory.jsonl"
    path.write_text("older")
    with RunningServer(valkey_binary()) as running, running.client() as client:
        store = ImpressionStore(client=client)
        running.stop()
        with pytest.raises(StoreUnavailable):
            store.export_jsonl(path)
    assert path.read_text() == "older"
    assert [file.name for file in tmp_path.iterdir()] == ["memory.jsonl"]


async def test_the_awaited_twins_do_the_same(store, tmp_path):
    count = await store.aexport_jsonl(tmp_path / "a.jsonl")
    assert (await store.aimport_jsonl(tmp_path / "a.jsonl")).unchanged == count
