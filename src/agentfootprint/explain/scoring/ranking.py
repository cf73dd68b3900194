"""Whether scores can rank at all: is there a clear lead, and if not, which ids should be looked at together?

Similarity is blind to what is missing and to what is crowded out; a flat top is the tell. A clear lead is a lead
of the proxy only (06:CONF-2). Nothing is rounded before it is compared (06:CONF-4), and the input is not changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from agentfootprint.errors import ConfigError

__all__ = [
    "CLEAR_WINNER_MARGIN",
    "CLEAR_WINNER_RATIO",
    "SHORTLIST_BAND",
    "ConfidenceStrategy",
    "RankingConfidence",
    "margin_strategy",
    "ranking_confidence",
    "ratio_strategy",
]

CLEAR_WINNER_MARGIN: Final = 0.05
CLEAR_WINNER_RATIO: Final = 0.05
SHORTLIST_BAND: Final = 0.1


@dataclass(frozen=True, slots=True)
class ConfidenceStrategy:
    """When the best of several scores leads clearly."""

    name: str
    is_clear: Callable[[Sequence[float]], bool]
    """Asked with the finite scores, highest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingConfidence:
    """What may be said about an order of scores."""

    clear_winner: bool
    """Whether the first leads clearly; when not, the order means nothing and `shortlist` is the worklist."""
    margin: float | None = None
    """First score minus second; absent when there is no meaningful gap."""
    lead: str | None = None
    """Id with the highest score; absent without scores."""
    shortlist: tuple[str, ...] = ()
    """Ids close enough to the lead to be looked at with it, in order; always holds the lead."""
    threshold: str = ""
    """The rule that was asked, as its name: `margin>=0.05`."""

    def to_wire(self) -> dict[str, Any]:
        """The confidence under the keys of the wire; absent facts have no key."""
        wire: dict[str, Any] = {"clearWinner": self.clear_winner}
        if self.margin is not None:
            wire["margin"] = self.margin
        if self.lead is not None:
            wire["lead"] = self.lead
        return {**wire, "shortlist": list(self.shortlist)}


def margin_strategy(threshold: float = CLEAR_WINNER_MARGIN) -> ConfidenceStrategy:
    """A lead is clear when the first score is at least `threshold` above the second (inclusive)."""
    _check("margin_strategy.threshold", threshold)
    return ConfidenceStrategy(
        f"margin>={threshold:g}", lambda scores: len(scores) > 1 and scores[0] - scores[1] >= threshold
    )


def ratio_strategy(threshold: float = CLEAR_WINNER_RATIO) -> ConfidenceStrategy:
    """A lead is clear when the gap is at least `threshold` of the first score (inclusive); scale does not matter."""
    _check("ratio_strategy.threshold", threshold)
    return ConfidenceStrategy(
        f"ratio>={threshold:g}",
        lambda scores: len(scores) > 1 and scores[0] != 0 and (scores[0] - scores[1]) / abs(scores[0]) >= threshold,
    )


def ranking_confidence(
    scores: Iterable[tuple[str, float]],
    *,
    strategy: ConfidenceStrategy | None = None,
    clear_winner_margin: float = CLEAR_WINNER_MARGIN,
    shortlist_band: float = SHORTLIST_BAND,
) -> RankingConfidence:
    """Judge whether scores put one id clearly first (06 s.3.6).

    Args:
        scores: Pairs of id and score, in any order; a score that is not finite ranks last.
        strategy: When a lead is clear; wins over `clear_winner_margin`.
        clear_winner_margin: The gap that the default strategy asks for.
        shortlist_band: How far below the lead an id may score and still stand on the shortlist (inclusive).

    Returns:
        The lead, its margin, and the shortlist. Cost O(n log n).

    Raises:
        ConfigError: A threshold is negative or not a number.
    """
    _check("ranking_confidence.clear_winner_margin", clear_winner_margin)
    _check("ranking_confidence.shortlist_band", shortlist_band)
    judge = strategy or margin_strategy(clear_winner_margin)
    ranked = sorted(scores, key=lambda item: -item[1] if math.isfinite(item[1]) else math.inf)
    if not ranked:
        return RankingConfidence(clear_winner=False, threshold=judge.name)
    lead, top = ranked[0]
    finite = [score for _, score in ranked if math.isfinite(score)]
    if len(ranked) == 1:
        clear, margin = True, None
    elif len(finite) > 1:
        clear, margin = judge.is_clear(finite), finite[0] - finite[1]
    else:  # a malformed top is no lead; a malformed runner-up is no rival
        clear, margin = bool(finite), None
    shortlist = [name for name, score in ranked if math.isfinite(score) and top - score <= shortlist_band]
    shortlist.append(lead)
    if not clear:
        shortlist.append(ranked[1][0])
    return RankingConfidence(
        clear_winner=clear,
        margin=margin,
        lead=lead,
        shortlist=tuple(dict.fromkeys(shortlist)),
        threshold=judge.name,
    )


def _check(option: str, threshold: float) -> None:
    if not threshold >= 0:  # NaN too
        raise ConfigError(option, f"{option} is {threshold}.", fix="Give a number of 0 or more.")
