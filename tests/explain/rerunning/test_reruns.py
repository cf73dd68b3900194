"""Tests of agentfootprint.explain.rerunning.reruns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentfootprint.explain import Ablation, AblationRerun, Suspect, UnknownSourceError
from agentfootprint.explain.rerunning.reruns import rerun_without

VIP = Suspect(kind="injection", step="context#6", injection_id="vip", score=0.8)


def rerun_of(*, baseline_flips: Sequence[int] = ()) -> AblationRerun:
    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        return "DECLINED" if specs or seed in baseline_flips else "APPROVED"

    return AblationRerun(runner=runner, original_output="APPROVED")


async def test_without_a_checked_baseline_nothing_is_concluded() -> None:
    result = await rerun_without([VIP], ["vip"], rerun=rerun_of())

    assert (result.verdict, result.baseline, result.what_changed.answer_flipped) == (None, None, True)
    assert "baseline was not checked" in result.what_changed.summary


async def test_one_flip_of_the_baseline_is_one_too_many() -> None:
    result = await rerun_without([VIP], ["vip"], rerun=rerun_of(baseline_flips=[1]), check_baseline=True)

    assert result.verdict is not None
    assert result.verdict.verdict == "inconclusive"


async def test_a_refused_name_runs_nothing() -> None:
    async def runner(_: Sequence[Ablation], /, *, seed: int) -> str:
        raise AssertionError(seed)

    with pytest.raises(UnknownSourceError):
        await rerun_without([VIP], ["vip", "nope"], rerun=AblationRerun(runner=runner, original_output="x"))
