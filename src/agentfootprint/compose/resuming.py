"""How does a composition wait for a person, and how does it go on when the answer is there (09 s.6)?

The engine's checkpoint is that of the outer chart: it leads through the mounts to the agent that asked, and holds what
finished beside it. Each agent that waits is taken up as one that paused alone would be; its own checks say whether the
answer will do. All refusals come before anything of the new run exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.agent import (
    Agent,
    CheckpointFormatError,
    LiveParts,
    PartFacts,
    PauseCheckpoint,
    Paused,
    PauseFacts,
    Resumption,
    accept_answer,
    paused_of,
    rebuilt,
    system_text,
)
from agentfootprint.agent import (
    leave as leave_part,
)
from agentfootprint.compose.plan import ComposedPlan
from agentfootprint.flow import ForkFrame, MountFrame
from agentfootprint.trace import FrozenDict, Value

if TYPE_CHECKING:
    from agentfootprint.agent import OuterRun
    from agentfootprint.compose.composed import Composed
    from agentfootprint.events import MetaMarks, PauseResume
    from agentfootprint.flow import PauseCheckpoint as EngineCheckpoint
    from agentfootprint.flow import PausePoint
    from agentfootprint.identity import Identity

__all__ = ["Resumed", "accept_for", "leave"]

_FIX: Final = "Resume the composition that paused, built the same way, with its checkpoint as it was stored."
_EMPTY: Final = FrozenDict({})


@dataclass
class Resumed:
    """A paused composition with an answer, accepted: what the new run is made from."""

    checkpoint: PauseCheckpoint
    """With the states of the agents that wait as this process reads them."""
    asked: Resumption
    """The agent that the answer is for."""
    parts: dict[str, Resumption] = field(default_factory=dict[str, Resumption])
    """All agents that wait, by the id of their mount."""

    @property
    def answer(self) -> Value:
        """What the call that asked gets."""
        return self.asked.answer

    @property
    def is_partial(self) -> bool:
        """Whether it waits for more of the values that were asked for."""
        return self.asked.is_partial

    @property
    def identity(self) -> Identity | None:
        """Whose run it is."""
        return self.asked.identity

    @property
    def session_id(self) -> str | None:
        """The hosting session's id."""
        return self.checkpoint.facts.session_id

    @property
    def run_id(self) -> str:
        """The run that paused."""
        return self.checkpoint.facts.run_id

    @property
    def origin_run_id(self) -> str:
        """The first run of the turn."""
        return self.checkpoint.facts.origin_run_id or self.run_id

    @property
    def message(self) -> Any:  # noqa: ANN401  what the run was asked
        """What the composition was asked."""
        given = self.checkpoint.run_input
        return "" if given is None else given.get("message", "")

    def event(self, now_ms: int) -> tuple[str, PauseResume, MetaMarks | None]:
        """The event that says it goes on, and where (CMP-49)."""
        return f"{self.checkpoint.paused_stage_id}#resumed", self.asked.resumed(now_ms), self.asked.marks()

    def waiting(self) -> Paused:
        """The question that is left, when the answer was a part of it."""
        inner = self.asked.checkpoint
        return replace(paused_of(inner), checkpoint=replace(self.checkpoint, pause_data=inner.pause_data))


def accept_for(composed: Composed[Any], paused: object, answer: object, *, identity: Identity | None) -> Resumed:
    """Check a checkpoint and an answer against a composition and against each other.

    Raises:
        CheckpointFormatError: It is no checkpoint of a paused run, or of another composition.
        AgentFootprintError: The answer is not one to the question; as the agent that asked says.
    """
    checkpoint = _checkpoint(paused)
    _refuse_others(composed, checkpoint)
    agents = dict(_agents(composed.plan, ""))
    asking = next((frame for frame in reversed(checkpoint.frames) if isinstance(frame, MountFrame)), None)
    if asking is None or asking.id not in agents:
        raise CheckpointFormatError(
            "subflowPath", "The checkpoint does not lead to an agent of the composition.", fix=_FIX
        )
    inner = _inner(checkpoint, asking)
    asked = accept_answer(agents[asking.id].plan, inner, answer, identity=identity, allow_chart_change=True)
    parts = {asking.id: asked}
    frames: list[Any] = []
    for frame in checkpoint.frames:
        if frame is asking:
            frames.append(msgspec.structs.replace(asking, state=asked.checkpoint.state))
        elif isinstance(frame, ForkFrame):
            frames.append(_rebuilt_fork(frame, checkpoint, agents, parts))
        else:
            frames.append(frame)
    states = FrozenDict({frame.id: frame.state for frame in frames if isinstance(frame, MountFrame)})
    return Resumed(replace(checkpoint, frames=tuple(frames), subflow_states=states), asked, parts)


def _rebuilt_fork(
    frame: ForkFrame, checkpoint: PauseCheckpoint, agents: Mapping[str, Agent[Any, Any]], parts: dict[str, Resumption]
) -> ForkFrame:
    """A fork whose other branches wait too: they will ask again, with what they had counted (CMP-23)."""
    if not frame.pending:
        return frame

    def taken_up(point: PausePoint) -> PausePoint:
        frames: list[Any] = []
        for inner in point.frames:
            if isinstance(inner, ForkFrame):
                frames.append(_rebuilt_fork(inner, checkpoint, agents, parts))
            elif isinstance(inner, MountFrame) and inner.id in agents:
                found = _inner(checkpoint, inner, point)
                plan = agents[inner.id].plan
                state = rebuilt(inner.state, composes=plan.mode != "classic")
                parts[inner.id] = Resumption(
                    found.with_state(state),
                    None,
                    found.live,
                    found.facts.identity,
                    system_text(inner.state),
                    given=None,
                    is_partial=False,
                )
                frames.append(msgspec.structs.replace(inner, state=state))
            else:
                frames.append(inner)
        return msgspec.structs.replace(point, frames=tuple(frames))

    pending = {name: taken_up(point) for name, point in frame.pending.items()}
    return msgspec.structs.replace(frame, pending=pending)


def _inner(checkpoint: PauseCheckpoint, frame: MountFrame, point: PausePoint | None = None) -> PauseCheckpoint:
    """The checkpoint as the agent in a mount would have left it, had it run alone."""
    facts = checkpoint.facts
    own = facts.parts.get(frame.id, PartFacts())
    stage = checkpoint.paused_stage_id if point is None else point.stage_id
    return replace(
        checkpoint,
        state=frame.state,
        paused_stage_id=stage.removeprefix(f"{frame.id}/"),
        pause_data=checkpoint.pause_data if point is None else point.data,
        subflow_path=(),
        subflow_states=_EMPTY,
        frames=(),
        fingerprint=None,
        stages=None,
        journal=None,
        facts=replace(
            facts,
            agent_id=None,
            origin_run_id=own.origin_run_id or facts.origin_run_id,
            call_counts=own.call_counts,
            parts={},
        ),
        live=checkpoint.live.parts.get(frame.id, LiveParts()),
    )


def _agents(plan: ComposedPlan, above: str) -> Iterator[tuple[str, Agent[Any, Any]]]:
    """The agents in a composition, at any depth, by the full id of their mount."""
    for child in plan.children:
        mount = f"{above}{child.mount}"
        inner = child.runner.plan
        if isinstance(inner, ComposedPlan):
            yield from _agents(inner, f"{mount}/")
        elif isinstance(child.runner, Agent):
            yield mount, child.runner


def _checkpoint(given: object) -> PauseCheckpoint:
    if isinstance(given, Paused):
        return given.checkpoint
    if isinstance(given, PauseCheckpoint):
        return given
    if isinstance(given, Mapping):
        return PauseCheckpoint.from_wire(cast("Mapping[str, Any]", given))
    raise CheckpointFormatError(
        "checkpoint",
        f"A {type(given).__name__} is no paused run.",
        fix="Give result.paused, its checkpoint, or PauseCheckpoint.from_json(text) of a stored one.",
    )


def _refuse_others(composed: Composed[Any], checkpoint: PauseCheckpoint) -> None:
    made_by = checkpoint.facts.agent_id
    if made_by is not None and made_by != composed.id:
        raise CheckpointFormatError(
            "agentfootprint.agentId", f"The run of {made_by!r} can't be resumed by {composed.id!r}.", fix=_FIX
        )
    refusal = checkpoint.refusal(composed.plan.flow.stages, composed.id)
    if refusal is not None:
        raise CheckpointFormatError(
            "chartFingerprint", f"The composition is not built as the one that paused: {refusal}", fix=_FIX
        ) from refusal


def leave(
    composed: Composed[Any],
    outer: OuterRun,
    checkpoint: EngineCheckpoint,
    *,
    identity: Identity | None,
) -> Paused:
    """Say that the run waits (AGT-75), and make what it waits with.

    Args:
        composed: The composition.
        outer: Its run.
        checkpoint: The engine's.
        identity: Whose run it is.
    """
    asking = next(frame for frame in reversed(checkpoint.frames) if isinstance(frame, MountFrame))
    inner = replace(checkpoint, state=asking.state, subflow_path=(), subflow_states=_EMPTY, frames=(), journal=None)
    paused = leave_part(outer.paused[asking.id].scope, inner, groups=(None, None, None))
    parts = {mount: part.scope for mount, part in outer.paused.items()}
    facts = PauseFacts(
        run_id=outer.facts.run_id,
        origin_run_id=outer.origin_run_id,
        agent_id=composed.id,
        identity=identity,
        session_id=outer.facts.session_id,
        parts={
            mount: PartFacts(
                origin_run_id=scope.tool_run.origin_run_id or "", call_counts=scope.tool_run.calls.counts()
            )
            for mount, scope in parts.items()
        },
    )
    live = LiveParts(parts={mount: LiveParts(scope.teardown, scope.held) for mount, scope in parts.items()})
    return replace(paused, checkpoint=PauseCheckpoint.of(checkpoint, facts, live))
