"""Tests of agentfootprint.explain.scoring.semantic."""

from __future__ import annotations

from collections.abc import Sequence

from agentfootprint.explain.scoring.influence import Evidence
from agentfootprint.explain.scoring.semantic import (
    embed_texts,
    embedder_name,
    persistence,
    score_contrastive,
    score_influence,
)
from agentfootprint.llm import EmbedKind, mock_embedder


class OneByOne:
    """An embedder without batches."""

    dimensions = 2

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def embed(self, text: str, *, kind: EmbedKind = "query") -> list[float]:
        self.seen.append(text)
        return [float(len(text)), 1.0]


class InBatches(OneByOne):
    id = "batches"

    async def embed_batch(self, texts: Sequence[str], *, kind: EmbedKind = "document") -> list[list[float]]:
        self.seen.append("|".join(texts))
        return [[1.0, float(len(text))] for text in texts]


EVIDENCE = [Evidence("a", "one", ("then",)), Evidence("b", "one"), Evidence("c", "answer")]


async def test_every_distinct_text_is_embedded_once_the_answer_first() -> None:
    single, batch = OneByOne(), InBatches()

    await score_influence(EVIDENCE, "answer", embedder=single)
    await score_influence(EVIDENCE, "answer", embedder=batch)

    assert single.seen == ["answer", "one", "then"]
    assert batch.seen == ["answer|one|then"]


async def test_no_evidence_embeds_nothing() -> None:
    embedder = OneByOne()

    assert await score_influence([], "answer", embedder=embedder) == []
    assert embedder.seen == []


async def test_against_the_same_answer_nothing_stands_out() -> None:
    scores = await score_contrastive(EVIDENCE, "answer", reference="answer", embedder=mock_embedder())

    assert [score.signals.fa for score in scores] == [0.0, 0.0, 0.0]


def test_a_similarity_at_the_threshold_does_not_persist() -> None:
    assert persistence([1.0, 0.0], [[1.0, 0.0]], threshold=1.0) == 0.0
    assert persistence([1.0, 0.0], [[1.0, 0.0]], threshold=0.99) == 1.0


async def test_an_embedder_goes_by_its_id_or_its_class() -> None:
    assert (embedder_name(InBatches()), embedder_name(OneByOne())) == ("batches", "OneByOne")
    assert await embed_texts(OneByOne(), []) == {}
