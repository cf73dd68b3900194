"""What happens to agents of agents: a composition begins, forks, merges, chooses, repeats and ends."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from agentfootprint.events.payloads.base import Number, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "CompositionBranchComplete",
    "CompositionEnter",
    "CompositionExit",
    "CompositionForkStart",
    "CompositionIterationExit",
    "CompositionIterationStart",
    "CompositionMergeEnd",
    "CompositionRouteDecided",
    "ForkBranch",
]


class CompositionEnter(Payload, frozen=True, kw_only=True, gc=False):
    """A composition begins; its first stage says so."""

    type = "agentfootprint.composition.enter"

    kind: Literal["Sequence", "Parallel", "Conditional", "Loop"]
    """The family; graphs and workflows report as `Sequence`."""
    id: str
    """The composition's id."""
    name: str
    """Its name, as shown to people."""
    child_count: int
    """How many children it has."""


class CompositionExit(Payload, frozen=True, kw_only=True, gc=False):
    """A composition ends; pairs with its enter, also when a child raised. A pause sends none."""

    type = "agentfootprint.composition.exit"

    kind: Literal["Sequence", "Parallel", "Conditional", "Loop"]
    """As on the enter."""
    id: str
    """The composition's id."""
    name: str | None = None
    """Its name."""
    status: Literal["ok", "err", "break", "budget_exhausted"]
    """A loop stopped by its count says `budget_exhausted`, by its guard `ok` or `break`."""
    duration_ms: Number
    """Since the enter."""


class ForkBranch(Record, frozen=True, kw_only=True, gc=False):
    """One branch about to run beside others."""

    id: str
    """The branch's id."""
    name: str
    """Its name."""


class CompositionForkStart(Payload, frozen=True, kw_only=True, gc=False):
    """A parallel is about to run its branches; comes right after its enter."""

    type = "agentfootprint.composition.fork_start"

    parent_id: str
    """The parallel's id."""
    branches: tuple[ForkBranch, ...]
    """In declaration order."""


class CompositionBranchComplete(Payload, frozen=True, kw_only=True, gc=False):
    """One branch of a parallel has settled (EVT-33)."""

    type = "agentfootprint.composition.branch_complete"

    parent_id: str
    """The parallel's id."""
    branch_id: str
    """The branch's id."""
    status: Literal["ok", "err"]
    """Whether it gave a result or failed."""
    duration_ms: Number
    """Since the fork."""


class CompositionMergeEnd(Payload, frozen=True, kw_only=True, gc=False):
    """The branches' results were made one; a merge that raised sends none."""

    type = "agentfootprint.composition.merge_end"

    parent_id: str
    """The parallel's id."""
    strategy: Literal["llm", "fn", "outcomes-fn"]
    """A model, a function of the results, or a function of results and failures."""
    result_summary: str
    """The merged text, at most 80 UTF-16 units."""
    merged_branch_count: int
    """Branches that fed the merge."""
    total_branch_count: int
    """Branches that ran."""


class CompositionRouteDecided(Payload, frozen=True, kw_only=True, gc=False):
    """A conditional or a router picked a branch."""

    type = "agentfootprint.composition.route_decided"

    conditional_id: str
    """The composition's id."""
    chosen: str
    """The branch's id."""
    rationale: str | None = None
    """Why, in words."""
    evidence: Value | UnsetType = UNSET
    """What the choice rests on, any JSON value."""


class CompositionIterationStart(Payload, frozen=True, kw_only=True, gc=False):
    """A loop begins a pass over its body."""

    type = "agentfootprint.composition.iteration_start"

    loop_id: str
    """The loop's id."""
    iteration: int
    """The pass, from 1."""


class CompositionIterationExit(Payload, frozen=True, kw_only=True, gc=False):
    """A loop's guard has looked at a finished pass."""

    type = "agentfootprint.composition.iteration_exit"

    loop_id: str
    """The loop's id."""
    iteration: int
    """The pass, from 1."""
    reason: Literal["budget", "guard_false", "break", "body_complete"]
    """`body_complete` goes on; the others end the loop."""
