"""How much a piece of evidence resembles an answer in meaning: the scorers that need an embedder.

Each distinct text is embedded once a scoring. The vectors decide, so only the order of scores of one embedder means
anything (06:INF-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentfootprint.explain.scoring.influence import (
    DEFAULT_WEIGHTS,
    PERSISTENCE_THRESHOLD,
    Evidence,
    InfluenceScore,
    InfluenceWeights,
    check_evidence,
    check_weights,
    score_by_similarity,
)
from agentfootprint.llm import Embedder, SupportsEmbedBatch, cosine_similarity

__all__ = [
    "average_relevancy",
    "embed_texts",
    "embedder_name",
    "final_answer_similarity",
    "persistence",
    "score_contrastive",
    "score_influence",
    "text_similarity",
]

Vector = Sequence[float]


def final_answer_similarity(evidence: Vector, answer: Vector) -> float:
    """The FA signal (06 s.3.2)."""
    return cosine_similarity(evidence, answer)


def average_relevancy(evidence: Vector, ancestors: Sequence[Vector]) -> float:
    """The AVG signal: mean similarity to the ancestors; 0 without any."""
    return sum(cosine_similarity(evidence, vector) for vector in ancestors) / len(ancestors) if ancestors else 0.0


def persistence(evidence: Vector, ancestors: Sequence[Vector], *, threshold: float = PERSISTENCE_THRESHOLD) -> float:
    """The PERSIST signal: share of the ancestors nearer than the threshold, never at it; 0 without any."""
    near = sum(cosine_similarity(evidence, vector) > threshold for vector in ancestors)
    return near / len(ancestors) if ancestors else 0.0


async def embed_texts(embedder: Embedder, texts: Iterable[str]) -> Mapping[str, Vector]:
    """The vector of every distinct text, in one batch when the embedder takes batches (06:INF-2)."""
    distinct = list(dict.fromkeys(texts))
    if isinstance(embedder, SupportsEmbedBatch):
        vectors: Sequence[Vector] = await embedder.embed_batch(distinct)
    else:
        vectors = [await embedder.embed(text) for text in distinct]
    return dict(zip(distinct, vectors, strict=True))


async def text_similarity(embedder: Embedder, one: str, other: str) -> float:
    """How alike two texts are to an embedder."""
    vectors = await embed_texts(embedder, (one, other))
    return cosine_similarity(vectors[one], vectors[other])


def embedder_name(embedder: Embedder) -> str:
    """What a report calls an embedder: its id, or its class."""
    return str(getattr(embedder, "id", None) or type(embedder).__name__)


async def score_influence(
    evidence: Sequence[Evidence],
    answer: str,
    *,
    embedder: Embedder,
    weights: InfluenceWeights = DEFAULT_WEIGHTS,
    persistence_threshold: float = PERSISTENCE_THRESHOLD,
) -> list[InfluenceScore]:
    """Score evidence against an answer by meaning.

    Args:
        evidence: What to score; empty gives an empty list and embeds nothing.
        answer: The text under question.
        embedder: Called once with every distinct text.
        weights: What each signal counts.
        persistence_threshold: What a similarity to an ancestor must exceed to count as persisting.

    Returns:
        One score an item, highest first; equal scores keep the order of `evidence`.

    Raises:
        DuplicateIdError: Two items have one id.
        InvalidWeightsError: A weight can't be used.
    """
    return await _score(evidence, answer, embedder, weights, persistence_threshold, None, "score_influence")


async def score_contrastive(
    evidence: Sequence[Evidence],
    answer: str,
    *,
    reference: str,
    embedder: Embedder,
    weights: InfluenceWeights = DEFAULT_WEIGHTS,
    persistence_threshold: float = PERSISTENCE_THRESHOLD,
) -> list[InfluenceScore]:
    """Score evidence by how much nearer it is to an answer than to a known-good one (06 s.3.4).

    What is on the topic of both cancels out; if both answers are the same text every FA is 0. Arguments, result and
    refusals are those of `score_influence`, beside `reference`: the known-good answer.
    """
    return await _score(evidence, answer, embedder, weights, persistence_threshold, reference, "score_contrastive")


async def _score(
    evidence: Sequence[Evidence],
    answer: str,
    embedder: Embedder,
    weights: InfluenceWeights,
    persistence_threshold: float,
    reference: str | None,
    function: str,
) -> list[InfluenceScore]:
    check_weights(weights, function)
    check_evidence(evidence, function)
    if not evidence:
        return []
    texts = [answer, *([] if reference is None else [reference])]
    for item in evidence:
        texts += [item.text, *item.ancestors]
    vectors = await embed_texts(embedder, texts)
    return score_by_similarity(
        evidence,
        answer,
        lambda one, other: cosine_similarity(vectors[one], vectors[other]),
        weights=weights,
        persistence_threshold=persistence_threshold,
        reference=reference,
        function=function,
    )
