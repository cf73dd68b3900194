"""Tests of agentfootprint.explain.rerunning.bisection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint.explain import Ablation, AblationRerun, Suspect, bisect_culprits

SUSPECTS = [Suspect(kind="injection", step=f"context#{name}", injection_id=name, score=0.5) for name in "abcdef"]


@settings(max_examples=60)
@given(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=3))
async def test_a_minimal_set_is_found_and_no_set_is_run_twice(wanted: set[str]) -> None:
    runs: Counter[tuple[frozenset[str], int]] = Counter()

    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        removed = frozenset(name for spec in specs for name in spec.ids)
        runs[removed, seed] += 1
        return "RIGHT" if wanted <= removed else "WRONG"

    result = await bisect_culprits(
        SUSPECTS, rerun=AblationRerun(runner=runner, original_output="WRONG", samples=2), max_probes=100
    )

    assert result.verdict == "confirmed"
    assert [{suspect.id for suspect in found} for found in result.culprits] == [wanted]
    assert max(runs.values()) == 1
    assert result.runs_used == sum(runs.values())


async def test_one_source_at_two_steps_is_one_candidate() -> None:
    twice = [*SUSPECTS[:1], Suspect(kind="injection", step="context#28", injection_id="a", score=0.4)]

    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        return f"RIGHT{seed * 0}" if specs else "WRONG"

    result = await bisect_culprits(twice, rerun=AblationRerun(runner=runner, original_output="WRONG"))

    assert [probe.ablated for probe in result.probes] == [(), ("injection 'a'",)]


async def test_running_out_of_probes_is_never_dressed_as_a_finding() -> None:
    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        return "RIGHT" if specs and seed >= 0 else "WRONG"

    result = await bisect_culprits(SUSPECTS, rerun=AblationRerun(runner=runner, original_output="WRONG"), max_probes=2)

    assert (result.verdict, result.culprits, len(result.probes)) == ("inconclusive", (), 2)
