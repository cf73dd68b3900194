"""What did a run cost, as far as its record says? A cost that is not known is never shown as zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentfootprint.events import CostTick

if TYPE_CHECKING:
    from agentfootprint.recording import Recording

__all__ = ["RecordedCost", "recorded_cost"]


class RecordedCost(NamedTuple):
    """What the priced model calls of a run cost, with what its turn had spent before a pause."""

    usd: float
    """US dollars."""
    unpriced_calls: int
    """Model calls whose cost is not known; with one, `usd` is only a part."""


def recorded_cost(recording: Recording) -> RecordedCost | None:
    """What a run cost; `None` when it had no prices, or only prices of 0: the record holds the same sum of both.

    Args:
        recording: The run.
    """
    usd, unpriced = _number(recording, "cumEstimatedUsd"), int(_number(recording, "unpricedCalls"))
    if not (usd or unpriced) and len(recording.calls) == 1:  # a call without a loop counts where the top does not see
        usd = sum(tick.payload.estimated_usd for tick in recording.events if isinstance(tick.payload, CostTick))
    return RecordedCost(usd, unpriced) if usd or unpriced else None


def _number(recording: Recording, key: str) -> float:
    found: object = recording.value_at(key)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else 0.0
