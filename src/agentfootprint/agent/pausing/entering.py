"""May this run be taken up with this answer? All refusals, before anything of the new run exists (AGT-76)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from agentfootprint.agent.errors import CheckpointFormatError, PauseAnswerRequiredError
from agentfootprint.agent.options import check_group
from agentfootprint.agent.pausing.approvals import approvals_in
from agentfootprint.agent.pausing.checkpoint import LiveParts, PauseCheckpoint, PauseFacts
from agentfootprint.agent.pausing.decisions import (
    Decision,
    is_decision,
    pause_demands_decision,
    refuse_stale,
    require_decision,
)
from agentfootprint.agent.pausing.paused import Paused, paused_of
from agentfootprint.agent.pausing.rebuilding import rebuilt, system_text
from agentfootprint.agent.pausing.waiting import TakenUp, Waiting, read_waiting
from agentfootprint.agent.shaping.restoring import restore_shape
from agentfootprint.events import MetaMarks, PauseResume
from agentfootprint.flow import PauseCheckpoint as EngineCheckpoint
from agentfootprint.identity import Identity
from agentfootprint.tools import DispatchedCalls, read_component, read_reply
from agentfootprint.trace import FrozenDict, FrozenList, Value, freeze

if TYPE_CHECKING:
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.agent.scope import RunScope

__all__ = ["MISSING", "Resumption", "accept_answer"]

MISSING: Final = msgspec.UNSET
"""No answer at all; `None` is the answer null."""

_STAGE: Final = "tool-calls"
_FIX: Final = "Resume the agent that paused, built the same way, with its checkpoint as it was stored."


class Resumption:
    """A paused run with its answer, accepted: what the new run is made from."""

    def __init__(
        self,
        checkpoint: PauseCheckpoint,
        answer: Value,
        live: LiveParts,
        identity: Identity | None,
        system: str | None,
        *,
        given: Value,
        is_partial: bool,
        waiting: Sequence[Waiting] | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.answer = answer
        """What the call that asked gets."""
        self.given = given
        """What the person gave."""
        self.is_partial = is_partial
        """Whether the checkpoint, with the values that were given, waits for more of them."""
        self.waiting = waiting
        """The calls that wait together, where several do; then `answer` has a decision for each that asks."""
        self.live = live
        self.identity = identity
        self.system = system
        """The system prompt of the pass that asked."""
        self.facts: PauseFacts = checkpoint.facts

    @property
    def message(self) -> str:
        """What the user had said."""
        return self.checkpoint.state["userMessage"]

    @property
    def max_iterations(self) -> int:
        """The turn's limit, as it began."""
        return self.checkpoint.state["maxIterations"]

    def header(self) -> dict[str, Any]:
        """What the recording of the new run says about itself."""
        return {"flags": ["resumed"], "resumed": {"runId": self.facts.run_id}}

    def restore(self, scope: RunScope) -> None:
        """Give the scope of the new run what the turn had come to."""
        state, run, facts = self.checkpoint.state, scope.tool_run, self.facts
        run.origin_run_id = facts.origin_run_id or facts.run_id or run.run_id
        run.calls = DispatchedCalls(facts.call_counts)
        attempts = state.get("outputAttempts")
        scope.attempts = len(attempts) if isinstance(attempts, FrozenList) else 0
        scope.wrap_up_asked = state.get("wrapUpAsked") is True
        restore_shape(scope, state)
        remembered = state.get("rememberedApprovals")
        if isinstance(remembered, FrozenList):
            scope.approvals = approvals_in(remembered)
        live = self.live = self.live.take()
        if live.teardown is not None and not live.teardown.closed:
            scope.teardown = run.teardown = live.teardown
            scope.teardown.tell = scope.hear_session
        if live.call is not None:
            live.call.tell = scope.hear_session
        scope.held = live.call
        if self.waiting is not None:
            scope.taken_up = TakenUp(self.waiting)
        scope.system_before = self.system

    def marks(self) -> MetaMarks | None:
        """What the meta of that event adds: the run that paused (EVT-31)."""
        return MetaMarks(resumed_run_id=self.facts.run_id) if self.facts.run_id else None

    def resumed(self, now_ms: int) -> PauseResume:
        """The event that says it goes on."""
        given = self.given
        component = read_component(self.checkpoint.pause_data)
        return PauseResume(
            resume_input=given if isinstance(given, FrozenDict) else FrozenDict({"input": given}),
            paused_duration_ms=max(0, now_ms - self.checkpoint.paused_at),
            component_id=None if component is None else component["componentId"],
        )


def accept_answer(
    plan: AgentPlan,
    paused: object,
    answer: object,
    *,
    identity: Identity | None = None,
    allow_chart_change: bool = False,
) -> Resumption:
    """Check a checkpoint and an answer against an agent and against each other.

    Raises:
        CheckpointFormatError: It is no checkpoint of a paused run, or of another agent or chart.
        DecisionRequiredError: A consent gate needs a decision.
        PauseAnswerRequiredError: There is no answer.
        StaleDecisionError: The answer was chosen on other data than the question showed.
        OpenQuestionsError: Several questions are open, and the answers are not one for each.
        InputRequestError: The reply does not fit the request for values.
        ValueRefusedError: The answer can't be recorded.
    """
    if identity is not None:
        check_group("identity", identity, Identity)
    checkpoint = _checkpoint(paused)
    checkpoint = _of_this_agent(plan, checkpoint, allow_chart_change=allow_chart_change)
    known = checkpoint.facts.identity
    if identity is not None and known is not None and identity != known:
        raise CheckpointFormatError(
            "agentfootprint.identity",
            "The run was paused for another identity than it is to be resumed for.",
            fix="Leave identity out: a resumed run keeps that of the paused one.",
        )
    gate = pause_demands_decision(checkpoint.pause_data)
    _refuse_contradiction(checkpoint, None if gate is None else gate.kind)
    waiting = read_waiting(checkpoint.state)
    if waiting is not None:
        return _accept_together(plan, checkpoint, waiting, answer, identity or known)
    if gate is not None:
        if not is_decision(answer):
            from agentfootprint.agent.pausing.together.answers import sole_decision  # whoever answers each in a list

            answer = sole_decision(paused_of(checkpoint).questions, answer)
        require_decision(gate, answer)
    elif answer is MISSING:
        state = checkpoint.state
        raise PauseAnswerRequiredError(str(state.get("pausedToolName", "")), str(state.get("pausedToolCallId", "")))
    refuse_stale(checkpoint.pause_data, answer)
    given = freeze(answer.to_wire() if isinstance(answer, Decision) else answer)
    taken, is_partial = given, False
    request = checkpoint.state.get("pausedInput")
    if gate is None and isinstance(request, FrozenDict):
        reply = read_reply(request, given)
        is_partial = not (reply.is_complete or reply.is_cancelled)
        taken = reply.result()
        checkpoint = _with_request(checkpoint, reply.request)
    composes = plan.mode != "classic"
    rebuilt_ = checkpoint if is_partial else checkpoint.with_state(rebuilt(checkpoint.state, composes=composes))
    return Resumption(
        rebuilt_,
        taken,
        checkpoint.live,
        identity or known,
        system_text(checkpoint.state),
        given=given,
        is_partial=is_partial,
    )


def _accept_together(
    plan: AgentPlan,
    checkpoint: PauseCheckpoint,
    waiting: Sequence[Waiting],
    answer: object,
    identity: Identity | None,
) -> Resumption:
    """The same where calls wait together: every question has its decision, or nothing happens (AGU-73)."""
    from agentfootprint.agent.pausing.together.answers import accept_decisions, check_questions, check_waiting

    questions = paused_of(checkpoint).questions
    check_questions(waiting, questions, _FIX)
    given, decisions = accept_decisions(questions, answer)
    state = rebuilt(checkpoint.state, composes=plan.mode != "classic")
    check_waiting(state, waiting, _FIX)
    return Resumption(
        checkpoint.with_state(state),
        decisions,
        checkpoint.live,
        identity,
        system_text(checkpoint.state),
        given=given,
        is_partial=False,
        waiting=waiting,
    )


def _refuse_contradiction(checkpoint: PauseCheckpoint, gate: str | None) -> None:
    """What was asked and what the run waits for must be one thing: a gate is never taken for a plain question."""
    state = checkpoint.state
    waits = "checkIn" if state.get("pausedCheckIn") is True else "ask" if state.get("pausedAsk") is True else None
    if gate != waits:
        raise CheckpointFormatError(
            "pauseData", "The checkpoint's 'pauseData' is not the question that its state waits for.", fix=_FIX
        )


def _with_request(checkpoint: PauseCheckpoint, request: FrozenDict) -> PauseCheckpoint:
    """The checkpoint with the values of a request that were given so far (NEW-6)."""
    data = FrozenDict({**dict(checkpoint.pause_data.items()), "awaitingInput": request})
    state = FrozenDict({**dict(checkpoint.state.items()), "pausedInput": request})
    return replace(checkpoint, state=state, pause_data=data)


def _checkpoint(given: object) -> PauseCheckpoint:
    if isinstance(given, Paused):
        return given.checkpoint
    if isinstance(given, PauseCheckpoint):
        return given
    if isinstance(given, EngineCheckpoint):
        return PauseCheckpoint.of(given, PauseFacts())
    if isinstance(given, Mapping):
        return PauseCheckpoint.from_wire(cast("Mapping[str, Any]", given))
    hint = " Read a stored text with PauseCheckpoint.from_json(text)." if isinstance(given, (str, bytes)) else ""
    raise CheckpointFormatError(
        "checkpoint",
        f"A {type(given).__name__} is no paused run.",
        fix=f"Give result.paused, or its checkpoint.{hint}",
    )


def _of_this_agent(plan: AgentPlan, checkpoint: PauseCheckpoint, *, allow_chart_change: bool) -> PauseCheckpoint:
    stages = plan.flow.stages
    if checkpoint.paused_stage_id != _STAGE or checkpoint.subflow_path:
        where = "/".join((*checkpoint.subflow_path, checkpoint.paused_stage_id))
        raise CheckpointFormatError("pausedStageId", f"An agent does not pause in {where!r}.", fix=_FIX)
    if allow_chart_change:
        return replace(checkpoint, fingerprint=None, stages=None)
    made_by = checkpoint.facts.agent_id
    if made_by is not None and made_by != plan.id:
        raise CheckpointFormatError(
            "agentfootprint.agentId", f"The run of the agent {made_by!r} can't be resumed by {plan.id!r}.", fix=_FIX
        )
    refusal = checkpoint.refusal(stages, "Agent")
    if refusal is not None:
        raise CheckpointFormatError(
            "chartFingerprint",
            f"The agent's chart is not the one that paused: {refusal}",
            fix="Build the agent as it was, or pass allow_chart_change=True to go on regardless.",
        ) from refusal
    return checkpoint
