"""What counts of changed and unchanged re-runs say: rates, effects, exact tests, and how much more is needed.

Every number here is exact or a textbook interval and a pure function of counts. Rates come with a 95 % interval by
default, because a share of few re-runs says little alone (STAT-1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any, Final, TypeAlias

__all__ = [
    "Interval",
    "SimilarityStats",
    "effect_interval",
    "fisher_exact",
    "mcnemar_exact",
    "median",
    "pairs_to_establish",
    "similarity_stats",
    "wilson_interval",
]

Interval: TypeAlias = tuple[float, float]
_LEVEL: Final = 0.95
_MANY_PAIRS: Final = 1_000_000


def wilson_interval(count: int, samples: int, *, level: float = _LEVEL) -> Interval:
    """Wilson's score interval of a share (STAT-1).

    Args:
        count: How many of the samples showed it.
        samples: How many there were.
        level: How often such intervals hold the true rate.

    Returns:
        Lowest and highest rate, in 0 to 1; with no samples, all of it.

    Raises:
        ValueError: The counts are no counts of one thing.

    Example:
        >>> [round(end, 3) for end in wilson_interval(10, 10)]
        [0.722, 1.0]
    """
    _check_count(count, samples)
    if samples == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = count / samples
    centre = count + z * z / 2
    spread = z * math.sqrt(samples * share * (1 - share) + z * z / 4)
    low = 0.0 if count == 0 else (centre - spread) / (samples + z * z)
    high = 1.0 if count == samples else (centre + spread) / (samples + z * z)
    return low, high


def effect_interval(
    count: int, samples: int, base_count: int, base_samples: int, *, level: float = _LEVEL
) -> tuple[float, float, float]:
    """The difference of two shares, with Newcombe's interval (STAT-1).

    Args:
        count: Changed re-runs under the intervention.
        samples: All re-runs under it.
        base_count: Changed re-runs without it.
        base_samples: All re-runs without it.
        level: How often such intervals hold the true difference.

    Returns:
        Estimate, lowest and highest, in -1 to 1. Without samples on one side the estimate takes that share as 0.
    """
    rate, (low, high) = _share(count, samples), wilson_interval(count, samples, level=level)
    base, (base_low, base_high) = (
        _share(base_count, base_samples),
        wilson_interval(base_count, base_samples, level=level),
    )
    effect = rate - base
    below = math.hypot(rate - low, base_high - base)
    above = math.hypot(high - rate, base - base_low)
    return effect, max(-1.0, effect - below), min(1.0, effect + above)


def fisher_exact(count: int, samples: int, base_count: int, base_samples: int) -> float:
    """One-sided p-value that the intervention raises the rate, for independent runs (Fisher's exact test, STAT-2)."""
    _check_count(count, samples)
    _check_count(base_count, base_samples)
    total, changed = samples + base_samples, count + base_count
    ways = sum(
        math.comb(samples, k) * math.comb(base_samples, changed - k) for k in range(count, min(samples, changed) + 1)
    )
    return ways / math.comb(total, changed)


def mcnemar_exact(more: int, fewer: int) -> float:
    """One-sided p-value that the intervention raises the rate, for runs paired by an honoured seed (STAT-2).

    Args:
        more: Pairs that changed only under the intervention.
        fewer: Pairs that changed only without it.
    """
    _check_count(more, more + fewer)
    discordant = more + fewer
    return sum(math.comb(discordant, k) for k in range(more, discordant + 1)) / 2**discordant


def pairs_to_establish(
    at_most: float, count: int, samples: int, base_count: int, base_samples: int, *, level: float = _LEVEL
) -> int | None:
    """How many more pairs would bring the effect's upper end down to `at_most`, if both rates stay as they are.

    Args:
        at_most: The largest effect to allow, in 0 to 1.
        count: Changed re-runs under the intervention so far.
        samples: All re-runs under it so far.
        base_count: Changed re-runs without it so far.
        base_samples: All re-runs without it so far.
        level: Of the interval.

    Returns:
        The number, 0 when it is established already; `None` when the rates themselves differ by `at_most` or more.
    """
    rate, base = _share(count, samples), _share(base_count, base_samples)
    if not 0 < at_most <= 1:
        raise ValueError(f"An effect to allow lies above 0 and at 1 or below, not at {at_most}.")

    def enough(more: int) -> bool:
        n, m = samples + more, base_samples + more
        return effect_interval(round(rate * n), n, round(base * m), m, level=level)[2] <= at_most

    if rate - base >= at_most:
        return 0 if enough(0) else None
    high = 1
    while not enough(high):
        high *= 2
        if high > _MANY_PAIRS:
            return None
    low = 0
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityStats:
    """How alike the re-runs' outputs are to the original (06:ABL-8)."""

    mean: float
    min: float
    max: float
    stdev: float
    """Of the population, not of a sample."""

    def to_wire(self) -> dict[str, Any]:
        """The statistics under the keys of the wire."""
        return {"mean": self.mean, "min": self.min, "max": self.max, "stdev": self.stdev}


def similarity_stats(values: Sequence[float]) -> SimilarityStats:
    """Mean, extremes and population standard deviation; zeros for no values, never NaN (06:ABL-8)."""
    if not values:
        return SimilarityStats(mean=0.0, min=0.0, max=0.0, stdev=0.0)
    mean = fmean(values)
    low, high = min(values), max(values)
    stdev = 0.0 if low == high else math.sqrt(fmean([(value - mean) ** 2 for value in values]))
    return SimilarityStats(mean=mean, min=low, max=high, stdev=stdev)


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two middles; 0 for no values (06:ABL-8)."""
    ordered = sorted(values)
    if not ordered:
        return 0.0
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _share(count: int, samples: int) -> float:
    return count / samples if samples else 0.0


def _check_count(count: int, samples: int) -> None:
    if not 0 <= count <= samples:
        raise ValueError(f"{count} of {samples} is no count.")
