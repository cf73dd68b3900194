"""What is kept of an event while it waits: nothing in it may change until it is delivered (FLOW-OBS-1, 3).

Events and the values in them are frozen, so `clone` shares them and copies nothing. What may still change is the one
thing an event can hold that the engine did not freeze: a value that a stage returned. That is frozen here.
"""

from __future__ import annotations

import typing
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET

from agentfootprint.flow.dev import dev_warning
from agentfootprint.flow.observers.options import Capture
from agentfootprint.flow.watch.recorder import channel_of
from agentfootprint.flow.watch.sightings import Mutation, Sighting, Step
from agentfootprint.trace import (
    FrozenDict,
    FrozenList,
    Record,
    Value,
    ValueRefusedError,
    View,
    freeze,
    payload_summary,
    wire_key,
)

__all__ = ["Envelope", "captured"]

_SHARED: Final = frozenset((str, int, float, bool, type(None), type(UNSET), FrozenDict, FrozenList))
_UNREADABLE: Final = FrozenDict(
    {"__payloadSummary": True, "type": "unreadable", "preview": "[getter threw during capture]"}
)
_VALUE_FIELDS: Final[dict[type[Sighting], tuple[str, ...]]] = {}
"""The fields of an event class that may hold any value, found once a class."""


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """An event that waits for its delivery."""

    seq: int
    """Counts all events that were captured, lost ones included, so that a gap shows a loss."""
    run_id: str
    payload: Sighting

    @property
    def method(self) -> str:
        """Name of the hook."""
        return self.payload.hook

    @property
    def channel(self) -> Literal["scope", "flow", "emit"]:
        """What kind of event it is."""
        if self.payload.hook == "on_emit":
            return "emit"
        return "scope" if channel_of(self.payload) == "scope" else "flow"

    @property
    def runtime_stage_id(self) -> str:
        """The execution it happened in; of the run itself, the id that stands for it."""
        own: object = getattr(self.payload, "runtime_stage_id", UNSET)
        if isinstance(own, str):
            return own
        step: object = getattr(self.payload, "traversal_context", UNSET)
        return step.runtime_stage_id if isinstance(step, Step) else ""

    @property
    def captured_at(self) -> int:
        """Milliseconds since 1970: it was captured as it happened."""
        return self.payload.timestamp

    def to_wire(self) -> dict[str, Any]:
        """The envelope as plain JSON."""
        return {
            "seq": self.seq,
            "channel": self.channel,
            "method": wire_key(self.method),
            "runtimeStageId": self.runtime_stage_id,
            "runId": self.run_id,
            "payload": self.payload.to_wire(),
            "capturedAt": self.captured_at,
        }


def captured(event: Sighting, capture: Capture) -> Sighting:
    """What may wait in place of an event.

    Args:
        event: As it happened.
        capture: `ref` gives the event itself. `clone` gives it with what may still change made unchangeable, which
            is the event itself unless a stage returned an object of its own. `summary` gives an event of the same
            class whose values are described, each in bounds (FLOW-OBS-4), instead of held.
    """
    if capture == "ref":
        return event
    fields = _VALUE_FIELDS.get(type(event))
    if fields is None:
        fields = _VALUE_FIELDS[type(event)] = _value_fields(type(event))
    changes: dict[str, Value] | None = None
    for name in fields:
        value: object = getattr(event, name)
        kept = _described(value) if capture == "summary" else _still(value, event, name)
        if kept is not value:
            changes = {**(changes or {}), name: kept}
    return event if changes is None else msgspec.structs.replace(event, **changes)


def _value_fields(kind: type[Sighting]) -> tuple[str, ...]:
    hints = typing.get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if hints[name] is Any or name == "mutations")


def _still(value: object, event: Sighting, name: str) -> object:
    """A value that will not change any more."""
    if type(value) in _SHARED or name == "mutations" or isinstance(value, (msgspec.Struct, View)):
        return value
    if type(value) is dict:
        members = cast("dict[str, object]", value)
        if any(isinstance(member, msgspec.Struct) and not isinstance(member, Record) for member in members.values()):
            return {
                key: _still(member, event, name) for key, member in members.items()
            }  # the ends of a fork's branches
    try:
        return freeze(value)
    except Exception as refused:  # noqa: BLE001  an object of a stage's own may do anything when it is looked at
        dev_warning(
            f"The {name!r} of {type(event).__name__} can't be copied for deferred observers, who get a summary: "
            f"{refused.problem if isinstance(refused, ValueRefusedError) else type(refused).__name__}"
        )
        return _described(cast("object", value))


def _described(value: object) -> object:
    if value is UNSET:
        return value
    if isinstance(value, Mutation):
        return msgspec.structs.replace(value, value=_described(value.value))
    if isinstance(value, tuple):
        return tuple(_described(item) for item in cast("tuple[object, ...]", value))
    try:
        return payload_summary(value)
    except Exception:  # noqa: BLE001  as above
        return _UNREADABLE
