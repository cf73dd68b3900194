"""What happens in an agent's turn: it begins, iterates, routes, is judged and ends."""

from __future__ import annotations

from typing import Literal

from agentfootprint.events.payloads.base import Many, Number, Payload
from agentfootprint.trace import Record, Value

__all__ = [
    "BudgetExhausted",
    "CarriedBy",
    "ConfiguredArtifacts",
    "ConfiguredLLM",
    "ConfiguredMemory",
    "ConfiguredRecipe",
    "ConfiguredSkillGraph",
    "EvidenceChecked",
    "Handoff",
    "IterationEnd",
    "IterationStart",
    "OutputContractUnmet",
    "OutputSchemaRetry",
    "OutputSchemaValidationFailed",
    "RouteDecided",
    "RunConfigured",
    "ThinkingParseFailed",
    "TurnEnd",
    "TurnStart",
    "TurnStoppedEarly",
    "UnsupportedValue",
]

Posture = Literal["assist", "guard", "rails"]
OutputStage = Literal["json-parse", "schema-validate"]


class TurnStart(Payload, frozen=True, kw_only=True, gc=False):
    """A turn begins; the seed stage says so. A resume sends none."""

    type = "agentfootprint.agent.turn_start"

    turn_index: int
    """The turn, from 0."""
    user_prompt: str
    """What the user said, after the input rules."""


class TurnStoppedEarly(Record, frozen=True, kw_only=True, gc=False):
    """Why a turn ended with calls still proposed (AGT-133)."""

    reason: Literal["max-iterations", "cost-budget"]
    """Which budget ran out."""
    iteration: int
    """The iteration that was cut."""
    pending_tool_calls: int
    """Proposed calls that were not run."""
    wrapped_up: Literal[True] | None = None
    """The model was asked once more, without tools."""


class TurnEnd(Payload, frozen=True, kw_only=True, gc=False):
    """The answer exists; a failure and a pause send none."""

    type = "agentfootprint.agent.turn_end"

    turn_index: int
    """The turn, from 0."""
    final_content: str
    """The answer's text."""
    total_input_tokens: int
    """Sum over the turn's model calls."""
    total_output_tokens: int
    """Sum over the turn's model calls."""
    iteration_count: int
    """Iterations, a wrap-up included."""
    duration_ms: Number
    """Since the run began."""
    stopped_early: TurnStoppedEarly | None = None
    """Absent when the model finished by itself."""
    denied: Literal[True] | None = None
    """The answer was withheld by a rule, and is not here; absent otherwise (AGT-54)."""
    answer_coverage: Value = None
    """How far a typed answer reaches (NEW-45)."""
    answer_assessment: Value = None
    """How far the answer stands (NEW-51)."""


class IterationStart(Payload, frozen=True, kw_only=True, gc=False):
    """An iteration begins at the model-call stage, after its context was composed."""

    type = "agentfootprint.agent.iteration_start"

    turn_index: int
    """The turn, from 0."""
    iter_index: int
    """The iteration, from 1."""


class IterationEnd(Payload, frozen=True, kw_only=True, gc=False):
    """An iteration is over; one that failed or paused sends none, a resumed one sends it in the new run."""

    type = "agentfootprint.agent.iteration_end"

    turn_index: int
    """The turn, from 0."""
    iter_index: int
    """The iteration, from 1."""
    tool_call_count: int
    """Tool calls that this leg closed."""
    history: Many[Value] | None = None
    """The messages so far, a view on the run's history (JSON objects when read from a file); absent at the end."""


class RouteDecided(Payload, frozen=True, kw_only=True, gc=False):
    """What follows a model's reply; exactly once per decision (AGT-52)."""

    type = "agentfootprint.agent.route_decided"

    turn_index: int
    """The turn, from 0."""
    iter_index: int
    """The iteration, from 1."""
    chosen: Literal["tool-calls", "final", "output-retry", "step-nudge", "evidence-recheck", "wrap-up"]
    """The branch that is taken."""
    rationale: str | None = None
    """Why, in words."""


class Handoff(Payload, frozen=True, kw_only=True, gc=False):
    """One agent passes the work on to another (EVT-33)."""

    type = "agentfootprint.agent.handoff"

    from_agent_id: str
    """Who gave it away."""
    to_agent_id: str
    """Who goes on."""
    reason: str | None = None
    """Why, in words."""
    via_protocol: Literal["native", "mcp", "http"] | None = None
    """How the other agent is reached."""


class OutputSchemaValidationFailed(Payload, frozen=True, kw_only=True, gc=False):
    """An attempt under the reliability gate missed its schema; comes before the rules judge it (REL-10)."""

    type = "agentfootprint.agent.output_schema_validation_failed"

    message: str
    """What the validator said."""
    stage: OutputStage
    """Not JSON at all, or JSON of another shape."""
    path: str | None = None
    """Where in the value."""
    raw_output: str | None = None
    """The answer as the model wrote it."""
    attempt: int
    """The attempt, from 1."""
    cumulative_retries: int
    """Retries so far in this call."""
    draft_withheld: Literal[True] | None = None
    """The draft's text is kept out (NEW-108)."""


class OutputSchemaRetry(Payload, frozen=True, kw_only=True, gc=False):
    """The model is about to be asked again for a typed answer (AGT-124)."""

    type = "agentfootprint.agent.output_schema_retry"

    attempt: int
    """The attempt that failed, from 1."""
    retries_remaining: int
    """Retries left after this one."""
    iteration: int
    """The iteration, from 1."""
    stage: OutputStage
    """Not JSON at all, or JSON of another shape."""
    error: str
    """What the validator said."""
    path: str | None = None
    """Where in the value."""
    corrective_message_hash: str
    """FNV-1a of the message that asks again."""


class OutputContractUnmet(Payload, frozen=True, kw_only=True, gc=False):
    """The run hands back an answer that its schema rejects; once (AGT-127)."""

    type = "agentfootprint.agent.output_contract_unmet"

    stage: OutputStage
    """Not JSON at all, or JSON of another shape."""
    error: str
    """What the validator said."""
    path: str | None = None
    """Where in the value."""
    attempts: int
    """Answers that were judged."""
    retries_spent: int
    """Times the model was asked again."""
    fallback_configured: bool
    """Whether a fallback will be tried."""
    iteration: int
    """The iteration, from 1."""
    broken_by: str | None = None
    """The output rule that broke an answer which had passed."""


class UnsupportedValue(Record, frozen=True, kw_only=True, gc=False):
    """A value of the answer that no evidence carries."""

    value: str
    """As it stands in the answer."""
    shape: str
    """Which pattern found it."""


class CarriedBy(Record, frozen=True, kw_only=True, gc=False):
    """A tool result that carried values of the answer (NEW-120)."""

    tool_call_id: str
    """The call that gave the result."""
    values: int
    """How many of the answer's values it carried."""
    only: int
    """How many of them nothing else carried."""


class EvidenceChecked(Payload, frozen=True, kw_only=True, gc=False):
    """The evidence gate judged an answer (EVD-10)."""

    type = "agentfootprint.agent.evidence_checked"

    iteration: int
    """The iteration, from 1."""
    posture: Posture
    """How strict the gate is."""
    candidates: int
    """Values found in the answer."""
    unsupported: tuple[UnsupportedValue, ...]
    """Those that no evidence carries."""
    action: Literal["grounded", "flagged", "revision-asked", "refused"]
    """What followed."""
    after_revision: bool
    """Whether the answer is already a revision."""
    evidence_truncated: bool | None = None
    """The evidence was too large to be read whole."""
    looked_up: int | None = None
    """Values searched for, found or not (NEW-30)."""
    computed: Many[Value] | None = None
    """Figures accepted as fixed computations over carried numbers (NEW-30)."""
    carried_by: tuple[CarriedBy, ...] | None = None
    """Which results carried values; absent when the list can't be whole."""
    staged_refs: tuple[str, ...] | None = None
    """Results staged by reference that the revision names (NEW-26)."""
    spender_tools: tuple[str, ...] | None = None
    """Tools that can read them (NEW-26)."""


class ConfiguredLLM(Record, frozen=True, kw_only=True, gc=False):
    """Which model a run was configured with."""

    provider: str
    """The provider's name."""
    model: str
    """The model's name."""
    model_overrides: tuple[str, ...] | None = None
    """What may replace it per call: `configure`, `skill-brains`."""


class ConfiguredMemory(Record, frozen=True, kw_only=True, gc=False):
    """One memory of a run, by names only (MEM-29)."""

    id: str
    """The memory's id."""
    type: str
    """`episodic`, `semantic`, `narrative` or `causal`."""
    strategy: str | None = None
    """The strategy's name."""
    retrieval: str | None = None
    """The retrieval strategy's name."""
    embedder_id: str | None = None
    """The embedder's fingerprint."""
    flavor: str | None = None
    """`rag` for a document collection."""


class ConfiguredSkillGraph(Record, frozen=True, kw_only=True, gc=False):
    """How a run's skill map is mounted."""

    routing: Posture | None = None
    """How strictly picks are gated."""
    continuity: Literal["turn", "conversation"] | None = None
    """Whether the position is kept over turns."""
    scorer: str | None = None
    """The entry scorer's name."""


class ConfiguredArtifacts(Record, frozen=True, kw_only=True, gc=False):
    """Which dials of the artifact store are on; the store is never named."""

    placement: Literal[True] | None = None
    """Large results are placed."""
    recordings: Literal[True] | None = None
    """Recordings are kept as artifacts."""


class ConfiguredRecipe(Record, frozen=True, kw_only=True, gc=False):
    """A recipe that was applied (RCP-6)."""

    id: str
    """The recipe's id."""
    version: str
    """Its version."""


class RunConfigured(Payload, frozen=True, kw_only=True, gc=False):
    """What a run is made of: names and ids, never an address, a key, a threshold, a prompt or a tenant.

    The first event of every run id, of a resume too; only when somebody listens or records (AGT-153).
    """

    type = "agentfootprint.agent.run_configured"
    outside_stage = "run-configured#0"

    agent_id: str
    """The agent's id."""
    llm: ConfiguredLLM
    """Provider and model."""
    react_mode: Literal["classic", "dynamic", "dynamic-grouped"]
    """How the loop is mounted."""
    memories: tuple[ConfiguredMemory, ...]
    """Written also when there are none."""
    window: str | None = None
    """The window strategy's name."""
    skill_graph: ConfiguredSkillGraph | None = None
    """The mounted skill map."""
    evidence_gate: Posture | None = None
    """The evidence gate's posture."""
    artifacts: ConfiguredArtifacts | None = None
    """The artifact store's dials."""
    recipes: tuple[ConfiguredRecipe, ...] | None = None
    """Recipes that were applied."""


class ThinkingParseFailed(Payload, frozen=True, kw_only=True, gc=False):
    """A thinking handler raised; its blocks are dropped and the run goes on (THK-5)."""

    type = "agentfootprint.agent.thinking_parse_failed"

    provider_name: str
    """The provider whose reply was read."""
    subflow_id: str
    """The stage's mount."""
    error: str
    """The error's message; handlers keep raw thinking out of it."""
    error_name: str
    """The error's class."""
    iteration: int
    """The iteration, from 1."""


class BudgetExhausted(Payload, frozen=True, kw_only=True, gc=False):
    """A budget ended the turn's work; once per turn, after `cost.limit_hit` of the same boundary (AGT-133)."""

    type = "agentfootprint.agent.budget_exhausted"

    reason: Literal["max-iterations", "cost-budget"]
    """Which budget ran out."""
    iteration: int
    """The iteration, from 1."""
    limit: int | None = None
    """The iteration limit; absent for a cost budget."""
    pending_tool_calls: int
    """Proposed calls that will not run."""
    action: Literal["wrapped-up", "cut-short"]
    """Whether the model is asked once more, without tools."""
