"""The design page accounts for every package that is installed with this one, or for working on it."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.docs.markdown import page

PROJECT = tomllib.loads(page("pyproject.toml"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIREMENTS = [*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]
PACKAGES = sorted({re.split(r"[^\w-]", one)[0] for one in REQUIREMENTS} - {PROJECT["name"]})


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_says_why_it_is_there(package):
    rows = [line.split("|")[1] for line in page("docs/design.md").splitlines() if line.startswith("| ")]
    assert any(package in re.split(r"[\s,()`]+", row) for row in rows)
