"""What a fixed handful of re-runs decides about a source: the rule of three seeds, kept for comparison (06 s.6).

A majority of changed re-runs on a baseline that never changed is `confirmed`. The rule is cheap and, under noise,
convicts innocents (STAT-1 has the figures), so it is asked for by `mode="classic"` and is never the default.
Baseline stability is zero tolerance, everywhere (06:ABL-10).
"""

from __future__ import annotations

import math
from typing import Final, Literal

from agentfootprint.explain.model import Rate, Verdict, VerdictStats, VerdictWord
from agentfootprint.explain.words import counted

__all__ = ["SAMPLES", "baseline_stable", "classic_verdict", "is_majority", "resolve_samples"]

SAMPLES: Final = 3
_FEWEST: Final = 2
_ACTIONS: Final = {"ablating": "without", "restoring": "with"}


def resolve_samples(samples: float | None) -> int:
    """How many seeds to run: a whole number of at least 2; not given or not finite is 3 (06:ABL-6)."""
    if samples is None or not math.isfinite(samples):
        return SAMPLES
    return max(_FEWEST, math.floor(samples))


def is_majority(flips: int, samples: int) -> bool:
    """Whether more than half changed; 2 of 4 is not (06:ABL-9)."""
    return 2 * flips > samples


def baseline_stable(baseline: Rate) -> bool:
    """Whether the untouched re-runs never changed; one change is too many (06:ABL-10)."""
    return baseline.flips == 0


def classic_verdict(
    label: str,
    probe: Rate,
    *,
    stable: bool,
    action: Literal["ablating", "restoring"] = "ablating",
    baseline: Rate | None = None,
) -> Verdict:
    """The verdict on one removal, or one restoration (06 s.6.4).

    Args:
        label: How to name what was removed or restored.
        probe: Its re-runs.
        stable: Whether the baseline never changed.
        action: What was done to it.
        baseline: The untouched re-runs, to stand beside.
    """
    word: VerdictWord
    if not stable:
        word = "inconclusive"
    elif is_majority(probe.flips, probe.samples):
        word = "confirmed"
    else:
        word = "inconclusive" if probe.flips else "not-confirmed"
    stats = VerdictStats(
        samples=probe.samples, flips=probe.flips, similarity=probe.similarity, cost=probe.cost, baseline=baseline
    )
    return Verdict(
        verdict=word, claim=_claim(word, label, probe, stable=stable, action=action), basis="classic", stats=stats
    )


def _claim(word: VerdictWord, label: str, probe: Rate, *, stable: bool, action: str) -> str:
    """One sentence that opens with its tier and holds action, counts and similarity (06:ABL-11)."""
    similar = ""
    if probe.similarity is not None:
        similar = f" (similarity to the original {probe.similarity.min:.2f} to {probe.similarity.max:.2f})"
    counts = (
        f"{_ACTIONS[action]} {label} the answer changed in {probe.flips} of {counted(probe.samples, 're-run')}{similar}"
    )
    if not stable:
        return f"INCONCLUSIVE: the untouched re-runs already change; {counts}."
    if word == "confirmed":
        return f"CAUSAL: {counts}; untouched re-runs never changed."
    if word == "not-confirmed":
        return f"NOT CONFIRMED: no effect found; {counts}."
    return f"INCONCLUSIVE: {counts}, which is no majority."
