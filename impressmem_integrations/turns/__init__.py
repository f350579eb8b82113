"""Any message shape to canonical messages, and histories to turns.

messages    one message, or a history, in canonical form
cut         turns of a history; its newest turn in the type it was given
align       which of them a thread has already seen
"""

from impressmem_integrations.turns.align import align, digest_of, next_ids
from impressmem_integrations.turns.cut import cut_turns, is_finished, slice_new_turn_messages, turn_digest
from impressmem_integrations.turns.messages import canonical, canonical_history, is_summary

__all__ = [
    "align",
    "canonical",
    "canonical_history",
    "cut_turns",
    "digest_of",
    "is_finished",
    "is_summary",
    "next_ids",
    "slice_new_turn_messages",
    "turn_digest",
]
