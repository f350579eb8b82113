"""The background runner and the end of its process: exit, fork, Ctrl-C. Each test is a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

PATIENCE_S = 30

HEAD = """
import asyncio, atexit, os, signal, sys, threading, time
from impressmem_integrations.errors import RunnerClosed
from impressmem_integrations.maintenance.runner import RetryLater, Runner

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
"""

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def start(code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", HEAD + textwrap.dedent(code)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(code: str) -> list[str]:
    """The lines that a process wrote; it must end well and complain about nothing."""
    with start(code) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    return out.splitlines()


def test_what_was_submitted_runs_before_the_interpreter_ends():
    lines = said(
        """
        end_begun = threading.Event()
        runner = Runner(workers=2)

        def turn(number):
            end_begun.wait(0.2)  # so that most of them are still waiting when the main thread is through
            say(number)

        for number in range(4):
            runner.submit("a", lambda number=number: turn(number))
        for key in "bcdef":
            runner.submit(key, lambda key=key: say(key))
        say("main is through")
        """
    )
    assert [line for line in lines if line.isdigit()] == ["0", "1", "2", "3"]
    assert {"b", "c", "d", "e", "f"} < set(lines)
    assert lines.index("main is through") < lines.index("3")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process there")
def test_ctrl_c_while_the_interpreter_ends_says_how_many_jobs_are_lost():
    code = """
        import concurrent.futures.thread as pool
        runner = Runner(workers=1)

        def interrupted():
            while not pool._shutdown:  # until the main thread waits for this one
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(600)

        runner.submit("a", interrupted)
        runner.submit("a", lambda: say("second"))
        runner.submit("b", lambda: say("third"))
        say("main is through")
        """
    with start(code) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    assert out.splitlines() == ["main is through"]
    assert len([line for line in err.splitlines() if line.startswith("3 background jobs are lost")]) == 1


def test_a_retry_that_waits_is_tried_at_once_when_the_interpreter_ends():
    """Its wait is longer than this test's patience, so it was not sat out."""
    lines = said(
        """
        runner = Runner(tries=3, on_error=lambda error: say(error))
        tried = threading.Event()

        def limited():
            say("try")
            tried.set()
            raise RetryLater(60)

        for key in range(6):  # more than there are threads
            runner.submit(key, limited)
        runner.submit(0, lambda: say("after"))
        tried.wait(10)
        import logging
        logging.disable()  # the log goes to stderr
        """
    )
    assert lines.count("try") == 18
    assert sorted(line for line in lines if line.endswith("RetryLater")) == [
        f"a background job of {key} failed after 3 tries: RetryLater" for key in range(6)
    ]
    assert lines.count("after") == 1


def test_a_job_may_submit_more_while_the_interpreter_ends():
    lines = said(
        """
        runner = Runner(workers=1)
        refused = threading.Event()

        def probe():
            # A thread that is no job: once it is refused, the interpreter is ending.
            while True:
                try:
                    Runner().submit("probe", int)
                except RunnerClosed:
                    return refused.set()
                time.sleep(0.01)

        def job():
            refused.wait(20)
            say("ending", refused.is_set())
            runner.submit("same", lambda: say("same key"))
            runner.submit("other", lambda: say("other key"))

        runner.submit("same", job)
        threading.Thread(target=probe).start()
        """
    )
    assert lines[0] == "ending True"
    assert sorted(lines[1:]) == ["other key", "same key"]


def test_too_late_is_said_instead_of_lost():
    lines = said(
        """
        runner = Runner()
        runner.submit("k", lambda: say("in time"))

        @atexit.register
        def late():
            try:
                runner.submit("k", lambda: say("never"))
            except RunnerClosed as error:
                say("refused:", error)
            say(runner.flush(), runner.waiting)
        """
    )
    assert lines[0] == "in time"
    assert lines[1].startswith("refused: no thread for a background job of 'k': the interpreter is ending")
    assert lines[2:] == ["[] 0"]


def test_work_submitted_in_a_loop_outlives_the_loop():
    lines = said(
        """
        runner = Runner()

        async def main():
            runner.submit("k", lambda: (time.sleep(0.1), say("stored")))
            say("replied")

        asyncio.run(main())
        """
    )
    assert lines == ["replied", "stored"]


def test_cancelling_aflush_does_not_hold_the_loop_back():
    """A thread that waits in the loop's own executor would keep `asyncio.run` from ending before the job."""
    lines = said(
        """
        runner = Runner()
        gate = threading.Event()
        runner.submit("k", lambda: (gate.wait(20), say("stored", gate.is_set())))

        async def main():
            try:
                await asyncio.wait_for(runner.aflush(), 0.05)
            except TimeoutError:
                say("gave up waiting")

        asyncio.run(main())
        say("loop closed")
        gate.set()
        """
    )
    assert lines == ["gave up waiting", "loop closed", "stored True"]


@needs_fork
def test_preloaded_workers_run_their_own_jobs_and_none_of_the_parents():
    """A server that loads the application once and forks: the runner was used, and is busy, before the fork."""
    lines = said(
        """
        runner = Runner(workers=2)
        gate = threading.Event()
        begun = threading.Event()
        runner.submit("k", lambda: (begun.set(), gate.wait(20), say("parent 1")))
        for number in (2, 3):
            runner.submit("k", lambda number=number: say("parent", number))
        begun.wait(20)

        children = []
        for name in "ab":
            child = os.fork()
            if child == 0:
                gate.set()  # the child's copy: nothing but the runner keeps the parent's jobs from running here
                left = runner.waiting, runner.flush()
                for number in range(3):
                    runner.submit("k", lambda number=number: say(name, os.getpid() != parent, number))
                errors = runner.flush(10)
                say(name, left, errors)
                sys.exit(0)  # a full exit, with the exit functions
            children.append(child)
        codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        gate.set()
        say(codes, runner.flush(10))
        """.replace("runner = Runner", "parent = os.getpid()\n        runner = Runner", 1)
    )
    assert [line for line in lines if line.startswith("a ")] == [*(f"a True {n}" for n in range(3)), "a (0, []) []"]
    assert [line for line in lines if line.startswith("b ")] == [*(f"b True {n}" for n in range(3)), "b (0, []) []"]
    assert [line for line in lines if line.startswith("parent")] == ["parent 1", "parent 2", "parent 3"]
    assert lines[-1] == "[0, 0] []"


@needs_fork
def test_a_fork_while_the_lock_is_held_does_not_hang_the_child():
    lines = said(
        """
        runner = Runner()
        held, go_on = threading.Event(), threading.Event()

        def hold():
            with runner._changed:
                held.set()
                go_on.wait(20)

        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(20)
        child = os.fork()
        if child == 0:
            say(runner.submit("k", lambda: "child works").result(10))
            sys.exit(0)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        go_on.set()
        """
    )
    assert lines == ["child works", "0"]


@needs_fork
def test_a_job_that_forks_and_whose_child_leaves_runs_once():
    lines = said(
        """
        runner = Runner()

        def job():
            child = os.fork()
            if child == 0:
                say("child", runner.waiting, runner.flush())
                os._exit(0)
            say("parent", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

        runner.submit("k", job)
        runner.submit("k", lambda: say("next"))
        say(runner.close())
        """
    )
    assert lines == ["child 0 []", "parent 0", "next", "[]"]


@pytest.mark.skipif(sys.platform == "win32", reason="no way to send Ctrl-C to one process")
@pytest.mark.parametrize("waiting", ["runner.flush()", "asyncio.run(runner.aflush())", "runner.close()"])
def test_nb05_the_stop_button_ends_the_wait_and_the_next_flush_works(waiting):
    """NB-05: the process answers while its job still runs: the job ends only after the interrupt was caught."""
    code = f"""
        runner = Runner()
        gate = threading.Event()
        def job():
            import sys, time
            main = threading.main_thread().ident
            while sys._current_frames()[main].f_code.co_name not in ("wait", "select"):
                time.sleep(0.01)  # until the main thread waits: an interrupt before that is another case
            os.kill(os.getpid(), signal.SIGUSR1)
            gate.wait(20)
            say("stored", gate.is_set())
            raise ValueError("secret")
        signal.signal(signal.SIGUSR1, lambda *_: say("ready"))
        try:
            runner.submit("k", job)
            {waiting}
        except KeyboardInterrupt:
            say("interrupted")
        gate.set()
        import logging
        logging.disable()
        say(len(runner.flush(10)), len(runner.close(10)))
        """
    with start(code) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
        lines = out.splitlines()
    assert (process.returncode, err) == (0, "")
    assert lines == ["interrupted", "stored True", "1 0"]
