"""What can go wrong with a composition beside what goes wrong in its children."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from agentfootprint.errors import AgentFootprintError

__all__ = ["CompositionError", "LoopBudgetError", "bare_reason"]


class CompositionError(AgentFootprintError):
    """A composition failed, and not only one child of it: a branch, a hand-off, a pipe (CMP-10, CMP-13, CMP-19).

    What a child raised is kept as `__cause__`, where this process has it.
    """

    code = "ERR_COMPOSITION"
    quotes_others: ClassVar[bool] = True
    """Whether its message may quote what others raised; a record with a redaction policy then withholds it."""

    def __init__(self, kind: str, composition_id: str, child_ids: Sequence[str], why: str, *, fix: str) -> None:
        super().__init__(f"The {kind} {composition_id!r} failed: {why}", fix=fix)
        self.kind = kind
        """`Sequence`, `Parallel`, `Conditional` or `Loop`."""
        self.composition_id = composition_id
        self.child_ids = tuple(child_ids)
        """The children at fault, in the order they are declared."""


class LoopBudgetError(AgentFootprintError):
    """A loop was stopped by its count or its time, and `on_budget="raise"` says that this is a failure (CMP-45)."""

    code = "ERR_LOOP_BUDGET"

    def __init__(self, loop_id: str, passes: int, limit: str, last_output: str) -> None:
        super().__init__(
            f"The Loop {loop_id!r} did not end by itself: {limit} ended it after {passes} passes.",
            fix='Raise the limit, look at `until`, or take what there is with on_budget="return".',
        )
        self.loop_id = loop_id
        self.passes = passes
        self.limit = limit
        """The argument that ended it."""
        self.last_output = last_output
        """What the last pass said; never part of the message."""


def bare_reason(error: BaseException) -> str:
    """What an error says, without the name of its class and without advice."""
    if isinstance(error, AgentFootprintError) and error.args:
        return str(error.args[0])
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001  somebody else's `__str__`
        return type(error).__name__
