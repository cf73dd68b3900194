"""What can run: a chart, written with decorators or as plain data.

A chart is only a list of parts until `build` checks it and gives a `Flow`. Stages follow each other in the order they
are written; `after=` says so where the order in the file is another one (FLOW-PY-2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypeVar, cast, overload

from typing_extensions import Unpack

from agentfootprint.flow.decorating import (
    ForEachOptions,
    LineOptions,
    SelectorOptions,
    StageOptions,
    StartOptions,
    StreamingOptions,
    applied,
    never_bare,
)
from agentfootprint.flow.errors import ChartBuildError
from agentfootprint.flow.executor import Flow
from agentfootprint.flow.open_stages import DeciderStage, PausableStage, SelectorStage
from agentfootprint.flow.out.contract import Contract
from agentfootprint.flow.out.items import additions
from agentfootprint.flow.out.structure import StructureError, check_hooks, default_of, tell_structure
from agentfootprint.flow.parts import (
    Branch,
    Decider,
    ForEach,
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
from agentfootprint.flow.retry import RetryPolicy
from agentfootprint.flow.watch.recorder import id_of
from agentfootprint.trace import FrozenDict

__all__ = ["Chart"]

F = TypeVar("F", bound=Callable[..., Any])
Keep: TypeAlias = "Callable[[F], F]"


class Chart(PartList):
    """A chart under construction.

    The decorators `start`, `stage`, `streaming`, `pausable`, `decider` and `selector` are written with their options in
    parentheses, or bare where none is given: `@chart.stage` is `@chart.stage()`.

    Args:
        name: Shown for the chart as a whole.
        state: A subclass of `State` that its stages see the state through; None for the untyped one.

    Example:
        >>> chart = Chart("Greeting")
        >>> @chart.start
        ... def greet(s, ctx):
        ...     s.text = f"Hello {ctx.args.name}"
        >>> chart.build().run_sync({"name": "Dana"}).state["text"]
        'Hello Dana'
    """

    def __init__(self, name: str, *, state: type[Any] | None = None) -> None:
        super().__init__(name, (), state)
        self._entries: list[_Entry] = []
        self._contract: Contract | None = None
        self._recorders: list[object] = []
        self._errors: list[StructureError] = []
        self._is_built = False

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
        flow = Flow(self.name, *assembled(self), PartList(self.name, self.parts, self.state), self._contract)
        self._is_built = True
        if self._recorders:
            defaults = {node.info.id: default_of(node.part) for node in flow.nodes}
            self._errors = tell_structure(self._recorders, additions(flow.to_spec()), defaults.get)
        return flow

    def attach(self, recorder: object) -> None:
        """Have somebody told what `build` puts together, or replace who has the same id (3.4).

        Args:
            recorder: A `StructureRecorder`, or any object with some of its hooks.

        Raises:
            ChartBuildError: The chart is built already (FLOW-BLD-16).
            AsyncHookError: A hook is a coroutine function.
        """
        own = id_of(recorder)
        if self._is_built:
            raise ChartBuildError(
                f"The structure recorder {own!r} comes after the chart {self.name!r} was built.",
                fix="Attach it before `build`; what ran is told to the recorders of an executor.",
                ids=(own,),
            )
        check_hooks(recorder)
        self._recorders = [*(other for other in self._recorders if id_of(other) != own), recorder]

    def structure_build_errors(self) -> tuple[StructureError, ...]:
        """What structure recorders raised when the chart was built last."""
        return tuple(self._errors)

    def contract(
        self,
        *,
        input: Any = None,  # noqa: ANN401  any kind of schema
        output: Any = None,  # noqa: ANN401  any kind of schema
        mapper: Callable[[FrozenDict], Any] | None = None,
        validate_output: bool = False,
    ) -> None:
        """Say what a run must be given, and what it comes to (FLOW-CON-1).

        Args:
            input: Pydantic model or type adapter, JSON Schema, or object with `validate`. It is looked at before
                anything runs, also when a run is given no input; what it makes of the input replaces it.
            output: Likewise; described, and looked at only with `validate_output`.
            mapper: Makes the `output` of a result of the final state; the value of the last stage by default.
            validate_output: Whether a run that came to something else fails.

        Raises:
            ChartBuildError: A schema is none.
            MissingExtraError: A JSON Schema was given, and the package that reads those is not installed.
        """
        self._contract = Contract(self.name, input=input, output=output, mapper=mapper, validate_output=validate_output)

    @overload
    def start(self, function: F, /) -> F: ...
    @overload
    def start(self, **options: Unpack[StartOptions]) -> Keep[F]: ...
    def start(
        self,
        function: F | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        thread: bool = False,
        retry: RetryPolicy | None = None,
    ) -> F | Keep[F]:
        """The first stage; written bare, or with options that are those of every stage."""
        if self._entries:
            raise ChartBuildError(
                f"The chart {self.name!r} has a start already.", fix="Use `stage` for what follows it."
            )
        named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
        return applied(self._kept(None, lambda f: Stage(f, thread=thread, **named)), function, "chart.start")

    @overload
    def stage(self, function: F, /) -> F: ...
    @overload
    def stage(self, **options: Unpack[StageOptions]) -> Keep[F]: ...
    def stage(
        self,
        function: F | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        thread: bool = False,
        retry: RetryPolicy | None = None,
        after: str | None = None,
    ) -> F | Keep[F]:
        """A stage on the main line; with `thread` a plain function that blocks, run in a worker thread.

        Write `@chart.stage` where no option is given.
        """
        named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
        return applied(self._kept(after, lambda f: Stage(f, thread=thread, **named)), function, "chart.stage")

    @overload
    def streaming(self, function: F, /) -> F: ...
    @overload
    def streaming(self, **options: Unpack[StreamingOptions]) -> Keep[F]: ...
    def streaming(
        self,
        function: F | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        stream: str = "",
        retry: RetryPolicy | None = None,
        after: str | None = None,
    ) -> F | Keep[F]:
        """A stage that sends text while it runs: by `ctx.token`, or as an async generator of texts.

        Args:
            function: What it is put on, when it is written bare.
            id: As for every stage.
            name: As for every stage.
            description: As for every stage.
            icon: As for every stage.
            stream: Id its tokens are sent under; its name by default.
            retry: As for every stage.
            after: Id of the stage it follows.
        """
        named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
        return applied(self._kept(after, lambda f: Stage(f, stream=stream, **named)), function, "chart.streaming")

    @overload
    def pausable(self, function: StageFunction, /) -> PausableStage: ...
    @overload
    def pausable(self, **options: Unpack[LineOptions]) -> Callable[[StageFunction], PausableStage]: ...
    def pausable(
        self,
        function: StageFunction | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        retry: RetryPolicy | None = None,
        after: str | None = None,
    ) -> PausableStage | Callable[[StageFunction], PausableStage]:
        """A stage that may stop the run to ask; give it its second half with `.resume`. Bare without options."""

        def made(function: StageFunction) -> PausableStage:
            stage = PausableStage(function, id=id, name=name, description=description, icon=icon, retry=retry)
            self._add(_Entry(stage.part, after))
            return stage

        return applied(made, function, "chart.pausable")

    @overload
    def decider(self, function: StageFunction, /) -> DeciderStage: ...
    @overload
    def decider(self, **options: Unpack[LineOptions]) -> Callable[[StageFunction], DeciderStage]: ...
    def decider(
        self,
        function: StageFunction | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        retry: RetryPolicy | None = None,
        after: str | None = None,
    ) -> DeciderStage | Callable[[StageFunction], DeciderStage]:
        """A stage that chooses one branch; add the branches with `.branch`, `.pausable` and `.mount`.

        Write `@chart.decider` where no option is given.
        """

        def made(function: StageFunction) -> DeciderStage:
            named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
            stage = DeciderStage(Decider(function, (), **named))
            self._add(_Entry(stage.part, after))
            return stage

        return applied(made, function, "chart.decider")

    @overload
    def selector(self, function: StageFunction, /) -> SelectorStage: ...
    @overload
    def selector(self, **options: Unpack[SelectorOptions]) -> Callable[[StageFunction], SelectorStage]: ...
    def selector(
        self,
        function: StageFunction | None = None,
        *,
        id: str | None = None,
        name: str | None = None,
        description: str | None = None,
        icon: str | None = None,
        fail_fast: bool = False,
        max_concurrency: int | None = None,
        timeout: float | None = None,
        retry: RetryPolicy | None = None,
        after: str | None = None,
    ) -> SelectorStage | Callable[[StageFunction], SelectorStage]:
        """A stage that chooses any number of branches, which run side by side; bounds are those of `fork`.

        Write `@chart.selector` where no option is given.
        """
        bounds: dict[str, Any] = {"fail_fast": fail_fast, "max_concurrency": max_concurrency, "timeout": timeout}

        def made(function: StageFunction) -> SelectorStage:
            named: dict[str, Any] = {"id": id, "name": name, "description": description, "icon": icon, "retry": retry}
            stage = SelectorStage(Selector(function, (), **bounds, **named))
            self._add(_Entry(stage.part, after))
            return stage

        return applied(made, function, "chart.selector")

    @never_bare("chart.fork([left, right])", "the list of its children")
    def fork(
        self,
        children: Sequence[StageFunction | Branch],
        *,
        fail_fast: bool = False,
        max_concurrency: int | None = None,
        timeout: float | None = None,
        after: str | None = None,
    ) -> None:
        """Run children side by side after the stage before, before what follows.

        Args:
            children: Functions, stages, pausable stages or mounts.
            fail_fast: Whether the first failure ends the run, instead of being kept as that child's result.
            max_concurrency: How many may be on their way at once; all by default.
            timeout: Seconds each of them may take; one that takes longer has failed.
            after: Id of the stage they start from.
        """
        parts = [child if isinstance(child, (Stage, Pausable, Subflow)) else Stage(child) for child in children]
        part = Fork(parts, fail_fast=fail_fast, max_concurrency=max_concurrency, timeout=timeout)
        self._add(_Entry(part, after))

    @never_bare("@chart.for_each(items, max_branches=10, into='results')", "the items, `max_branches` and `into`")
    def for_each(
        self,
        items: StageFunction,
        *,
        max_branches: int | None = None,
        into: str = "",
        after: str | None = None,
        **options: Unpack[ForEachOptions],
    ) -> Keep[F]:
        """Run a chart for each item of a list, side by side, and keep what they came to.

        Decorates `branch(item, index)`, which makes the chart of an item; its name gives the id.

        Args:
            items: `items(state)` or `items(state, ctx)` gives the list.
            max_branches: How many items may run. There is no default.
            into: Key that gets the list of results, in the order of the items.
            after: Id of the stage it follows.
            options: `id`, `name`, `description`, `icon`, `errors_into`, `fail_fast`, `max_concurrency` and `timeout`,
                as in `ForEach`.
        """
        return self._kept(after, lambda f: ForEach(f, items, max_branches=max_branches, into=into, **options))

    @never_bare("chart.mount(other)", "the chart, or `lazy=True` beside a function that makes it")
    def mount(  # noqa: PLR0913  the fields of Subflow
        self,
        chart: PartList | Callable[[], PartList],
        *,
        id: str | None = None,
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
        after: str | None = None,
    ) -> None:
        """Run another chart here, over a state of its own.

        Args:
            chart: The other chart; it may be mounted in many places. With `lazy` a function that makes it.
            id: Its id here; the chart's name with dashes by default.
            name: As for every stage.
            description: As for every stage.
            icon: As for every stage.
            input: `{its key: our key}`, names that are the same on both sides, or a function of our state.
            output: `{our key: its key}`, names, or a function of its value (or state) and our state.
            array_merge: How mapped lists and objects meet what is there.
            propagate_break: Whether a break inside ends this chart too.
            inputs: Whether stages inside may write the keys that were mapped in.
            on_output_error: Whether an output map that fails ends the run, or is only recorded.
            lazy: Whether the chart is made when a run first comes here, once a run.
            after: Id of the stage it follows.
        """
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
        if not self._entries and not entry.may_begin:
            ids = (entry.own.id,) if isinstance(entry.own, LoopTo) else ()
            what = f"The loop to {ids[0]!r} stands before any stage: the" if ids else "The"
            raise ChartBuildError(f"{what} chart {self.name!r} has no start yet.", fix="Begin with `start`.", ids=ids)
        self._entries.append(entry)


class _Entry:
    """A part where it was written, and what it says it follows."""

    def __init__(self, part: Part | Callable[[], Part], after: str | None = None) -> None:
        self.own = part
        self.after = after

    @property
    def part(self) -> Part:
        """The part as it is now: branches are added after the decider, a second half after the first."""
        return self.own() if callable(self.own) else self.own

    @property
    def may_begin(self) -> bool:
        """Whether a chart can begin with it."""
        return self.after is None and not isinstance(self.own, (Fork, LoopTo))


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
    if isinstance(part, ForEach):
        return derived_id(part.branch)
    return None if isinstance(part, Subflow) else derived_id(part.function)
