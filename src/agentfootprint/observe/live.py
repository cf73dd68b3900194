"""What is going on right now in the runs of an agent (05 s.5.5)?

A fold over events: each costs the same however long a run is, and what it gives is what a fold over the run's whole
list of events gives (LIN-24). One state a run, so that runs side by side are told apart (REC-41).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, cast

from agentfootprint.events import (
    ErrorFatal,
    Event,
    EventMeta,
    LLMEnd,
    LLMStart,
    PauseRequest,
    Subscription,
    Token,
    ToolEnd,
    ToolStart,
    TurnEnd,
    TurnStart,
)
from agentfootprint.trace import JsonObject

__all__ = ["LiveCall", "LiveRun", "LiveState", "LiveTool", "LiveTurn"]

_MOST_RUNS: Final = 1024
"""Runs that are known at once; the one that began first makes room."""
_TOGETHER: Final = 1024
"""Pieces of text that are put together at once."""
_ENDED: Final = frozenset(("agentfootprint.integrity.disposition",))


class Watchable(Protocol):
    """What an agent offers to be watched."""

    def on(self, pattern: str, listener: Callable[[Event[Any]], object]) -> Subscription:
        """Call a function for every event that matches."""
        ...


@dataclass(slots=True)
class LiveCall:
    """A model call in flight."""

    iteration: int
    provider: str
    model: str
    started_at_ms: int
    tokens: int = 0
    """Pieces of text that have come."""
    _parts: list[str] = field(default_factory=list[str])
    _latest: list[str] = field(default_factory=list[str])
    """Pieces that were not put together yet, so that a long text takes little more room than itself."""

    @property
    def partial(self) -> str:
        """The text so far; costs what came since it was last read."""
        if self._latest or len(self._parts) > 1:
            self._parts[:] = ["".join((*self._parts, *self._latest))]
            self._latest.clear()
        return self._parts[0] if self._parts else ""

    def hear(self, text: str) -> None:
        """Take a piece of text."""
        self.tokens += 1
        self._latest.append(text)
        if len(self._latest) >= _TOGETHER:
            self._parts.append("".join(self._latest))
            self._latest.clear()


@dataclass(frozen=True, slots=True)
class LiveTool:
    """A tool call in flight."""

    tool_name: str
    tool_call_id: str
    args: JsonObject
    started_at_ms: int
    status: Literal["running", "waiting"] = "running"
    """`waiting`: a person was asked; the run has paused."""


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """A turn in flight."""

    turn_index: int
    user_prompt: str
    started_at_ms: int


class LiveRun:
    """What is going on in one run."""

    __slots__ = ("_calls", "_tools", "_turn", "run_id")

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self._calls: dict[str, LiveCall] = {}
        self._tools: dict[str, LiveTool] = {}
        self._turn: LiveTurn | None = None

    @property
    def calls(self) -> Mapping[str, LiveCall]:
        """Model calls in flight, by the address of their stage."""
        return self._calls

    @property
    def tools(self) -> Mapping[str, LiveTool]:
        """Tool calls in flight, by the address of their stage and their place in the batch (AGT-59)."""
        return self._tools

    @property
    def turn(self) -> LiveTurn | None:
        """The turn in flight."""
        return self._turn

    @property
    def is_llm_in_flight(self) -> bool:
        """Whether the model is being asked."""
        return bool(self._calls)

    @property
    def partial_text(self) -> str:
        """What the model has said so far in the latest call in flight."""
        return next(reversed(self._calls.values())).partial if self._calls else ""

    @property
    def tokens(self) -> int:
        """How many pieces of text that is."""
        return next(reversed(self._calls.values())).tokens if self._calls else 0

    @property
    def executing_tools(self) -> tuple[LiveTool, ...]:
        """Tool calls that run, in the order of starting."""
        return tuple(tool for tool in self._tools.values() if tool.status == "running")

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn is in flight."""
        return self._turn is not None

    @property
    def turn_index(self) -> int:
        """Which; -1 when none is."""
        return -1 if self._turn is None else self._turn.turn_index

    @property
    def is_idle(self) -> bool:
        """Whether nothing is going on, and nobody is waited for."""
        return not (self._calls or self._tools or self._turn)

    def hear(self, event: Event[Any]) -> None:
        """Take an event of this run."""
        payload: object = event.payload
        if isinstance(payload, Token):
            call = self._calls.get(event.meta.runtime_stage_id)
            if call is not None:
                call.hear(payload.content)
        elif isinstance(payload, LLMStart):
            meta = event.meta
            self._calls[meta.runtime_stage_id] = LiveCall(
                payload.iteration, payload.provider, payload.model, meta.wall_clock_ms
            )
        elif isinstance(payload, LLMEnd):
            self._calls.pop(event.meta.runtime_stage_id, None)
        elif isinstance(payload, ToolStart):
            if payload.not_dispatched is None:
                meta = event.meta
                self._tools[_address(meta, payload.tool_call_id)] = LiveTool(
                    payload.tool_name, payload.tool_call_id, cast("JsonObject", payload.args), meta.wall_clock_ms
                )
        elif isinstance(payload, ToolEnd):
            self._tools.pop(_address(event.meta, payload.tool_call_id), None)
        else:
            self._hear_of_the_turn(payload, event)

    def _hear_of_the_turn(self, payload: object, event: Event[Any]) -> None:
        if isinstance(payload, TurnStart):
            self._turn = LiveTurn(payload.turn_index, payload.user_prompt, event.meta.wall_clock_ms)
        elif isinstance(payload, TurnEnd):
            self._turn = None
        elif isinstance(payload, ErrorFatal):
            self._calls, self._tools, self._turn = {}, {}, None
        elif isinstance(payload, PauseRequest):
            for address, tool in self._tools.items():
                self._tools[address] = LiveTool(
                    tool.tool_name, tool.tool_call_id, tool.args, tool.started_at_ms, "waiting"
                )


def _address(meta: EventMeta, call_id: str) -> str:
    place = meta.tool_ordinal
    return f"{meta.runtime_stage_id}:{call_id if place is None else place}"


_KINDS: Final = (Token, LLMStart, LLMEnd, ToolStart, ToolEnd, TurnStart, TurnEnd, ErrorFatal, PauseRequest)
_HEARD: Final = (*(kind.type for kind in _KINDS), "agentfootprint.agent.run_configured", *_ENDED)


class LiveState:
    """What is going on right now: which model call, which tools, which turn.

    Attach it before the runs that it shall see. What it says of itself is of the run that began last; ask `of(run_id)`
    where several are in flight.

    Example:
        >>> live = LiveState()
        >>> live.is_llm_in_flight, live.turn_index
        (False, -1)
    """

    def __init__(self) -> None:
        self._runs: dict[str, LiveRun] = {}
        self._latest = LiveRun("")
        self._attached: dict[int, tuple[Watchable, Subscription]] = {}

    def attach(self, runner: Watchable) -> Subscription:
        """Watch the runs of an agent; attaching again to the same one changes nothing.

        Returns:
            Close it to stop watching.
        """
        known = self._attached.get(id(runner))
        if known is not None and known[1].active:
            return known[1]
        parts = [runner.on(kind, self.hear) for kind in _HEARD]

        def close() -> None:
            self._attached.pop(id(runner), None)
            for part in parts:
                part.close()

        subscription = Subscription.of(close)
        self._attached[id(runner)] = (runner, subscription)
        return subscription

    def hear(self, event: Event[Any]) -> None:
        """Take an event, live or from a recording."""
        run_id = event.meta.run_id
        run = self._runs.get(run_id)
        if run is None:
            if event.type in _ENDED or not event.meta.in_run:
                return
            if len(self._runs) >= _MOST_RUNS:
                del self._runs[next(iter(self._runs))]
            run = self._runs[run_id] = self._latest = LiveRun(run_id)
        run.hear(event)
        if event.type in _ENDED and run.is_idle:
            del self._runs[run_id]

    def hear_all(self, events: Iterable[Event[Any]]) -> None:
        """Take events in order, such as `result.recording.events`."""
        for event in events:
            self.hear(event)

    def of(self, run_id: str) -> LiveRun:
        """What is going on in one run; nothing when it is over, or not known."""
        return self._runs.get(run_id) or LiveRun(run_id)

    @property
    def runs(self) -> tuple[LiveRun, ...]:
        """The runs in which something is going on, or a person is waited for."""
        return tuple(run for run in self._runs.values() if not run.is_idle)

    @property
    def is_llm_in_flight(self) -> bool:
        """Whether the model is being asked, in the run that began last."""
        return self._latest.is_llm_in_flight

    @property
    def partial_text(self) -> str:
        """What the model has said so far in its call in flight."""
        return self._latest.partial_text

    @property
    def tokens(self) -> int:
        """How many pieces of text that is."""
        return self._latest.tokens

    @property
    def executing_tools(self) -> tuple[LiveTool, ...]:
        """Tool calls that run, in the order of starting."""
        return self._latest.executing_tools

    @property
    def is_in_turn(self) -> bool:
        """Whether a turn is in flight."""
        return self._latest.is_in_turn

    @property
    def turn_index(self) -> int:
        """Which; -1 when none is."""
        return self._latest.turn_index
