"""What one event is: what happened, and where, when and in whose run.

Invariants: an event is made once, in the wire's order, and never changed; making one costs two small allocations and
no clock, path or id is worked out before somebody reads `meta`. It holds its execution and the run's facts, never the
run, so a kept event keeps no run alive and takes part in no cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from agentfootprint.events.meta import EventMeta, MetaMarks, Origin, RunFacts, build_event_meta, read_meta
from agentfootprint.trace import FrozenDict, JsonObject, Value, ValueRefusedError, deep_equal, freeze

__all__ = ["Event", "UnknownEvent"]

T_co = TypeVar("T_co", covariant=True)

_NO_RUN: Final = RunFacts(run_id="", started_at_ms=0)


class Event(msgspec.Struct, Generic[T_co], frozen=True, gc=False, eq=False):
    """One thing that happened in an agent's life: `type`, `payload`, `meta`.

    A running agent makes it as `Event(payload, execution, dt, facts, marks)`: the execution (or a pseudo-stage address,
    EVT-9), nanoseconds since the run began, the run's shared facts, and what this event adds to its meta. `match` on
    the payload's class tells events apart.

    Example:
        >>> from agentfootprint.events import RunFacts, Token
        >>> run = RunFacts(run_id="run-1700000000000-1", started_at_ms=1_700_000_000_000)
        >>> event = Event(Token(iteration=1, token_index=0, content="Hi"), "call-llm#18", 7_000_000, run)
        >>> event.type, event.meta.run_offset_ms
        ('agentfootprint.stream.token', 7)
    """

    _payload: T_co
    _execution: Origin = None
    _dt: int = 0
    _facts: RunFacts = _NO_RUN
    _marks: MetaMarks | None = None
    _meta: EventMeta | None = None
    _source: JsonObject | None = None

    @property
    def payload(self) -> T_co:
        """What happened: an instance of the type's payload class."""
        return self._payload

    @property
    def type(self) -> str:
        """The event type, `agentfootprint.<domain>.<action>`."""
        return self._payload.type  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]  always a Payload here; a cast is a call

    @property
    def meta(self) -> EventMeta:
        """Where, when and in whose run; worked out on first access."""
        meta = self._meta
        if meta is None:
            meta = build_event_meta(self._execution, self._facts, self._dt, self._marks)
            msgspec.structs.force_setattr(self, "_meta", meta)
        return meta

    @property
    def execution(self) -> Origin:
        """The execution that it happened in, or a pseudo-stage address; `None` for an event read from a file."""
        return self._execution

    @property
    def dt(self) -> int:
        """Nanoseconds since the run began, in a running process; 0 for an event read from a file."""
        return self._dt

    @property
    def facts(self) -> RunFacts:
        """The facts of its run; the same object for every event of one run in this process."""
        return self._facts

    @property
    def marks(self) -> MetaMarks | None:
        """What its meta says beyond place, time and run; `None` for nothing."""
        return self._marks

    @property
    def source(self) -> JsonObject | None:
        """The event as the file had it, when the classes here can't say all of it (EVT-5)."""
        return self._source

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Event):
            return NotImplemented
        that = cast("Event[Any]", other)
        return (
            self.type == that.type
            and deep_equal(self.payload, that.payload)
            and self.meta == that.meta
            and deep_equal(self.source, that.source)
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return f"{type(self).__name__}(type={self.type!r}, payload={self.payload!r}, meta={self.meta!r})"


class _Hidden(Event[Any], frozen=True, gc=False, eq=False, kw_only=True):
    """The fields of an event as keywords, so that a subclass can have parameters of its own."""

    _payload: Any = None
    _execution: Origin = None
    _dt: int = 0
    _facts: RunFacts = _NO_RUN
    _marks: MetaMarks | None = None
    _meta: EventMeta | None = None
    _source: JsonObject | None = None


class UnknownEvent(_Hidden, frozen=True, gc=False, eq=False):
    """An event without a payload class: the application's own, a newer version's, or one that a policy redacted whole.

    Its payload is a frozen JSON value and its meta an `EventMeta`, also when a plain object was given; keys that
    `EventMeta` has no attribute for are kept and written back (EVT-5).

    Raises:
        ValueRefusedError: The payload holds what JSON can't; the error's path begins with the event type (DEC-13).

    Example:
        >>> UnknownEvent("shop.basket.filled", {"items": 3}, {"runId": "run-1-1"}).meta.run_id
        'run-1-1'
    """

    type: str  # pyright: ignore[reportIncompatibleMethodOverride]  a field here, worked out in the base
    """The event type, any text."""
    payload: Value
    """What happened: a JSON value, an object unless it was redacted whole."""
    meta: Any
    """Where, when and in whose run: given as an object or an `EventMeta`, kept as an `EventMeta`."""

    def __post_init__(self) -> None:
        try:
            payload = freeze(self.payload)
        except ValueRefusedError as refused:
            raise ValueRefusedError((self.type, *refused.path), refused.found) from refused
        msgspec.structs.force_setattr(self, "payload", payload)
        if not isinstance(self.meta, EventMeta):
            given = cast("Mapping[str, Any]", self.meta)
            meta, whole = read_meta(given)
            msgspec.structs.force_setattr(self, "meta", meta)
            if not whole and self._source is None:
                source = FrozenDict({"type": self.type, "payload": payload, "meta": freeze(given)})
                msgspec.structs.force_setattr(self, "_source", source)
