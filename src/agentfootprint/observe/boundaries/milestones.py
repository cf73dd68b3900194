"""What does a stage mean to somebody who looks at a run: a stop worth making, a hero, or plumbing (REC-27)?"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from agentfootprint.trace import Record

__all__ = ["Milestone", "StageRole", "milestone_for", "slot_of", "stage_role"]

MilestoneKind: TypeAlias = Literal["iteration", "slot", "llm-turn", "tool-call", "decision"]
StageRole: TypeAlias = Literal["hero-slot", "hero-llm", "hero-action", "plumbing", "boundary"]
SlotName: TypeAlias = Literal["system-prompt", "messages", "tools"]


class Milestone(Record, frozen=True, kw_only=True, gc=False):
    """A stop inside a boundary."""

    kind: MilestoneKind
    label: str


_SLOTS: Final = MappingProxyType[str, SlotName](
    {"sf-system-prompt": "system-prompt", "sf-messages": "messages", "sf-tools": "tools"}
)
_MILESTONES: Final = MappingProxyType(
    {
        "sf-injection-engine": Milestone(kind="iteration", label="Iteration"),
        "sf-llm-call": Milestone(kind="iteration", label="Iteration"),
        "sf-system-prompt": Milestone(kind="slot", label="System prompt"),
        "sf-messages": Milestone(kind="slot", label="Messages"),
        "sf-tools": Milestone(kind="slot", label="Tools"),
        "call-llm": Milestone(kind="llm-turn", label="LLM turn"),
        "merge-llm": Milestone(kind="llm-turn", label="LLM turn"),
        "tool-calls": Milestone(kind="tool-call", label="Tool call"),
        "sf-tool-calls": Milestone(kind="tool-call", label="Tool call"),
        "sf-route": Milestone(kind="decision", label="Route"),
        "output-retry": Milestone(kind="decision", label="Schema retry"),
        "step-nudge": Milestone(kind="decision", label="Step nudge"),
        "evidence-recheck": Milestone(kind="decision", label="Evidence recheck"),
        "wrap-up": Milestone(kind="decision", label="Wrap up"),
    }
)
_ROLES: Final = MappingProxyType[str, StageRole](
    {
        **dict.fromkeys(_SLOTS, "hero-slot"),
        "call-llm": "hero-llm",
        "tool-calls": "hero-action",
        "sf-tool-calls": "hero-action",
        "sf-injection-engine": "plumbing",
        "sf-llm-call": "plumbing",
        "sf-route": "plumbing",
        "sf-cache": "plumbing",
        "sf-thinking": "plumbing",
    }
)


def milestone_for(stage: str) -> Milestone | None:
    """The stop that a stage is; `None` for one that is none.

    Args:
        stage: Its id or an address, with the mounts it stands in or without.
    """
    return _MILESTONES.get(_local(stage).partition("#")[0])


def stage_role(stage_id: str) -> StageRole:
    """What a stage is to a viewer (AGT-32); what isn't known is a boundary, so that nothing is ever hidden.

    Args:
        stage_id: Its id, with the mounts it stands in or without; an address names an execution and has no role.
    """
    return _ROLES.get(_local(stage_id), "boundary")


def slot_of(address: str) -> SlotName | None:
    """The slot that a stage composes: the innermost segment of its address that names one; `None` outside slots."""
    segments = address.split("/")
    segments[-1] = segments[-1].partition("#")[0]
    return next((_SLOTS[segment] for segment in reversed(segments) if segment in _SLOTS), None)


def _local(stage: str) -> str:
    return stage.rpartition("/")[2]
