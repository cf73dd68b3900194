"""One probe: the same removal re-run with several seeds, and what came of it in the classic mode.

The runner belongs to the caller and builds fresh state for every call. If it raises, the probe fails with it and
nothing partial is reported (06:ABL-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agentfootprint.explain.ablation import Ablation
from agentfootprint.explain.model import Rate, RunCost, RunCostRange
from agentfootprint.explain.rerunning.classic import SAMPLES, resolve_samples
from agentfootprint.explain.rerunning.comparators import Comparator, answer_text, change_rule, compare
from agentfootprint.explain.scoring.semantic import text_similarity
from agentfootprint.explain.statistics import median, similarity_stats
from agentfootprint.llm import Embedder

__all__ = ["AblationRerun", "AblationRunner", "Probe", "RunOutcome", "cost_range", "run_probe"]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one re-run gave, and what it spent when its runner knows."""

    output: Any
    cost: RunCost | None = None


class AblationRunner(Protocol):
    """Re-runs the agent once without what the specs remove; no specs is the baseline."""

    async def __call__(self, specs: Sequence[Ablation], /, *, seed: int) -> str | RunOutcome:
        """The output of one fresh run."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AblationRerun:
    """How to re-run, and what to compare with."""

    runner: AblationRunner
    original_output: Any
    samples: int | None = SAMPLES
    """Seeds of one probe; never fewer than 2 (06:ABL-6)."""
    changed: Comparator | str | None = None
    """What counts as changed, as `change_rule` reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A probe that was run."""

    rate: Rate
    outputs: tuple[Any, ...]
    """Of seed 0, 1, ..."""


async def run_probe(rerun: AblationRerun, specs: Sequence[Ablation], *, embedder: Embedder | None = None) -> Probe:
    """Re-run without what the specs remove, once a seed (06:ABL-7).

    Args:
        rerun: How to re-run, and what to compare with.
        specs: What to leave out; nothing for the baseline.
        embedder: Measures how alike the outputs are to the original; without it no similarity is reported.
    """
    original = rerun.original_output
    rule = change_rule(rerun.changed, original=original, embedder=embedder)
    outputs: list[Any] = []
    costs: list[RunCost] = []
    similarities: list[float] = []
    flips = 0
    for seed in range(resolve_samples(rerun.samples)):
        outcome = await rerun.runner(specs, seed=seed)
        output = outcome.output if isinstance(outcome, RunOutcome) else outcome
        if isinstance(outcome, RunOutcome) and outcome.cost is not None:
            costs.append(outcome.cost)
        outputs.append(output)
        flips += await compare(rule, original, output)
        if embedder is not None:
            similarities.append(await text_similarity(embedder, answer_text(original), answer_text(output)))
    rate = Rate(
        samples=len(outputs),
        flips=flips,
        similarity=similarity_stats(similarities) if similarities else None,
        cost=cost_range(costs),
    )
    return Probe(rate=rate, outputs=tuple(outputs))


def cost_range(costs: Sequence[RunCost]) -> RunCostRange | None:
    """Median and extremes of what was reported; `None` when nothing was (06:ABL-8)."""
    if not costs:
        return None
    return RunCostRange(samples=len(costs), loops=_range_of("loops", costs), tokens=_range_of("tokens", costs))


def _range_of(what: Literal["loops", "tokens"], costs: Sequence[RunCost]) -> dict[str, float] | None:
    values = [value for cost in costs if (value := getattr(cost, what)) is not None]
    return {"median": median(values), "min": min(values), "max": max(values)} if values else None
