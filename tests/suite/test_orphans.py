"""The check that runs after each test finds what it is there to find."""

from __future__ import annotations

import pytest

from impressmem_integrations.store import ImpressionStore
from tests.orphans import problems_on


def save_one(client):
    ImpressionStore(client=client, user="alice").save("USER-DIET", "vegetarian", category="Health", labels=["Diet"])


def test_a_sound_store_has_no_problems(server, client):
    save_one(client)
    assert problems_on(server) == []


@pytest.mark.broken_store("a record is taken away under its indexes")
def test_a_record_that_vanished_is_found(server, client):
    save_one(client)
    (records,) = client.keys("impressmem:*:impressions")
    client.delete(records)
    assert problems_on(server) != []
