"""What a chart is made of, as plain data: the form generated charts are written in (FLOW-PY-1).

Parts are immutable and name each other by id only, so one part may stand in many charts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentfootprint.flow.retry import RetryPolicy

__all__ = [
    "Branch",
    "Continue",
    "Decider",
    "ForEach",
    "Fork",
    "LoopTo",
    "MapSpec",
    "Part",
    "PartList",
    "Pausable",
    "Selector",
    "Stage",
    "StageFunction",
    "Subflow",
]

StageFunction: TypeAlias = Callable[..., Any]
"""`f(state)` or `f(state, ctx)`, plain or async; for a raw part `f(handle)`."""
MapSpec: TypeAlias = Mapping[str, str] | Sequence[str] | Callable[..., Any] | None
"""`{target key: source key}`, names that are the same on both sides, or a function."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    """What every node of a chart has."""

    id: str | None = None
    """Derived from the function's name (`check_score` gives `check-score`) when not given."""
    name: str | None = None
    """Display name; the id in title case when not given."""
    description: str | None = None
    """First line of the function's docstring when not given."""
    icon: str | None = None
    """A hint for viewers, passed on as it is."""


@dataclass(frozen=True, slots=True)
class Stage(_Named):
    """A stage that runs a function and goes on."""

    function: StageFunction
    raw: bool = False
    """Whether the function gets the bare `Handle` instead of the typed state."""
    stream: str | None = None
    """Makes it a streaming stage: the id its tokens are sent under; `""` for its name."""
    loop_to: str | None = None
    """For a branch of a decider: the earlier stage it goes back to."""
    thread: bool = False
    """Whether the function, a plain one, runs in a worker thread; what it writes stays staged (FLOW-PY-15)."""
    retry: RetryPolicy | None = None
    """When it runs again after it raised; never by default."""
    converge_at: str | None = None
    """For a branch: the later stage that the drawing joins it to; runs go on as ever (FLOW-BLD-26)."""


@dataclass(frozen=True, slots=True)
class Pausable(_Named):
    """A stage that may stop the run to ask: by returning anything but `None` (FLOW-PAU-1)."""

    function: StageFunction
    resume: StageFunction
    """Called with the answer as one more argument when the run goes on."""
    raw: bool = False
    retry: RetryPolicy | None = None
    loop_to: str | None = None
    converge_at: str | None = None


@dataclass(frozen=True, slots=True)
class Subflow(_Named):
    """A mount: another chart, run over a state of its own."""

    chart: PartList | Callable[[], PartList]
    """The chart; or with `lazy` a function that makes it."""
    input: MapSpec = None
    """`{subflow key: parent key}`: what the mount begins with, and its `args`."""
    output: MapSpec = None
    """`{parent key: subflow key}` over its final state; a function gets its value (or state) and the parent's state."""
    array_merge: Literal["concat", "replace", "replace-all"] = "concat"
    """How mapped lists and objects meet what is there (FLOW-EXE-24, DEC-24)."""
    propagate_break: bool = False
    """Whether a break inside ends the parent too (FLOW-EXE-20)."""
    inputs: Literal["readonly", "mutable"] = "readonly"
    """Whether stages inside may write the keys that were mapped in."""
    on_output_error: Literal["raise", "record"] = "raise"
    """Whether a failing output map ends the run (FLOW-EXE-27)."""
    lazy: bool = False
    """Whether the chart is made when a run first comes here, once a run (FLOW-EXE-31)."""
    within: Callable[..., Any] | None = None
    """`async within(mounted, go)` stands around a run of the mount: it may give the stages inside a scope of their own,
    awaits `go()` for what the last of them returned, and gives what the output map gets as the mount's value."""
    loop_to: str | None = None
    converge_at: str | None = None


Branch: TypeAlias = "Stage | Pausable | Subflow"


@dataclass(frozen=True, slots=True)
class Decider(_Named):
    """A stage that chooses exactly one branch, by id or by a `Choice`."""

    function: StageFunction
    branches: Sequence[Branch]
    default: str | None = None
    """Branch that runs when the function returns the id of none."""
    default_node: str | None = None
    """As `default`, through a copy of that branch with the id `default` (FLOW-BLD-21)."""
    raw: bool = False
    retry: RetryPolicy | None = None


@dataclass(frozen=True, slots=True)
class Selector(_Named):
    """A stage that chooses any number of branches, which run side by side."""

    function: StageFunction
    branches: Sequence[Branch]
    fail_fast: bool = False
    raw: bool = False
    retry: RetryPolicy | None = None
    max_concurrency: int | None = None
    """How many branches may be on their way at once; all by default."""
    timeout: float | None = None
    """Seconds each branch may take; one that takes longer has failed."""


@dataclass(frozen=True, slots=True)
class Fork:
    """Children that all run side by side after the stage before this part, before what follows it."""

    children: Sequence[Branch]
    fail_fast: bool = False
    max_concurrency: int | None = None
    """As for a `Selector`."""
    timeout: float | None = None
    """As for a `Selector`."""


@dataclass(frozen=True, slots=True)
class ForEach(_Named):
    """A stage that runs one chart for each item of a list, side by side, and keeps what they came to (FLOW-EXE-45)."""

    branch: Callable[[Any, int], PartList]
    """`branch(item, index)` makes the chart of an item; asked anew on every visit. Its id is the default of `id`."""
    items: StageFunction
    """`items(state)` or `items(state, ctx)` gives the list; nothing is an empty one."""
    max_branches: int | None = None
    """How many items may run; those beyond it do not. There is no default: say what is too many."""
    into: str = ""
    """Key that gets the list of results, in the order of the items; null where a branch failed."""
    errors_into: str | None = None
    """Key that gets the list of failures, each with its `index`; they are not written by default."""
    fail_fast: bool = False
    max_concurrency: int | None = None
    """As for a `Selector`."""
    timeout: float | None = None
    """As for a `Selector`."""
    raw: bool = False


@dataclass(frozen=True, slots=True)
class LoopTo:
    """The end of the main line: go back to an earlier stage."""

    id: str


class Continue:
    """What a stage may return to go on with other parts for this visit, instead of with what follows it (FLOW-EXE-50).

    The chart is not changed: the parts belong to this run. When they have ended, the chart has, too; a last `LoopTo`
    goes on with a stage of the chart instead, an earlier or a later one. `Continue(LoopTo("id"))` just goes there.

    Args:
        parts: In order.
        state: The type they see the state through.

    Example:
        >>> def triage(s):
        ...     if s.urgent:
        ...         return Continue(Stage(page_somebody), LoopTo("close"))
    """

    __slots__ = ("parts", "state")

    def __init__(self, *parts: Part, state: type[Any] | None = None) -> None:
        self.parts = parts
        self.state = state


Part: TypeAlias = Stage | Pausable | Subflow | Decider | Selector | Fork | ForEach | LoopTo


class PartList:
    """A chart before it is built: a name, its parts in order, and the type its stages see the state through.

    Args:
        name: Shown for the chart as a whole.
        parts: In order of the main line.
        state: A subclass of `State`; None for the untyped one.
    """

    def __init__(self, name: str, parts: Sequence[Part], state: type[Any] | None = None) -> None:
        self.name = name
        self.state = state
        self._parts = tuple(parts)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in the order of the main line."""
        return self._parts
