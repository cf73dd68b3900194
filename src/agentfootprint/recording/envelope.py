"""What must be known about a recording before it is kept: whose run, when, how complete, which privacy (05 s.5.2).

A fact is taken from the recording only where it can mean one thing; else it must be stated, and is refused until it is.
Nothing here quotes payloads, principals or tenants in a message (REC-12).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from agentfootprint.events import CONSUMER_RUN_ID, Event, RunConfigured, event_to_wire
from agentfootprint.recording.errors import IndeterminateRunFactError, UnsupportedPrivacyModeError
from agentfootprint.recording.files import ENVELOPE, NATIVE_ENVELOPE
from agentfootprint.recording.native.header import IMPLEMENTATION, version
from agentfootprint.recording.recorded import Recording
from agentfootprint.trace import JsonObject, thaw

__all__ = ["FULL_PRIVACY_POLICY_ID", "RunFacts", "StatedFacts", "build_recording_envelope"]

FULL_PRIVACY_POLICY_ID: Final = "agentfootprint.privacy.full.v1"

Moment: TypeAlias = "str | int | dt.datetime"
"""ISO 8601 text, epoch milliseconds, or a datetime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is stated about a run that is to be kept; what is stated wins over what the recording says.

    Raises:
        TypeError: `complete` is not a boolean.
    """

    complete: bool
    """Whether the recording holds the whole run; nothing in it can say so."""
    dropped_events: int | None = None
    """Events that are missing at its head. A run's own recording drops none; for others it must be stated."""
    run_id: str | None = None
    """The run, where its events name none or several."""
    started_at: str | int | None = None
    """When it began: ISO 8601 text or epoch milliseconds; needed where events are missing at the head."""

    def __post_init__(self) -> None:
        if type(self.complete) is not bool:
            raise TypeError(f"complete must be True or False, not {type(self.complete).__name__}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedFacts(RunFacts):
    """All that can be stated about a run."""

    ended_at: str | int | None = None
    """When it ended."""
    session_id: str | None = None
    """The session, where its events name several."""
    principal: str | None = None
    """Whom the run was for, where its events name several."""
    tenant: str | None = None
    """On whose account, where its events name several."""
    first_retained_event_index: int | None = None
    """The number of the first event that is there, counted from the first of the run."""


def build_recording_envelope(
    recording: Recording | JsonObject,
    *,
    run: RunFacts,
    configuration: JsonObject | None = None,
    privacy: JsonObject | None = None,
    form: Literal["native", "wire"] = "wire",
) -> dict[str, Any]:
    """Put a recording in its envelope; judged in the order of REC-10.

    Args:
        recording: The recording, or its parts in the wire form.
        run: What is stated about the run.
        configuration: Parts that win over the run's own `run_configured`.
        privacy: `{"mode": "full", "policyId": ...}`.
        form: What stands inside; `"native"` has a format of its own, so that a reader which doesn't know it refuses.

    Raises:
        TypeError: What is given is not of its kind.
        UnsupportedPrivacyModeError: The mode is not `full`.
        IndeterminateRunFactError: A fact can't be read off the recording and is not stated.
    """
    if not isinstance(recording, (Recording, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance]  judged first
        raise TypeError(f"recording must be a Recording, not {type(recording).__name__}.")
    privacy = privacy or {}
    mode = privacy.get("mode", "full")
    if mode != "full":
        raise UnsupportedPrivacyModeError(mode)
    events = _events(recording)
    is_own = isinstance(recording, Recording) and recording.native
    envelope: dict[str, Any] = {
        "format": NATIVE_ENVELOPE if form == "native" else ENVELOPE,
        "producer": {
            "agentfootprintVersion": version(),
            "footprintjsVersion": version(),
            "implementation": IMPLEMENTATION,
        },
        "run": _run(events, run, is_own=is_own),
    }
    described = _configuration(events, configuration)
    if described:
        envelope["configuration"] = described
    envelope["privacy"] = {"mode": "full", "policyId": privacy.get("policyId") or FULL_PRIVACY_POLICY_ID}
    if isinstance(recording, Recording):
        envelope["recording"] = recording.native_rows() if form == "native" else recording.to_wire()
    else:
        envelope["recording"] = recording
    return envelope


def _events(recording: Recording | JsonObject) -> list[JsonObject]:
    """Each event as `{"type", "payload", "meta"}`; the payload only where it is looked at."""
    if not isinstance(recording, Recording):
        return list(recording.get("events") or ())
    return [_glance(event) for event in recording.events]


def _glance(event: Event[Any]) -> JsonObject:
    if event.type == RunConfigured.type:
        return event_to_wire(event)
    return {"type": event.type, "meta": thaw(event.meta)}


def _run(events: list[JsonObject], stated: RunFacts, *, is_own: bool) -> dict[str, Any]:
    more = stated if isinstance(stated, StatedFacts) else StatedFacts(complete=stated.complete)
    dropped = _dropped(stated, is_own=is_own)
    run: dict[str, Any] = {"runId": _run_id(events, stated)}
    for key, value in (("sessionId", more.session_id), ("principal", more.principal), ("tenant", more.tenant)):
        found = value if value is not None else _single(events, key)
        if found is not None:
            run[key] = found
    run["startedAt"] = _started(events, stated, dropped)
    ended = _moment(more.ended_at, "endedAt") if more.ended_at is not None else None
    if ended is None and stated.complete:
        ended = _clock(reversed(events))
    if ended is not None:
        run["endedAt"] = ended
    run["complete"] = stated.complete
    run["droppedEvents"] = dropped
    first = more.first_retained_event_index
    if first is not None:
        run["firstRetainedEventIndex"] = _count(first, "firstRetainedEventIndex")
    return run


def _run_id(events: list[JsonObject], stated: RunFacts) -> str:
    if stated.run_id:
        return stated.run_id
    found = sorted(_values(events, "runId") - {CONSUMER_RUN_ID})
    if len(found) == 1:
        return found[0]
    problem = f"Its events name {len(found)} runs: {', '.join(map(repr, found))}." if found else "No event names a run."
    raise IndeterminateRunFactError("runId", problem, fix="State which run it is: RunFacts(run_id=..., complete=...).")


def _single(events: list[JsonObject], key: str) -> str | None:
    found = _values(events, key)
    if len(found) > 1:
        raise IndeterminateRunFactError(
            key, f"Its events name {len(found)} different values of {key}.", fix=f"State the {key} of the run."
        )
    return next(iter(found), None)


def _values(events: list[JsonObject], key: str) -> set[str]:
    found = {_meta(event).get(key) for event in events}
    return {value for value in found if isinstance(value, str) and value}


def _meta(event: JsonObject) -> JsonObject:
    meta = event.get("meta")
    return cast("JsonObject", meta) if isinstance(meta, Mapping) else {}


def _dropped(stated: RunFacts, *, is_own: bool) -> int:
    if stated.dropped_events is not None:
        return _count(stated.dropped_events, "droppedEvents")
    if is_own:
        return 0
    raise IndeterminateRunFactError(
        "droppedEvents",
        "A recording that was read from a file can't say how many events are missing at its head.",
        fix="State it: RunFacts(dropped_events=0, complete=...) when none are.",
    )


def _count(value: object, field: str) -> int:
    if type(value) is int and value >= 0:
        return value
    raise IndeterminateRunFactError(field, f"The stated {field} is no count.", fix="State a whole number, 0 or more.")


def _started(events: list[JsonObject], stated: RunFacts, dropped: int) -> str:
    if stated.started_at is not None:
        return _moment(stated.started_at, "startedAt")
    found = None if dropped else _clock(events)
    if found is not None:
        return found
    problem = "Events are missing at its head." if dropped else "No event has a clock."
    raise IndeterminateRunFactError(
        "startedAt", problem, fix="State when the run began: RunFacts(started_at=..., complete=...)."
    )


def _clock(events: Iterable[JsonObject]) -> str | None:
    for event in events:
        clock = _meta(event).get("wallClockMs")
        if isinstance(clock, (int, float)) and not isinstance(clock, bool):
            return _iso(dt.datetime.fromtimestamp(clock / 1000, dt.UTC))
    return None


def _moment(value: object, field: str) -> str:
    readers: dict[type, Callable[[Any], dt.datetime]] = {
        str: dt.datetime.fromisoformat,
        int: lambda ms: dt.datetime.fromtimestamp(ms / 1000, dt.UTC),
        float: lambda ms: dt.datetime.fromtimestamp(ms / 1000, dt.UTC),
        dt.datetime: lambda moment: moment,
    }
    try:
        return _iso(readers[type(value)](value))
    except (KeyError, ValueError, OverflowError, OSError) as unreadable:
        raise IndeterminateRunFactError(
            field,
            f"The stated {field} can't be read as a time.",
            fix="State ISO 8601 text, epoch milliseconds or a datetime.",
        ) from unreadable


def _iso(moment: dt.datetime) -> str:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=dt.UTC)
    return aware.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _configuration(events: list[JsonObject], stated: JsonObject | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for event in events:
        payload = event.get("payload")
        if event.get("type") == RunConfigured.type and isinstance(payload, Mapping):
            manifest = cast("JsonObject", payload)
            found = {"agentId": manifest.get("agentId"), "manifest": thaw(manifest)}
            break
    return {key: value for key, value in (found | thaw(stated or {})).items() if value is not None}
