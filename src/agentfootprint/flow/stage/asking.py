"""How a stage asks in the middle of its work: a question that unwinds it, and the answers when it runs again.

Answers belong to one execution and are given out in order, each once: the n-th question of the stage gets the n-th
answer, and no stage beside it can take one (FLOW-PAU-12, 14).
"""

from __future__ import annotations

from typing import Any

from agentfootprint.flow.errors import CheckpointError
from agentfootprint.trace import Execution, FrozenDict, Value, ValueRefusedError, freeze

__all__ = ["Answers", "InterruptSignal", "answer_to", "may_ask", "question_of"]


class InterruptSignal(BaseException):
    """Unwinds a stage that asks. No failure, so `except Exception` does not hold it up (FLOW-PY-21)."""

    def __init__(self, step: Execution, data: Value) -> None:
        super().__init__(step.runtime_stage_id)
        self.step = step
        self.data = data


def may_ask(error: BaseException) -> bool:
    """Whether there may be a question in what a stage raised: alone, or from a group of tasks of the stage's own."""
    return issubclass(type(error), (InterruptSignal, BaseExceptionGroup))  # its `__class__` is not asked: it may raise


class Answers:
    """The answers one execution may take, in the order of its questions."""

    __slots__ = ("given", "used")

    def __init__(self, given: tuple[Value, ...]) -> None:
        self.given = given
        self.used = 0
        """How many the stage has taken."""


def answer_to(handle: Any, reason: Value, expects: Value) -> Value:  # noqa: ANN401  a Handle, whose module imports this
    """The answer to the next question of a stage.

    Args:
        handle: The open stage.
        reason: Why it asks, for whoever answers.
        expects: What an answer looks like; carried along and never checked.

    Raises:
        InterruptSignal: There is none yet: the run pauses.
        CheckpointError: The question can't be recorded.
        StageClosedError: The stage has committed.
    """
    answers: Answers | None = handle.run.answers.get(handle.index)
    if answers is not None and answers.used < len(answers.given):
        answers.used += 1
        return answers.given[answers.used - 1]
    question = {"reason": reason} if expects is None else {"reason": reason, "expects": expects}
    raise InterruptSignal(handle, question_of(handle, question))


def question_of(step: Execution, data: Value) -> Value:
    """What a stage asks, as it goes on record; `{"pause": True, "data": ...}` is its data (FLOW-PAU-1).

    Raises:
        CheckpointError: It holds what can't be recorded; the message says where (FLOW-PAU-3).
    """
    try:
        frozen = freeze(data)
    except ValueRefusedError as refused:
        raise CheckpointError(
            "pauseData",
            f"Stage {step.info.id!r} paused with data that can't be recorded: {refused.problem}",
            fix="Pause with a JSON value.",
        ) from refused
    if type(frozen) is FrozenDict and frozen.get("pause") is True:
        return frozen.get("data")
    return frozen
