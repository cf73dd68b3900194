"""How an event is written down and read back: `{"type", "payload", "meta"}`, nothing lost in either direction.

Invariants: reading never refuses an event for what it says, only what is no event at all; what the classes here can't
hold comes back as an `UnknownEvent`, or beside a typed payload as the event's `source`, and is written again as it
was (EVT-5). `decode_event(encode_event(event)) == event`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from agentfootprint.events.envelope import Event, UnknownEvent
from agentfootprint.events.errors import EventFormatError
from agentfootprint.events.meta import Origin, RunFacts, build_event_meta, read_meta
from agentfootprint.events.reading import read_record
from agentfootprint.events.registry import PAYLOAD_BY_TYPE
from agentfootprint.trace import FrozenDict, JsonObject, freeze, thaw

__all__ = ["app_event", "decode_event", "encode_event", "event_from_wire", "event_to_wire"]

_KEYS = {"type", "payload", "meta"}


def encode_event(event: Event[Any]) -> bytes:
    """Write one event as compact JSON, keys in the order type, payload, meta (EVT-1).

    Costs the size of the event; a view (a history) is written out.
    """
    return msgspec.json.encode(event_to_wire(event))


def decode_event(data: bytes | str) -> Event[Any]:
    """Read one event from JSON.

    Args:
        data: One JSON object.

    Returns:
        An event with its typed payload, where keys that the writer left out are `UNSET`; or an `UnknownEvent` when the
        type is not registered or the payload has another shape.

    Raises:
        EventFormatError: The data is no JSON, or no event.
    """
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as malformed:
        raise EventFormatError("The data is not one JSON value.") from malformed
    return event_from_wire(found)


def event_to_wire(event: Event[Any]) -> dict[str, Any]:
    """The event as plain dicts and lists that the caller owns, under the keys of the wire."""
    if event.source is not None:
        return cast("dict[str, Any]", thaw(event.source))
    return {"type": event.type, "payload": thaw(event.payload), "meta": thaw(event.meta)}


def event_from_wire(found: object) -> Event[Any]:
    """Read one event from decoded JSON; the object is not kept.

    Raises:
        EventFormatError: It is no event.
        ValueRefusedError: It holds what JSON can't.
    """
    if not isinstance(found, Mapping):
        raise EventFormatError("An event is a JSON object, and this is none.")
    stored = cast("Mapping[str, Any]", found)
    kind, meta = stored.get("type"), stored.get("meta", {})
    if not isinstance(kind, str) or "payload" not in stored or not isinstance(meta, Mapping):
        raise EventFormatError("This JSON object is not an event.")
    payload, meta = stored["payload"], cast("Mapping[str, Any]", meta)
    known = PAYLOAD_BY_TYPE.get(kind)
    record, payload_whole = None, True
    if known is not None and isinstance(payload, Mapping):
        record, payload_whole = read_record(known, cast("Mapping[str, Any]", payload))
    read, meta_whole = read_meta(meta)
    whole = meta_whole and set(stored) == _KEYS and (record is None or payload_whole)
    source = None if whole else freeze(stored)
    if record is None:
        return UnknownEvent(kind, payload, read, _source=source)
    return Event(record, _meta=read, _source=source)


def app_event(name: str, payload: JsonObject | FrozenDict, execution: Origin, dt: int, facts: RunFacts) -> Event[Any]:
    """Make an event that the application emits, under any name (EVT-6).

    Args:
        name: A registered type or the application's own.
        payload: Plain data; converted and judged once, here (DEC-13).
        execution: Where it is emitted: the tool's execution, or `CONSUMER_STAGE`.
        dt: Nanoseconds since the run began; 0 outside a run.
        facts: The run's facts, or `consumer_facts(now)`.

    Returns:
        A typed event when the name is registered and the payload has exactly its shape, else an `UnknownEvent`.

    Raises:
        ValueRefusedError: The payload holds what JSON can't; the error's path begins with the name.
    """
    event = UnknownEvent(
        name, payload, build_event_meta(execution, facts, dt), _execution=execution, _dt=dt, _facts=facts
    )
    known = PAYLOAD_BY_TYPE.get(name)
    if known is None or not isinstance(event.payload, Mapping):
        return event
    record, whole = read_record(known, cast("Mapping[str, Any]", event.payload), exactly=True)
    return event if record is None or not whole else Event(record, execution, dt, facts)
