"""How does a record say that something is kept out of it, and what follows for who reads it (NEW-105)?

The mark stands among the snapshot's recorders, as the engine's does, and in the header of a native file. It has names
and places, never values. Only in a record that has it does a placeholder mean "kept out".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from agentfootprint.events import ContextBudgetPressure, ContextInjected, ContextSlotComposed, Event
from agentfootprint.recording.redacting.covering import Cover
from agentfootprint.trace import (
    PLACEHOLDER,
    REDACTED,
    HiddenField,
    Journal,
    JsonObject,
    Policy,
    Value,
    Veil,
    as_list,
    as_object,
    hide_at,
)

__all__ = ["kept_out_words", "marked", "recorder_row", "report_of", "stored_report"]

_ID: Final = "agentfootprint.redaction"
_IMPLIED: Final = (ContextInjected.type, ContextSlotComposed.type, ContextBudgetPressure.type)
"""The events that a file does not hold, because the commits of the run imply them."""


def report_of(policy: Policy) -> dict[str, Any]:
    """What a policy keeps out, by name (FLOW-RED-7)."""
    keys, patterns = getattr(policy, "keys", ()), getattr(policy, "patterns", ())
    fields: Mapping[str, Sequence[str]] = getattr(policy, "fields", {})
    report: dict[str, Any] = {
        "redactedKeys": list(keys),
        "fieldRedactions": {key: list(places) for key, places in fields.items()},
        "patterns": list(patterns),
        "placeholder": policy.placeholder,
    }
    emit_patterns = list(getattr(policy, "emit_patterns", ()))
    event_fields: Mapping[str, Sequence[str]] = getattr(policy, "event_fields", {})
    if emit_patterns:
        report["emitPatterns"] = emit_patterns
        report["hiddenEvents"] = [kind for kind in _IMPLIED if policy.emitted(kind, None) is not None]
    if event_fields:
        report["eventFields"] = {kind: list(places) for kind, places in event_fields.items()}
    return report


def recorder_row(report: JsonObject) -> dict[str, Any]:
    """The mark as it stands among the recorders of a snapshot."""
    return {"id": _ID, "name": "Redaction", "data": report}


def stored_report(snapshot: Mapping[str, Any]) -> JsonObject | None:
    """What the mark among a snapshot's recorders says; `None` when there is none."""
    for row in as_list(snapshot.get("recorders")) or ():
        found = as_object(row)
        if found is not None and found.get("id") == _ID:
            return as_object(found.get("data")) or {}
    return None


def kept_out_words(report: JsonObject | None) -> tuple[str, ...]:
    """The words that mean "kept out" in a record with that mark; none in one without."""
    if report is None:
        return ()
    word = report.get("placeholder")
    return (REDACTED, word if isinstance(word, str) and word else PLACEHOLDER)


def marked(journal: Journal, report: JsonObject | None) -> Journal:
    """A journal that was read from a file, as its mark says."""
    if report is not None:
        journal.words = kept_out_words(report)
        journal.told = _telling(report)
    return journal


def _telling(report: JsonObject) -> Callable[[Event[Any]], Event[Any]] | None:
    hidden = frozenset(map(str, as_list(report.get("hiddenEvents")) or ()))
    places = as_object(report.get("eventFields")) or {}
    fields = {kind: [str(each) for each in as_list(places.get(kind)) or ()] for kind in _IMPLIED if kind in places}
    if not hidden and not fields:
        return None
    return Cover(Veil(_Stored(kept_out_words(report)[1], hidden, fields))).implied


class _Stored:
    """The part of a policy that a reader must still follow: what implied events may say. Values are hidden already."""

    def __init__(self, placeholder: str, hidden: frozenset[str], fields: Mapping[str, Sequence[str]]) -> None:
        self.placeholder: str = placeholder
        self.hides_values: bool = False
        self._hidden = hidden
        self._fields = {kind: tuple(map(HiddenField.of, places)) for kind, places in fields.items()}

    def hides(self, key: str) -> bool:  # noqa: ARG002  as a veil asks
        """Nothing more."""
        return False

    def fields_of(self, key: str) -> tuple[HiddenField, ...]:  # noqa: ARG002  as a veil asks
        """Nothing more."""
        return ()

    def emitted(self, name: str, payload: Value) -> Value:
        """The payload of an event as its name and fields allow it."""
        if name in self._hidden:
            return self.placeholder
        for place in self._fields.get(name, ()):
            payload, _ = hide_at(payload, place.segments, self.placeholder)
        return payload
