"""Which approvals hold for a whole conversation, and how are they kept between its turns (02 s.13.3)?

Rows of the state's `rememberedApprovals`: those of one run end with it, those of a conversation stand in its
checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentfootprint.trace import FrozenDict, FrozenList

__all__ = ["approvals_in", "is_approval"]


def is_approval(row: object) -> bool:
    """Whether something is the row of an approval that holds for a conversation."""
    if not isinstance(row, FrozenDict) or row.get("remember") != "conversation":
        return False
    named = isinstance(row.get("tool"), str) and isinstance(row.get("by"), str)
    return named and isinstance(row.get("args"), FrozenDict)


def approvals_in(rows: Iterable[object] | FrozenList) -> tuple[FrozenDict, ...]:
    """The approvals that hold for the whole conversation."""
    return tuple(row for row in rows if isinstance(row, FrozenDict) and is_approval(row))
