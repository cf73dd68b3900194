"""Who may do what, and what was done so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentfootprint.security.sequence import SYNTHETIC_DENY_PREFIX as SYNTHETIC_DENY_PREFIX
    from agentfootprint.security.sequence import SequenceFold as SequenceFold
    from agentfootprint.security.sequence import ToolCallEntry as ToolCallEntry
    from agentfootprint.security.sequence import extract_sequence as extract_sequence
    from agentfootprint.security.sequence import settled_proposals as settled_proposals
else:
    from agentfootprint._lazy import door

    __getattr__, __dir__ = door(
        __name__,
        dict.fromkeys(
            ("SYNTHETIC_DENY_PREFIX", "SequenceFold", "ToolCallEntry", "extract_sequence", "settled_proposals"),
            "agentfootprint.security.sequence",
        ),
    )

__all__ = ["ToolCallEntry", "extract_sequence"]
