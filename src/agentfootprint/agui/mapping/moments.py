"""What may be read off an event, whatever it turned out to hold, and where did it happen?

Invariants: nothing here fails on a payload that a policy hid, or that another version wrote: what is not there is
`UNSET`. Of a live event no meta is built, so that reading one keeps nothing alive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from msgspec import UNSET

from agentfootprint.agui.scopes import mount_scope
from agentfootprint.events import Event
from agentfootprint.trace import PLACEHOLDER, compact_json, thaw, wire_key

__all__ = ["Moment", "clean", "hidden", "json_text", "label", "told", "when", "whole"]

_NS_PER_MS: Final = 1_000_000
_MOST_MS: Final = 2**53 - 1
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Moment:
    """One event, as every concern of the mapping reads it."""

    __slots__ = ("_scope", "address", "event", "payload", "stamp")

    def __init__(self, event: Event[Any], stamp: Mapping[str, Any]) -> None:
        self.event = event
        self.payload: object = event.payload
        self.stamp = stamp
        """What every AG-UI event of this one carries: its time, and the event itself where that is wanted."""
        origin = event.execution
        self.address: str = (
            event.meta.runtime_stage_id if origin is None or isinstance(origin, str) else origin.runtime_stage_id
        )
        self._scope: str | None = None

    @property
    def scope(self) -> str:
        """The mount that it happened in."""
        if self._scope is None:
            self._scope = mount_scope(self.address)
        return self._scope

    @property
    def ordinal(self) -> int | None:
        """The tool call's place in its batch, when the event says it."""
        event = self.event
        if event.facts.run_id and event.execution is not None:
            return None if event.marks is None else event.marks.tool_ordinal
        found: object = event.meta.tool_ordinal
        return found if type(found) is int else None

    def place(self, **more: object) -> dict[str, Any]:
        """The metadata that says where in the record it is; parts that are not known are left out."""
        event = self.event
        run_id = event.facts.run_id or event.meta.run_id
        own: dict[str, Any] = {"runId": run_id, "runtimeStageId": self.address}
        own.update((key, thaw(value)) for key, value in more.items() if value is not UNSET and value is not None)
        return {"agentfootprint": own}


def when(event: Event[Any]) -> int | None:
    """When it happened, epoch milliseconds; `None` where it does not say."""
    facts = event.facts
    found: object = facts.started_at_ms + event.dt // _NS_PER_MS if facts.run_id else event.meta.wall_clock_ms
    return found if type(found) is int and 0 < found <= _MOST_MS else None


def told(payload: object, name: str) -> Any:  # noqa: ANN401  whatever stands there
    """A field of a payload, or of an object in it, by its name in Python; `UNSET` when there is none."""
    if isinstance(payload, str):
        return UNSET
    if isinstance(payload, Mapping):
        return cast("Mapping[str, Any]", payload).get(wire_key(name), UNSET)
    return getattr(payload, name, UNSET)


def hidden(payload: object) -> str | None:
    """The placeholder, where a policy hid the whole payload (AGU-44)."""
    return (payload or PLACEHOLDER) if isinstance(payload, str) else None


def label(payload: object, name: str) -> str | None:
    """A text that stands for something: the field, or the placeholder that hides it; `None` when there is none."""
    found = told(payload, name)
    return clean(found) if isinstance(found, str) else hidden(payload)


def whole(payload: object, name: str) -> int | None:
    """A whole number; a truth value is none."""
    found = told(payload, name)
    return found if type(found) is int else None


def json_text(value: object) -> str:
    """A value as a client reads it: a text as it is, anything else as compact JSON, nothing as `null` (AGU-41)."""
    if isinstance(value, str):
        return clean(value)
    return "null" if value is None or value is UNSET else clean(compact_json(value))


def clean(text: str) -> str:
    """The text with halves of characters replaced, which no JSON in UTF-8 can hold."""
    if text.isascii() or _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
