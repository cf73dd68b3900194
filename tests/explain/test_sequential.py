"""Tests of agentfootprint.explain.sequential."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest

from agentfootprint.errors import ConfigError
from agentfootprint.explain.model import Spent
from agentfootprint.explain.sequential import (
    BETS,
    Pair,
    SequentialRule,
    SequentialTest,
    evidence_value,
    expected_runs,
    plan_spending,
    runs_at_most,
)

THREE = SequentialRule(sources=3)


def run(rule: SequentialRule, pairs: Iterator[Pair]) -> SequentialTest:
    test = SequentialTest(rule)
    while test.verdict is None:
        test.add(next(pairs))
    return test


def always(*, changed: bool, baseline: bool = False) -> Iterator[Pair]:
    return itertools.repeat(Pair(changed=changed, baseline_changed=baseline))


def chances(
    rate: float, baseline: float, needed: float, *, limit: int = 24, futility: bool = True
) -> tuple[float, float, float, float]:
    """Exact chances of confirmed, not-confirmed and inconclusive, and the mean number of pairs, by walking the tree.

    What is decided depends on the counts of the three kinds of pairs only, so that paths with equal counts are one.
    """
    more, fewer = rate * (1 - baseline), (1 - rate) * baseline
    steps = (((1, 0, 0), more), ((0, 1, 0), 1 - more - fewer), ((0, 0, 1), fewer))
    running = {(0, 0, 0): 1.0}
    confirmed = futile = pairs = 0.0
    for n in range(1, limit + 1):
        reached: dict[tuple[int, int, int], float] = {}
        for (a, b, c), chance in running.items():
            for (x, y, z), step in steps:
                if step:
                    key = (a + x, b + y, c + z)
                    reached[key] = reached.get(key, 0.0) + chance * step
        pairs += sum(running.values())
        running = {}
        for (a, b, c), chance in reached.items():
            if n >= 2 and evidence_value(a, b, c) >= needed:
                confirmed += chance
            elif futility and ((n >= 4 and a <= c) or (n >= 10 and (a - c) / n < 0.3)):
                futile += chance
            else:
                running[a, b, c] = chance
    return confirmed, futile, sum(running.values()), pairs


# --- the bets can't be expected to win while there is no effect


@pytest.mark.parametrize("baseline", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("dependence", [-1.0, 0.0, 1.0])
def test_the_evidence_is_expected_to_stay_where_it_is_at_the_edge_of_no_effect(
    baseline: float, dependence: float
) -> None:
    rate = baseline + 0.1
    apart, together = rate * (1 - baseline), rate - min(rate, baseline)
    more = apart if dependence >= 0 else min(rate, 1 - baseline)
    more = together if dependence > 0 else more
    fewer = more - (rate - baseline)  # any dependence between the two runs of a pair, same difference of rates

    for a, b, c in itertools.product(range(4), repeat=3):
        here = evidence_value(a, b, c)
        expected = (
            more * evidence_value(a + 1, b, c)
            + (1 - more - fewer) * evidence_value(a, b + 1, c)
            + fewer * evidence_value(a, b, c + 1)
        )

        assert expected == pytest.approx(here)


def test_no_bet_can_lose_everything_and_no_bet_gains_when_nothing_changes() -> None:
    assert all(evidence_value(0, 0, n) > 0 for n in range(30))
    assert [evidence_value(0, n, 0) for n in range(5)] == sorted(
        (evidence_value(0, n, 0) for n in range(5)), reverse=True
    )
    assert evidence_value(0, 0, 0) == 1.0


def test_exact_arithmetic_gives_the_same_evidence() -> None:
    margin = Fraction(1, 10)
    bets = [Fraction(str(share)) / (1 + margin) for share in BETS]

    exact = sum((1 + bet * (1 - margin)) ** 7 * (1 - bet * margin) ** 2 * (1 - bet * (1 + margin)) for bet in bets) / 5

    assert evidence_value(7, 2, 1) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("sources", [1, 3, 5])
@pytest.mark.parametrize("baseline", [0.0, 0.2, 0.45, 0.5, 0.8, 0.9])
def test_an_innocent_source_is_convicted_at_most_as_often_as_alpha_allows(sources: int, baseline: float) -> None:
    needed = SequentialRule(sources=sources).needed()

    confirmed, *_ = chances(baseline + 0.1, baseline, needed, futility=False)

    assert confirmed <= 0.05 / sources


@pytest.mark.parametrize(
    ("noise", "at_most", "shortest", "longest"), [(0.2, 0.0004, 4, 6), (0.3, 0.0012, 4, 6.1), (0.5, 0.002, 4, 6.1)]
)
def test_noise_alone_convicts_hardly_ever_and_is_seen_through_soon(
    noise: float, at_most: float, shortest: float, longest: float
) -> None:
    confirmed, futile, _, pairs = chances(noise, noise, needed=20)

    assert confirmed < at_most
    assert futile > 0.99
    assert shortest <= pairs <= longest


@pytest.mark.parametrize(
    ("rate", "needed", "share", "pairs"), [(0.95, 20, 0.986, 11), (0.95, 100, 0.958, 16), (0.60, 20, 0.33, 14)]
)
def test_a_real_effect_on_a_noisy_baseline_is_found_as_often_as_documented(
    rate: float, needed: float, share: float, pairs: float
) -> None:
    confirmed, _, _, mean_pairs = chances(rate, 0.2, needed)

    assert confirmed == pytest.approx(share, abs=0.005)
    assert mean_pairs == pytest.approx(pairs, abs=0.5)


def test_the_tree_that_these_tests_walk_is_the_one_the_test_object_walks() -> None:
    rule = SequentialRule(alpha=0.3, pair_limit=8)
    rate, baseline = 0.7, 0.2
    more, fewer = rate * (1 - baseline), (1 - rate) * baseline
    kinds = ((Pair(True, False), more), (Pair(False, False), 1 - more - fewer), (Pair(False, True), fewer))
    by_path = {"confirmed": 0.0, "not-confirmed": 0.0, "inconclusive": 0.0}
    for path in itertools.product(kinds, repeat=8):
        test, chance = SequentialTest(rule), 1.0
        for pair, step in path:
            chance *= step
            test.add(pair)
        by_path[test.verdict or "undecided"] += chance

    confirmed, futile, open_still, _ = chances(rate, baseline, rule.needed(), limit=8)
    saturated = fewer**4  # four changed baselines in a row: `inconclusive`, where the bare rule says no effect

    expected = (confirmed, futile - saturated, open_still + saturated)
    assert list(by_path.values()) == [pytest.approx(x) for x in expected]


# --- the figures that people are shown


def test_ten_of_ten_against_none_confirms_one_of_three_sources() -> None:
    test = run(THREE, always(changed=True))

    stats = test.stats
    assert (test.verdict, test.stopped, stats.samples, stats.flips) == ("confirmed", "evidence", 10, 10)
    assert stats.interval == pytest.approx((0.722, 1.0), abs=5e-4)
    assert stats.baseline is not None
    assert stats.baseline.interval == pytest.approx((0.0, 0.278), abs=5e-4)
    assert stats.effect == pytest.approx((1.0, 0.608, 1.0), abs=1e-3)
    assert (stats.evidence, stats.needed) == (pytest.approx(66.38, abs=0.005), pytest.approx(60.0))
    assert (stats.alpha, stats.sources) == (0.05, 3)
    assert stats.p_value == pytest.approx(1 / 66.38, abs=1e-5)


def test_seven_pairs_have_reached_16_4_of_60() -> None:
    test = SequentialTest(THREE)

    for _ in range(7):
        test.add(Pair(changed=True, baseline_changed=False))

    assert (round(test.evidence, 1), round(test.needed), test.verdict) == (16.4, 60, None)


def test_four_pairs_without_a_change_settle_a_source() -> None:
    test = run(THREE, always(changed=False))

    assert (test.verdict, test.stopped, len(test.pairs)) == ("not-confirmed", "no-effect", 4)
    assert test.stats.interval == pytest.approx((0.0, 0.49), abs=5e-4)


@pytest.mark.parametrize(("sources", "pairs"), [(1, 8), (3, 10), (5, 11)])
def test_a_constant_change_is_confirmed_after_as_many_pairs_as_documented(sources: int, pairs: int) -> None:
    test = run(SequentialRule(sources=sources), always(changed=True))

    assert (test.verdict, len(test.pairs)) == ("confirmed", pairs)


def test_five_of_nine_against_two_of_nine_is_not_enough_when_the_budget_ends() -> None:
    test = SequentialTest(THREE)
    for changed, baseline in zip([1, 1, 0, 1, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0, 0, 1, 0], strict=True):
        test.add(Pair(changed=bool(changed), baseline_changed=bool(baseline)))

    verdict = test.stop("budget")

    report = test.report("vip-override-fact")
    assert (verdict, report.stats.stopped) == ("inconclusive", "budget")
    assert "5 of 9 re-runs (27-81 %)" in report.claim
    assert "2 of 9 (6-55 %)" in report.claim
    assert report.claim.startswith("INCONCLUSIVE")


def test_three_sources_are_expected_to_take_28_re_runs_and_may_take_96() -> None:
    expected, at_most = plan_spending(THREE, Spent(tokens=190, usd=0.027 / 28, seconds=40 / 28))

    assert (expected.runs, at_most.runs) == (28, 96)
    assert (expected.tokens, at_most.tokens) == (5_320, 18_240)
    assert expected.usd == pytest.approx(0.027)
    assert at_most.usd == pytest.approx(0.0926, abs=1e-4)


def test_a_plan_keeps_the_callers_limit_and_never_invents_a_price() -> None:
    expected, at_most = plan_spending(THREE, Spent(tokens=190), runs=26)

    assert (expected.runs, at_most.runs) == (26, 26)
    assert (expected.usd, at_most.usd, at_most.seconds) == (None, None, None)


def test_runs_that_can_not_differ_are_planned_two_by_two() -> None:
    assert expected_runs(THREE, deterministic=True) == 8
    assert expected_runs(SequentialRule()) == 16
    assert runs_at_most(SequentialRule()) == 48


# --- when it stops


def test_one_pair_never_decides() -> None:
    rule = SequentialRule(alpha=0.99)

    test = SequentialTest(rule)
    test.add(Pair(changed=True, baseline_changed=False))

    assert (rule.needed() < test.evidence, test.verdict) == (True, None)


def test_a_weak_effect_is_given_up_after_ten_pairs() -> None:
    kinds = [Pair(True, False), Pair(False, False), Pair(False, False), Pair(True, False), *[Pair(False, False)] * 6]

    test = run(SequentialRule(), iter(kinds))

    assert (test.verdict, len(test.pairs)) == ("not-confirmed", 10)


def test_at_the_pair_limit_it_is_inconclusive() -> None:
    kinds = itertools.cycle([Pair(True, False), Pair(True, False), Pair(False, True)])

    test = run(SequentialRule(sources=10), kinds)

    assert (test.verdict, test.stopped, len(test.pairs)) == ("inconclusive", "limit", 24)


def test_a_baseline_that_always_changes_can_show_nothing_and_is_not_called_no_effect() -> None:
    test = run(SequentialRule(), always(changed=True, baseline=True))

    assert (test.verdict, test.stopped) == ("inconclusive", "baseline")
    assert "with everything in place the decision already changes in 4 of 4 (51-100 %)" in test.report("vip").claim


def test_a_noisy_baseline_still_lets_a_real_effect_through() -> None:
    kinds = [Pair(True, True), *[Pair(True, False)] * 23]

    test = run(SequentialRule(), iter(kinds))

    assert (test.verdict, test.baseline_flips) == ("confirmed", 1)


def test_pairs_that_arrive_after_the_decision_change_nothing() -> None:
    test = run(SequentialRule(), always(changed=False))
    before = test.stats

    test.add(Pair(changed=True, baseline_changed=False))

    assert (test.stats, test.verdict, len(test.pairs)) == (before, "not-confirmed", 4)
    assert test.stop("budget") == "not-confirmed"


# --- several sources


def test_each_confirmed_source_lowers_what_the_next_one_needs() -> None:
    assert [THREE.needed(confirmed) for confirmed in range(3)] == [pytest.approx(x) for x in (60.0, 30.0, 20.0)]


def test_a_source_that_ran_out_is_reconsidered_when_another_was_confirmed() -> None:
    test = SequentialTest(THREE)
    for _ in range(9):
        test.add(Pair(changed=True, baseline_changed=False))
    test.stop("budget")

    assert test.reconsider(confirmed=0) == "inconclusive"
    assert test.reconsider(confirmed=1) == "confirmed"
    assert test.stats.needed == pytest.approx(30.0)


def test_a_settled_source_is_not_reconsidered() -> None:
    test = run(THREE, always(changed=False))

    assert test.reconsider(confirmed=2) == "not-confirmed"


# --- runs that can't differ


def test_two_identical_pairs_decide_when_a_repeat_can_not_differ() -> None:
    test = SequentialTest(THREE, deterministic=True)
    same = Pair(changed=True, baseline_changed=False, outputs=("DECLINED", "APPROVED"))

    assert test.add(same) is None
    assert test.add(same) == "confirmed"

    report = test.report("vip")
    assert (report.basis, report.stats.stopped, report.stats.samples) == ("deterministic", "identical", 2)
    assert (report.stats.interval, report.stats.p_value, report.stats.evidence) == (None, None, None)
    assert "2 of 2" in report.claim
    assert "%" not in report.claim


def test_two_identical_pairs_without_a_change_find_no_effect() -> None:
    test = SequentialTest(THREE, deterministic=True)
    for _ in range(2):
        test.add(Pair(changed=False, baseline_changed=False, outputs=("APPROVED", "APPROVED")))

    assert (test.verdict, test.report("style").basis) == ("not-confirmed", "deterministic")


def test_runs_that_differ_after_all_are_judged_by_the_statistics() -> None:
    test = SequentialTest(THREE, deterministic=True)
    for text in ("Declined.", "DECLINED", "declined", "No.", "no"):
        test.add(Pair(changed=True, baseline_changed=False, outputs=(text, "APPROVED")))

    assert (test.verdict, test.report("vip").basis) == (None, "sequential")


def test_a_deterministic_baseline_that_does_not_give_the_original_answer_shows_nothing() -> None:
    test = SequentialTest(THREE, deterministic=True)
    for _ in range(2):
        test.add(Pair(changed=True, baseline_changed=True, outputs=("DECLINED", "DECLINED")))

    assert (test.verdict, test.stopped) == ("inconclusive", "baseline")


# --- the right answer is known


def test_an_answer_that_became_right_is_told_from_one_that_only_changed() -> None:
    right = run(SequentialRule(), itertools.repeat(Pair(changed=True, baseline_changed=False, recovered=True)))
    wrong = run(SequentialRule(), itertools.repeat(Pair(changed=True, baseline_changed=False, recovered=False)))

    assert (right.report("vip").outcome, right.stats.recovered) == ("recovered", 8)
    assert (wrong.report("vip").outcome, wrong.stats.recovered) == ("changed-not-fixed", 0)


def test_without_an_expected_answer_nothing_is_said_about_recovery() -> None:
    test = run(SequentialRule(), always(changed=True))

    assert (test.report("vip").outcome, test.stats.recovered) == (None, None)


# --- bad rules


@pytest.mark.parametrize(
    ("option", "value"),
    [("alpha", 0.0), ("alpha", 1.0), ("margin", -0.1), ("margin", 1.0), ("sources", 0), ("pair_limit", 1)],
)
def test_a_rule_that_can_not_work_is_refused_by_name(option: str, value: float) -> None:
    with pytest.raises(ConfigError, match=option) as caught:
        SequentialRule(**{option: value})  # type: ignore[arg-type]  bad input is the point

    assert caught.value.option == option
