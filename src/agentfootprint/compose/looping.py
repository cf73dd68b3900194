"""Again and again: what one pass says is what the next is asked, until it is enough (09 s.5)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from agentfootprint.agent import StoppedEarly, read_message
from agentfootprint.compose.children import LoopPass, check_runner
from agentfootprint.compose.composed import Composed
from agentfootprint.compose.errors import LoopBudgetError
from agentfootprint.compose.mounting import mount
from agentfootprint.compose.plan import Child, made_plan
from agentfootprint.compose.scope import now_ms
from agentfootprint.errors import ConfigError
from agentfootprint.events import CompositionIterationExit, CompositionIterationStart
from agentfootprint.flow import Chart, Handle, LoopTo, Stage
from agentfootprint.trace import FrozenList

if TYPE_CHECKING:
    from agentfootprint.agent import Limits
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.compose.scope import Kind, Scope

__all__ = ["Loop"]

_DOOR = "Loop"
_MOST = 500


def _seed(h: Handle) -> None:
    scope: Scope = h.scope
    h["startMs"] = scope.enter(h, "Loop", 1)
    h["current"] = h.args["message"]
    h["iteration"] = 0


def _start(h: Handle) -> None:
    scope: Scope = h.scope
    scope.here = h
    iteration: int = h["iteration"] + 1
    h["iteration"] = iteration
    scope.emit(h, CompositionIterationStart(loop_id=scope.composed.id, iteration=iteration))


async def _guard(h: Handle) -> str:
    scope: Scope = h.scope
    scope.here = h
    loop = cast("Loop", scope.composed)
    said: str = h["current"]
    iteration: int = h["iteration"]
    started: int = h["startMs"]
    h.append("outputs", [said])
    limit = loop.exceeded(iteration, started)
    ended = limit is not None
    if limit is None and loop.until is not None:
        outputs: FrozenList = h["outputs"]
        found: Any = loop.until(LoopPass(iteration, said, started, tuple(cast("Any", outputs))))
        ended = bool(await found if inspect.isawaitable(found) else found)
    reason: Literal["budget", "guard_false", "body_complete"] = (
        "body_complete" if not ended else "guard_false" if limit is None else "budget"
    )
    scope.emit(h, CompositionIterationExit(loop_id=loop.id, iteration=iteration, reason=reason))
    if not ended:
        return said
    h.break_()
    if limit is None:
        scope.leave(h, "ok")
        return said
    scope.leave(h, "budget_exhausted")
    if loop.on_budget == "raise":
        raise LoopBudgetError(loop.id, iteration, limit, said)
    scope.stopped_early = StoppedEarly("max-iterations", iteration, 0)
    return said


def _said(value: str, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"current": value}


class Loop(Composed[str]):
    """One runner, asked again with what it said, until it is enough or the passes or the time are used up.

    Args:
        body: Who is asked.
        until: Whether a pass was the last; asked after each, but not after the last that the limits allow.
        max_iterations: The most passes, 500 at most.
        max_time: Seconds after which no further pass begins; `limits.deadline` also ends one that is under way.
        on_budget: What happens when a limit ends it: `"return"` gives what there is, and `result.stopped_early` says
            so; `"raise"` is a `LoopBudgetError`.
        id: For the trace.
        name: For people.
        limits: `deadline` and `teardown` of a run.

    Raises:
        ConfigError: A limit can't work; names it.

    Example:
        >>> from agentfootprint import runner
        >>> @runner
        ... def bang(message):
        ...     return message + "!"
        >>> Loop(bang, until=lambda done: done.latest_output.endswith("!!")).run_sync("Hey").output
        'Hey!!'
    """

    kind: ClassVar[Kind | None] = "Loop"

    def __init__(
        self,
        body: AnyRunner,
        *,
        until: Callable[[LoopPass], bool | Awaitable[bool]] | None = None,
        max_iterations: int = 10,
        max_time: float | None = None,
        on_budget: Literal["return", "raise"] = "return",
        id: str = "loop",
        name: str = "Loop",
        limits: Limits | None = None,
    ) -> None:
        if type(max_iterations) is not int or not 1 <= max_iterations <= _MOST:
            raise ConfigError(
                "max_iterations",
                f"max_iterations of the Loop is {max_iterations!r}.",
                fix=f"Give a whole number from 1 to {_MOST}.",
            )
        if max_time is not None and not _is_positive(max_time):
            raise ConfigError("max_time", f"max_time of the Loop is {max_time!r}.", fix="Give seconds, more than 0.")
        if on_budget not in ("return", "raise"):
            raise ConfigError("on_budget", f"on_budget is {on_budget!r}.", fix='Use "return" or "raise".')
        if until is not None and not callable(until):
            raise ConfigError("until", f"until is a {type(until).__name__}.", fix="Give a function of the pass.")
        runner = check_runner(_DOOR, "body", "", body)
        self.until = until
        self.max_iterations = max_iterations
        self.max_time = max_time
        self.on_budget: Literal["return", "raise"] = on_budget
        child = Child("body", "body", runner)
        chart = Chart.of(
            name if isinstance(name, str) else _DOOR,  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            Stage(_seed, id="seed", name="Initialize", description="Loop: iterated body", raw=True),
            Stage(_start, id="iteration-start", name="IterationStart", raw=True),
            mount(runner, key="body", id="body", name="body", input={"message": "current"}, output=_said),
            Stage(_guard, id="guard", name="Guard", raw=True),
            LoopTo("iteration-start"),
        )
        super().__init__(made_plan(_DOOR, id, name, limits, chart.build(), [child]))

    @property
    def door(self) -> str:
        """`Loop.run`."""
        return "Loop.run"

    def checked(self, message: object) -> str:
        """The text that it was asked (CMP-3)."""
        return read_message(self.door, message)

    def exceeded(self, iteration: int, started_ms: int) -> str | None:
        """Which limit ends the loop after a pass, if one does (CMP-40)."""
        if iteration >= self.max_iterations:
            return "max_iterations"
        if self.max_time is not None and (now_ms() - started_ms) / 1000 >= self.max_time:
            return "max_time"
        return None


def _is_positive(seconds: object) -> bool:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        return False
    return seconds > 0 and math.isfinite(seconds)
