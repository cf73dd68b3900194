"""What the boundaries of a run are told as: one record for each thing that begins, ends or turns (05 s.5.3).

The wire's keys and order; `subflow_path` always begins with `__root__`. Values are shared with the run, never copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, UnsetType

from agentfootprint.trace import Record, Value, freeze, thaw

__all__ = [
    "ROOT",
    "ROOT_ADDRESS",
    "CompositionEnded",
    "CompositionStarted",
    "ContextEntered",
    "DecisionTaken",
    "DomainEvent",
    "ForkOpened",
    "LLMEnded",
    "LLMStarted",
    "LoopTurned",
    "RunEntered",
    "RunLeft",
    "SubflowEntry",
    "SubflowExit",
    "ToolEnded",
    "ToolStarted",
    "domain_event",
    "is_agent_internal",
]

ROOT: Final = "__root__"
ROOT_ADDRESS: Final = "__root__#0"
Arrow: TypeAlias = Literal["user→llm", "tool→llm", "llm→tool", "llm→user"]

_INTERNAL: Final = frozenset(
    (
        *("sf-injection-engine", "sf-llm-call", "sf-route", "sf-tool-calls", "final", "sf-merge", "sf-cache"),
        *("sf-cache-decision", "sf-thinking", "cache-gate", "client", "extract-final"),
    )
)


def is_agent_internal(local_id: str) -> bool:
    """Whether a mount or decider is of an agent's own machinery (REC-20).

    Args:
        local_id: Its id without the mounts it stands in.
    """
    return local_id in _INTERNAL or local_id.startswith("thinking-")


class DomainEvent(Record, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """Base of the records: where and when, and how many commits the run had made."""

    type: ClassVar[str] = ""
    runtime_stage_id: str
    subflow_path: tuple[str, ...]
    depth: int
    ts: int
    """Epoch milliseconds."""
    commit_idx_before: int
    commit_idx_after: int

    def to_wire(self) -> dict[str, Any]:
        """The record as plain JSON under the keys of the wire."""
        return {"type": self.type, **thaw(self)}


class RunEntered(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A run or a resume began."""

    type = "run.entry"
    payload: Value | UnsetType = UNSET
    is_root: bool


class RunLeft(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """It ended; a failed one says `{"error": message}`."""

    type = "run.exit"
    payload: Value | UnsetType = UNSET
    is_root: bool


class _Subflow(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    subflow_id: str
    local_subflow_id: str
    subflow_name: str
    description: str | None = None
    primitive_kind: str | None = None
    """What the mount is: the text before the first colon of its description."""
    slot_kind: str | None = None
    is_agent_internal: bool
    payload: Value | UnsetType = UNSET


class SubflowEntry(_Subflow, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A mount was entered, with what was mapped into it."""

    type = "subflow.entry"


class SubflowExit(_Subflow, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A mount was left, with its final state."""

    type = "subflow.exit"


class CompositionStarted(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A composition began."""

    type = "composition.start"
    kind: str
    composition_id: str
    name: str


class CompositionEnded(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A composition ended."""

    type = "composition.end"
    kind: str
    composition_id: str
    name: str
    status: str
    duration_ms: int | float


class ForkOpened(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """One of several branches starts; those of one fork have one time."""

    type = "fork.branch"
    parent_subflow_id: str
    child_name: str


class DecisionTaken(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A decider chose a branch."""

    type = "decision.branch"
    decider: str
    chosen: str
    rationale: str | None = None
    is_agent_internal: bool


class LoopTurned(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """Control went back to an earlier stage for the `iteration`-th time."""

    type = "loop.iteration"
    target: str
    iteration: int


class LLMStarted(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """The model is asked."""

    type = "llm.start"
    model: str
    provider: str
    system_prompt_chars: int | None = None
    messages_count: int | None = None
    tools_count: int | None = None
    actor_arrow: Arrow


class LLMEnded(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """The model answered."""

    type = "llm.end"
    content: str
    tool_call_count: int
    usage: Value
    stop_reason: str | None = None
    actor_arrow: Arrow


class ToolStarted(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A tool is called."""

    type = "tool.start"
    tool_name: str
    tool_call_id: str
    args: Value | UnsetType = UNSET
    not_dispatched: Value = None
    """Settled without being called (AGT-90)."""


class ToolEnded(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A tool call settled."""

    type = "tool.end"
    tool_call_id: str
    result: Value | UnsetType = UNSET
    duration_ms: int | float | None = None
    error: bool | None = None
    not_dispatched: Value = None
    """Settled without being called (AGT-90)."""


class ContextEntered(DomainEvent, frozen=True, kw_only=True, gc=False, rename="camel", omit_defaults=True):
    """A piece entered a slot."""

    type = "context.injected"
    slot: str
    source: str
    source_id: str | None = None
    as_role: str | None = None
    content_summary: str | None = None
    reason: str | None = None
    section_tag: str | None = None
    upstream_ref: str | None = None
    retrieval_score: int | float | None = None
    rank_position: int | None = None
    budget_tokens: int | None = None
    budget_fraction: int | float | None = None


_KINDS: Final = MappingProxyType(
    {
        kind.type: kind
        for kind in (
            *(RunEntered, RunLeft, SubflowEntry, SubflowExit, CompositionStarted, CompositionEnded, ForkOpened),
            *(DecisionTaken, LoopTurned, LLMStarted, LLMEnded, ToolStarted, ToolEnded, ContextEntered),
        )
    }
)


def domain_event(found: Mapping[str, Any]) -> DomainEvent | None:
    """Read one record from its wire form; `None` for a type or a shape that is not known here.

    Args:
        found: The object as decoded JSON; it is not kept.
    """
    kind = _KINDS.get(str(found.get("type")))
    if kind is None:
        return None
    try:
        record = msgspec.convert(thaw(freeze(found)), kind)
    except msgspec.ValidationError:
        return None
    for name in ("payload", "args", "result", "usage", "not_dispatched"):
        value = getattr(record, name, None)
        if isinstance(value, (dict, list)):
            msgspec.structs.force_setattr(record, name, freeze(cast("object", value)))
    return record
