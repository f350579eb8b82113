"""A real Valkey server inside the installation, shared by the processes that use one data directory.

Nothing to set up: the first process that needs the data starts a server on a Unix socket that its owner alone can
open (no TCP port), later ones use the same server, the last one out stops it. A server whose users were all killed
goes on and is taken over by the next one.

What is in the data directory:

    appendonlydir/  the data: an append-only file of plain commands, which other server versions can read as well
    server.json     where the socket is, how often the server syncs to disk, and the machine it was started on
    server.conf     the server's configuration, written at each start
    server.log      the server's warnings
    server.pid      the server's process id
    start.lock, users.lock, server.lock     never deleted; all are `flock` locks, which the kernel lifts at death

What is locked when:

    start.lock   exclusive, by whoever looks for, starts, changes or stops the server, and only that long. All below
                 happens under it, so two processes never start two servers and none comes in during a stop.
    users.lock   shared, by each process, from its first `acquire` to its last `release`. Who gets it exclusively
                 while leaving is the last one out and stops the server.
    server.lock  exclusive, by the server itself: it inherits the locked file from its starter and keeps it as long
                 as it lives. So a live server is noticed even when its socket cannot be seen (another container,
                 another TMPDIR), and a second server on the same files is not possible.

After a fork the child closes the lock files that it inherited and never unlocks them (a lock belongs to the open
file, which it shares with its parent). It owns nothing, stops nothing and deletes nothing until it calls `acquire`.

The calls here block (milliseconds, up to half a minute while a large file loads): in a coroutine use a thread.
A process that is killed by a signal leaves the server running; the next user takes it over.
"""

from __future__ import annotations

from impressmem_integrations.embedded.lease import EmbeddedServer
from impressmem_integrations.embedded.places import default_data_dir, find_server_binary

__all__ = ["EmbeddedServer", "default_data_dir", "find_server_binary"]
