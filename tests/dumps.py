"""Everything on a server, byte for byte: equal before and after means that nothing was half-written."""

from __future__ import annotations

from typing import Any

from tests.servers import RunningServer


def contents(server: RunningServer) -> dict[bytes, Any]:
    """Type and value of every key."""
    admin = server.admin
    return {key: read(admin, key, admin.type(key)) for key in admin.scan_iter(count=1000)}


def read(admin: Any, key: bytes, kind: bytes) -> Any:
    """The value of one key, comparable."""
    match kind:
        case b"hash":
            return admin.hgetall(key)
        case b"zset":
            return admin.zrange(key, 0, -1, withscores=True)
        case b"set":
            return admin.smembers(key)
        case b"stream":
            return admin.xrange(key)
    return admin.get(key)
