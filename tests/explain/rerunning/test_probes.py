"""Tests of agentfootprint.explain.rerunning.probes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentfootprint.explain import Ablation, AblationRerun
from agentfootprint.explain.model import RunCost
from agentfootprint.explain.rerunning.probes import RunOutcome, cost_range, run_probe
from agentfootprint.llm import mock_embedder


async def test_a_probe_runs_every_seed_and_counts_what_changed() -> None:
    seen: list[tuple[Sequence[Ablation], int]] = []

    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> RunOutcome:
        seen.append((specs, seed))
        return RunOutcome("DECLINED" if seed else "APPROVED", RunCost(loops=seed, tokens=None))

    spec = Ablation.injection("vip")
    probe = await run_probe(AblationRerun(runner=runner, original_output="APPROVED"), [spec])

    assert seen == [([spec], 0), ([spec], 1), ([spec], 2)]
    assert (probe.rate.flips, probe.rate.samples) == (2, 3)
    assert probe.outputs == ("APPROVED", "DECLINED", "DECLINED")
    assert probe.rate.similarity is None
    assert probe.rate.cost is not None
    assert probe.rate.cost.to_wire() == {"samples": 3, "loops": {"median": 1, "min": 0, "max": 2}}


async def test_an_embedder_measures_how_alike_the_answers_are() -> None:
    async def runner(_: Sequence[Ablation], /, *, seed: int) -> str:
        return "ab" if seed else "aa"

    probe = await run_probe(AblationRerun(runner=runner, original_output="aa", samples=2), [], embedder=mock_embedder())

    assert probe.rate.similarity is not None
    assert (probe.rate.similarity.max, probe.rate.similarity.min) == (pytest.approx(1.0), pytest.approx(0.5**0.5))
    assert probe.rate.flips == 1


async def test_a_runner_that_raises_leaves_no_half_probe() -> None:
    async def runner(_: Sequence[Ablation], /, *, seed: int) -> str:
        raise RuntimeError(f"seed {seed} broke")

    with pytest.raises(RuntimeError, match="seed 0 broke"):
        await run_probe(AblationRerun(runner=runner, original_output="x"), [])


def test_no_cost_reported_is_no_cost() -> None:
    assert cost_range([]) is None
