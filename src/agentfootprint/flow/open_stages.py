"""What does a decorator of a chart give back: a stage that still gets its second half, or its branches.

Calling such a stage runs the function that was decorated, and `__wrapped__` is that function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar

from agentfootprint.flow.decorating import never_bare
from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.parts import (
    Branch,
    Decider,
    MapSpec,
    PartList,
    Pausable,
    Selector,
    Stage,
    StageFunction,
    Subflow,
)
from agentfootprint.flow.plan.calls import derived_id
from agentfootprint.flow.retry import RetryPolicy

__all__ = ["DeciderStage", "PausableStage", "SelectorStage"]

F = TypeVar("F", bound=Callable[..., Any])
Keep: TypeAlias = "Callable[[F], F]"


class PausableStage:
    """A pausable stage under construction.

    Args:
        function: Its first half.
        named: What `Pausable` takes beside the two halves.
    """

    def __init__(self, function: StageFunction, **named: Any) -> None:  # noqa: ANN401  the fields of Pausable
        self.__wrapped__ = function
        self._second: StageFunction | None = None
        self._named = named

    def resume(self, function: F) -> F:
        """Decorate the second half: `f(state, answer)` or `f(state, answer, ctx)`."""
        self._second = function
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the function's own
        """Run the first half."""
        return self.__wrapped__(*args, **kwargs)

    def part(self) -> Pausable:
        """The stage as a part.

        Raises:
            ChartBuildError: It has no second half.
        """
        if self._second is None:
            shown = self._named.get("id") or derived_id(self.__wrapped__)
            raise ChartBuildError(
                f"The pausable stage {shown!r} has no second half.",
                fix="Decorate it with the stage's `.resume`.",
                ids=(shown,),
            )
        return Pausable(self.__wrapped__, self._second, **self._named)


class _Branching:
    """What deciders and selectors have in common: branches that are added one by one."""

    def __init__(self, part: Decider | Selector) -> None:
        self.__wrapped__ = part.function
        if isinstance(part.function, (_Branching, PausableStage)):
            shown = _shown(part.function)
            raise ChartBuildError(
                f"The stage {shown!r} is already made; a decider or selector can't be put on it.",
                fix="Write it as a stage of its own, after that one.",
                ids=(shown,),
            )
        self._part = part
        self._branches: list[Callable[[], Branch]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the function's own
        """Run the function."""
        return self.__wrapped__(*args, **kwargs)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self._part.name or self._part.id or derived_id(self.__wrapped__)

    @never_bare("stage.mount('id', chart)", "an id and a chart")
    def mount(  # noqa: PLR0913  the fields of Subflow
        self,
        id: str,
        chart: PartList | Callable[[], PartList],
        *,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        input: MapSpec = None,
        output: MapSpec = None,
        array_merge: Literal["concat", "replace", "replace-all"] = "concat",
        propagate_break: bool = False,
        inputs: Literal["readonly", "mutable"] = "readonly",
        on_output_error: Literal["raise", "record"] = "raise",
        lazy: bool = False,
        loop_to: str | None = None,
        converge_at: str | None = None,
    ) -> None:
        """Add another chart as a branch; the options are those of `Chart.mount`, and those of a branch."""
        part = Subflow(
            chart,
            id=id,
            name=name,
            description=description,
            icon=icon,
            input=input,
            output=output,
            array_merge=array_merge,
            propagate_break=propagate_break,
            inputs=inputs,
            on_output_error=on_output_error,
            lazy=lazy,
            loop_to=loop_to,
            converge_at=converge_at,
        )
        self._branches.append(lambda: part)

    @never_bare("@stage.pausable('id')", "an id")
    def pausable(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        loop_to: str | None = None,
        converge_at: str | None = None,
        retry: RetryPolicy | None = None,
    ) -> Callable[[StageFunction], PausableStage]:
        """Add a pausable stage as a branch."""

        def made(function: StageFunction) -> PausableStage:
            named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
            stage = PausableStage(function, loop_to=loop_to, converge_at=converge_at, **named)
            self._branches.append(stage.part)
            return stage

        return made

    def _branch(self, make: Callable[[StageFunction], Branch]) -> Keep[F]:
        def keep(function: F) -> F:
            branch = make(function)
            self._branches.append(lambda: branch)
            return function

        return keep

    def _made(self) -> tuple[Branch, ...]:
        return tuple(make() for make in self._branches)


class DeciderStage(_Branching):
    """A decider under construction."""

    def __init__(self, decider: Decider) -> None:
        super().__init__(decider)
        self._decider = decider
        self._default: str | None = None

    @never_bare("@stage.branch('id')", "the id that chooses it")
    def branch(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        thread: bool = False,
        loop_to: str | None = None,
        converge_at: str | None = None,
        retry: RetryPolicy | None = None,
        default: bool = False,
    ) -> Keep[F]:
        """Decorate the function of a branch.

        Args:
            id: What the decider returns to choose it.
            name: As for every stage.
            description: As for every stage.
            icon: As for every stage.
            thread: Whether the function, a plain one that blocks, runs in a worker thread.
            loop_to: Id of an earlier stage it goes back to.
            converge_at: Id of a later stage that drawings join it to, instead of the decider's next.
            retry: As for every stage.
            default: Whether it runs when the decider returns the id of no branch.
        """
        if default:
            self._default = id
        named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
        return self._branch(lambda f: Stage(f, thread=thread, loop_to=loop_to, converge_at=converge_at, **named))

    def part(self) -> Decider:
        """The decider as a part."""
        return replace(self._decider, branches=self._made(), default=self._default)


class SelectorStage(_Branching):
    """A selector under construction."""

    def __init__(self, selector: Selector) -> None:
        super().__init__(selector)
        self._selector = selector

    @never_bare("@stage.branch('id')", "the id that chooses it")
    def branch(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        thread: bool = False,
        converge_at: str | None = None,
        retry: RetryPolicy | None = None,
    ) -> Keep[F]:
        """Decorate the function of a branch; the options are those of a decider's."""
        named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
        return self._branch(lambda f: Stage(f, thread=thread, converge_at=converge_at, **named))

    def part(self) -> Selector:
        """The selector as a part."""
        return replace(self._selector, branches=self._made())


def _shown(stage: _Branching | PausableStage) -> str:
    return stage.name if isinstance(stage, _Branching) else derived_id(stage.__wrapped__)
