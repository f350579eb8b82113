"""Every key name of this package. Nothing else builds one.

All keys of a scope share the hash tag `{<bot>/<user>}` (percent-encoded with no safe characters), so they live in one
Cluster slot. `meta` and what outlives an erasure stand right after the tag; everything else stands under the scope's
generation, so that erasing a scope is one increment. Scripts get only the meta key and derive the rest the same way
(`lua/lib/scope.lua`).

Reserved for later use without a change of layout: `vectors`.
"""

from __future__ import annotations

import zlib

from impressmem_integrations.settings import LAYOUT_VERSION, Scope

PREFIX = f"impressmem:{LAYOUT_VERSION}:"
SCOPE_SHARDS = 64


def scope_prefix(scope: Scope) -> str:
    """The common beginning of all keys of one scope."""
    return f"{PREFIX}{{{scope.tag}}}:"


def meta_key(scope: Scope) -> str:
    """The scope's meta hash: KEYS[1] of every script but the registry's."""
    return scope_prefix(scope) + "meta"


def registry_key(shard: int) -> str:
    """One of the 64 sets that name the known scopes; each has a tag of its own."""
    return f"{PREFIX}{{scopes:{shard:02d}}}"


def registry_shard(scope: Scope) -> int:
    """Which registry set names this scope."""
    return zlib.crc32(scope.tag.encode()) % SCOPE_SHARDS
