"""May this agent go on with that conversation, and what does the next turn start from?

All refusals come before anything of the new run exists, and leave nothing behind (AGT-27). What is taken up is checked
in both directions: results without a call are refused, calls without a result are settled (DEC-10, AGT-99).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent.errors import CheckpointFormatError, ConversationMismatchError
from agentfootprint.agent.keeping.checkpoint import Checkpoint
from agentfootprint.agent.keeping.settling import with_answers
from agentfootprint.agent.keeping.turns import turn_number
from agentfootprint.agent.pausing.settling import settled_message
from agentfootprint.agent.result import RunResult
from agentfootprint.context import without_delivered
from agentfootprint.llm import BrokenPairError, CallRef, LLMMessage, NotDispatched, verify_pairs
from agentfootprint.tools import DispatchedCalls
from agentfootprint.trace import FrozenDict, FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.plan import AgentPlan
    from agentfootprint.agent.scope import RunScope
    from agentfootprint.identity import Identity

__all__ = ["Continuation", "abandoned", "continuation_of", "read_checkpoint", "settled"]

_HISTORY: Final = NotDispatched(cause="history")


class Continuation:
    """What a turn that goes on with a conversation starts from."""

    __slots__ = ("_approvals", "_checkpoint", "_window", "appends")

    def __init__(self, checkpoint: Checkpoint, window: FrozenList, *, appends: bool) -> None:
        self._checkpoint = checkpoint
        self._window = window
        self._approvals: tuple[FrozenDict, ...] = ()
        self.appends = appends
        """Whether the message is a new one; else the run is an attempt more at the one that failed."""

    @property
    def identity(self) -> Identity | None:
        """Whom the conversation is with, if a caller ever said so (AGT-14)."""
        return self._checkpoint.identity

    @property
    def session_id(self) -> str | None:
        """The hosting session that the conversation had."""
        return self._checkpoint.facts.session_id

    @property
    def message(self) -> str:
        """What the user had said."""
        return self._checkpoint.message

    @property
    def count(self) -> int:
        """How many messages it starts from."""
        return len(self._window)

    def seeded(self, message: str) -> FrozenList:
        """The history that the run starts with; a list of its own, so runs that share a conversation share no list."""
        new = (LLMMessage("user", message),) if self.appends else ()
        messages = [*self._window, *new]
        return FrozenList(messages, len(messages))

    def begin(self, message: str, state: dict[str, Any]) -> None:
        """Put the conversation into the state that a run begins with (AGT-144, AGT-18)."""
        state["history"] = history = self.seeded(message)
        if self._approvals:
            state["rememberedApprovals"] = FrozenList(list(self._approvals), len(self._approvals))
        state["turnNumber"] = turn_number(history)

    def restore(self, scope: RunScope) -> None:
        """Give the scope of the new run what holds for the conversation, and what an earlier attempt had come to."""
        if scope.identity == self._checkpoint.identity:  # what one person approved holds for no other
            scope.approvals = self._approvals = self._checkpoint.facts.approvals
        if not self.appends:
            facts = self._checkpoint.facts
            scope.tool_run.origin_run_id = facts.origin_run_id or self._checkpoint.run_id or scope.facts.run_id
            scope.tool_run.calls = DispatchedCalls(facts.call_counts)

    def header(self) -> dict[str, Any]:
        """What the recording of the new run says about itself."""
        about: dict[str, Any] = {"runId": self._checkpoint.run_id, "messages": self.count}
        if not self.appends:
            about["again"] = True
        if self._checkpoint.dropped:
            about["dropped"] = [{"index": each.message, "reason": each.reason} for each in self._checkpoint.dropped]
        return {"continued": about}


def read_checkpoint(given: object) -> Checkpoint:
    """A checkpoint from what a caller gives for one.

    Raises:
        CheckpointFormatError: It is none.
    """
    if isinstance(given, Checkpoint):
        return given
    if isinstance(given, Mapping):
        return Checkpoint.from_wire(cast("Mapping[str, Any]", given))
    hint = " Read a stored text with Checkpoint.from_json(text)." if isinstance(given, (str, bytes)) else ""
    raise CheckpointFormatError(
        "checkpoint",
        f"A {type(given).__name__} is no conversation.",
        fix=f"Give result.checkpoint, or the error's checkpoint.{hint}",
    )


def continuation_of(plan: AgentPlan, given: object, *, appends: bool, removed: Iterable[str] = ()) -> Continuation:
    """Accept a conversation for an agent.

    Args:
        plan: The agent's.
        given: A checkpoint, one as it was stored, or a result.
        appends: Whether a new message follows.
        removed: Pieces of context that the agent has lost; what they had said is left out.

    Raises:
        CheckpointFormatError: It is no conversation, or a tool message in it answers nothing.
        ConversationMismatchError: It is another agent's.
    """
    if isinstance(given, RunResult) and appends:
        result = cast("RunResult[Any]", given)
        checkpoint = result.checkpoint
        if result.paused is not None:
            checkpoint = abandoned(checkpoint, result.paused)
    else:
        checkpoint = read_checkpoint(cast("object", given))
    stored, own = checkpoint.agent_id, plan.chosen_id
    if stored is not None and own is not None and stored != own:
        raise ConversationMismatchError(stored, own)
    window = without_delivered(settled(checkpoint.window), removed)
    return Continuation(checkpoint, window, appends=appends)


def settled(window: FrozenList, mark: NotDispatched = _HISTORY) -> FrozenList:
    """A history with an answer for every call; the same object when each has one.

    Raises:
        CheckpointFormatError: A tool message answers no call; names its place.
    """
    try:
        report = verify_pairs(tuple(window))
    except BrokenPairError as broken:
        raise CheckpointFormatError(
            f"history[{broken.index}]",
            f"The checkpoint's message {broken.index} is a tool result without a call ({broken.reason}).",
            fix="Give the conversation as it was stored, or read it with repair=True to leave such messages out.",
            index=broken.index,
        ) from broken
    return with_answers(
        window,
        {place: settled_message(window[place.message].tool_calls[place.call], mark) for place in report.unanswered},
    )


def abandoned(checkpoint: Checkpoint, paused: Paused) -> Checkpoint:
    """The conversation of a run whose question was given up: the call that asked is marked too (AGT-99)."""
    anchor = CallRef(paused.tool_call_id, paused.tool_name)
    mark = NotDispatched(paused_call=anchor, cause="abandoned")
    window = _closed(checkpoint.window, paused, mark)
    return checkpoint.with_history(settled(window, mark))


def _closed(window: FrozenList, paused: Paused, mark: NotDispatched) -> FrozenList:
    """The window with its last batch answered, where the pause noted which of its calls have their results (AGT-60).

    The ids alone don't tell that: they may repeat within a batch.
    """
    state = paused.checkpoint.state
    noted, index = state.get("pausedBatch"), state.get("pausedToolIndex")
    if noted is None or type(index) is not int:
        return window
    from agentfootprint.agent.pausing.rejoining import in_call_order, read_noted  # with the first such question
    from agentfootprint.agent.pausing.resuming import open_batch

    answered, _ = read_noted(noted)
    batch = open_batch(window, paused.tool_call_id, paused.tool_name, index, answered)
    if answered is None or batch.turn < 0 or len(window) - batch.turn - 1 != len(answered):
        return window  # another window than the one that paused
    calls = [(batch.ordinal, batch.call), *batch.undispatched]
    missing = [settled_message(call, mark) for _, call in calls]
    return in_call_order(window.extend(missing), [*answered, *(place for place, _ in calls)])
