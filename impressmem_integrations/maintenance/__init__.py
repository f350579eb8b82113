"""Maintenance: after a turn, ask a chat model what to keep or merge, and carry the answer out exactly once."""
