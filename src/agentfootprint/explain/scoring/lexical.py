"""How much two texts overlap in words: the scorer that needs no model and no embedder.

Words are folded runs of ASCII letters and digits. Accented and non-Latin letters split words and drop out, so
texts in other scripts hardly overlap with anything: where that matters, rank with an embedder.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Sequence
from typing import Final

from agentfootprint.explain.scoring.influence import (
    DEFAULT_WEIGHTS,
    PERSISTENCE_THRESHOLD,
    Evidence,
    InfluenceScore,
    InfluenceWeights,
    score_by_similarity,
)

__all__ = ["LEXICAL_OVERLAP_NAME", "lexical_overlap", "lexical_tokens", "score_lexical"]

LEXICAL_OVERLAP_NAME: Final = "lexical-overlap"
"""What a report says it was ranked by."""

_WORD: Final = re.compile(r"[a-z0-9]+")
_STOP_WORDS: Final = frozenset(
    (  # noqa: SIM905  read as the sentence it is
        "a an the and or but if to of for in on at by with is are was were be been it this that these those i you we "
        "my our me please can could would should do does did how what need want"
    ).split()
)
_MIN_LENGTH: Final = 2
_FOLDED_FROM: Final = 4


def lexical_tokens(text: str) -> frozenset[str]:
    """The words of a text that count: without stop words and single letters, plurals folded (06 s.3.3, INF-9)."""
    return frozenset(
        word[:-1] if len(word) >= _FOLDED_FROM and word.endswith("s") and not word.endswith("ss") else word
        for word in _WORD.findall(text.lower())
        if len(word) >= _MIN_LENGTH and word not in _STOP_WORDS
    )


def lexical_overlap(one: str, other: str) -> float:
    """Words in common, over the geometric mean of both counts: 0 to 1, and 0 when either text has no word."""
    return _overlap(lexical_tokens(one), lexical_tokens(other))


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


def score_lexical(
    evidence: Sequence[Evidence],
    answer: str,
    *,
    embedder: object = None,  # noqa: ARG001  scorers are interchangeable: this one needs none and calls none (INF-10)
    weights: InfluenceWeights = DEFAULT_WEIGHTS,
    persistence_threshold: float = PERSISTENCE_THRESHOLD,
) -> list[InfluenceScore]:
    """Score evidence against an answer by the words they share. Free, and the same bytes each time.

    Args:
        evidence: What to score.
        answer: The text under question.
        embedder: Never called; accepted so that every scorer is called alike (06:INF-10).
        weights: What each signal counts.
        persistence_threshold: What an overlap with an ancestor must exceed to count as persisting.

    Returns:
        One score an item, highest first; equal scores keep the order of `evidence`.

    Raises:
        DuplicateIdError: Two items have one id.
        InvalidWeightsError: A weight can't be used.
    """
    tokens = functools.cache(lexical_tokens)
    return score_by_similarity(
        evidence,
        answer,
        lambda one, other: _overlap(tokens(one), tokens(other)),
        weights=weights,
        persistence_threshold=persistence_threshold,
        function="score_lexical",
    )
