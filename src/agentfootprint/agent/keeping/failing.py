"""Where did a run fail, and what is left of it to take up again?

Read from the run's own record when it has failed, so a run that does not fail pays nothing for it, whoever listens
(AGT-103). The conversation begins with the seed, so the very first call leaves a checkpoint too (AGT-108).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent.errors import RunCheckpointError, closed
from agentfootprint.agent.keeping.checkpoint import Checkpoint, FailurePoint, InFlight, Phase, TurnFacts, now_ms
from agentfootprint.agent.keeping.recovering import retry_after_of, why_not
from agentfootprint.agent.keeping.settling import all_answered
from agentfootprint.errors import AgentFootprintError
from agentfootprint.events import Event, IterationEnd, IterationStart, LLMEnd, LLMStart, ToolEnd, ToolStart
from agentfootprint.llm import CallPosition, LLMMessage, ProviderError, facts_of
from agentfootprint.trace import FrozenDict, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.scope import RunScope

__all__ = ["failed_checkpoint", "finished_checkpoint", "guess_phase", "is_verdict", "standing_checkpoint", "wrapped"]

_VERDICTS: Final = frozenset(
    (
        *("ERR_POLICY_HALT", "ERR_MESSAGE_DENIED", "ERR_RELIABILITY_FAIL_FAST", "ERR_UNSUPPORTED_VALUES"),
        *("ERR_CREDENTIAL_CONSENT_REQUIRED", "ERR_COMPACTION_UNMEASURABLE", "ERR_CHECKER_DEAD"),
        *("ERR_INVALID_ASK_COMPONENT", "ERR_DEADLINE", "ERR_CANCELLED"),
    )
)
"""Codes of the errors that say what became of a run, and reach the caller as they are (AGT-101)."""
_VENDOR_ERRORS: Final = frozenset(("AnthropicError", "OpenAIError", "BedrockError"))
_MODEL_WORDS: Final = re.compile("llm|provider|anthropic|openai|bedrock", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
_SECRET: Final = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|AIza|AKIA|ASIA)[-_]?[A-Za-z0-9_-]{8,}|\bbearer\s+\S+", re.IGNORECASE
)


def is_verdict(error: BaseException) -> bool:
    """Whether an error says what became of the run, and is no failure of it."""
    return not isinstance(error, Exception) or (isinstance(error, AgentFootprintError) and error.code in _VERDICTS)


def guess_phase(error: object) -> Phase:
    """What was going on, from what an error says of itself: only when nothing was seen (AGT-104).

    Args:
        error: The error, or an object that describes one.
    """
    message, _, code, name = facts_of(error)
    if (
        code == "ERR_CIRCUIT_OPEN"
        or isinstance(error, ProviderError)
        or name in _VENDOR_ERRORS
        or _MODEL_WORDS.search(message)
    ):
        return "llm"
    if "tool" in name.lower() or "Tool" in message:
        return "tool"
    return "iteration" if "iteration" in message else "unknown"


def standing_checkpoint(scope: RunScope, state: FrozenDict) -> Checkpoint | None:
    """The conversation as a run has left it so far, without an answer; `None` before there is one.

    Args:
        scope: The run's.
        state: Its committed state.
    """
    window = state.get("history")
    continued = scope.continued
    if not isinstance(window, FrozenList):
        if continued is None:
            return None
        window = continued.seeded(scope.message)
    return _checkpoint(scope, window, int(state.get("iteration", 1)) - 1)


def failed_checkpoint(scope: RunScope, state: FrozenDict, error: BaseException) -> Checkpoint | None:
    """What a run that failed, or was stopped, leaves; `None` when it had no conversation yet.

    A run that was stopped leaves its batch answered, so that a next message is accepted (DEC-14). A run that failed
    leaves the conversation as of the last boundary, and says what was under way beyond it.

    Args:
        scope: The run's.
        state: Its committed state.
        error: What ended it.
    """
    found = standing_checkpoint(scope, state)
    if found is None:
        return None
    if scope.plan.mode == "dynamic-grouped":
        found = _with_delivered(scope, found)
    seen = _Seen(scope.journal.rows)
    iteration = seen.iteration or int(state.get("iteration", 1))
    completed = iteration - 1
    batch = _open_batch(scope, found.window)
    calls = scope.tool_run.calls
    in_flight: InFlight | None = None
    window = found.window
    taken = scope.taken_up
    if taken is not None and state.get("pausedToolName"):  # calls that were asked about together
        from agentfootprint.agent.keeping.interrupting import interrupted_window  # where several were

        window, batch = interrupted_window(taken, window, state.get("pausedBatch")), ()
        counts = calls.counts()
    elif _was_stopped(error) or (state.get("pausedToolName") and not batch):  # what was approved may have acted
        window = all_answered(window.extend(batch), _begun(seen, state, window, batch, scope.asked_from))
        counts = calls.counts()
    else:
        if batch:
            in_flight = InFlight(tool_calls=tuple(batch[0].tool_calls), landed=tuple(batch[1:]))
        counts = calls.counts(scope.dispatched_before) if batch else calls.counts()
    return found.with_history(
        window,
        last_completed_iteration=completed,
        failure_point=seen.point(error, iteration),
        in_flight=in_flight,
        facts=TurnFacts(
            origin_run_id=scope.tool_run.origin_run_id or scope.facts.run_id,
            call_counts=counts,
            session_id=scope.facts.session_id,
            approvals=scope.approvals,
        ),
    )


def wrapped(error: Exception, checkpoint: Checkpoint) -> RunCheckpointError:
    """The error that hands the conversation over beside what went wrong (AGT-106)."""
    point = checkpoint.failure_point
    hopeless = why_not(error)
    where = "" if point is None else f" in iteration {point.iteration} ({_where(point)})"
    last = checkpoint.last_completed_iteration
    kept = f"its last whole iteration is {last}" if last else "no iteration of it is whole"
    said = error.problem if isinstance(error, AgentFootprintError) else str(error)
    return RunCheckpointError(
        f"The run {checkpoint.run_id} failed{where}; {kept}. {type(error).__name__}: {closed(_harmless(said))}",
        cause=error,
        checkpoint=checkpoint,
        can_resume=hopeless is None,
        retry_after=retry_after_of(error),
        fix="Take it up again with agent.resume_on_error(error.checkpoint)."
        if hopeless is None
        else f"Taking it up again can't help as it is: {hopeless}. Mend that, then call "
        "agent.resume_on_error(error.checkpoint).",
    )


def _checkpoint(scope: RunScope, window: FrozenList, completed: int) -> Checkpoint:
    session = scope.facts.session_id
    return Checkpoint(
        run_id=scope.facts.run_id,
        window=window,
        last_completed_iteration=completed,
        message=scope.message,
        checkpointed_at=now_ms(),
        identity=scope.identity,
        agent_id=scope.plan.chosen_id,
        facts=TurnFacts(session_id=session, approvals=scope.approvals)
        if session is not None or scope.approvals
        else _NO_FACTS,
    )


_NO_FACTS: Final = TurnFacts()


def finished_checkpoint(scope: RunScope, window: FrozenList, iteration: int, answer: str) -> Checkpoint:
    """The conversation after a turn: its messages, and the answer, which the history does not hold (AGT-141, AGT-142).

    Args:
        scope: The run's.
        window: The committed history.
        iteration: The state's.
        answer: What is said to the user; empty text adds nothing.
    """
    if answer:
        window = window.append(LLMMessage("assistant", answer))
    return _checkpoint(scope, window, iteration)


def _with_delivered(scope: RunScope, found: Checkpoint) -> Checkpoint:
    """The same with the pieces that were said in the conversation before a call that gave no reply (AGT-37)."""
    from agentfootprint.agent.grouping import delivered_window  # where there is a mount that can fail

    window = delivered_window(scope.journal)
    return found if window is None else found.with_history(window)


def _was_stopped(error: BaseException) -> bool:
    code = error.code if isinstance(error, AgentFootprintError) else ""
    return not isinstance(error, Exception) or code in ("ERR_DEADLINE", "ERR_CANCELLED")


def _open_batch(scope: RunScope, window: FrozenList) -> Sequence[LLMMessage]:
    """The turn whose calls were under way, and their results so far; empty when none was."""
    landed = scope.landed
    if not landed or any(message is landed[0] for message in reversed(window)):
        return ()  # it was committed
    return tuple(landed)


def _begun(
    seen: _Seen, state: FrozenDict, window: FrozenList, batch: Sequence[LLMMessage], asked_from: int | None
) -> frozenset[CallPosition]:
    """The calls that were running when they were stopped, and so may have acted."""
    if batch:
        last = len(batch[0].tool_calls) if asked_from is None else asked_from
        return frozenset(CallPosition(len(window), ordinal) for ordinal in seen.open_tools if ordinal < last)
    ordinal = state.get("pausedToolIndex")
    if not state.get("pausedToolName") or type(ordinal) is not int:
        return frozenset()
    for at in range(len(window) - 1, -1, -1):  # the call that a person had been asked about
        if window[at].role == "assistant" and window[at].tool_calls:
            return frozenset((CallPosition(at, ordinal),))
    return frozenset()


class _Seen:
    """What the end of a run's record shows: the iteration under way, and the brackets that are still open."""

    def __init__(self, rows: Sequence[object]) -> None:
        self.iteration: int | None = None
        self.open_tools: dict[int, str] = {}
        self._model = False
        ended: set[int] = set()
        answered = False
        for row in reversed(rows):
            if not isinstance(row, Event):
                continue
            event = cast("Event[object]", row)
            payload = event.payload
            if isinstance(payload, ToolEnd):
                ended.add(_ordinal(event))
            elif isinstance(payload, ToolStart):
                if _ordinal(event) not in ended:
                    self.open_tools[_ordinal(event)] = payload.tool_name
            elif isinstance(payload, LLMEnd):
                answered = True
            elif isinstance(payload, LLMStart):
                self._model = self._model or not answered
            elif isinstance(payload, IterationStart):
                self.iteration = payload.iter_index
                return
            elif isinstance(payload, IterationEnd):
                self.iteration = payload.iter_index + 1
                return

    def point(self, error: BaseException, iteration: int) -> FailurePoint:
        """Where it failed: what was seen, else a guess."""
        if self.open_tools:
            first = self.open_tools[min(self.open_tools)]
            return FailurePoint(iteration=iteration, phase="tool", stage=first)
        if self._model:
            return FailurePoint(iteration=iteration, phase="llm", stage="call-llm")
        return FailurePoint(iteration=iteration, phase=guess_phase(error))


def _ordinal(event: Event[Any]) -> int:
    marks = event.meta.tool_ordinal
    return 0 if marks is None else marks


def _where(point: FailurePoint) -> str:
    stage = "" if point.stage is None else f", {point.stage}"
    return {"llm": "asking the model", "tool": "running a tool"}.get(point.phase, point.phase) + stage


def _harmless(text: str) -> str:
    """The words of an error without what must not be in one: addresses and keys."""
    return _SECRET.sub("(key)", _ADDRESS.sub("(address)", text)) or "(no words)"
