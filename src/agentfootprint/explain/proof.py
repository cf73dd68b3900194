"""What a proof is asked to do, what it expects to spend, and how far it has come.

Shapes only: options are checked when they are made, a plan is pure arithmetic, and progress is a value that a
listener may keep.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from agentfootprint.errors import ConfigError
from agentfootprint.explain.model import Shape, Spent, VerdictWord
from agentfootprint.llm import Embedder

__all__ = ["ProofMode", "ProofPlan", "ProofProgress", "ProveOptions", "Search", "ToolPolicy"]

ToolPolicy: TypeAlias = Literal["replay", "stub", "live"]
"""Where a re-run's tool results come from: the recording, a stub, or the tools themselves (06:ABL-4)."""
ProofMode: TypeAlias = Literal["sequential", "classic"]
Search: TypeAlias = Literal["auto", "one-at-a-time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofPlan(Shape):
    """What a proof will do and may spend, known before it spends anything (STAT-7)."""

    sources: tuple[str, ...]
    """Ids of the sources to leave out, one at a time, in this order."""
    expected: Spent
    """If one source decides and the others don't matter."""
    at_most: Spent
    compare: str
    """What counts as changed."""
    tools: ToolPolicy = "replay"
    cached: int = 0
    """How many of the re-runs `at_most` counts are known already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofProgress(Shape):
    """How far a proof has come, after each pair and each settled source."""

    source: str
    """The source this is about."""
    state: Literal["running", "settled", "not-tested"]
    verdict: VerdictWord | None = None
    """Only when settled."""
    flips: int = 0
    samples: int = 0
    evidence: float | None = None
    needed: float | None = None
    spent: Spent
    """By the whole proof so far."""
    plan: ProofPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """What an everyday proof does not need to say.

    Raises:
        ConfigError: A value can't work; it is named as `options.field`.
    """

    at: str | None = None
    """The step to explain: the one that gave the run's answer, which alone a re-run can be compared with."""
    tokens: int | None = None
    """Most tokens to spend."""
    seconds: float | None = None
    """Most seconds to spend; the re-runs in flight are finished."""
    mode: ProofMode = "sequential"
    """`classic` is the fixed rule of few samples with zero tolerance for noise (06:ABL-12)."""
    alpha: float = 0.05
    """How often a report may call an innocent source the cause, over all its sources."""
    search: Search = "auto"
    concurrency: int = 4
    """Most re-runs in flight."""
    allow_live: Sequence[str] = ()
    """Tools that a re-run may really call when a result was not recorded."""
    allow_changed: bool = False
    """Go on although the agent differs from the recorded one; the verdict then says so."""
    embedder: Embedder | None = None
    """For comparing texts by meaning, where nothing better tells what counts as changed."""
    on_progress: Callable[[ProofProgress], object] | None = None
    dry_run: bool = False
    """Plan and stop."""

    def __post_init__(self) -> None:
        self._among("mode", self.mode, ProofMode)
        self._among("search", self.search, Search)
        if not 0 < self.alpha < 1:
            raise ConfigError("options.alpha", f"options.alpha is {self.alpha}.", fix="Give a number between 0 and 1.")
        self._at_least_one("tokens", self.tokens)
        self._at_least_one("concurrency", self.concurrency)
        if self.seconds is not None and not (self.seconds > 0 and math.isfinite(self.seconds)):
            raise ConfigError(
                "options.seconds",
                f"options.seconds is {self.seconds}.",
                fix="Give seconds above 0, or None for no limit.",
            )
        if isinstance(self.allow_live, str):
            raise ConfigError(
                "options.allow_live", "options.allow_live is one text.", fix=f"Give a list: [{self.allow_live!r}]."
            )

    @staticmethod
    def _among(name: str, value: str, choices: object) -> None:
        if value not in get_args(choices):
            raise ConfigError(
                f"options.{name}",
                f"options.{name} is {value!r}.",
                fix=f"Use one of: {', '.join(get_args(choices))}.",
            )

    @staticmethod
    def _at_least_one(name: str, value: int | None) -> None:
        if value is not None and value < 1:
            raise ConfigError(f"options.{name}", f"options.{name} is {value}.", fix="Give a whole number of 1 or more.")


def scaled(runs: int, per_run: Spent) -> Spent:
    """What a number of re-runs will spend if each spends as much as `per_run`; what is not known stays so."""
    return replace(
        per_run,
        runs=runs,
        tokens=None if per_run.tokens is None else per_run.tokens * runs,
        usd=None if per_run.usd is None else per_run.usd * runs,
        seconds=None if per_run.seconds is None else per_run.seconds * runs,
    )
