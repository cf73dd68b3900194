"""What leaving a source out saved, and whether the saving is more than that of sources that do not matter.

A second score beside the verdict: it shows that a source was needed for a cost, and calls nothing waste (COST-2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from agentfootprint.explain.model import CostScore, Rate, Suspect

__all__ = ["MIN_LOOPS_SAVED", "CostClass", "assign_cost_verdicts", "classify_suspect"]

CostClass: TypeAlias = Literal["both", "content-bug", "cost-cause", "no-detected-effect"]
MIN_LOOPS_SAVED: Final = 1


def assign_cost_verdicts(suspects: Sequence[Suspect], baseline: Rate) -> list[Suspect]:
    """Give every suspect whose re-runs reported a cost its cost score (06 s.7).

    Args:
        suspects: With their verdicts.
        baseline: The untouched re-runs.

    Returns:
        The suspects, in order; those without cost data as they came (COST-1).
    """
    saved = {id(suspect): _saved("loops", baseline, suspect) for suspect in suspects}
    out: list[Suspect] = []
    for suspect in suspects:
        cost = suspect.verdict.stats.cost if suspect.verdict else None
        if cost is None:
            out.append(suspect)
            continue
        band = [
            saved[id(other)]
            for other in suspects
            if other.step != suspect.step
            and other.verdict is not None
            and other.verdict.stats.cost is not None
            and other.verdict.verdict != "confirmed"
        ]
        usual = _median_of(baseline.cost.loops) if baseline.cost else None
        consistent = cost.loops is not None and usual is not None and cost.loops["max"] <= usual
        stable = bool(band) and consistent
        loops = saved[id(suspect)]
        reduced = stable and loops >= MIN_LOOPS_SAVED and loops > max(band)
        score = CostScore(
            reduced_cost_on_removal=reduced,
            loops_saved=loops,
            tokens_saved=_saved("tokens", baseline, suspect),
            stable=stable,
        )
        out.append(replace(suspect, cost=score))
    return out


def classify_suspect(suspect: Suspect) -> CostClass:
    """Which of the two scores a suspect has (06 s.7)."""
    decided = suspect.verdict is not None and suspect.verdict.verdict == "confirmed"
    cheaper = suspect.cost is not None and suspect.cost.stable and suspect.cost.reduced_cost_on_removal
    if decided:
        return "both" if cheaper else "content-bug"
    return "cost-cause" if cheaper else "no-detected-effect"


def _saved(what: Literal["loops", "tokens"], baseline: Rate, suspect: Suspect) -> float:
    """Difference of the medians; 0 when either side did not report it."""
    cost = suspect.verdict.stats.cost if suspect.verdict else None
    before = _median_of(getattr(baseline.cost, what)) if baseline.cost else None
    after = _median_of(getattr(cost, what)) if cost else None
    return 0.0 if before is None or after is None else before - after


def _median_of(range: Mapping[str, float] | None) -> float | None:
    return None if range is None else range["median"]
