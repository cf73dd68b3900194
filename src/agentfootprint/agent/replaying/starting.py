"""With what did a recorded run begin, and may this agent begin so again? All refusals, before anything runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentfootprint.agent.errors import ReplayRefusedError
from agentfootprint.agent.options import RunOptions
from agentfootprint.agent.pausing.checkpoint import LiveParts, PauseCheckpoint
from agentfootprint.agent.pausing.decisions import pause_demands_decision
from agentfootprint.agent.pausing.entering import MISSING, Resumption, accept_answer
from agentfootprint.agent.pausing.paused import Paused
from agentfootprint.agent.pausing.waiting import TOGETHER
from agentfootprint.events import (
    ErrorFatal,
    Event,
    IntegrityDisposition,
    PauseResume,
    ToolsSessionClosed,
    ToolsSessionCloseFailed,
)
from agentfootprint.identity import Identity
from agentfootprint.llm import humanize_llm_error
from agentfootprint.recording import Recording
from agentfootprint.trace import JsonObject, Value, as_list, as_object, thaw

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.keeping.continuing import Continuation
    from agentfootprint.agent.replaying.heard import Heard

__all__ = [
    "beginning_of",
    "check_replayable",
    "identity_of",
    "ids_of",
    "refuse_composed",
    "refuse_if_stopped",
    "refuse_redacted",
    "resumption_of",
]

_SAID_OF_AGENTS: Final = ("fingerprint", "id", "provider", "model")
_SOLE: Final = {"input"}
_CLOSING: Final = (ErrorFatal, IntegrityDisposition, ToolsSessionClosed, ToolsSessionCloseFailed)
"""What is told when a run is over, however it ended."""


def refuse_redacted(recording: Recording) -> None:
    """Refuse a run of which a policy kept something out (NEW-105).

    Raises:
        ReplayRefusedError: It is so.
    """
    if recording.redaction is not None:
        raise ReplayRefusedError(
            "redacted",
            recording.run_id,
            "a policy kept values out of its recording, so what was said and done is not there to be fed.",
            fix="Replay a run that was recorded without RecordOptions(redaction=...).",
        )


def refuse_composed(recording: Recording) -> None:
    """Refuse the run of a composition, of which an agent was a part at most.

    Raises:
        ReplayRefusedError: It is so.
    """
    if as_object(recording.header.get("composition")) is not None:
        raise ReplayRefusedError(
            "another-agent",
            recording.run_id,
            "it was made by a composition of agents, and not by one agent.",
            fix="Replay a run of the agent alone; `why` walks across the agents of this one.",
        )


def check_replayable(agent: Agent[Any, Any], recording: Recording, heard: Heard) -> None:
    """Refuse what can't be replayed.

    Raises:
        ReplayRefusedError: Another agent made it, it holds nothing to feed, or it has no end.
    """
    run_id = recording.run_id
    if not recording.events:
        raise ReplayRefusedError(
            "no-answers", run_id, "its recording holds no events.", fix="Record the run whole, with its events."
        )
    if recording.ended is None or "torn-last-line" in recording.flags:
        raise ReplayRefusedError(
            "not-ended",
            run_id,
            "its recording has no end: it was cut off, or the run goes on.",
            fix="Replay it when it has ended; of a run that a crash cut only `resume_on_error` makes more.",
        )
    made_by, own = as_object(recording.header.get("agent")) or {}, agent.spec
    differing = next((key for key in _SAID_OF_AGENTS if key in made_by and made_by[key] != own.get(key)), None)
    if differing is not None:
        what = "what it is made of" if differing == "fingerprint" else f"its {differing}"
        raise ReplayRefusedError(
            "another-agent",
            run_id,
            f"it was made by another agent than {agent.id!r}, or by this one before it was changed: {what} differs.",
            fix="Build the agent as it was: model, system prompt, tools and context.",
        )
    unanswered = any(reply.end is None for reply in heard.replies)
    waits = unanswered or any(each.end is None for each in heard.performances.values())
    lacks = waits if recording.ended == "done" else unanswered and recording.ended == "paused"
    begins = not isinstance(recording.events[0].payload, PauseResume)
    if lacks or (begins and recording.user_message is None):
        raise ReplayRefusedError(
            "no-answers",
            run_id,
            "its recording does not hold what was asked and answered.",
            fix="Record the run whole; what redacts a recording may have taken it out.",
        )


def refuse_if_stopped(
    recording: Recording, heard: Heard, was: Sequence[Event[Any]], now: Sequence[Event[Any]], index: int
) -> None:
    """Refuse a run that was stopped from outside where nothing else differs than the place where it stops.

    Args:
        recording: The run.
        heard: What it heard.
        was: Its events.
        now: Those of the replay.
        index: The first that differs.

    Raises:
        ReplayRefusedError: It is so.
    """
    if heard.failure not in _stops():
        return
    if any(index < len(each) and isinstance(each[index].payload, _CLOSING) for each in (was, now)):
        raise ReplayRefusedError(
            "stopped",
            recording.run_id,
            "it was stopped from outside, in between what it heard, and that has no place in its recording; "
            "up to there the replay is the same.",
            fix="Replay a run that ended by itself.",
        )


def _stops() -> tuple[str, ...]:
    return humanize_llm_error(asyncio.CancelledError()), humanize_llm_error(TimeoutError())


def ids_of(recording: Recording, events: Sequence[Event[Any]], model: str) -> RunOptions:
    """The ids that the run had, so that the replay says the same, and the model that its caller chose."""
    meta = events[0].meta
    asked = recording.calls[0].model if recording.calls else model
    return RunOptions(
        run_id=recording.run_id,
        correlation_id=meta.correlation_id,
        trace_id=meta.trace_id,
        model=None if asked == model else asked,
    )


def identity_of(recording: Recording, session_id: str | None) -> Identity | None:
    """Whose run it was, if a caller said so."""
    found = as_object(recording.value_at("runIdentity", 1))
    if found is None or dict(found.items()) == {"conversationId": session_id or recording.run_id}:
        return None
    return msgspec.convert(thaw(found), Identity)


def beginning_of(agent: Agent[Any, Any], recording: Recording, message: str) -> Continuation | None:
    """The conversation that the run went on with; `None` when there was none."""
    history = as_list(recording.value_at("history", 1)) or ()
    about = as_object(recording.header.get("continued"))
    last: Mapping[str, Any] = as_object(thaw(history[-1])) or {} if history else {}
    said = last.get("role") == "user" and last.get("content") == message
    again = about is not None and about.get("again") is True
    before = list(history) if again or not said else list(history)[:-1]
    if not before:
        return None
    from agentfootprint.agent.keeping.continuing import continuation_of

    approvals = as_list(recording.value_at("rememberedApprovals", 1))
    conversation: dict[str, Any] = {
        "version": 1,
        "runId": recording.run_id if about is None else about.get("runId", ""),
        "history": [thaw(each) for each in before],
        "lastCompletedIteration": 0,
        "originalInput": {"message": message},
        "checkpointedAt": 0,
    }
    if approvals:
        conversation["agentfootprint"] = {"schema": 1, "approvals": thaw(approvals)}
        conversation["identity"] = identity_of(recording, recording.events[0].meta.session_id)  # theirs they are
    return continuation_of(agent.plan, conversation, appends=said and not again, removed=agent.removed)


def resumption_of(
    agent: Agent[Any, Any],
    recording: Recording,
    events: Sequence[Event[Any]],
    paused: Paused | PauseCheckpoint | JsonObject | None,
) -> Resumption | None:
    """The checkpoint and the answer that the run was taken up with; `None` for a run that began anew.

    Raises:
        ReplayRefusedError: It was taken up, and its checkpoint is not given, or another one is.
        CheckpointFormatError: What is given is no checkpoint of this agent.
    """
    about = as_object(recording.header.get("resumed"))
    answered = events[0].payload if events else None
    if not isinstance(answered, PauseResume):
        return None
    if paused is None:
        raise ReplayRefusedError(
            "resumed",
            recording.run_id,
            "it went on with a run that had paused, and the checkpoint of that is not given.",
            fix="Give it: agent.replay(recording, paused=checkpoint).",
        )
    checkpoint = paused.checkpoint if isinstance(paused, Paused) else paused
    live = checkpoint.live.groups if isinstance(checkpoint, PauseCheckpoint) else (None, None, None)
    wire = checkpoint.to_wire() if isinstance(checkpoint, PauseCheckpoint) else checkpoint
    stored = replace(PauseCheckpoint.from_wire(wire), live=LiveParts(groups=live))  # what is still open stays so
    if about is not None and stored.run_id and about.get("runId") != stored.run_id:
        raise ReplayRefusedError(
            "another-pause",
            recording.run_id,
            f"the checkpoint is of the run {stored.run_id}, and it went on with {about.get('runId')}.",
            fix="Give the checkpoint that it was resumed from.",
        )
    told = as_object(answered.resume_input) or {}
    answer = _answer(told, is_decision=_is_gate(stored) and not (TOGETHER in stored.state and set(told) == _SOLE))
    return accept_answer(agent.plan, stored, answer)


def _is_gate(checkpoint: PauseCheckpoint) -> bool:
    return pause_demands_decision(checkpoint.pause_data) is not None


def _answer(told: JsonObject, *, is_decision: bool) -> Value:
    """The answer, from what was told of it: an object as it is, anything else under `input`."""
    if is_decision:  # with all that stands in it, also what the loop does not read
        return thaw(told)
    if set(told) == _SOLE:
        return told["input"]
    return told or MISSING
