"""Runs the described system in an environment of its own: one request a line in, one measurement a line out.

It is started as a script and imports nothing of this project. A request is
`{"do": name, "args": {...}, "before": [note...]}`; `before` is saved first and not measured. The answer
is `{"seconds": s, "trips": n, "value": ...}` or `{"error": text}`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from typing import Any

import redis.asyncio.connection
from impressmem import (  # type: ignore[import-not-found]  # it is in the driver's own environment
    ImpressMemConfig,
    ImpressMemManager,
    RecallImpressionsTool,
)

trips = 0


def count_trips() -> None:
    """Count what is sent: redis-py sends a command, or a whole pipeline, with one call."""
    plain = redis.asyncio.connection.AbstractConnection.send_packed_command

    async def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        global trips
        trips += 1
        await plain(self, *args, **kwargs)

    redis.asyncio.connection.AbstractConnection.send_packed_command = counted  # type: ignore[method-assign]


class Driver:
    """The operations by name."""

    def __init__(self, host: str, port: int) -> None:
        self.address = {"host": host, "port": port, "db": 0}
        self.manager = self.manager_of("bench")
        self.recall_tool = RecallImpressionsTool(self.manager)

    def manager_of(self, bot: str) -> Any:
        return ImpressMemManager(ImpressMemConfig(bot_id=bot, redis_config=self.address))

    async def save(self, **note: Any) -> None:
        await self.manager.save_impression(**note)

    async def load(self, notes: list[dict[str, Any]]) -> None:
        for note in notes:
            await self.manager.save_impression(**note)

    async def load_as(self, bot: str, notes: list[dict[str, Any]]) -> None:
        manager = self.manager_of(bot)
        for note in notes:
            await manager.save_impression(**note)
        await manager.close()

    async def context(self, units: int) -> str:
        text = await self.manager.build_memory_context(max_impression_text_units=units)
        filled(text)
        return str(text)

    async def get(self, clue: str) -> None:
        filled(await self.manager.get_impressions_by_clues([clue]))

    async def recall(self, category: str, labels: list[str]) -> None:
        text, _ = await self.recall_tool.execute(json.dumps({"category": category, "labels": labels}))
        filled("" if text.startswith("Error") else text)

    async def merge_labels(self, sources: list[str], target: str) -> None:
        await self.manager.merge_labels(sources, target)

    async def merge_clues(self, sources: list[str], target: str, content: str) -> None:
        await self.manager.merge_clues(sources, target, content)

    async def count(self) -> int:
        return int(await self.manager.redis_client.zcard(self.manager.RECENT_CLUE_ZSET_KEY))


def filled(result: Any) -> None:
    """Refuse to measure a call that found nothing."""
    if not result:
        raise RuntimeError("the described system returned nothing")


async def answer(driver: Driver, request: dict[str, Any]) -> dict[str, Any]:
    await driver.load(request.get("before", []))
    call = getattr(driver, request["do"])
    arguments = request.get("args", {})
    before = trips
    start = time.perf_counter()
    value = await call(**arguments)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "trips": trips - before, "value": value}


async def main() -> None:
    # It logs a line for each call; left out, since a real application would send that elsewhere.
    logging.getLogger("impressmem").setLevel(logging.WARNING)
    driver = Driver(sys.argv[1], int(sys.argv[2]))
    count_trips()
    for line in sys.stdin:
        try:
            reply = await answer(driver, json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever it is, the bench has to name it and end
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
    await driver.manager.close()


if __name__ == "__main__":
    asyncio.run(main())
