"""Tests of agentfootprint.llm.embedding."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.errors import ConfigError
from agentfootprint.llm import (
    DimensionMismatchError,
    Embedder,
    SupportsEmbedBatch,
    cosine_similarity,
    mock_embedder,
)

VECTORS = st.integers(1, 6).flatmap(lambda n: st.tuples(*[st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)] * 2))


async def test_the_mock_embedder_counts_utf16_units() -> None:
    embedder = mock_embedder(4)

    vector = await embedder.embed("a😀", kind="document")

    assert isinstance(embedder, Embedder)
    assert isinstance(embedder, SupportsEmbedBatch)
    assert embedder.dimensions == 4
    assert vector == [1.0, 2.0, 0.0, 0.0]  # 0x61, 0xd83d, 0xde00
    assert await embedder.embed_batch(["a😀", ""]) == [vector, [0.0] * 4]


@pytest.mark.parametrize("dimensions", [0, -1, 2.0, True, "8", None])
def test_a_space_without_dimensions_is_refused(dimensions: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        mock_embedder(dimensions)

    assert caught.value.option == "mock_embedder.dimensions"


@given(VECTORS)
def test_similarity_is_symmetric_and_bounded(pair: tuple[list[float], list[float]]) -> None:
    a, b = pair

    assert -1.0 <= cosine_similarity(a, b) <= 1.0
    assert cosine_similarity(a, b) == cosine_similarity(b, a)


def test_vectors_of_different_spaces_are_not_compared() -> None:
    with pytest.raises(DimensionMismatchError, match=r"length 1 .* length 2") as caught:
        cosine_similarity([1.0], [1.0, 2.0])

    assert isinstance(caught.value, ValueError)
