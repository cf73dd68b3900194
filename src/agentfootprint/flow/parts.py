"""What a chart is made of, as plain data: the form generated charts are written in (FLOW-PY-1).

Parts are immutable and name each other by id only, so one part may stand in many charts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = [
    "Branch",
    "Decider",
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


@dataclass(frozen=True, slots=True)
class Pausable(_Named):
    """A stage that may stop the run to ask: by returning anything but `None` (FLOW-PAU-1)."""

    function: StageFunction
    resume: StageFunction
    """Called with the answer as one more argument when the run goes on."""
    raw: bool = False
    loop_to: str | None = None


@dataclass(frozen=True, slots=True)
class Subflow(_Named):
    """A mount: another chart, run over a state of its own."""

    chart: PartList
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
    loop_to: str | None = None


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


@dataclass(frozen=True, slots=True)
class Selector(_Named):
    """A stage that chooses any number of branches, which run side by side."""

    function: StageFunction
    branches: Sequence[Branch]
    fail_fast: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Fork:
    """Children that all run side by side after the stage before this part, before what follows it."""

    children: Sequence[Stage | Subflow]
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class LoopTo:
    """The end of the main line: go back to an earlier stage."""

    id: str


Part: TypeAlias = Stage | Pausable | Subflow | Decider | Selector | Fork | LoopTo


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
