"""When pairs of re-runs, with and without a source, have decided about it (STAT-3, STAT-5, STAT-9).

One pair is one re-run without the source and one with everything in place, of the same seed. Evidence against "no
effect" is the capital of a gambler who bets on a difference, averaged over five sizes of bet. While there is no
effect above the margin that capital can't be expected to grow, so it passes 1/alpha at most with probability alpha,
however often one looks (Ville's inequality). Noise in the baseline is measured, not forbidden (STAT-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from agentfootprint.errors import ConfigError
from agentfootprint.explain.model import Rate, Spent, Verdict, VerdictBasis, VerdictStats, VerdictWord
from agentfootprint.explain.proof import scaled
from agentfootprint.explain.statistics import effect_interval, wilson_interval
from agentfootprint.explain.words import rate_text

__all__ = [
    "Pair",
    "SequentialRule",
    "SequentialTest",
    "Stopped",
    "evidence_value",
    "expected_runs",
    "plan_spending",
    "runs_at_most",
]

BETS: Final = (0.15, 0.30, 0.50, 0.70, 0.85)
"""Shares of the largest bet that can't lose everything."""
FUTILE_FROM: Final = 4
"""Pairs after which no difference at all is enough to stop."""
FUTILE_LATER: Final = 10
FUTILE_RATE: Final = 0.3
"""From `FUTILE_LATER` pairs on, a mean difference below this is enough to stop."""
DETERMINISTIC_PAIRS: Final = 2

Stopped: TypeAlias = Literal["evidence", "no-effect", "limit", "identical", "baseline", "budget"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One re-run without a source beside one with it, of the same seed."""

    changed: bool
    """Whether the run without the source decided otherwise than the original."""
    baseline_changed: bool
    """Whether the run with everything in place did, by itself."""
    outputs: tuple[str, str] | None = None
    """What the two said, or digests of it; needed only to see that repeats are identical (STAT-9)."""
    recovered: bool | None = None
    """Whether the run without the source gave the expected answer, when one was named (STAT-8)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialRule:
    """How sure a proof has to be, and how long it may try.

    Raises:
        ConfigError: A value can't work.
    """

    alpha: float = 0.05
    """How often a report may call an innocent source the cause, over all its sources (STAT-5)."""
    sources: int = 1
    """How many sources the report tests."""
    margin: float = 0.1
    """A difference of rates up to this counts as none."""
    pair_limit: int = 24

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ConfigError("alpha", f"alpha is {self.alpha}.", fix="Give a number between 0 and 1.")
        if not 0 <= self.margin < 1:
            raise ConfigError("margin", f"margin is {self.margin}.", fix="Give a number of 0 or more, below 1.")
        if self.sources < 1:
            raise ConfigError("sources", f"sources is {self.sources}.", fix="Test at least one source.")
        if self.pair_limit < DETERMINISTIC_PAIRS:
            raise ConfigError("pair_limit", f"pair_limit is {self.pair_limit}.", fix="Allow at least 2 pairs.")

    def needed(self, confirmed: int = 0) -> float:
        """The evidence that confirms one more source, when others are confirmed already (e-BH, STAT-5)."""
        return self.sources / (self.alpha * (confirmed + 1))


def evidence_value(more: int, same: int, fewer: int, *, margin: float = 0.1) -> float:
    """The e-value of pairs against "the source raises the rate of change by no more than the margin" (STAT-3).

    Args:
        more: Pairs that changed only without the source.
        same: Pairs in which both changed or neither did.
        fewer: Pairs that changed only with it.
        margin: A difference up to this counts as none.

    Returns:
        The product over the pairs of `1 + bet * (difference - margin)`, averaged over the bets; 1 before any pair. The
        order of the pairs does not matter.
    """
    total = 0.0
    for share in BETS:
        bet = share / (1 + margin)
        won, drawn, lost = 1 + bet * (1 - margin), 1 - bet * margin, 1 - bet * (1 + margin)
        total += won**more * drawn**same * lost**fewer
    return total / len(BETS)


class SequentialTest:
    """The pairs of one source so far, and what they have decided.

    Pairs are given in the order of their seeds. Once decided, a further pair changes nothing, so that a report does
    not depend on how many re-runs happened to be in flight. Not for several threads.

    Args:
        rule: How sure to be.
        deterministic: Whether every part of the re-run declares that a repeat can't differ; two identical pairs then
            decide (STAT-9). If they differ after all, the test goes on as if nothing had been declared.

    Example:
        >>> test = SequentialTest(SequentialRule())
        >>> while test.verdict is None:
        ...     _ = test.add(Pair(changed=True, baseline_changed=False))
        >>> test.verdict, len(test.pairs)
        ('confirmed', 8)
    """

    __slots__ = ("_basis", "_pairs", "_stopped", "_verdict", "deterministic", "needed", "rule")

    def __init__(self, rule: SequentialRule, *, deterministic: bool = False) -> None:
        self.rule = rule
        self.deterministic = deterministic
        self.needed = rule.needed()
        """The evidence that confirms, as it stood when last asked."""
        self._pairs: list[Pair] = []
        self._verdict: VerdictWord | None = None
        self._stopped: Stopped | None = None
        self._basis: VerdictBasis = "sequential"

    @property
    def pairs(self) -> Sequence[Pair]:
        """The pairs that count."""
        return tuple(self._pairs)

    @property
    def flips(self) -> int:
        """Pairs that changed without the source."""
        return sum(pair.changed for pair in self._pairs)

    @property
    def baseline_flips(self) -> int:
        """Pairs that changed with everything in place."""
        return sum(pair.baseline_changed for pair in self._pairs)

    @property
    def evidence(self) -> float:
        """The e-value so far."""
        more = sum(pair.changed and not pair.baseline_changed for pair in self._pairs)
        fewer = sum(pair.baseline_changed and not pair.changed for pair in self._pairs)
        return evidence_value(more, len(self._pairs) - more - fewer, fewer, margin=self.rule.margin)

    @property
    def verdict(self) -> VerdictWord | None:
        """What is decided; `None` while more pairs are wanted."""
        return self._verdict

    @property
    def stopped(self) -> Stopped | None:
        """Why no more pairs are wanted."""
        return self._stopped

    def add(self, pair: Pair, *, confirmed: int = 0) -> VerdictWord | None:
        """Take one more pair into account.

        Args:
            pair: The pair of the next seed.
            confirmed: How many other sources of the report are confirmed already: each lowers what is needed.

        Returns:
            The verdict, or `None` while more pairs are wanted.
        """
        if self._verdict is None:
            self._pairs.append(pair)
            self.needed = self.rule.needed(confirmed)
            self._decide()
        return self._verdict

    def reconsider(self, *, confirmed: int) -> VerdictWord | None:
        """Ask again after other sources were confirmed: what is needed may have become less (e-BH)."""
        if self._pairs and self._verdict in (None, "inconclusive") and self._stopped != "baseline":
            self.needed = self.rule.needed(confirmed)
            if self.evidence >= self.needed and len(self._pairs) >= DETERMINISTIC_PAIRS:
                self._settle("confirmed", "evidence")
        return self._verdict

    def stop(self, why: Stopped = "budget") -> VerdictWord:
        """End without a decision because something ran out; a decision that stands stays."""
        if self._verdict is None:
            self._settle("inconclusive", why)
        return self._verdict or "inconclusive"

    def _decide(self) -> None:
        n = len(self._pairs)
        if n < DETERMINISTIC_PAIRS or (n == DETERMINISTIC_PAIRS and self._decided_by_identity()):
            return
        difference = self.flips - self.baseline_flips
        if self.evidence >= self.needed:
            self._settle("confirmed", "evidence")
        elif n >= FUTILE_FROM and self.baseline_flips == n:
            self._settle("inconclusive", "baseline")  # always changed already: no effect could have been seen
        elif (n >= FUTILE_FROM and difference <= 0) or (n >= FUTILE_LATER and difference / n < FUTILE_RATE):
            self._settle("not-confirmed", "no-effect")
        elif n >= self.rule.pair_limit:
            self._settle("inconclusive", "limit")

    def _decided_by_identity(self) -> bool:
        first, second = self._pairs
        if not self.deterministic or first != second:
            return False
        self._basis = "deterministic"
        if first.baseline_changed:
            self._settle("inconclusive", "baseline")
        else:
            self._settle("confirmed" if first.changed else "not-confirmed", "identical")
        return True

    def _settle(self, verdict: VerdictWord, stopped: Stopped) -> None:
        self._verdict, self._stopped = verdict, stopped

    @property
    def stats(self) -> VerdictStats:
        """The numbers so far (STAT-1); without intervals where a repeat can't differ."""
        n, flips, base = len(self._pairs), self.flips, self.baseline_flips
        known = [pair.recovered for pair in self._pairs if pair.recovered is not None]
        recovered = sum(known) if known else None
        if self._basis == "deterministic":
            baseline = Rate(samples=n, flips=base)
            return VerdictStats(samples=n, flips=flips, baseline=baseline, recovered=recovered, stopped=self._stopped)
        evidence = self.evidence
        return VerdictStats(
            samples=n,
            flips=flips,
            interval=wilson_interval(flips, n),
            baseline=Rate.of(base, n),
            effect=effect_interval(flips, n, base, n),
            evidence=evidence,
            needed=self.needed,
            p_value=min(1.0, 1 / evidence) if evidence else 1.0,
            alpha=self.rule.alpha,
            sources=self.rule.sources,
            recovered=recovered,
            stopped=self._stopped,
        )

    def report(self, label: str) -> Verdict:
        """The verdict as a report holds it; a test without a decision is `inconclusive`.

        Args:
            label: How to name the source in the claim.
        """
        stats, word = self.stats, self._verdict or "inconclusive"
        outcome = None
        if word == "confirmed" and stats.recovered is not None:
            outcome = "recovered" if 2 * stats.recovered > stats.flips else "changed-not-fixed"
        claim = _claim(word, label, stats, deterministic=self._basis == "deterministic")
        return Verdict(verdict=word, claim=claim, basis=self._basis, outcome=outcome, stats=stats)


def _claim(word: VerdictWord, label: str, stats: VerdictStats, *, deterministic: bool) -> str:
    """One sentence that opens with its tier and holds the counts (06:ABL-11)."""
    base = stats.baseline.flips if stats.baseline else 0
    without, beside = (
        f"{flips} of {stats.samples}{noun and ' ' + noun}"
        if deterministic
        else rate_text(flips, stats.samples, noun=noun)
        for flips, noun in ((stats.flips, "re-runs"), (base, ""))
    )
    repeat = "; a repeat can't differ" if deterministic else ""
    counts = f"without {label} the decision changes in {without}, against {beside} with it{repeat}"
    if word == "confirmed":
        expected = "" if stats.recovered is None else f"; {stats.recovered} of {stats.samples} gave the expected answer"
        return f"CAUSAL: {counts}{expected}."
    if word == "not-confirmed":
        return f"NOT CONFIRMED: no effect found; {counts}."
    if stats.stopped == "baseline":
        return f"INCONCLUSIVE: with everything in place the decision already changes in {beside}{repeat}."
    return f"INCONCLUSIVE: {counts}. Not enough to tell."


def expected_runs(rule: SequentialRule, *, deterministic: bool = False) -> int:
    """How many re-runs to expect when one source always decides and the others never do (STAT-7).

    Baseline runs are shared by all sources, so they count once.
    """
    if deterministic:
        return DETERMINISTIC_PAIRS * (1 + rule.sources)
    needed = rule.needed()
    deciding = next(
        (
            n
            for n in range(DETERMINISTIC_PAIRS, rule.pair_limit)
            if evidence_value(n, 0, 0, margin=rule.margin) >= needed
        ),
        rule.pair_limit,
    )
    settled = min(FUTILE_FROM, rule.pair_limit)
    return max(deciding, settled) + deciding + settled * (rule.sources - 1)


def runs_at_most(rule: SequentialRule) -> int:
    """The most re-runs the rule can take: every source to the pair limit, beside one shared baseline."""
    return rule.pair_limit * (1 + rule.sources)


def plan_spending(
    rule: SequentialRule, per_run: Spent, *, deterministic: bool = False, runs: int | None = None
) -> tuple[Spent, Spent]:
    """What a proof will spend: expected, and at most (STAT-7).

    Args:
        rule: The rule it follows.
        per_run: What one re-run takes; `runs` in it is ignored.
        deterministic: Whether a repeat can't differ.
        runs: The caller's limit on re-runs.
    """
    most = runs_at_most(rule) if runs is None else min(runs, runs_at_most(rule))
    return scaled(min(expected_runs(rule, deterministic=deterministic), most), per_run), scaled(most, per_run)
