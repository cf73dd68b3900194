"""Tests of agentfootprint.explain.statistics."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.statistics import (
    effect_interval,
    fisher_exact,
    mcnemar_exact,
    median,
    pairs_to_establish,
    similarity_stats,
    wilson_interval,
)

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("count", "samples", "low", "high"),
    [(10, 10, 0.722, 1.0), (0, 10, 0.0, 0.278), (0, 4, 0.0, 0.490), (2, 9, 0.063, 0.547), (5, 9, 0.267, 0.811)],
)
def test_wilsons_interval_is_the_one_people_are_shown(count: int, samples: int, low: float, high: float) -> None:
    assert wilson_interval(count, samples) == pytest.approx((low, high), abs=6e-4)


def test_without_samples_every_rate_is_possible() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_a_count_above_its_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="5 of 4"):
        wilson_interval(5, 4)


@given(counts)
def test_an_interval_holds_its_estimate_and_mirrors(count_of: tuple[int, int]) -> None:
    count, n = count_of

    low, high = wilson_interval(count, n)
    mirrored = wilson_interval(n - count, n)

    assert 0 <= low <= count / n <= high <= 1
    assert mirrored == pytest.approx((1 - high, 1 - low))


def test_the_effect_of_ten_of_ten_against_none_is_at_least_61_points() -> None:
    assert effect_interval(10, 10, 0, 10) == pytest.approx((1.0, 0.608, 1.0), abs=1e-3)


@given(counts, counts)
def test_an_effect_holds_its_estimate_and_turns_its_sign(one: tuple[int, int], other: tuple[int, int]) -> None:
    effect, low, high = effect_interval(*one, *other)
    back, back_low, back_high = effect_interval(*other, *one)

    assert -1 <= low <= effect <= high <= 1
    assert (back, back_low, back_high) == (pytest.approx(-effect), pytest.approx(-high), pytest.approx(-low))


@pytest.mark.parametrize(("count", "samples", "p"), [(2, 3, 0.20), (3, 3, 0.05), (5, 5, 0.004)])
def test_fishers_test_shows_how_little_three_re_runs_say(count: int, samples: int, p: float) -> None:
    assert fisher_exact(count, samples, 0, samples) == pytest.approx(p, abs=5e-4)


def test_fishers_test_without_a_difference_says_nothing() -> None:
    assert fisher_exact(0, 5, 0, 5) == 1.0
    assert fisher_exact(5, 5, 5, 5) == 1.0
    assert fisher_exact(0, 4, 4, 4) == 1.0


def test_mcnemars_test_counts_the_pairs_that_disagree() -> None:
    assert mcnemar_exact(5, 0) == 1 / 32
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(3, 1) == 5 / 16


@given(st.integers(0, 12), st.integers(0, 12))
def test_the_chances_of_both_sides_of_mcnemars_test_make_one(more: int, fewer: int) -> None:
    tie = math.comb(more + fewer, more) / 2 ** (more + fewer)

    assert mcnemar_exact(more, fewer) + mcnemar_exact(fewer, more) == pytest.approx(1 + tie)


def test_none_of_four_needs_31_more_pairs_to_rule_out_more_than_ten_percent() -> None:
    assert pairs_to_establish(0.10, 0, 4, 0, 4) == 31
    assert effect_interval(0, 35, 0, 35)[2] <= 0.10 < effect_interval(0, 34, 0, 34)[2]


def test_what_is_established_already_needs_no_more_pairs() -> None:
    assert pairs_to_establish(0.5, 0, 4, 0, 4) == 0


def test_an_effect_that_is_larger_than_allowed_can_not_be_ruled_out_by_more_of_the_same() -> None:
    assert pairs_to_establish(0.10, 2, 10, 0, 10) is None
    assert pairs_to_establish(0.10, 1, 10, 0, 10) is None


@pytest.mark.parametrize("at_most", [0.0, -0.1, 1.5, math.nan])
def test_an_effect_to_allow_is_a_share(at_most: float) -> None:
    with pytest.raises(ValueError, match="to allow"):
        pairs_to_establish(at_most, 0, 4, 0, 4)


def test_statistics_of_no_values_are_zeros() -> None:
    stats = similarity_stats([])

    assert stats.to_wire() == {"mean": 0.0, "min": 0.0, "max": 0.0, "stdev": 0.0}
    assert median([]) == 0.0


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_no_statistic_is_ever_not_a_number(values: list[float]) -> None:
    stats = similarity_stats(values)

    assert stats.min <= median(values) <= stats.max
    assert stats.min - 1e-12 <= stats.mean <= stats.max + 1e-12
    assert stats.stdev >= 0
    assert all(map(math.isfinite, stats.to_wire().values()))
