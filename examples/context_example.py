"""Save a few impressions and print the context for a system prompt.

Run it:  python examples/context_example.py
It needs no model. IMPRESSMEM_URL says where the memory is; the embedded server where unset.
"""

import asyncio
import os

from impressmem_integrations import ImpressMemConfig, ImpressMemManager


async def main() -> None:
    config = ImpressMemConfig(
        bot_name="context-example",
        redis_config={"url": os.environ.get("IMPRESSMEM_URL", "embedded")},
        timezone="Europe/Berlin",
    )
    async with ImpressMemManager(config) as manager:
        await manager.save_impression("USER-ALLERGY", "allergic to peanuts", "Health", ["Allergy", "Food"], pin=True)
        await manager.save_impression("USER-DIET", "vegetarian since 2024", "Health", ["Diet", "Food"])
        await manager.save_impression("USER-TEA", "drinks green tea, no coffee", "Taste", ["Drink"])
        print(await manager.build_memory_context())


asyncio.run(main())
