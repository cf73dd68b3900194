"""What happens to what outlives a turn: memories are searched, attached, condensed, written and let go."""

from __future__ import annotations

from typing import Literal

from agentfootprint.events.payloads.base import Number, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "EmbeddingGenerated",
    "MemoryAttached",
    "MemoryDetached",
    "MemoryRetrieved",
    "MemoryStrategyApplied",
    "MemoryWritten",
    "RetrievalCandidate",
]


class MemoryStrategyApplied(Payload, frozen=True, kw_only=True, gc=False):
    """A memory strategy condensed or dropped entries."""

    type = "agentfootprint.memory.strategy_applied"

    strategy_id: str
    """The memory's id."""
    strategy_kind: Literal["sliding-window", "summarizing", "semantic", "fact-extraction", "hybrid"]
    """What kind of strategy."""
    reason: str | None = None
    """Why, in words."""
    score_evidence: Value = None
    """What the decision rests on."""
    input_memory_count: int
    """Entries before."""
    output_memory_count: int
    """Entries after."""
    dropped_ids: tuple[str, ...]
    """Entries that went."""
    added_ids: tuple[str, ...]
    """Entries that came."""


class MemoryAttached(Payload, frozen=True, kw_only=True, gc=False):
    """An entry was formatted into the prompt; once per entry, in prompt order."""

    type = "agentfootprint.memory.attached"

    memory_id: str
    """The entry's id."""
    content_summary: str
    """At most 80 characters."""
    score: Number | None = None
    """The score it was found with."""
    rank: int | None = None
    """Its rank, from 1."""
    source: Literal["store", "auto-extract", "manual"]
    """Where it came from."""
    retriever: str | None = None
    """What found it."""


class RetrievalCandidate(Record, frozen=True, kw_only=True, gc=False):
    """An entry that was considered."""

    id: str
    """The entry's id."""
    score: Number
    """Its similarity."""
    rank: int
    """Its rank, from 1."""
    admitted: bool
    """Whether it reached the prompt."""
    reason: Literal["below-threshold", "over-budget", "over-max-entries", "over-char-budget"] | None = None
    """Why it did not."""
    doc_uri: str | None = None
    """The document it comes from."""
    page: Number | None = None
    """The page in it."""
    heading: str | None = None
    """The heading in it."""


class MemoryRetrieved(Payload, frozen=True, kw_only=True, gc=False):
    """A store was searched; the query's text is never recorded."""

    type = "agentfootprint.memory.retrieved"

    strategy: str
    """The strategy's name."""
    query_hash: str
    """FNV-1a of the query."""
    k: int
    """How many were asked for."""
    threshold: Number | None = None
    """The score to reach."""
    max_chars: int | None = None
    """The character budget."""
    chars_used: int | None = None
    """What was used of it."""
    embedder_id: str | None = None
    """The embedder's fingerprint."""
    dimensions: int | None = None
    """Length of the query's vector."""
    considered_count: int
    """Entries looked at."""
    admitted_count: int
    """Entries that reached the prompt."""
    rejected_count: int
    """Entries that did not."""
    candidates: tuple[RetrievalCandidate, ...] | None = None
    """Every entry looked at; absent when the store can't say, empty when there were none."""
    candidates_complete: bool
    """Whether the list is whole."""
    candidates_omitted_reason: str | None = None
    """Why it is not."""
    corpus_empty: bool
    """Whether there was nothing to search."""
    namespace: str | None = None
    """Where was searched."""


class MemoryDetached(Payload, frozen=True, kw_only=True, gc=False):
    """An entry was let go (EVT-33)."""

    type = "agentfootprint.memory.detached"

    memory_id: str
    """The entry's id."""
    reason: Literal["stale", "budget", "score_low", "policy"]
    """Why."""


class MemoryWritten(Payload, frozen=True, kw_only=True, gc=False):
    """An entry was stored (EVT-33)."""

    type = "agentfootprint.memory.written"

    memory_id: str
    """The entry's id."""
    content_summary: str
    """At most 80 characters."""
    source: Literal["auto", "manual"]
    """Whether the strategy or the application wrote it."""
    actor: str | None = None
    """Who wrote it."""


class EmbeddingGenerated(Payload, frozen=True, kw_only=True, gc=False):
    """An embedder was called."""

    type = "agentfootprint.embedding.generated"

    model: str
    """The embedder's model."""
    provider: str
    """`openai`, `cohere`, `voyage`, `local` or `custom`."""
    input_kind: Literal["query", "document"]
    """What was embedded."""
    dimension: int
    """Length of a vector."""
    count: int
    """Texts embedded."""
    duration_ms: Number
    """How long it took."""
    tokens_spent: int | None = None
    """Tokens, when reported."""
