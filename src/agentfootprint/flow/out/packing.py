"""How does a built chart go to another process: as the parts it was made from, and built anew there (FLOW-PY-5)?

Charts are packed side by side and name each other by number, so what is nested deeply is packed no deeper. Functions
go by name; one that a decorator of a chart keeps is found behind what the decorator left in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, TypeAlias, cast

from agentfootprint.flow.parts import LoopTo, Part, PartList, Subflow

__all__ = ["Packed", "packed", "unpacked"]


@dataclass(frozen=True, slots=True)
class _ChartAt:
    """Stands for the chart with this number."""

    number: int


Packed: TypeAlias = "list[tuple[str, tuple[Any, ...], type[Any] | None]]"
"""Name, parts and state type of each chart, the outermost first."""


def packed(chart: PartList) -> Packed:
    """A chart and all that are mounted in it, each once."""
    charts: list[PartList] = [chart]
    numbers = {id(chart): 0}
    done: Packed = []

    def numbered(other: PartList) -> _ChartAt:
        if id(other) not in numbers:
            numbers[id(other)] = len(charts)
            charts.append(other)
        return _ChartAt(numbers[id(other)])

    while len(done) < len(charts):
        own = charts[len(done)]
        done.append((own.name, tuple(_changed(part, numbered, _by_name) for part in own.parts), own.state))
    return done


def unpacked(given: Packed) -> PartList:
    """The chart again, with all that are mounted in it."""
    charts = [_Unpacked(name, (), state) for name, _, state in given]
    for chart, (_, parts, _) in zip(charts, given, strict=True):
        chart.own = tuple(_changed(part, None, None, charts) for part in parts)
    return charts[0]


class _Unpacked(PartList):
    """A chart whose parts come after it: they may be about charts that are not there yet."""

    own: tuple[Part, ...] = ()

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts, in the order of the main line."""
        return self.own


def _changed(
    part: Part,
    numbered: Callable[[PartList], _ChartAt] | None,
    named: Callable[[Any], Any] | None,
    charts: Sequence[PartList] = (),
) -> Any:  # noqa: ANN401  a part, or what stands for one
    """A part, its charts exchanged for numbers or numbers for charts, and its functions by what `named` gives."""
    if isinstance(part, LoopTo):
        return part
    changes: dict[str, Any] = {}
    for own in ("function", "resume", "items", "branch", "input", "output"):
        function = getattr(part, own, None)
        if named is not None and callable(function):
            changes[own] = named(function)
    for own in ("branches", "children"):
        if hasattr(part, own):
            inner = cast("Sequence[Part]", getattr(part, own))
            changes[own] = tuple(_changed(other, numbered, named, charts) for other in inner)
    if isinstance(part, Subflow):
        chart: object = part.chart
        if isinstance(chart, PartList) and numbered is not None:
            changes["chart"] = numbered(chart)
        elif isinstance(chart, _ChartAt):
            changes["chart"] = charts[chart.number]
    return replace(part, **changes)


class _Decorated:
    """Stands for a function whose name leads to what a chart's decorator made of it; becomes the function again."""

    def __init__(self, module: str, name: str) -> None:
        self.at = module, name

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, str]]:
        return _undecorated, self.at


def _undecorated(module: str, name: str) -> Any:  # noqa: ANN401  a function
    return _behind(module, name).__wrapped__


def _behind(module: str, name: str) -> Any:  # noqa: ANN401  what has this name
    found: Any = sys.modules.get(module) or import_module(module)
    for step in name.split("."):
        found = getattr(found, step, None)
    return found


def _by_name(function: Any) -> Any:  # noqa: ANN401  a function, or what stands for it
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)) or "<locals>" in name:
        return function
    found = _behind(module, name)
    is_kept = found is not function and getattr(found, "__wrapped__", None) is function
    return _Decorated(module, name) if is_kept else function
