"""The line in which writers stand whose answers were stale."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from impressmem_integrations.maintenance.line import Line

PATIENCE = 30


def in_line(line: Line, log: list[str], name: str, inside: threading.Event, go_on: threading.Event) -> threading.Thread:
    """A thread that stands in line, notes that it is served, and leaves when told to."""

    def run() -> None:
        with line:
            line.wait()
            log.append(name)
            inside.set()
            assert go_on.wait(PATIENCE)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_one_at_a_time_in_the_order_they_came():
    log: list[str] = []
    lines = [Line("k") for _ in range(4)]
    inside = [threading.Event() for _ in lines]
    go_on = [threading.Event() for _ in lines]
    threads = []
    for n, line in enumerate(lines):
        threads.append(in_line(line, log, str(n), inside[n], go_on[n]))
        while line._left is None:
            assert threads[-1].is_alive()
    assert Line("k").behind
    assert not Line("other").behind
    for n in range(4):
        assert inside[n].wait(PATIENCE)
        assert log == [str(before) for before in range(n + 1)]
        go_on[n].set()
    for thread in threads:
        thread.join(PATIENCE)
    assert not Line("k").behind


def test_who_takes_no_place_stands_in_nobodys_way():
    with Line("k"):
        assert not Line("k").behind


def test_waiting_twice_is_waiting_once():
    with Line("k") as line:
        line.wait()
        line.wait()
    assert not Line("k").behind


async def test_one_that_is_cancelled_lets_the_next_one_wait_for_those_in_front():
    served = []

    async def second() -> None:
        with Line("k") as line:
            await line.await_()

    async def third() -> None:
        with Line("k") as line:
            await line.await_()
            served.append("third")

    with Line("k") as first:
        await first.await_()
        tasks = [asyncio.create_task(second()), asyncio.create_task(third())]
        await asyncio.sleep(0)
        tasks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert served == []
    await asyncio.wait_for(tasks[1], PATIENCE)
    assert served == ["third"]
    assert not Line("k").behind


async def test_blocking_code_in_an_event_loop_does_not_wait_for_a_task_of_that_loop():
    with Line("k") as first:
        await first.await_()
        with Line("k") as line:
            line.wait()
    assert not Line("k").behind


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings(
    "ignore:.*fork.*:DeprecationWarning"
)  # threads of other tests; the child runs no code of theirs
def test_a_forked_child_stands_in_no_line_of_its_parent():
    with Line("k") as line:
        line.wait()
        if (child := os.fork()) == 0:
            os._exit(1 if Line("k").behind else 0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
