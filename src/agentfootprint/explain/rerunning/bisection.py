"""Which sources decide together: a search that halves the set until the removals that flip are minimal.

Each probe is a classic one. A set of removals is never run twice in one search, and a search that ran out of
probes reports no finding (06 s.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentfootprint.explain.ablation import Ablation
from agentfootprint.explain.errors import ExplainError
from agentfootprint.explain.model import Rate, Suspect
from agentfootprint.explain.rerunning.classic import baseline_stable, is_majority
from agentfootprint.explain.rerunning.probes import AblationRerun, run_probe
from agentfootprint.llm import Embedder

__all__ = ["MAX_CULPRITS", "MAX_PROBES", "BisectionProbe", "BisectionResult", "bisect_culprits"]

MAX_PROBES = 24
MAX_CULPRITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectionProbe:
    """A probe the search ran (06:BIS-1)."""

    ablated: tuple[str, ...]
    """Labels of what was removed; empty for the baseline."""
    rate: Rate
    flipped: bool
    """By majority; for the baseline, whether it changed at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BisectionResult:
    """What the search found."""

    verdict: Literal["confirmed", "not-reproducible", "inconclusive"]
    culprits: tuple[tuple[Suspect, ...], ...]
    """Minimal sets whose joint removal flips; each set flips by itself (06:BIS-2)."""
    probes: tuple[BisectionProbe, ...]

    @property
    def runs_used(self) -> int:
        """Re-runs of all probes that were executed."""
        return sum(probe.rate.samples for probe in self.probes)


class _OutOfProbesError(ExplainError):
    """The search may run no more probes; never leaves this module."""

    def __init__(self) -> None:
        super().__init__("The search ran out of probes.", fix="Raise max_probes.")


class _Search:
    """The probes of one search, each set of removals at most once."""

    def __init__(
        self, rerun: AblationRerun, specs: dict[str, Ablation], max_probes: int, embedder: Embedder | None
    ) -> None:
        self.rerun = rerun
        self.embedder = embedder
        self.specs = specs
        self.max_probes = max_probes
        self.probes: list[BisectionProbe] = []
        self._known: dict[frozenset[str], bool] = {}

    async def flips(self, labels: Sequence[str]) -> bool:
        """Whether removing these together flips by majority; for none, whether the baseline changed at all."""
        key = frozenset(labels)
        if key not in self._known:
            if len(self.probes) >= self.max_probes:
                raise _OutOfProbesError
            rate = (await run_probe(self.rerun, [self.specs[label] for label in labels], embedder=self.embedder)).rate
            flipped = is_majority(rate.flips, rate.samples) if labels else not baseline_stable(rate)
            self.probes.append(BisectionProbe(ablated=tuple(labels), rate=rate, flipped=flipped))
            self._known[key] = flipped
        return self._known[key]

    async def minimize(self, labels: Sequence[str], context: Sequence[str]) -> list[str]:
        """A smallest part of `labels` that, removed beside `context`, still flips."""
        if len(labels) <= 1:
            return list(labels)
        half = (len(labels) + 1) // 2
        likely, rest = labels[:half], labels[half:]
        if await self.flips([*likely, *context]):
            return await self.minimize(likely, context)
        if await self.flips([*rest, *context]):
            return await self.minimize(rest, context)
        first = await self.minimize(likely, [*rest, *context])
        return [*first, *await self.minimize(rest, [*first, *context])]


async def bisect_culprits(
    suspects: Sequence[Suspect],
    *,
    rerun: AblationRerun,
    embedder: Embedder | None = None,
    max_probes: int = MAX_PROBES,
    max_culprits: int = MAX_CULPRITS,
) -> BisectionResult:
    """Find minimal sets of sources whose removal flips the answer, by delta debugging (06 s.9).

    Args:
        suspects: In rank order; steps, run input and what can't be removed are passed over, one label counts once.
        rerun: How to re-run.
        embedder: Measures how alike the answers are, and compares texts that nothing better can.
        max_probes: Most probes, the baseline included.
        max_culprits: Most sets to look for.
    """
    by_label: dict[str, Suspect] = {}
    specs: dict[str, Ablation] = {}
    for suspect in suspects:
        spec = suspect.ablation
        if spec is not None and spec.kind != "arg" and suspect.label not in by_label:
            by_label[suspect.label], specs[suspect.label] = suspect, spec
    search = _Search(rerun, specs, max_probes, embedder)
    try:
        verdict, sets = await _find(search, list(by_label), max_culprits)
    except _OutOfProbesError:
        verdict, sets = "inconclusive", []
    culprits = tuple(tuple(by_label[label] for label in found) for found in sets)
    return BisectionResult(verdict=verdict, culprits=culprits, probes=tuple(search.probes))


async def _find(
    search: _Search, labels: list[str], max_culprits: int
) -> tuple[Literal["confirmed", "not-reproducible", "inconclusive"], list[list[str]]]:
    if await search.flips([]):
        return "inconclusive", []
    if not labels or not await search.flips(labels):
        return "not-reproducible", []
    found: list[list[str]] = []
    remaining = labels
    for _ in range(max_culprits):
        found.append(await search.minimize(remaining, []))
        remaining = [label for label in remaining if label not in found[-1]]
        if not remaining or not await search.flips(remaining):
            break
    return "confirmed", found
