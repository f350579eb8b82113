"""The file end of export and import: whole files or none. The functions are methods of `ImpressionStore`."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path
from typing import Any, Protocol

from impressmem_integrations.core import lines
from impressmem_integrations.core.bound import Bound
from impressmem_integrations.core.effects import Effect, drive
from impressmem_integrations.core.flows.transfer import export_lines, import_lines
from impressmem_integrations.errors import InvalidInput
from impressmem_integrations.model import ImportResult


class Answering(Protocol):
    """A store, as far as files need one."""

    _bound: Bound

    def _answer(self, effect: Effect[Any]) -> Any: ...


def export_jsonl(self: Answering, path: str | os.PathLike[str]) -> int:
    """Write every impression with every field to a file: a header line, then one JSON object each, oldest first.

    The file is UTF-8, takes the place of an older one only when it is complete, and is for its owner alone to read.

    Returns:
        How many impressions it holds.

    Raises:
        InvalidInput: `path` cannot name a file.
        OSError: The file cannot be written; an older one stands as it was.
        StoreError: The server failed; likewise.
    """
    target = _file(path)
    temporary = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(lines.header(self._bound.scope, 0))
            count = drive(export_lines(self._bound, out.write), self._answer)
            out.seek(0)
            out.write(lines.header(self._bound.scope, count))
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return count


async def aexport_jsonl(self: Answering, path: str | os.PathLike[str]) -> int:
    """The awaitable twin of `export_jsonl`, run in a thread."""
    return await asyncio.to_thread(export_jsonl, self, path)


def import_jsonl(self: Answering, path: str | os.PathLike[str]) -> ImportResult:
    """Store the impressions of a file made by `export_jsonl`, here or from another scope, times included.

    The whole file is checked first. What is newer here stays; what was forgotten here later than it was written stays
    forgotten. Importing twice changes nothing. One atomic script for each 1,000 impressions.

    Raises:
        OSError: The file cannot be read.
        InvalidInput: `path` cannot name a file, or the file is damaged, of a newer version, or over a limit; nothing
            was imported.
        CapacityError: Pinned impressions fill the scope; chunks before that are stored.
        StoreError: The server failed; chunks before that are stored, and importing again goes on.
    """
    with _file(path).open("rb") as file:
        for _ in lines.read(self._bound, file):
            pass  # the whole file is good, or nothing is written
        file.seek(0)
        return drive(import_lines(self._bound, lines.read(self._bound, file)), self._answer)


def _file(path: str | os.PathLike[str]) -> Path:
    try:
        name = os.fspath(path)
    except TypeError:
        name = None
    if not isinstance(name, str):
        raise InvalidInput(f"path must be the name of a file, text or a Path, not {type(path).__name__}")
    file = Path(name)
    if not file.name or "\0" in name:
        raise InvalidInput(f"path must name a file, and {name!r:.200} names none")
    try:
        os.fsencode(file)
    except UnicodeEncodeError:
        raise InvalidInput("path holds half of a surrogate pair, which no file name can") from None
    return file


async def aimport_jsonl(self: Answering, path: str | os.PathLike[str]) -> ImportResult:
    """The awaitable twin of `import_jsonl`, run in a thread."""
    return await asyncio.to_thread(import_jsonl, self, path)
