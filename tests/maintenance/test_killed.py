"""A process that dies at any counted point, and one that comes after it: each turn is distilled once."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from impressmem_integrations import ImpressionStore
from tests.maintenance.test_once import ANSWER, TALK, run_killed, state
from tests.servers import RunningServer

PROGRAM = """
import json, os, sys
import redis
from impressmem_integrations import ImpressionStore
from impressmem_integrations.core.effects import AskModel, drive
from impressmem_integrations.maintenance.flow import maintain
from impressmem_integrations.tools.calls import read_answer
url, user, at, after, answer, talk = sys.argv[1:4] + sys.argv[4:]
store = ImpressionStore(client=redis.Redis.from_url(url), user=user)
count = 0
def answered(effect):
    global count
    count += 1
    if count == int(at) and after == "0":
        os._exit(9)
    reply = read_answer(json.loads(answer)) if isinstance(effect, AskModel) else store._connection.send(effect)
    if count == int(at) and after == "1":
        os._exit(9)
    return reply
print(drive(maintain(store._bound, json.loads(talk)), answered).status)
"""


def run(server: RunningServer, user: str, at: int, *, after: bool) -> subprocess.CompletedProcess[str]:
    arguments = [server.url, user, str(at), str(int(after)), json.dumps(ANSWER), json.dumps(TALK[:2])]
    return subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_processes_at_every_counted_point(valkey_server, after):
    client = valkey_server.client()

    def fresh(user: str) -> ImpressionStore:
        store = ImpressionStore(client=client, user=user)
        store.save("CAT-OLD", "cat: Tom", category="Pets", labels=["Cat"])
        return store

    whole = fresh("uninterrupted")
    points = run_killed(whole, TALK[:2], ANSWER, 0, after=False)
    for at in range(1, points + 1):
        store = fresh(f"killed-{at}")
        died = run(valkey_server, f"killed-{at}", at, after=after)
        assert died.returncode == 9, died.stderr
        second = run(valkey_server, f"killed-{at}", 0, after=after)
        assert second.returncode == 0, second.stderr
        assert second.stdout.strip() in ("stored", "already_done")
        assert state(store) == state(whole), f"killed at effect {at}"
    client.close()
