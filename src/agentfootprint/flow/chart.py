"""What can run: a chart, written with decorators or as plain data.

A chart is only a list of parts until `build` checks it and gives a `Flow`. Stages follow each other in the order they
are written; `after=` says so where the order in the file is another one (FLOW-PY-2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, TypeVar, cast

from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.executor import Flow
from agentfootprint.flow.parts import (
    Branch,
    Decider,
    Fork,
    LoopTo,
    MapSpec,
    Part,
    PartList,
    Pausable,
    Selector,
    Stage,
    StageFunction,
    Subflow,
)
from agentfootprint.flow.plan.build import assembled
from agentfootprint.flow.plan.calls import derived_id

__all__ = ["Chart"]

F = TypeVar("F", bound=Callable[..., Any])
Keep: TypeAlias = "Callable[[F], F]"


class Chart(PartList):
    """A chart under construction.

    Args:
        name: Shown for the chart as a whole.
        state: A subclass of `State` that its stages see the state through; None for the untyped one.

    Example:
        >>> chart = Chart("Greeting")
        >>> @chart.start(id="greet")
        ... def greet(s, ctx):
        ...     s.text = f"Hello {ctx.args.name}"
        >>> chart.build().run_sync({"name": "Dana"}).state["text"]
        'Hello Dana'
    """

    def __init__(self, name: str, *, state: type[Any] | None = None) -> None:
        super().__init__(name, (), state)
        self._entries: list[_Entry] = []

    @classmethod
    def of(cls, name: str, *parts: Part, state: type[Any] | None = None) -> Chart:
        """A chart from parts that exist already: the form generated charts are written in.

        Args:
            name: Shown for the chart as a whole.
            parts: In order; the first one is the start.
            state: As in `Chart`.
        """
        chart = cls(name, state=state)
        chart._entries = [_Entry(part) for part in parts]
        return chart

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts along the main line.

        Raises:
            ChartBuildError: An `after` names no stage, or one that is followed already; or a stage can't be reached.
        """
        return _ordered(self.name, self._entries)

    def build(self) -> Flow:
        """Check the chart and make it runnable; the chart itself stays as it is.

        Raises:
            ChartBuildError: It can't run as written; the message names the stages.
        """
        return Flow(self.name, *assembled(self))

    def start(self, *, id: str | None = None, name: str | None = None, description: str | None = None) -> Keep[F]:
        """The first stage."""
        if self._entries:
            raise ChartBuildError(
                f"The chart {self.name!r} has a start already.", fix="Use `stage` for what follows it."
            )
        return self._kept(None, lambda f: Stage(f, id=id, name=name, description=description))

    def stage(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        after: str | None = None,
    ) -> Keep[F]:
        """A stage on the main line."""
        return self._kept(after, lambda f: Stage(f, id=id, name=name, description=description))

    def streaming(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        stream: str = "",
        after: str | None = None,
    ) -> Keep[F]:
        """A stage that sends text while it runs: by `ctx.token`, or as an async generator of texts.

        Args:
            id: As for every stage.
            name: As for every stage.
            description: As for every stage.
            stream: Id its tokens are sent under; its name by default.
            after: Id of the stage it follows.
        """
        return self._kept(after, lambda f: Stage(f, id=id, name=name, description=description, stream=stream))

    def pausable(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        after: str | None = None,
    ) -> Callable[[StageFunction], PausableStage]:
        """A stage that may stop the run to ask; give it its second half with `.resume`."""

        def made(function: StageFunction) -> PausableStage:
            stage = PausableStage(function, id, name, description)
            self._add(_Entry(stage.part, after))
            return stage

        return made

    def decider(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        after: str | None = None,
    ) -> Callable[[StageFunction], DeciderStage]:
        """A stage that chooses one branch; add the branches with `.branch`, `.pausable` and `.mount`."""

        def made(function: StageFunction) -> DeciderStage:
            stage = DeciderStage(Decider(function, (), id=id, name=name, description=description))
            self._add(_Entry(stage.part, after))
            return stage

        return made

    def selector(
        self,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        fail_fast: bool = False,
        after: str | None = None,
    ) -> Callable[[StageFunction], SelectorStage]:
        """A stage that chooses any number of branches, which run side by side."""

        def made(function: StageFunction) -> SelectorStage:
            part = Selector(function, (), fail_fast=fail_fast, id=id, name=name, description=description)
            stage = SelectorStage(part)
            self._add(_Entry(stage.part, after))
            return stage

        return made

    def fork(
        self, children: Sequence[StageFunction | Stage | Subflow], *, fail_fast: bool = False, after: str | None = None
    ) -> None:
        """Run children side by side after the stage before, before what follows.

        Args:
            children: Functions, stages or mounts.
            fail_fast: Whether the first failure ends the run, instead of being kept as that child's result.
            after: Id of the stage they start from.
        """
        parts = [child if isinstance(child, (Stage, Subflow)) else Stage(child) for child in children]
        self._add(_Entry(lambda: Fork(parts, fail_fast=fail_fast), after))

    def mount(
        self,
        chart: PartList,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        input: MapSpec = None,
        output: MapSpec = None,
        array_merge: Literal["concat", "replace", "replace-all"] = "concat",
        propagate_break: bool = False,
        after: str | None = None,
    ) -> None:
        """Run another chart here, over a state of its own.

        Args:
            chart: The other chart; it may be mounted in many places.
            id: Its id here; the chart's name with dashes by default.
            name: As for every stage.
            description: As for every stage.
            input: `{its key: our key}`, names that are the same on both sides, or a function of our state.
            output: `{our key: its key}`, names, or a function of its value (or state) and our state.
            array_merge: How mapped lists and objects meet what is there.
            propagate_break: Whether a break inside ends this chart too.
            after: Id of the stage it follows.
        """
        part = Subflow(
            chart,
            id=id,
            name=name,
            description=description,
            input=input,
            output=output,
            array_merge=array_merge,
            propagate_break=propagate_break,
        )
        self._add(_Entry(part, after))

    def loop(self, to: str, *, after: str | None = None) -> None:
        """End the main line by going back to the stage with the id `to`."""
        self._add(_Entry(LoopTo(to), after))

    def _kept(self, after: str | None, make: Callable[[StageFunction], Part]) -> Keep[F]:
        def keep(function: F) -> F:
            self._add(_Entry(make(function), after))
            return function

        return keep

    def _add(self, entry: _Entry) -> None:
        if not self._entries and (entry.after is not None or isinstance(entry.part, (Fork, LoopTo))):
            raise ChartBuildError(f"The chart {self.name!r} has no start yet.", fix="Begin with `start`.")
        self._entries.append(entry)


class _Entry:
    """A part where it was written, and what it says it follows."""

    def __init__(self, part: Part | Callable[[], Part], after: str | None = None) -> None:
        self._part = part
        self.after = after

    @property
    def part(self) -> Part:
        """The part as it is now: branches are added after the decider."""
        return self._part() if callable(self._part) else self._part


class PausableStage:
    """A pausable stage under construction. Calling it runs its first half."""

    def __init__(self, function: StageFunction, id: str | None, name: str | None, description: str | None) -> None:
        self._function = function
        self._second: StageFunction | None = None
        self._named = (id, name, description)

    def resume(self, function: F) -> F:
        """Decorate the second half: `f(state, answer)` or `f(state, answer, ctx)`."""
        self._second = function
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the function's own
        return self._function(*args, **kwargs)

    def part(self) -> Pausable:
        """The stage as a part.

        Raises:
            ChartBuildError: It has no second half.
        """
        own, name, description = self._named
        if self._second is None:
            shown = own or derived_id(self._function)
            raise ChartBuildError(
                f"The pausable stage {shown!r} has no second half.",
                fix="Decorate it with the stage's `.resume`.",
                ids=(shown,),
            )
        return Pausable(self._function, self._second, id=own, name=name, description=description)


class _Branching:
    """What deciders and selectors have in common: branches that are added one by one."""

    def __init__(self) -> None:
        self._branches: list[Callable[[], Branch]] = []

    def _branch(self, make: Callable[[StageFunction], Branch]) -> Keep[F]:
        def keep(function: F) -> F:
            branch = make(function)
            self._branches.append(lambda: branch)
            return function

        return keep

    def mount(
        self,
        id: str,
        chart: PartList,
        *,
        name: str | None = None,
        input: MapSpec = None,
        output: MapSpec = None,
        array_merge: Literal["concat", "replace", "replace-all"] = "concat",
        propagate_break: bool = False,
    ) -> None:
        """Add another chart as a branch."""
        part = Subflow(
            chart,
            id=id,
            name=name,
            input=input,
            output=output,
            array_merge=array_merge,
            propagate_break=propagate_break,
        )
        self._branches.append(lambda: part)

    def pausable(self, id: str, *, name: str | None = None) -> Callable[[StageFunction], PausableStage]:
        """Add a pausable stage as a branch."""

        def made(function: StageFunction) -> PausableStage:
            stage = PausableStage(function, id, name, None)
            self._branches.append(stage.part)
            return stage

        return made

    def _made(self) -> tuple[Branch, ...]:
        return tuple(make() for make in self._branches)


class DeciderStage(_Branching):
    """A decider under construction. Calling it runs its function."""

    def __init__(self, decider: Decider) -> None:
        super().__init__()
        self._decider = decider
        self._default: str | None = None

    def branch(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        loop_to: str | None = None,
        default: bool = False,
    ) -> Keep[F]:
        """Decorate the function of a branch.

        Args:
            id: What the decider returns to choose it.
            name: As for every stage.
            description: As for every stage.
            loop_to: Id of an earlier stage it goes back to.
            default: Whether it runs when the decider returns the id of no branch.
        """
        if default:
            self._default = id
        return self._branch(lambda f: Stage(f, id=id, name=name, description=description, loop_to=loop_to))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the function's own
        return self._decider.function(*args, **kwargs)

    def part(self) -> Decider:
        """The decider as a part."""
        return replace(self._decider, branches=self._made(), default=self._default)


class SelectorStage(_Branching):
    """A selector under construction. Calling it runs its function."""

    def __init__(self, selector: Selector) -> None:
        super().__init__()
        self._selector = selector

    def branch(self, id: str, *, name: str | None = None, description: str | None = None) -> Keep[F]:
        """Decorate the function of a branch."""
        return self._branch(lambda f: Stage(f, id=id, name=name, description=description))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  the function's own
        return self._selector.function(*args, **kwargs)

    def part(self) -> Selector:
        """The selector as a part."""
        return replace(self._selector, branches=self._made())


def _ordered(chart: str, entries: Sequence[_Entry]) -> tuple[Part, ...]:
    """The parts along the main line: source order, unless `after` says otherwise."""
    if not any(entry.after for entry in entries):
        return tuple(entry.part for entry in entries)
    line: list[Part] = []
    waiting = [(entry.part, entry.after) for entry in entries]
    while waiting:
        last = next((name for name in map(_id_of, reversed(line)) if name is not None), None)
        here = next((pair for pair in waiting if pair[1] is not None and pair[1] == last), None)
        free = next((pair for pair in waiting if pair[1] is None), None)
        chosen = here or free
        if chosen is None:
            part, after = waiting[0]
            known = [name for name in map(_id_of, line) if name is not None]
            why = "is followed by another stage already" if after in known else "is no stage of this chart"
            shown = _id_of(part) or type(part).__name__
            raise ChartBuildError(
                f"In chart {chart!r}, {shown!r} comes after {after!r}, which {why}.",
                fix="A stage has one next stage; branches belong to a decider.",
                ids=(shown, cast("str", after)),
            )
        waiting.remove(chosen)
        line.append(chosen[0])
    return tuple(line)


def _id_of(part: Part) -> str | None:
    if isinstance(part, (Fork, LoopTo)):
        return None
    if part.id is not None:
        return part.id
    return None if isinstance(part, Subflow) else derived_id(part.function)
