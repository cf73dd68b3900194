"""One after the other: each step reads what the one before it said (09 s.2)."""

from __future__ import annotations

import functools
from collections import abc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from agentfootprint.agent import read_message
from agentfootprint.compose.children import Step, check_child_id, check_listed, check_runner, refuse_repeated
from agentfootprint.compose.composed import Composed, as_message
from agentfootprint.compose.mounting import mount
from agentfootprint.compose.plan import Child, made_plan
from agentfootprint.errors import ConfigError
from agentfootprint.flow import Chart, Handle, Stage

if TYPE_CHECKING:
    from agentfootprint.agent import Limits
    from agentfootprint.compose.children import AnyRunner
    from agentfootprint.compose.scope import Kind, Scope

__all__ = ["Sequence"]

_DOOR = "Sequence"


def _seed(h: Handle) -> None:
    scope: Scope = h.scope
    h["startMs"] = scope.enter(h, "Sequence", len(scope.composed.plan.children))
    h["current"] = h.args["message"]


def _finalize(h: Handle) -> str:
    scope: Scope = h.scope
    said: str = h["current"]
    scope.leave(h, "ok")
    return said


def _said(value: str, _: Mapping[str, Any]) -> dict[str, Any]:
    return {"current": value}


def _piped(pipe: Callable[[str], Any], state: Mapping[str, Any]) -> Mapping[str, Any]:
    return as_message(pipe(state["current"]))


class Sequence(Composed[str]):
    """Steps that run one after the other; each is asked what the one before it said.

    Args:
        steps: `Step`s, or runners, which are called by their own ids.
        id: For the trace.
        name: For people.
        limits: `deadline` and `teardown` of a run.

    Raises:
        ConfigError: There is no step, two have one id, or one is no runner.

    Example:
        >>> from agentfootprint import LLMCall, Mock
        >>> line = Sequence([LLMCall(Mock("a haiku"), id="write"), LLMCall(Mock("un haïku"), id="translate")])
        >>> line.run_sync("Something about rain.").output
        'un haïku'
    """

    kind: ClassVar[Kind | None] = "Sequence"

    def __init__(
        self,
        steps: abc.Sequence[Step | AnyRunner],
        *,
        id: str = "sequence",
        name: str = "Sequence",
        limits: Limits | None = None,
    ) -> None:
        made = [_step(given) for given in check_listed(_DOOR, "steps", steps)]
        if not made:
            raise ConfigError("steps", "A Sequence without steps has nothing to run.", fix="Give it at least one step.")
        refuse_repeated(_DOOR, "step", (step.id for step in made))
        children = [Child(step.id, f"step-{step.id}", step.runner) for step in made]
        chart = Chart.of(
            name if isinstance(name, str) else _DOOR,  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            Stage(_seed, id="seed", name="Initialize", description=f"Sequence: {len(made)}-step pipeline", raw=True),
            *(
                mount(
                    step.runner,
                    key=step.id,
                    id=child.mount,
                    name=step.id,
                    input={"message": "current"} if step.pipe is None else functools.partial(_piped, step.pipe),
                    output=_said,
                )
                for step, child in zip(made, children, strict=True)
            ),
            Stage(_finalize, id="finalize", name="Finalize", raw=True),
        )
        super().__init__(made_plan(_DOOR, id, name, limits, chart.build(), children))

    @property
    def door(self) -> str:
        """`Sequence.run`."""
        return "Sequence.run"

    def checked(self, message: object) -> str:
        """The text that it was asked (CMP-3)."""
        return read_message(self.door, message)


def _step(given: object) -> Step:
    if not isinstance(given, Step):
        runner = check_runner(_DOOR, "step", "", given)
        given = Step(runner.id, runner)
    check_child_id(_DOOR, "step", given.id, may_be_reserved=True)
    check_runner(_DOOR, "step", given.id, given.runner)
    if given.pipe is not None and not callable(given.pipe):
        raise ConfigError(
            "steps", f"The pipe of the step {given.id!r} is no function.", fix="Give a function of the last text."
        )
    return given
