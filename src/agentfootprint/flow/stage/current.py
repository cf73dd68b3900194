"""Which stage is running here: what lets a function deep in the caller's own code ask, without passing a handle on.

A typed stage is noted when its function is called, in the context of its task, so branches side by side each see
their own (FLOW-PY-14). A raw stage is not noted: it has its handle.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

from agentfootprint.flow.errors import StageClosedError
from agentfootprint.flow.stage.asking import answer_to
from agentfootprint.flow.stage.context import StageContext
from agentfootprint.flow.stage.handle import CLOSED
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.trace import Value

__all__ = ["CURRENT", "current_stage", "interrupt"]

CURRENT: Final[ContextVar[TracedHandle | None]] = ContextVar("agentfootprint_stage", default=None)
"""The typed stage whose function was called last in this context; it may have ended since."""


def current_stage() -> StageContext | None:
    """The stage that is running here, None outside of stages and in raw ones."""
    handle = CURRENT.get()
    return None if handle is None or handle.home is CLOSED else StageContext(handle)


def interrupt(reason: Value, *, expects: Value = None) -> Value:
    """Stop the run to ask, in the middle of a stage, and give the answer once there is one (FLOW-PAU-11).

    The stage commits what it had written, and the run returns a checkpoint. When it is resumed, the stage runs again
    from its top; its n-th question then gets the n-th answer. So what comes before a question happens again: keep it
    free of effects outside the state.

    Args:
        reason: Why it asks; `pause_data["reason"]` of the checkpoint.
        expects: What an answer looks like; `pause_data["expects"]`. Carried along, never checked.

    Returns:
        The answer, unchangeable.

    Raises:
        StageClosedError: No stage is running here.
        CheckpointError: The question can't be recorded as JSON.
    """
    handle = CURRENT.get()
    if handle is None or handle.home is CLOSED:
        raise StageClosedError(
            "`interrupt` was called where no stage is running.",
            fix="Call it inside a stage function; a raw stage asks with `h.interrupt`.",
        )
    return answer_to(handle, reason, expects)
