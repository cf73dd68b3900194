"""Tests of agentfootprint.explain.rerunning.costs."""

from __future__ import annotations

from agentfootprint.explain import Suspect
from agentfootprint.explain.model import Rate, RunCost
from agentfootprint.explain.rerunning.classic import classic_verdict
from agentfootprint.explain.rerunning.costs import assign_cost_verdicts, classify_suspect
from agentfootprint.explain.rerunning.probes import cost_range


def suspect(name: str, *loops: int) -> Suspect:
    rate = Rate(samples=3, flips=0, cost=cost_range([RunCost(loops=count) for count in loops]))
    verdict = classic_verdict(name, rate, stable=True)
    return Suspect(kind="injection", step=name, injection_id=name, score=0.5, verdict=verdict)


BASELINE = Rate(samples=3, flips=0, cost=cost_range([RunCost(loops=5)] * 3))


def test_with_one_source_there_is_nothing_to_compare_a_saving_with() -> None:
    (alone,) = assign_cost_verdicts([suspect("x", 2, 2, 2)], BASELINE)

    assert alone.cost is not None
    assert (alone.cost.loops_saved, alone.cost.stable, alone.cost.reduced_cost_on_removal) == (3, False, False)
    assert classify_suspect(alone) == "no-detected-effect"


def test_a_baseline_that_reports_no_cost_shows_no_saving() -> None:
    scored = assign_cost_verdicts([suspect("x", 2, 2, 2), suspect("y", 5, 5, 5)], Rate(samples=3, flips=0))

    assert [it.cost.loops_saved if it.cost else None for it in scored] == [0.0, 0.0]


def test_what_was_never_re_run_stays_as_it_came() -> None:
    untested = Suspect(kind="stage", step="sf-cache#1", score=0.5)

    assert assign_cost_verdicts([untested], BASELINE) == [untested]
