"""The changelog speaks to users: every public name that a release brings is in it."""

from __future__ import annotations

import pytest

import impressmem_integrations
from tests.docs.markdown import page


@pytest.mark.parametrize("name", impressmem_integrations.__all__)
def test_every_public_name_is_announced(name):
    assert f"`{name}`" in page("CHANGELOG.md")
