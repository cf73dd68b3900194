"""How did a run move over its skill map, and did it go round in circles (05 s.5.6)?

What the map itself says moved the position (`cursorMove.by`) wins; only where an older file doesn't say is a move
inferred from the rows that brought the skill. A call that was never dispatched is no last tool (AGT-90).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from agentfootprint.events import ContextEvaluated, Event, SkillRejected, ToolEnd, ToolStart
from agentfootprint.observe.views.openings import OpenCalls, never_ran
from agentfootprint.observe.views.per_run import RUN_EDGES, PerRun
from agentfootprint.observe.views.reading import address_of, text_of, told
from agentfootprint.trace import Record

__all__ = ["RouteHop", "RouteLog", "RouteTrip"]

_WINDOW: Final = 4
_CAP: Final = 3
_MOVES: Final = frozenset(("entry", "route", "model-pick", "tool-proposal", "intent", "continuity", "decider", "stay"))
_WHY: Final = {
    "entry": "its own entry rule held",
    "route": "the map's edge led here",
    "model-pick": "the model asked for it",
    "tool-proposal": "a tool's result proposed it",
    "intent": "it fits the message best",
    "continuity": "the conversation stood there",
    "decider": "a model was asked to choose",
    "stay": "the position was kept",
}
_INFERRED: Final = {"entry": "entry", "route": "route", "tree": "route", "model": "model-pick"}


class RouteHop(Record, frozen=True, kw_only=True, gc=False):
    """One move on the map, or one that was refused."""

    runtime_stage_id: str
    iteration: int
    from_skill: str | None = None
    to_skill: str | None = None
    outcome: str
    """`entry`, `route`, `model-pick`, `tool-proposal`, `intent`, `continuity`, `decider`, `stay` or `rejected`."""
    why: str
    """In words."""
    edge_label: str | None = None
    last_tool: str | None = None
    """The tool that ended last before."""
    requested_skill: str | None = None
    """What was refused."""
    reachable: tuple[str, ...] | None = None
    """Where the map can go from there; empty is a dead end."""


class RouteTrip(Record, frozen=True, kw_only=True, gc=False):
    """A sign that a run goes round in circles."""

    kind: Literal["ping-pong", "rejected-cap"]
    runtime_stage_id: str
    """Where it was noticed."""
    iteration: int
    skills: tuple[str, ...]
    """The two that alternate, or those that were asked for in vain."""


@dataclass(slots=True)
class _Route:
    hops: list[RouteHop] = field(default_factory=list[RouteHop])
    trips: list[RouteTrip] = field(default_factory=list[RouteTrip])
    open: OpenCalls[str] = field(default_factory=OpenCalls[str])
    last_tool: str | None = None
    current: str | None = None
    moves: list[str] = field(default_factory=list[str])
    """The skills of the latest moves, as many as the window holds."""
    is_swinging: bool = False
    refused: list[str] = field(default_factory=list[str])
    """What was asked for in vain since the last move."""


class RouteLog(PerRun[_Route]):
    """The hops of a run over its skill map, and the trips that were noticed.

    What it says of itself is of the run that began last; ask with a run's id where several are in flight.

    Args:
        on_trip: Called with each trip when it is noticed.
    """

    name = "routes"
    relevant_types = (*RUN_EDGES, ContextEvaluated.type, SkillRejected.type, ToolStart.type, ToolEnd.type)

    def __init__(self, *, on_trip: Callable[[RouteTrip], object] | None = None) -> None:
        super().__init__()
        self.on_trip = on_trip

    def new_state(self) -> _Route:
        """Nowhere yet."""
        return _Route()

    def hear(self, event: Event[Any]) -> None:
        """Take one event into account."""
        state, kind = self.state_of(event), event.type
        if kind == ContextEvaluated.type:
            self._evaluated(state, event)
        elif kind == SkillRejected.type:
            self._rejected(state, event)
        elif kind == ToolStart.type and not never_ran(event):
            state.open.open(event, text_of(event.payload, "tool_name"))
        elif kind == ToolEnd.type and not never_ran(event):
            state.last_tool = state.open.close(event) or state.last_tool

    def hops(self, run_id: str | None = None) -> tuple[RouteHop, ...]:
        """The hops, in order."""
        return tuple(self.known_of(run_id).hops)

    def trips(self, run_id: str | None = None) -> tuple[RouteTrip, ...]:
        """The trips, in order."""
        return tuple(self.known_of(run_id).trips)

    def _evaluated(self, state: _Route, event: Event[Any]) -> None:
        payload = event.payload
        move = told(payload, "cursor_move")
        rows = cast("list[Any]", told(payload, "routing") or ())
        if move is None:
            self._inferred(state, event, rows)
            return
        outcome, to = text_of(move, "by"), told(move, "to")
        if outcome not in _MOVES:
            state.current = to if isinstance(to, str) else state.current
            return
        label = next((told(row, "label") for row in rows if told(row, "injection_id") == to), None)
        witness = told(told(move, "witness"), "text")
        why = _WHY[outcome] if witness is None else f"{_WHY[outcome]}: {witness!r}"
        reachable = told(move, "reachable")
        hop = RouteHop(
            runtime_stage_id=address_of(event),
            iteration=_iteration(payload),
            from_skill=told(move, "from_"),
            to_skill=to,
            outcome=outcome,
            why=why,
            edge_label=label,
            last_tool=state.last_tool,
            reachable=None if reachable is None else tuple(reachable),
        )
        self._hopped(state, hop)

    def _inferred(self, state: _Route, event: Event[Any], rows: list[Any]) -> None:
        """A file that doesn't say what moved the position: the first row that brings another skill."""
        for row in rows:
            skill, via = told(row, "injection_id"), _INFERRED.get(text_of(row, "via"))
            if via is None or skill == state.current or not isinstance(skill, str):
                continue
            hop = RouteHop(
                runtime_stage_id=address_of(event),
                iteration=_iteration(event.payload),
                from_skill=state.current,
                to_skill=skill,
                outcome=via,
                why=f"{_WHY[via]} (inferred)",
                edge_label=told(row, "label"),
                last_tool=state.last_tool,
            )
            self._hopped(state, hop)
            return

    def _rejected(self, state: _Route, event: Event[Any]) -> None:
        payload = event.payload
        asked = text_of(payload, "requested_id")
        state.hops.append(
            RouteHop(
                runtime_stage_id=address_of(event),
                iteration=_iteration(payload),
                from_skill=told(payload, "current_skill_id"),
                outcome="rejected",
                why=f"refused: {text_of(payload, 'reason') or text_of(payload, 'posture') or 'not on offer'}",
                last_tool=state.last_tool,
                requested_skill=asked,
            )
        )
        state.refused.append(asked)
        if len(state.refused) == _CAP:
            self._tripped(state, "rejected-cap", state.hops[-1], tuple(dict.fromkeys(state.refused)))

    def _hopped(self, state: _Route, hop: RouteHop) -> None:
        state.hops.append(hop)
        if hop.to_skill is None or hop.to_skill == state.current:
            return
        state.current = hop.to_skill
        state.refused.clear()
        state.moves.append(hop.to_skill)
        del state.moves[:-_WINDOW]
        swings = len(state.moves) == _WINDOW and len(set(state.moves)) == 2 and state.moves[0] == state.moves[2]  # noqa: PLR2004  two skills
        if swings and not state.is_swinging:
            self._tripped(state, "ping-pong", hop, tuple(state.moves[:2]))
        state.is_swinging = swings

    def _tripped(
        self, state: _Route, kind: Literal["ping-pong", "rejected-cap"], hop: RouteHop, skills: tuple[str, ...]
    ) -> None:
        trip = RouteTrip(kind=kind, runtime_stage_id=hop.runtime_stage_id, iteration=hop.iteration, skills=skills)
        state.trips.append(trip)
        if self.on_trip is not None:
            self.on_trip(trip)


def _iteration(payload: Any) -> int:  # noqa: ANN401  any payload
    number = told(payload, "iteration")
    return number if isinstance(number, int) else 0
