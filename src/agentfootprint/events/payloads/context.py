"""What happens to what the model is given: pieces are judged, placed in slots, counted and dropped."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from agentfootprint.events.payloads.base import Keyed, Many, Number, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "BudgetSpent",
    "CatalogSkill",
    "ContextBudgetPressure",
    "ContextEvaluated",
    "ContextEvicted",
    "ContextInjected",
    "ContextSlotComposed",
    "CursorMove",
    "GuardCondition",
    "GuardRecord",
    "PathStep",
    "RoutingRow",
    "SkippedPiece",
    "SlotBudget",
    "SourceShare",
    "Witness",
]

Slot = Literal["system-prompt", "messages", "tools"]


class BudgetSpent(Record, frozen=True, kw_only=True, gc=False):
    """What a piece takes of its slot."""

    tokens: int
    """Tokens."""
    fraction_of_cap: Number
    """Share of the slot's cap, from 0 to 1."""


class ContextInjected(Payload, frozen=True, kw_only=True, gc=False):
    """A piece stands in a slot. Live and native: new or changed pieces only (01b s.5); on the wire: every piece."""

    type = "agentfootprint.context.injected"

    content_summary: str
    """The first 79 characters and an ellipsis, or all of a shorter text (SLOT-9)."""
    content_hash: str
    """FNV-1a, lower-case hex without padding (SLOT-10); the piece's name in its slot."""
    raw_content: str | None = None
    """The text as the model reads it."""
    slot: Slot
    """Where it stands."""
    as_role: str | None = None
    """The role of a message."""
    as_recency: Literal["latest", "earlier"] | None = None
    """Whether it is the last message."""
    position: int | None = None
    """Its place in the slot, from 0."""
    section_tag: str | None = None
    """The section it stands in."""
    source: str
    """What kind of thing supplied it: `rag`, `skill`, `memory`, `instructions`, `steering`, `fact`, `custom`, or one of
    the baseline `user`, `tool-result`, `assistant`, `base`, `registry`."""
    source_id: str | None = None
    """The id of what supplied it."""
    upstream_ref: str | None = None
    """Where that had it from."""
    reason: str
    """Why it stands here, in words that name its origin."""
    retrieval_score: Number | None = None
    """The score it was retrieved with."""
    rank_position: int | None = None
    """Its rank among the retrieved, from 1."""
    threshold: Number | None = None
    """The score it had to reach."""
    budget_spent: BudgetSpent | None = None
    """What it takes of the slot."""
    expires_after: Literal["iteration", "turn", "run", "persistent"] | None = None
    """How long it stays."""


class ContextEvicted(Payload, frozen=True, kw_only=True, gc=False):
    """A window strategy dropped a piece (WIN-17)."""

    type = "agentfootprint.context.evicted"

    slot: Slot
    """Where it stood."""
    content_hash: str
    """The name under which it was injected."""
    reason: Literal["budget", "stale", "low_score", "policy", "user_revoked"]
    """Why it went."""
    survival_ms: Number
    """How long it had stood."""


class SlotBudget(Record, frozen=True, kw_only=True, gc=False):
    """A slot's fill, in characters."""

    cap: int
    """The budget; 0 or less means none."""
    used: int
    """Characters of the rows."""
    headroom_chars: int
    """What is left, at least 0."""


class SourceShare(Record, frozen=True, kw_only=True, gc=False):
    """What one kind of source takes of a slot."""

    chars: int
    """Characters."""
    count: int
    """Rows."""


class ContextSlotComposed(Payload, frozen=True, kw_only=True, gc=False):
    """A slot was composed for an iteration; after its injected rows. `meta.carried` counts the rows left out."""

    type = "agentfootprint.context.slot_composed"

    slot: Slot
    """Which slot."""
    iteration: int
    """The iteration, from 1."""
    budget: SlotBudget
    """How full it is."""
    source_breakdown: Keyed[SourceShare]
    """Characters and rows by source."""
    ordering_strategy: str | None = None
    """How the rows are ordered."""
    dropped_count: int
    """Rows left out."""
    dropped_summaries: tuple[str, ...]
    """Their summaries."""


class ContextBudgetPressure(Payload, frozen=True, kw_only=True, gc=False):
    """A slot is over its cap, or a window strategy over its threshold."""

    type = "agentfootprint.context.budget_pressure"

    slot: Slot
    """Which slot."""
    overflow_by: int
    """How far over, in `unit`."""
    plan_action: Literal["evict", "summarize", "abort", "none"]
    """What follows; a slot itself never drops anything."""
    unit: Literal["chars", "tokens"]
    """What is counted."""
    cap: int
    """The limit."""
    projected: int
    """What it would be."""


class SkippedPiece(Record, frozen=True, kw_only=True, gc=False):
    """A piece that could not be judged; one whose rule is false is neither active nor skipped."""

    id: str
    """The piece's id."""
    reason: Literal["predicate-threw", "unknown-trigger-kind", "unknown-fact", "parked"]
    """Why."""
    error: str | None = None
    """The error's message."""


class CatalogSkill(Record, frozen=True, kw_only=True, gc=False):
    """A skill the model may ask for."""

    id: str
    """The skill's id."""
    description: str
    """What the model reads about it."""


class PathStep(Record, frozen=True, kw_only=True, gc=False):
    """One question of a skill tree and how it was answered."""

    label: str
    """The question's label."""
    branch: str
    """The branch taken, `yes` or `no`."""


class RoutingRow(Record, frozen=True, kw_only=True, gc=False):
    """How a skill can be reached (DRAW-4)."""

    injection_id: str
    """The skill's id."""
    flavor: str
    """The piece's flavor."""
    via: Literal["tree", "entry", "route", "model"]
    """By which kind of edge."""
    path: tuple[PathStep, ...] | None = None
    """The answers that lead to it in a tree."""
    label: str | None = None
    """The edge's label."""
    from_: str | None = field(default=None, name="from")
    """The skill the edge leaves."""
    trigger_kind: str | None = None
    """The edge's trigger."""
    tools: tuple[str, ...] | None = None
    """Tools the skill brings."""


class Witness(Record, frozen=True, kw_only=True, gc=False):
    """The words that decided a move."""

    text: str
    """At most 80 characters, whitespace collapsed."""
    keyword: str | None = None
    """The keyword that matched."""


class GuardCondition(Record, frozen=True, kw_only=True, gc=False):
    """One condition of a guarded edge and what it found."""

    key: str
    """The field looked at."""
    op: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "notIn"]
    """The comparison."""
    value: Value
    """What it compares with."""
    actual_summary: str
    """What stood there, at most 80 characters."""
    passed: bool
    """Whether it holds."""


class GuardRecord(Record, frozen=True, kw_only=True, gc=False):
    """A guarded edge that was judged."""

    from_: str = field(name="from")
    """The skill the edge leaves."""
    to: str
    """The skill it leads to."""
    tool_name: str
    """The tool whose result was looked at."""
    tool_call_id: str | None = None
    """That call's id."""
    verdict: bool
    """Whether the edge is open."""
    conditions: tuple[GuardCondition, ...]
    """Every condition with its finding."""


class CursorMove(Record, frozen=True, kw_only=True, gc=False):
    """Where the position on the skill map went in one pass, and what moved it."""

    from_: str | None = field(default=None, name="from")
    """Where it was."""
    to: str | None = None
    """Where it is."""
    by: Literal[
        "entry", "route", "model-pick", "tool-proposal", "intent", "continuity", "decider", "stay", "none"
    ]  # fmt: skip
    """What moved it."""
    offered: tuple[str, ...] | None = None
    """The menu that was outstanding."""
    declined_offer: Literal[True] | None = None
    """The pick was not on the menu."""
    witness: Witness | None = None
    """The words that decided."""
    guard: GuardRecord | None = None
    """The guard of the edge that was taken."""
    guards_closed: tuple[GuardRecord, ...] | None = None
    """Guards that kept other edges shut."""
    reachable: tuple[str, ...] | None = None
    """Skills that can be reached from here; empty is a dead end."""


class ContextEvaluated(Payload, frozen=True, kw_only=True, gc=False):
    """Every piece was judged for an iteration, before the slots are composed."""

    type = "agentfootprint.context.evaluated"

    iteration: int
    """The iteration, from 1."""
    active_count: int
    """Pieces that hold."""
    skipped_count: int
    """Pieces that could not be judged."""
    evaluated_total: int
    """Pieces declared."""
    active_ids: Many[str]
    """Ids of those that hold."""
    skipped_details: tuple[SkippedPiece, ...]
    """Those that could not be judged, with the reason."""
    trigger_kind_counts: Keyed[int]
    """Active pieces by trigger kind."""
    skill_catalog: Many[CatalogSkill]
    """Skills the model may ask for."""
    routing: tuple[RoutingRow, ...] | None = None
    """How the active skills can be reached."""
    cursor_move: CursorMove | None = None
    """What happened to the position on the skill map."""
    superseded_ids: tuple[str, ...] | None = None
    """Entries whose own rule holds while the position is elsewhere (CUR-11)."""
