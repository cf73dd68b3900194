"""What does one run of one composition know while it runs: where it is, whether its bracket is open, who failed?

A run has one of these for each composition that is under way in it; stages find it at `h.scope`. What must outlive a
pause stands in the committed state, not here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agentfootprint.events import CompositionEnter, CompositionExit, Payload
from agentfootprint.trace import Execution

if TYPE_CHECKING:
    from agentfootprint.agent import OuterRun, StoppedEarly
    from agentfootprint.compose.composed import Composed

__all__ = ["Kind", "Scope", "Status", "now_ms"]

Kind: TypeAlias = Literal["Sequence", "Parallel", "Conditional", "Loop"]
Status: TypeAlias = Literal["ok", "err", "break", "budget_exhausted"]


def now_ms() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)


class Scope:
    """One run of one composition, or of a function."""

    __slots__ = (
        "composed",
        "deadline",
        "failures",
        "given",
        "here",
        "is_open",
        "outer",
        "started_ms",
        "stopped_early",
        "value",
    )

    def __init__(self, composed: Composed[Any], outer: OuterRun) -> None:
        self.composed = composed
        self.outer = outer
        self.here: Execution | str = "seed#0"
        """The step of this composition that began last, or that something was raised out of."""
        self.is_open = False
        """Whether `composition.enter` was sent, here or before a pause, and `exit` not yet."""
        self.started_ms = 0
        self.deadline: float | None = None
        """When it must be over, on `time.monotonic()`."""
        self.failures: dict[str, BaseException] = {}
        """What children raised that goes no further by itself."""
        self.stopped_early: StoppedEarly | None = None
        self.given: Any = None
        """What a function was given, as it was."""
        self.value: Any = None
        """What a function gave, as it was."""

    def bound(self, seconds: float | None, around: float | None) -> None:
        """It may take so long, and no longer than what it is in."""
        own = None if seconds is None else time.monotonic() + seconds
        self.deadline = around if own is None or (around is not None and around < own) else own

    def emit(self, where: Execution | str, payload: Payload) -> None:
        """Record an event of the composition, and tell who listens."""
        self.outer.emit(where, payload)

    def enter(self, where: Execution, kind: Kind, children: int) -> int:
        """The composition begins; gives when, in ms since 1970."""
        self.here = where
        self.is_open = True
        self.started_ms = now_ms()
        composed = self.composed
        self.emit(where, CompositionEnter(kind=kind, id=composed.id, name=composed.name, child_count=children))
        return self.started_ms

    def go_on(self, began: object) -> None:
        """A resume comes back to it: it has begun, when its state says so, and does not say so twice (CMP-8)."""
        self.is_open = isinstance(began, int)
        self.started_ms = began if isinstance(began, int) else now_ms()

    def leave(self, where: Execution | str, status: Status) -> None:
        """The composition ends, once, however often it is said (CMP-8)."""
        composed = self.composed
        if not self.is_open or composed.kind is None:
            return
        self.is_open = False
        self.emit(
            where,
            CompositionExit(
                kind=composed.kind,
                id=composed.id,
                name=composed.name,
                status=status,
                duration_ms=max(0, now_ms() - self.started_ms),
            ),
        )
