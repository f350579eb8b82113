"""Processes, threads and event loops on one memory."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from impressmem_integrations import ImpressionStore
from tests.servers import RunningServer

ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from impressmem_integrations import ImpressionStore
url, number, same = sys.argv[1], sys.argv[2], sys.argv[3] == "same"
with ImpressionStore.from_url(url, user="ann") as store:
    sys.stdin.readline()
    for n in range(50):
        clue = "ONE" if same else f"{number}-{n}"
        word = f"{number}.{n}"
        store.save(clue, f"text {word}", category=f"C{word}", labels=[f"l{word}", "all"])
"""


def run_writers(server: RunningServer, mode: str) -> None:
    """Four processes, let go at the same moment."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, server.url, str(number), mode],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        _, errors = writer.communicate(timeout=60)
        assert (writer.returncode, errors) == (0, "")


def test_rd13_four_processes_on_two_hundred_clues_and_on_one(server, client):
    store = ImpressionStore(client=client, user="ann")
    run_writers(server, "different")
    assert store.stats().impressions == 200
    assert len(store.journal(limit=500)) == 200
    assert store.check() == []
    store.forget_everything()
    run_writers(server, "same")
    (item,) = store.impressions()
    word = item.content.removeprefix("text ")
    assert (item.category, item.labels, item.revision) == (f"C{word}", (f"l{word}", "all"), 200)
    assert list(store.categories()) == [f"C{word}"]
    assert set(store.labels()) == {f"l{word}", "all"}


def test_rd02_eight_threads_without_a_loop(client):
    store = ImpressionStore(client=client)
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        for n in range(10):
            store.save(f"{number}-{n}", "x", category="C", labels=["l"])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert store.stats().impressions == 80


async def test_rd02_threads_while_the_loop_saves_too(client):
    store = ImpressionStore(client=client)

    def write(number: int) -> None:
        for n in range(10):
            store.save(f"{number}-{n}", "x", category="C", labels=["l"])

    await asyncio.gather(
        *(asyncio.to_thread(write, number) for number in range(4)),
        *(store.asave(f"loop-{n}", "x", category="C", labels=["l"]) for n in range(10)),
    )
    assert (await store.astats()).impressions == 50


LOOPS = """
import asyncio, gc, sys
from impressmem_integrations import ImpressionStore
store = ImpressionStore.from_url(sys.argv[1], user="ann")
def unhurried(): asyncio.get_running_loop().slow_callback_duration = 60  # a busy machine is no fault
async def save(n): unhurried(); return await store.asave(f"c{n}", "x", category="C", labels=["l"])
async def recall(): unhurried(); return len((await store.arecall(category="C")).items)
counts = []
for n in range(4):
    asyncio.run(save(n))
    counts.append(asyncio.run(recall()))
    with asyncio.Runner() as runner:  # as a web test client does: a loop for each request
        runner.run(save(f"r{n}"))
store.close()
gc.collect()
print(counts, store.scope.user)
"""


def test_rd01_one_store_outlives_its_loops_without_a_warning(server):
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", LOOPS, server.url],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("[1, 3, 5, 7] ann\n", "", 0)


BUILDING = """
import asyncio, json, socket, sys, threading
def refuse(*_, **__): raise AssertionError("a socket was opened")
socket.socket.connect = refuse
asyncio.new_event_loop = refuse
from impressmem_integrations import ImpressionStore
import redis
stores = [
    ImpressionStore.from_url("redis://127.0.0.1:1/0", user="a"),
    ImpressionStore.from_url("unix:///nowhere/at/all.sock"),
    ImpressionStore.from_url("embedded"),
    ImpressionStore(client=redis.Redis(port=1)),
]
views = [store.scoped(user="b") for store in stores]
listings = [store.impressions() for store in stores]
print(json.dumps([threading.active_count(), repr(stores[0])]))
"""


def test_rd03_building_touches_nothing():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", BUILDING], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    threads, shown = json.loads(done.stdout)
    assert threads == 1
    assert "127.0.0.1:1" in shown


@pytest.mark.timeout(120)
def test_a_scope_of_many_terms_is_erased_to_the_last_key(server, client):
    """A server does not shrink a hash at once: its first pages are empty when they were read and removed."""
    store = ImpressionStore(client=client, user="ann")
    store.save("A", "tea", category="Food", labels=["Drink"])
    key = next(key for key in server.admin.scan_iter("*:terms"))
    with server.admin.pipeline(transaction=False) as pipeline:
        for number in range(120_000):
            pipeline.hset(key, f"N{number}", f"2\x1ew{number % 50}\x1f57")
        pipeline.execute()
    store.forget_everything()
    assert [name for name in server.admin.scan_iter("*") if b":0:" in name] == []
    assert store.check() == []
