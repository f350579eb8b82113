"""Connection URLs, read without opening anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from impressmem_integrations.connect.urls import Embedded, read_url
from impressmem_integrations.errors import ConfigurationError


@pytest.mark.parametrize(
    ("url", "folder", "in_memory"),
    [
        ("embedded", None, False),
        ("embedded:///a/b", Path("/a/b"), False),
        ("embedded:///a%20b", Path("/a b"), False),
        ("embedded://:memory:", None, True),
    ],
)
@pytest.mark.parametrize(("query", "fsync"), [("", "always"), ("?appendfsync=everysec", "everysec")])
def test_each_embedded_form_takes_a_sync_policy(url, folder, in_memory, query, fsync):
    assert read_url(url + query) == Embedded(folder, in_memory, fsync)


@pytest.mark.parametrize("url", ["embedded?appendfsync=sometimes", "embedded?sync=no", "embedded://a/b", "embeddedx"])
def test_what_is_no_embedded_form_is_refused(url):
    with pytest.raises(ConfigurationError):
        read_url(url)
