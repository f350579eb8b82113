"""RD-03 and LI-09: nothing is opened before the first call; copies reconnect; no password is written down."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from impressmem_integrations import ImpressionStore
from impressmem_integrations.errors import ConfigurationError
from impressmem_integrations.llama_index import (
    ImpressionMemory,
    ImpressionMemoryBlock,
    ImpressionRetriever,
    ImpressionToolSpec,
)
from impressmem_integrations.llama_index.attachment import without_password
from tests.architecture.tree import ROOT
from tests.llama_index.stock import stock
from tests.servers import RunningServer, valkey_binary

SECRET = "s3cret/word"
URL = "redis://keeper:s3cret%2Fword@127.0.0.1:1/0"


@pytest.mark.parametrize(
    ("url", "plain", "secret"),
    [
        ("redis://h:1/0", "redis://h:1/0", False),
        ("redis://:pw@h:1/0", "redis://h:1/0", True),
        ("rediss://u:p%40w@h:1/0?x=1", "rediss://u@h:1/0?x=1", True),
        ("redis://u@h/0?password=pw&db=2", "redis://u@h/0?db=2", True),
        ("unix://:pw@/run/s?db=1", "unix:///run/s?db=1", True),
        ("embedded:///a/b", "embedded:///a/b", False),
    ],
)
def test_a_url_without_its_password(url: str, plain: str, secret: bool) -> None:
    assert without_password(url) == (plain, secret)


def ignore(messages: Any, tools: Any) -> str:
    return "IGNORE"


def made(url: str) -> list[Any]:
    return [
        ImpressionMemory(url, user="alice", primary=stock(), model=ignore),
        ImpressionMemoryBlock(url, user="alice", model=ignore),
        ImpressionToolSpec(url, user="alice"),
        ImpressionRetriever(url, user="alice"),
    ]


def test_rd03_building_opens_nothing() -> None:
    before = threading.active_count()
    made("redis://127.0.0.1:1/0")  # nothing answers there
    made("embedded:///nowhere/at/all")
    assert threading.active_count() == before
    assert not Path("/nowhere").exists()


def test_li09_no_password_in_a_dump() -> None:
    for one in made(URL):
        texts = [repr(one), str(one), pickle.dumps(one).decode("latin-1")]
        if hasattr(one, "model_dump"):
            texts += [repr(one.model_dump()), json.dumps(one.model_dump(), default=str)]
        for text in texts:
            assert "s3cret" not in text
            assert SECRET not in text


_READ = """
import asyncio, pickle, sys
block = pickle.loads(sys.stdin.buffer.read())
print(asyncio.run(block.aget()))
"""


def in_another_process(data: bytes, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", _READ], input=data, cwd=ROOT, env=os.environ | environment, capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_li09_a_pickle_reconnects_in_another_process() -> None:
    binary = valkey_binary()
    assert binary is not None
    with RunningServer(binary, tcp=True, password="hidden") as server:
        whole = server.url + "/0"
        assert "hidden" in whole
        with ImpressionStore.from_url(whole, user="alice") as alice:
            alice.save("USER-HOME", "lives in Lisbon", category="Life", labels=["Home"])
        data = pickle.dumps(ImpressionMemoryBlock(whole, user="alice", model=ignore))
        assert b"hidden" not in data
        found = in_another_process(data, IMPRESSMEM_URL=whole)
        assert "lives in Lisbon" in found.stdout, found.stderr
        without = in_another_process(data, IMPRESSMEM_URL="redis://elsewhere:1/0")
        assert "set IMPRESSMEM_URL" in without.stderr
        server.admin.config_set("requirepass", "")
        plain = pickle.dumps(ImpressionMemoryBlock(without_password(whole)[0], user="alice", model=ignore))
        assert "lives in Lisbon" in in_another_process(plain).stdout


def test_a_function_for_users_is_left_behind_with_a_clear_error(alice: ImpressionStore, store: ImpressionStore) -> None:
    block = ImpressionMemoryBlock(store, user=lambda session: "alice", model=ignore)
    assert pickle.loads(pickle.dumps(block))._attachment.memory("s").scope.user == "alice"  # the same process
    found = in_another_process(pickle.dumps(block), IMPRESSMEM_URL="embedded://:memory:")
    assert found.returncode != 0
    assert "ConfigurationError" in found.stderr


def test_a_closed_component_opens_its_store_again(valkey_server: RunningServer) -> None:
    url = f"unix://{valkey_server.socket_path}?db=0"
    spec = ImpressionToolSpec(url, user="alice")
    assert "Nothing is stored" in spec.recall_impressions().full
    spec._attachment.close()
    assert "Nothing is stored" in spec.recall_impressions().full
    spec._attachment.close()


def test_a_store_that_was_handed_in_is_never_closed(alice: ImpressionStore) -> None:
    memory = ImpressionMemory(alice, primary=stock(), model=ignore)
    assert memory.close() == []
    assert alice.stats().impressions == 0


def test_errors_say_what_to_change() -> None:
    with pytest.raises(ConfigurationError) as found:
        ImpressionMemory("http://:s3cret@h", user="alice")
    assert "s3cret" not in str(found.value)


_WITHOUT = """
import sys
sys.modules["llama_index"] = None
import impressmem_integrations.llama_index as adapter
print(sorted(adapter.__all__), adapter.ImpressionMemory)
"""


def test_lc10_without_llama_index_the_error_names_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "MissingExtra" in done.stderr
    assert "[llama-index]" in done.stderr


def test_no_name_is_made_up() -> None:
    import impressmem_integrations.llama_index as adapter

    assert set(adapter.__all__) <= set(dir(adapter))
    with pytest.raises(AttributeError):
        adapter.NoSuchThing  # noqa: B018
