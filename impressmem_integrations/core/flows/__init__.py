"""The operations as flows: generators that yield effects and return results. Atomicity lives in Lua, never here."""
