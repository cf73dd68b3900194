"""How much a piece of evidence resembles an answer: four signals, their weights, one composite score.

A score is a proxy: it orders what to test first and says nothing about causes (06:EXP-1, EXP-2). Every function
here is pure; what "resembles" means, the caller gives as a `similarity` of two texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from agentfootprint.explain.errors import DuplicateIdError, InvalidWeightsError

__all__ = [
    "DEFAULT_WEIGHTS",
    "PERSISTENCE_THRESHOLD",
    "Evidence",
    "InfluenceScore",
    "InfluenceSignals",
    "InfluenceWeights",
    "adapt_weights",
    "check_evidence",
    "check_weights",
    "composite_score",
    "score_by_similarity",
    "structural_proximity",
]

PERSISTENCE_THRESHOLD: Final = 0.30
"""A similarity counts as persisting only above this, never at it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A piece of context to be scored against an answer."""

    id: str
    text: str
    ancestors: tuple[str, ...] = ()
    """What the model said between this evidence and the answer, oldest first; empty when the answer read it itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceWeights:
    """What each signal counts in the composite: finite, 0 or more, not all 0."""

    fa: float = 0.40
    avg: float = 0.30
    persist: float = 0.20
    depth: float = 0.10

    def to_wire(self) -> dict[str, float]:
        """The weights under the keys of the wire."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


DEFAULT_WEIGHTS: Final = InfluenceWeights()


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceSignals:
    """The four signals of one piece of evidence (06 s.3.2)."""

    fa: float
    """Similarity to the answer."""
    avg: float
    """Mean similarity to the ancestors; 0 without any."""
    persist: float
    """Share of the ancestors that are more similar than the threshold; 0 without any."""
    depth: float
    """1 / (1 + number of ancestors)."""

    def to_wire(self) -> dict[str, float]:
        """The signals under the keys of the wire."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class InfluenceScore:
    """One piece of evidence with its signals, the weights that were in effect, and its score."""

    id: str
    signals: InfluenceSignals
    weights: InfluenceWeights
    adapted: bool
    """Whether the weights were shifted because the evidence has no ancestors."""
    score: float
    """About -0.7 to 1; comparable within one scoring only, not a share of the answer (06:INF-8)."""

    def to_wire(self) -> dict[str, Any]:
        """The score under the keys of the wire (06:INF-7)."""
        return {
            "id": self.id,
            "signals": self.signals.to_wire(),
            "weights": self.weights.to_wire(),
            "adapted": self.adapted,
            "score": self.score,
        }


def structural_proximity(ancestor_count: int) -> float:
    """The DEPTH signal: 1 / (1 + n).

    Raises:
        ValueError: The count is negative or no whole number (06:INF-4).
    """
    if isinstance(ancestor_count, bool) or ancestor_count != int(ancestor_count) or ancestor_count < 0:
        raise ValueError(f"A count of ancestors is a whole number of 0 or more, not {ancestor_count!r}.")
    return 1 / (1 + ancestor_count)


def adapt_weights(weights: InfluenceWeights, ancestor_count: int) -> tuple[InfluenceWeights, bool]:
    """The weights in effect for one piece of evidence, and whether they were shifted.

    Without ancestors AVG and PERSIST can't speak; their weight goes to FA and DEPTH in the ratio these two have.
    """
    base = weights.fa + weights.depth
    mass = weights.avg + weights.persist
    if ancestor_count > 0 or base == 0:
        return weights, False
    shifted = replace(
        weights,
        fa=weights.fa + mass * (weights.fa / base),
        avg=0.0,
        persist=0.0,
        depth=weights.depth + mass * (weights.depth / base),
    )
    return shifted, mass > 0


def composite_score(signals: InfluenceSignals, weights: InfluenceWeights) -> float:
    """The weighted sum of the four signals."""
    return (
        weights.fa * signals.fa
        + weights.avg * signals.avg
        + weights.persist * signals.persist
        + weights.depth * signals.depth
    )


def check_weights(weights: InfluenceWeights, function: str) -> None:
    """Refuse weights that can't weigh (06:INF-5).

    Raises:
        InvalidWeightsError: A weight is negative or not finite (it is named), or all are 0.
    """
    for name, value in weights.to_wire().items():
        if not math.isfinite(value) or value < 0:
            raise InvalidWeightsError(f"{name} is {value}", function)
    if not any(weights.to_wire().values()):
        raise InvalidWeightsError("all are 0", function)


def check_evidence(evidence: Sequence[Evidence], function: str) -> None:
    """Refuse evidence that has one id twice (06:INF-6).

    Raises:
        DuplicateIdError: It has; the id is named.
    """
    seen: set[str] = set()
    for item in evidence:
        if item.id in seen:
            raise DuplicateIdError(item.id, function)
        seen.add(item.id)


def score_by_similarity(
    evidence: Sequence[Evidence],
    answer: str,
    similarity: Callable[[str, str], float],
    *,
    weights: InfluenceWeights = DEFAULT_WEIGHTS,
    persistence_threshold: float = PERSISTENCE_THRESHOLD,
    reference: str | None = None,
    function: str = "score_by_similarity",
) -> list[InfluenceScore]:
    """Score evidence against an answer with a given similarity of two texts.

    Args:
        evidence: What to score; empty gives an empty list.
        answer: The text under question.
        similarity: Of evidence text and another text, at most 1.
        weights: What each signal counts.
        persistence_threshold: What a similarity to an ancestor must exceed to count as persisting.
        reference: A known-good answer: FA is then how much nearer the evidence is to `answer` than to it (06 s.3.4).
        function: The name that errors give to the caller.

    Returns:
        One score an item, highest first; equal scores keep the order of `evidence`.

    Raises:
        DuplicateIdError: Two items have one id.
        InvalidWeightsError: A weight can't be used.
    """
    check_weights(weights, function)
    check_evidence(evidence, function)
    scores: list[InfluenceScore] = []
    for item in evidence:
        n = len(item.ancestors)
        near = [similarity(item.text, text) for text in item.ancestors]
        signals = InfluenceSignals(
            fa=similarity(item.text, answer) - (0.0 if reference is None else similarity(item.text, reference)),
            avg=sum(near) / n if n else 0.0,
            persist=sum(value > persistence_threshold for value in near) / n if n else 0.0,
            depth=structural_proximity(n),
        )
        effective, adapted = adapt_weights(weights, n)
        scores.append(
            InfluenceScore(
                id=item.id,
                signals=signals,
                weights=effective,
                adapted=adapted,
                score=composite_score(signals, effective),
            )
        )
    return sorted(scores, key=lambda scored: -scored.score)
