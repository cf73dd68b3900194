"""What happens to skills and maps: they are declared, entered, refused, stepped through and left."""

from __future__ import annotations

from typing import Literal

from msgspec import field

from agentfootprint.events.payloads.base import Number, Payload
from agentfootprint.events.payloads.context import Witness
from agentfootprint.trace import Record, Value

__all__ = [
    "BrainRef",
    "ConflictSide",
    "DeciderVerdict",
    "DroppedResume",
    "EdgeGuard",
    "MapEdge",
    "MapEngaged",
    "MapNode",
    "MapParked",
    "ProcedureStep",
    "RemainingStep",
    "RoutingPolicy",
    "RunnerUp",
    "SkillActivated",
    "SkillDeactivated",
    "SkillEscalated",
    "SkillGraphDeclared",
    "SkillRejected",
    "SkillRerouteSuperseded",
    "SkillRouteConflict",
    "SkillScore",
    "SkillStepAdvanced",
    "SkillStepSkipped",
    "SkillStepsUnfinished",
    "SkillTurnRouted",
]

Strength = Literal["explicit", "structural", "semantic", "lexical", "assumed"]


class SkillActivated(Payload, frozen=True, kw_only=True, gc=False):
    """A skill's body and tools came into force (SKL-19)."""

    type = "agentfootprint.skill.activated"

    skill_id: str
    """The skill's id."""
    reason: Literal["autoActivate", "read_skill_result", "manual"]
    """What activated it."""
    injected_tools: tuple[str, ...] | None = None
    """Tools it brought."""
    injected_system_prompt_chars: int | None = None
    """Length of the text it brought."""


class MapNode(Record, frozen=True, kw_only=True, gc=False):
    """One skill of a declared map."""

    id: str
    """The skill's id."""
    kind: str
    """What kind of node it is."""
    description: str | None = None
    """What the model reads about it."""
    label: str | None = None
    """Its label on the drawing."""
    title: str | None = None
    """Its plain name (NEW-61)."""


class EdgeGuard(Record, frozen=True, kw_only=True, gc=False):
    """The conditions an edge asks for."""

    conditions: Value
    """As declared."""


class MapEdge(Record, frozen=True, kw_only=True, gc=False):
    """One edge of a declared map."""

    from_: str | None = field(name="from")
    """The skill it leaves; null for an entry."""
    to: str
    """The skill it leads to."""
    kind: Literal["entry", "predicate", "on-tool-return", "on-tool-status", "guard", "model"]
    """What opens it."""
    label: str | None = None
    """Its label."""
    guard: EdgeGuard | None = None
    """Its conditions."""


class SkillGraphDeclared(Payload, frozen=True, kw_only=True, gc=False):
    """The map a run works on, exactly as declared; once per run, after `run_configured` (DRAW-5)."""

    type = "agentfootprint.skill.graph_declared"
    outside_stage = "graph-declared#0"

    nodes: tuple[MapNode, ...]
    """The skills, in registration order."""
    edges: tuple[MapEdge, ...]
    """The ways between them."""


class SkillDeactivated(Payload, frozen=True, kw_only=True, gc=False):
    """A skill's body and tools are no longer in force (SKL-19)."""

    type = "agentfootprint.skill.deactivated"

    skill_id: str
    """The skill's id."""
    reason: str
    """Why, in words."""


class SkillRejected(Payload, frozen=True, kw_only=True, gc=False):
    """A skill the model asked for was refused (GATE-1, GATE-3)."""

    type = "agentfootprint.skill.rejected"

    requested_id: str
    """What it asked for."""
    current_skill_id: str | None = None
    """Where the map stands."""
    allowed: tuple[str, ...]
    """What the model was told it may ask for."""
    iteration: int
    """The iteration, from 1."""
    posture: Literal["guard", "rails"] | None = None
    """The posture that refused it."""
    reason: Literal["self-call", "unreachable", "posture"] | None = None
    """Why (NEW-79)."""


class SkillRerouteSuperseded(Payload, frozen=True, kw_only=True, gc=False):
    """An accepted pick or proposal did not come about (CUR-12)."""

    type = "agentfootprint.skill.reroute_superseded"

    volunteered_id: str
    """What was accepted."""
    won_id: str | None = None
    """What won."""
    from_skill_id: str | None = None
    """Where the map stood."""
    iteration: int
    """The iteration, from 1."""
    source: Literal["tool-proposal"] | None = None
    """Present when a tool had proposed it."""


class ConflictSide(Record, frozen=True, kw_only=True, gc=False):
    """One of several proposals in a batch."""

    tool_call_id: str | None = None
    """The call that proposed."""
    tool_name: str
    """Its tool."""
    target: str
    """The skill it proposed."""


class SkillRouteConflict(Payload, frozen=True, kw_only=True, gc=False):
    """Tools of one batch proposed different skills; the first accepted wins (CUR-9)."""

    type = "agentfootprint.skill.route_conflict"

    iteration: int
    """The iteration, from 1."""
    from_skill_id: str | None = None
    """Where the map stood."""
    winner: ConflictSide
    """The proposal that won."""
    losers: tuple[ConflictSide, ...]
    """The others."""
    source: str | None = None
    """`tool-proposal`."""


class SkillScore(Record, frozen=True, kw_only=True, gc=False):
    """How well a skill fits a message."""

    id: str
    """The skill's id."""
    score: Number
    """As the scorer gave it."""
    relevance: Number
    """Softmax over all scores, from 0 to 1."""


class RunnerUp(Record, frozen=True, kw_only=True, gc=False):
    """The second best."""

    id: str
    """The skill's id."""
    gap: Number
    """How far behind."""


class RoutingPolicy(Record, frozen=True, kw_only=True, gc=False):
    """The thresholds a verdict was made with."""

    near_tie_margin: Number
    """Below it two skills tie."""
    menu_size: int
    """How many a menu offers."""
    floor: Number | None = None
    """The score to reach."""


class DroppedResume(Record, frozen=True, kw_only=True, gc=False):
    """A kept position that could not be taken up."""

    id: str
    """The skill it named."""
    reason: Literal["unknown-skill"]
    """Why."""


class DeciderVerdict(Record, frozen=True, kw_only=True, gc=False):
    """A model that was asked to choose from the menu (TURN-12)."""

    provider: str
    """Its provider's name."""
    model: str | None = None
    """Its name."""
    picked: str | None = None
    """What it chose; absent when it could not say."""


class SkillTurnRouted(Payload, frozen=True, kw_only=True, gc=False):
    """Where a turn begins on the map; before iteration 1."""

    type = "agentfootprint.skill.turn_routed"

    by: Literal["entry", "intent", "continuity", "menu", "decider", "none"]
    """What decided."""
    from_: str | None = field(default=None, name="from")
    """Where the map stood."""
    to: str | None = None
    """Where the turn begins."""
    scorer: str | None = None
    """The scorer's name."""
    scores: tuple[SkillScore, ...] | None = None
    """Every score."""
    runner_up: RunnerUp | None = None
    """The second best."""
    decisive: bool | None = None
    """Whether the best is clear."""
    witness: Witness | None = None
    """The words that decided."""
    offered: tuple[str, ...] | None = None
    """The menu."""
    stay_offered: bool | None = None
    """Whether staying is on it."""
    policy: RoutingPolicy
    """The thresholds."""
    window: int | None = None
    """Earlier messages the scorer was given."""
    dropped_resume: DroppedResume | None = None
    """A kept position that could not be taken up."""
    decider: DeciderVerdict | None = None
    """A model that was asked."""


class ProcedureStep(Record, frozen=True, kw_only=True, gc=False):
    """A step of a skill's procedure."""

    index: int
    """Its place, from 0."""
    total: int
    """Steps of the procedure."""
    tool: str
    """The tool it is for."""
    note: str
    """What the model reads about it."""


class SkillStepAdvanced(Payload, frozen=True, kw_only=True, gc=False):
    """A step of a procedure is done."""

    type = "agentfootprint.skill.step_advanced"

    skill_id: str
    """The skill's id."""
    step: ProcedureStep
    """The step."""
    iteration: int
    """The iteration, from 1."""
    tool_call_id: str | None = None
    """The call that did it."""
    completed: Literal[True] | None = None
    """It was the last one."""


class SkillStepSkipped(Payload, frozen=True, kw_only=True, gc=False):
    """The model skipped a step of a procedure."""

    type = "agentfootprint.skill.step_skipped"

    skill_id: str
    """The skill's id."""
    step: ProcedureStep
    """The step."""
    reason: str
    """The model's reason."""
    policy: Literal["advance", "hold"]
    """Whether the procedure moved on."""
    iteration: int
    """The iteration, from 1."""
    tool_call_id: str | None = None
    """The call that skipped it."""


class RemainingStep(Record, frozen=True, kw_only=True, gc=False):
    """A step that was not done."""

    index: int
    """Its place, from 0."""
    tool: str
    """The tool it is for."""
    note: str
    """What the model reads about it."""


class SkillStepsUnfinished(Payload, frozen=True, kw_only=True, gc=False):
    """The model wants to answer before a procedure is done."""

    type = "agentfootprint.skill.steps_unfinished"

    skill_id: str
    """The skill's id."""
    remaining: tuple[RemainingStep, ...]
    """What is left."""
    total: int
    """Steps of the procedure."""
    action: Literal["nudged", "accepted", "cut-short"]
    """What followed."""
    iteration: int
    """The iteration, from 1."""


class BrainRef(Record, frozen=True, kw_only=True, gc=False):
    """A model by name."""

    provider: str
    """The provider's name."""
    model: str | None = None
    """The model's name."""


class SkillEscalated(Payload, frozen=True, kw_only=True, gc=False):
    """Too many refusals: another model takes over for the rest of the turn (BRN-4)."""

    type = "agentfootprint.skill.escalated"

    iteration: int
    """The iteration, from 1."""
    after_refusals: int
    """The declared limit."""
    refusals: int
    """Refusals in this turn."""
    from_: BrainRef = field(name="from")
    """The model until now."""
    to: BrainRef
    """The model from now on."""


class MapEngaged(Payload, frozen=True, kw_only=True, gc=False):
    """A map's prompt and tools ride the next call (ENG-9)."""

    type = "agentfootprint.map.engaged"

    map_id: str
    """The map's id."""
    iteration: int
    """The iteration, from 1."""
    by: Strength
    """How strong the reason is."""
    witness: Value = None
    """What decided, as the move carries it."""
    reengaged: Literal[True] | None = None
    """It had been parked."""
    upgraded: Literal[True] | None = None
    """A stronger reason came."""
    founded_by: Strength | None = None
    """The reason it was first engaged for."""
    tenant_changed: Literal[True] | None = None
    """The position moved to another skill of the map."""
    at: str | None = None
    """Where the position is."""


class MapParked(Payload, frozen=True, kw_only=True, gc=False):
    """A map's prompt and tools are left out until something asks for them (ENG-9)."""

    type = "agentfootprint.map.parked"

    map_id: str
    """The map's id."""
    iteration: int
    """The iteration, from 1."""
    by: Strength
    """The reason it had been engaged for."""
    idle_calls: int
    """Passes in which nothing asked for it."""
    witness: Value = None
    """What had decided, as the move carries it."""
