"""Where does a text stand in a space of meanings, and how near are two texts there?"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Final, Literal, Protocol, TypeAlias, runtime_checkable

from agentfootprint.errors import ConfigError
from agentfootprint.llm.errors import DimensionMismatchError

__all__ = ["EmbedKind", "Embedder", "SupportsEmbedBatch", "cosine_similarity", "mock_embedder"]

EmbedKind: TypeAlias = Literal["query", "document"]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of one length. Feature-detected beside this: `id: str`, `max_input_chars: int`."""

    @property
    def dimensions(self) -> int:
        """Length of its vectors; never guessed (EMB-1)."""
        ...

    async def embed(self, text: str, *, kind: EmbedKind = "query") -> list[float]:
        """The vector of one text."""
        ...


@runtime_checkable
class SupportsEmbedBatch(Protocol):
    """An embedder that takes many texts in one call."""

    async def embed_batch(self, texts: Sequence[str], *, kind: EmbedKind = "document") -> list[list[float]]:
        """The vectors of the texts, in order."""
        ...


class _MockEmbedder:
    """Counts characters; see `mock_embedder`."""

    id: Final = "mock"
    max_input_chars: Final = 1_000_000

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions

    async def embed(self, text: str, *, kind: EmbedKind = "query") -> list[float]:
        del kind  # a question and a document are counted alike
        return self._count(text)

    async def embed_batch(self, texts: Sequence[str], *, kind: EmbedKind = "document") -> list[list[float]]:
        del kind  # a question and a document are counted alike
        return [self._count(text) for text in texts]

    def _count(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        raw = text.encode("utf-16-le", "surrogatepass")
        for unit in struct.unpack(f"<{len(raw) // 2}H", raw):
            vector[unit % self.dimensions] += 1.0
        return vector


def mock_embedder(dimensions: int = 32) -> Embedder:
    """An embedder without a model: entry i counts the UTF-16 units of the text that are i modulo `dimensions`.

    For plumbing and tests only: it knows nothing of meaning.

    Args:
        dimensions: Length of the vectors, at least 1.

    Raises:
        ConfigError: `dimensions` is no whole number, or less than 1.
    """
    if type(dimensions) is not int or dimensions < 1:
        raise ConfigError(
            "mock_embedder.dimensions",
            "The vectors of a mock embedder need a whole number of dimensions, at least 1.",
            fix="Leave it out for 32.",
        )
    return _MockEmbedder(dimensions)


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """How alike two vectors point, from -1 to 1; 0 when one has no length.

    Raises:
        DimensionMismatchError: They differ in length.
    """
    if len(a) != len(b):
        raise DimensionMismatchError(len(a), len(b))
    dot = left = right = 0.0
    for x, y in zip(a, b, strict=True):
        dot += x * y
        left += x * x
        right += y * y
    norm = math.sqrt(left) * math.sqrt(right)
    if norm == 0.0:
        return 0.0
    return max(-1.0, min(1.0, dot / norm))
