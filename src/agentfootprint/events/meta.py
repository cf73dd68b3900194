"""Where and when an event happened, and in whose run.

Invariants: a meta is made from an execution, the run's facts and an offset, on first access and never on the hot path;
an optional key that is not known is absent, an empty text that was given is kept (EVT-7); identity is only what the
caller of this very run stated (EVT-8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from agentfootprint.events.reading import read_record
from agentfootprint.trace import Record

__all__ = [
    "CONSUMER_RUN_ID",
    "CONSUMER_STAGE",
    "UNKNOWN_STAGE",
    "Carried",
    "EventMeta",
    "MetaMarks",
    "Origin",
    "RunFacts",
    "Stage",
    "build_event_meta",
    "consumer_facts",
    "read_meta",
]

UNKNOWN_STAGE: Final = "unknown#0"
"""The address of an event that belongs to no stage."""
CONSUMER_STAGE: Final = "consumer-emit#0"
"""The address of an event that the application emits outside a run (EVT-6)."""
CONSUMER_RUN_ID: Final = "consumer-scope"
"""Stands for "no run" (EVT-6, EVT-31)."""
NS_PER_MS: Final = 1_000_000


class Stage(Protocol):
    """What an event needs of the execution that made it; the engine's execution row is one."""

    @property
    def runtime_stage_id(self) -> str:
        """`[subflow/...]stage#index`."""
        ...

    @property
    def subflow_path(self) -> tuple[str, ...] | str | None:
        """The mounts it stands in, as a list or joined by `/`; `None` reads them from the address."""
        ...


Origin: TypeAlias = Stage | str | None
"""Where an event comes from: an execution, a pseudo-stage address (EVT-9), or nowhere."""


class RunFacts(Record, frozen=True, kw_only=True, gc=False):
    """What is the same in the meta of every event of one run; made once, shared by all of them."""

    run_id: str
    """`run-<epoch ms>-<counter>`, a new one for each run and each resume."""
    started_at_ms: int
    """When the run began, epoch milliseconds."""
    composition_path: tuple[str, ...] = ()
    """The runner that was run: `("Agent:desk",)`."""
    session_id: str | None = None
    """Only when the caller gave one."""
    principal: str | None = None
    """Only from an identity the caller gave to this run."""
    tenant: str | None = None
    """Only from an identity the caller gave to this run."""
    correlation_id: str | None = None
    """From the run's options."""
    trace_id: str | None = None
    """From the run's options."""


class Carried(Record, frozen=True, kw_only=True, gc=False):
    """What a slot's pass took over unchanged and therefore did not announce again (01b LIN-20)."""

    count: int
    """Rows carried over."""
    from_: str = msgspec.field(name="from")
    """The address of the pass they were announced in."""


class MetaMarks(Record, frozen=True, kw_only=True, gc=False):
    """What one event adds to the meta that its run and stage give it."""

    tool_ordinal: int | None = None
    """The call's place in its batch, from 0 (EVT-30)."""
    carried: Carried | None = None
    """On a composed slot."""
    turn_index: int | None = None
    """The turn, when known."""
    iter_index: int | None = None
    """The iteration, when known."""
    resumed_run_id: str | None = None
    """On `pause.resume`: the run that paused (EVT-31)."""


class EventMeta(Record, frozen=True, kw_only=True, gc=False):
    """Where, when and in whose run an event happened.

    In an event read from a file that leaves one of the six constant keys out, the attribute is empty: 0, `""`, `()`,
    and `unknown#0` for the address.
    """

    wall_clock_ms: int
    """When, epoch milliseconds."""
    run_offset_ms: int
    """The same, since the run began."""
    runtime_stage_id: str
    """The address: `[subflow/...]stage#index`."""
    subflow_path: tuple[str, ...]
    """The mounts the stage stands in, from the outside in."""
    composition_path: tuple[str, ...]
    """The outermost runner."""
    run_id: str
    """The run; `consumer-scope` when there is none."""
    turn_index: int | None = None
    """The turn, when known."""
    iter_index: int | None = None
    """The iteration, when known."""
    trace_id: str | None = None
    """The caller's trace id."""
    correlation_id: str | None = None
    """The caller's correlation id."""
    span_id: str | None = None
    """Reserved; read from files, never set."""
    session_id: str | None = None
    """The caller's session."""
    principal: str | None = None
    """Who the run is for."""
    tenant: str | None = None
    """On whose account."""
    tool_ordinal: int | None = None
    """The call's place in its batch, on the three `stream.tool_*` types."""
    carried: Carried | None = None
    """Rows that a composed slot took over unchanged."""
    resumed_run_id: str | None = None
    """The run that paused, on the `pause.resume` of the run that goes on with it."""

    @property
    def in_run(self) -> bool:
        """Whether `run_id` names a run; `consumer-scope` and nothing do not (EVT-31)."""
        return self.run_id not in ("", CONSUMER_RUN_ID)


_NO_MARKS: Final = MetaMarks()


def consumer_facts(now_ms: int) -> RunFacts:
    """The facts of an event that the application emits outside a run (EVT-6).

    Args:
        now_ms: Epoch milliseconds; the event's offset is then 0.
    """
    return RunFacts(run_id=CONSUMER_RUN_ID, started_at_ms=now_ms)


def build_event_meta(origin: Origin, run: RunFacts, dt: int, marks: MetaMarks | None = None) -> EventMeta:
    """Say where and when an event happened (EVT-7).

    Args:
        origin: The execution, or a pseudo-stage address, or nothing.
        run: The facts of the run.
        dt: Nanoseconds since the run began, as in the rows of the journal.
        marks: What this event adds.
    """
    address = UNKNOWN_STAGE if origin is None else origin if isinstance(origin, str) else origin.runtime_stage_id
    given = None if origin is None or isinstance(origin, str) else origin.subflow_path
    if given is None:
        given = address.rpartition("/")[0]
    path = tuple(part for part in given.split("/") if part) if isinstance(given, str) else given
    marks = marks or _NO_MARKS
    offset_ms = dt // NS_PER_MS
    return EventMeta(
        wall_clock_ms=run.started_at_ms + offset_ms,
        run_offset_ms=offset_ms,
        runtime_stage_id=address,
        subflow_path=path,
        composition_path=run.composition_path,
        run_id=run.run_id,
        turn_index=marks.turn_index,
        iter_index=marks.iter_index,
        trace_id=run.trace_id,
        correlation_id=run.correlation_id,
        session_id=run.session_id,
        principal=run.principal,
        tenant=run.tenant,
        tool_ordinal=marks.tool_ordinal,
        carried=marks.carried,
        resumed_run_id=marks.resumed_run_id,
    )


_EMPTY: Final[Mapping[str, Any]] = {
    "wallClockMs": 0,
    "runOffsetMs": 0,
    "runtimeStageId": UNKNOWN_STAGE,
    "subflowPath": [],
    "compositionPath": [],
    "runId": "",
}


def read_meta(found: Mapping[str, Any]) -> tuple[EventMeta, bool]:
    """Read a meta from its wire form; never refuses (EVT-5).

    Args:
        found: The object as decoded JSON; it is not kept.

    Returns:
        The meta, empty where the object says nothing usable; and whether it says all that the object says.
    """
    meta, whole = read_record(EventMeta, {**_EMPTY, **found})
    if meta is None:
        meta, _ = read_record(EventMeta, dict(_EMPTY))
        assert meta is not None  # noqa: S101  the empty object has the shape
    return meta, whole and _EMPTY.keys() <= found.keys()
