"""Which tool call got a value from which earlier call (03 s.19)?

An edge says that the same value stands in a result and in later arguments, not that anybody copied it. Calls that were
never dispatched give and take nothing (AGT-90). The work is linear in the values of arguments and results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec

from agentfootprint.errors import ConfigError
from agentfootprint.events import Event, IterationStart, ToolEnd, ToolStart
from agentfootprint.observe.views.openings import OpenCalls, never_ran
from agentfootprint.observe.views.per_run import RUN_EDGES, PerRun
from agentfootprint.observe.views.reading import address_of, text_of, told
from agentfootprint.trace import FrozenDict, FrozenList, Record, scalar_text, utf16_length

__all__ = ["LineageCall", "LineageEdge", "ToolLineage"]


class LineageCall(Record, frozen=True, kw_only=True, gc=False):
    """One tool call."""

    runtime_stage_id: str
    """Address of the stage that made it."""
    tool_call_id: str
    tool_name: str
    iteration: int
    """The iteration, from 1; 0 when the events don't say."""


class LineageEdge(Record, frozen=True, kw_only=True, gc=False):
    """A value of a result that stands in later arguments."""

    from_: LineageCall = msgspec.field(name="from")
    """The call whose result holds it; the last one before, when several do."""
    to: LineageCall
    """The call whose arguments hold it."""
    value: str
    """The value as text."""


@dataclass(slots=True)
class _Lineage:
    nodes: list[LineageCall] = field(default_factory=list[LineageCall])
    edges: list[LineageEdge] = field(default_factory=list[LineageEdge])
    open: OpenCalls[LineageCall] = field(default_factory=OpenCalls[LineageCall])
    iterations: dict[str, int] = field(default_factory=dict[str, int])
    """By the mounts that the loop stands in."""
    producers: dict[tuple[type, str], list[tuple[str, LineageCall]]] = field(
        default_factory=dict[tuple[type, str], list[tuple[str, LineageCall]]]
    )
    """The last two calls, of different iterations, whose results hold a value."""


class ToolLineage(PerRun[_Lineage]):
    """Links tool calls by the values that pass from results to arguments.

    What it says of itself is of the run that began last; ask with a run's id where several are in flight.

    Args:
        min_value_length: Texts shorter than this link nothing, in UTF-16 units.
        match_numbers: Whether numbers link too; small ones agree by chance.
        max_depth: How deep values are looked for in arguments and results.

    Raises:
        ConfigError: A number is below 1.
    """

    name = "tool-lineage"
    relevant_types = (*RUN_EDGES, IterationStart.type, ToolStart.type, ToolEnd.type)

    def __init__(self, *, min_value_length: int = 4, match_numbers: bool = False, max_depth: int = 6) -> None:
        for option, given in (("min_value_length", min_value_length), ("max_depth", max_depth)):
            if given < 1:
                raise ConfigError(option, f"{given!r} is no {option}.", fix="Use a whole number from 1 on.")
        super().__init__()
        self.min_value_length = min_value_length
        self.match_numbers = match_numbers
        self.max_depth = max_depth

    def new_state(self) -> _Lineage:
        """No call yet."""
        return _Lineage()

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        state, kind = self.state_of(event), event.type
        if kind == IterationStart.type:
            number = told(event.payload, "iter_index")
            if isinstance(number, int):
                state.iterations[_loop_of(address_of(event))] = number
        elif kind == ToolStart.type and not never_ran(event):
            self._started(state, event)
        elif kind == ToolEnd.type and not never_ran(event):
            call = state.open.close(event)
            if call is not None:
                loop = _loop_of(call.runtime_stage_id)
                for value in self._values(told(event.payload, "result")):
                    _produced(state.producers.setdefault(value, []), loop, call)

    def nodes(self, run_id: str | None = None) -> tuple[LineageCall, ...]:
        """The calls, in the order of starting."""
        return tuple(self.known_of(run_id).nodes)

    def edges(self, run_id: str | None = None) -> tuple[LineageEdge, ...]:
        """The links, in the order of the calls they lead to."""
        return tuple(self.known_of(run_id).edges)

    def to_wire(self, run_id: str | None = None) -> dict[str, Any]:
        """Nodes and edges under the keys of the wire."""
        return {
            "nodes": [msgspec.to_builtins(node) for node in self.nodes(run_id)],
            "edges": [msgspec.to_builtins(edge) for edge in self.edges(run_id)],
        }

    def _started(self, state: _Lineage, event: Event[Any]) -> None:
        address = address_of(event)
        loop = _loop_of(address)
        call = LineageCall(
            runtime_stage_id=address,
            tool_call_id=text_of(event.payload, "tool_call_id"),
            tool_name=text_of(event.payload, "tool_name"),
            iteration=state.iterations.get(loop, 0),
        )
        state.nodes.append(call)
        state.open.open(event, call)
        for value in dict.fromkeys(self._values(told(event.payload, "args"))):
            for where, producer in reversed(state.producers.get(value, ())):
                if where != loop or producer.iteration != call.iteration:
                    state.edges.append(LineageEdge(from_=producer, to=call, value=value[1]))
                    break

    def _values(self, value: Any) -> Iterator[tuple[type, str]]:  # noqa: ANN401  any JSON value
        stack: list[tuple[Any, int]] = [(value, 0)]
        while stack:
            found, depth = stack.pop()
            if isinstance(found, str):
                if utf16_length(found) >= self.min_value_length:
                    yield str, found
            elif isinstance(found, (int, float)):
                if self.match_numbers and not isinstance(found, bool):
                    yield float, scalar_text(found)
            elif depth < self.max_depth:
                stack.extend((each, depth + 1) for each in reversed(_members(found)))


def _produced(last: list[tuple[str, LineageCall]], loop: str, call: LineageCall) -> None:
    """Note who produced a value last, and who did last in an iteration before: its own iteration may not use it."""
    if last and last[-1][0] == loop and last[-1][1].iteration == call.iteration:
        last[-1] = loop, call
    else:
        last.append((loop, call))
        del last[:-2]


def _members(value: Any) -> list[Any]:  # noqa: ANN401  any JSON value
    if isinstance(value, (Mapping, FrozenDict)):
        return list(cast("Mapping[str, Any]", value).values())
    if isinstance(value, (Sequence, FrozenList)):
        return list(cast("Sequence[Any]", value))
    return []


def _loop_of(address: str) -> str:
    """The mounts that the loop of an address stands in: two agents of one run count iterations of their own."""
    return address.rpartition("/")[0]
