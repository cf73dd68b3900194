"""Tests of agentfootprint.explain.rerunning.classic."""

from __future__ import annotations

import math

import pytest

from agentfootprint.explain.model import Rate
from agentfootprint.explain.rerunning.classic import baseline_stable, classic_verdict, is_majority, resolve_samples
from agentfootprint.explain.statistics import similarity_stats


@pytest.mark.parametrize(
    ("samples", "resolved"),
    [(None, 3), (1, 2), (0, 2), (-3, 2), (2.9, 2), (10, 10), (math.nan, 3), (math.inf, 3), (-math.inf, 3)],
)
def test_there_are_never_fewer_than_two_samples(samples: float | None, resolved: int) -> None:
    assert resolve_samples(samples) == resolved


def test_half_is_no_majority() -> None:
    assert not is_majority(2, 4)
    assert is_majority(2, 3)


def test_one_change_of_three_makes_a_baseline_unstable() -> None:
    assert not baseline_stable(Rate(samples=3, flips=1))
    assert classic_verdict("vip", Rate(samples=3, flips=3), stable=False).verdict == "inconclusive"


def test_a_claim_opens_with_its_tier_and_holds_the_counts() -> None:
    probe = Rate(samples=3, flips=3, similarity=similarity_stats([0.4, 0.5, 0.6]))

    removed = classic_verdict("fact 'vip'", probe, stable=True)
    restored = classic_verdict("note-7", Rate(samples=3, flips=0), stable=True, action="restoring")

    assert removed.claim.startswith("CAUSAL: without fact 'vip' the answer changed in 3 of 3 re-runs")
    assert "0.40 to 0.60" in removed.claim
    assert restored.claim == "NOT CONFIRMED: no effect found; with note-7 the answer changed in 0 of 3 re-runs."
    assert (removed.basis, removed.stats.interval, removed.stats.evidence) == ("classic", None, None)


def test_the_rule_convicts_as_many_innocents_under_noise_as_documented() -> None:
    """Why it is not the default: at a noise of 0.2, 22 % of reports over five sources convict somebody innocent."""
    noise = 0.2
    stable = (1 - noise) ** 3
    majority = sum(math.comb(3, k) * noise**k * (1 - noise) ** (3 - k) for k in range(4) if is_majority(k, 3))

    somebody = stable * (1 - (1 - majority) ** 5)

    assert stable == pytest.approx(0.51, abs=0.005)
    assert majority == pytest.approx(0.10, abs=0.005)
    assert somebody == pytest.approx(0.22, abs=0.005)
