"""What an agent answers without named sources: an observation, and with a checked baseline a verdict.

Without a baseline nothing is concluded: the answer may change by itself (06:RERUN-4).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentfootprint.explain.ablation import Ablation, resolve_ablations, sources_among
from agentfootprint.explain.model import Rate, Suspect, Verdict
from agentfootprint.explain.rerunning.classic import baseline_stable, classic_verdict, is_majority
from agentfootprint.explain.rerunning.probes import AblationRerun, run_probe
from agentfootprint.explain.words import counted
from agentfootprint.llm import Embedder

__all__ = ["Rerun", "WhatChanged", "rerun_without"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatChanged:
    """How the re-runs compare with the original (06:RERUN-5)."""

    answer_flipped: bool
    """By majority."""
    flips: int
    samples: int
    baseline_checked: bool
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """Answers without the removed sources."""

    answer: Any
    """Of seed 0."""
    answers: tuple[Any, ...]
    removed: tuple[Ablation, ...]
    what_changed: WhatChanged
    runs: Rate
    baseline: Rate | None = None
    """The untouched re-runs, when they were asked for; their answers are not kept."""
    verdict: Verdict | None = None
    """Only with a baseline."""


async def rerun_without(
    suspects: Sequence[Suspect],
    without: Iterable[Ablation | str | Mapping[str, Any]],
    *,
    rerun: AblationRerun,
    embedder: Embedder | None = None,
    check_baseline: bool = False,
) -> Rerun:
    """Re-run without named sources (06 s.10).

    Args:
        suspects: Of a report, in rank order.
        without: Ids or specs, as `resolve_ablations` reads them; nothing runs when one is refused.
        rerun: How to re-run, and what to compare with.
        embedder: Measures how alike the answers are, and compares texts that nothing better can.
        check_baseline: Re-run first with everything in place, and conclude.

    Raises:
        UnknownSourceError: An id is none of the sources'.
        NotRemovableError: It is, and can't be left out.
        NothingToRemoveError: Nothing was named.
    """
    specs = resolve_ablations(without, sources_among(suspects))
    baseline = (await run_probe(rerun, [], embedder=embedder)).rate if check_baseline else None
    probe = await run_probe(rerun, specs, embedder=embedder)
    rate = probe.rate
    label = " and ".join(", ".join(spec.ids) for spec in specs)
    verdict = None
    if baseline is not None:
        verdict = classic_verdict(label, rate, stable=baseline_stable(baseline), baseline=baseline)
    observed = (
        f"Without {label} the answer changed in {rate.flips} of {counted(rate.samples, 're-run')}. "
        "The baseline was not checked, so it may change by itself."
    )
    return Rerun(
        answer=probe.outputs[0],
        answers=probe.outputs,
        removed=specs,
        what_changed=WhatChanged(
            answer_flipped=is_majority(rate.flips, rate.samples),
            flips=rate.flips,
            samples=rate.samples,
            baseline_checked=baseline is not None,
            summary=verdict.claim if verdict else observed,
        ),
        runs=rate,
        baseline=baseline,
        verdict=verdict,
    )
