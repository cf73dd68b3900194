"""What the first line of a run log says: whose run it is, of which chart, and what was there before it began."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from agentfootprint.events import RunFacts
from agentfootprint.recording.errors import NotARecordingError
from agentfootprint.recording.native.references import ValueWriter
from agentfootprint.recording.native.shapes import FORMAT
from agentfootprint.trace import (
    Dials,
    Journal,
    JsonObject,
    StageInfo,
    Value,
    check_links,
    compact_json,
    freeze,
    stage_from_wire,
    stage_to_wire,
    thaw,
)

__all__ = [
    "IMPLEMENTATION",
    "Header",
    "header_of",
    "read_header",
    "read_late",
    "restored_to_wire",
    "version",
]

IMPLEMENTATION: Final = "python"


def version() -> str:
    """Version of this library; `unknown` when it is not installed as a package."""
    from importlib import metadata  # a tenth of what importing an agent would take

    try:
        return metadata.version("agentfootprint")
    except metadata.PackageNotFoundError:
        return "unknown"


class Header(msgspec.Struct, kw_only=True):
    """The first line, read."""

    run_ids: list[str]
    started_at: int
    first_index: int
    stages: tuple[StageInfo, ...]
    dials: Dials
    facts: RunFacts
    about: JsonObject
    """What the recording says about the agent and itself."""
    base_state: Mapping[str, Any]
    """The state before the first row, as JSON that may hold references."""
    base_states: Mapping[str, Any]
    structure: JsonObject | None
    rows: int | None
    """How many lines there are in all; not known while a run is being written."""


def header_of(
    journal: Journal, facts: RunFacts, about: JsonObject, *, structure: JsonObject | None, rows: int | None
) -> dict[str, Any]:
    """The first line of a run log as JSON."""
    stages = [stage_to_wire(stage) for stage in journal.stages]
    chart: dict[str, Any] = {
        "fingerprint": hashlib.sha256(compact_json(freeze(stages)).encode()).hexdigest()[:16],
        "stages": stages,
    }
    if structure is not None:
        chart["structure"] = thaw(structure)
    found: dict[str, Any] = {
        "format": FORMAT,
        "implementation": IMPLEMENTATION,
        "versions": {"agentfootprint": version()},
        "runId": journal.run_id,
        "startedAt": journal.started_at,
        "chart": chart,
        "dials": msgspec.to_builtins(journal.dials),
        "facts": thaw(facts),
        "about": thaw(freeze(about)),
    }
    if len(journal.run_ids) > 1:
        found["runIds"] = journal.run_ids
    found |= restored_to_wire(journal.first_index, journal.base_state, journal.base_states)
    if rows is not None:
        found["rows"] = rows
    return found


def read_header(found: Mapping[str, Any], name: str) -> Header:
    """Read the first line of a run log whose format is known.

    Raises:
        NotARecordingError: A part is missing or is of another kind.
    """
    try:
        chart = found["chart"]
        stages = tuple(stage_from_wire(number, stage) for number, stage in enumerate(chart["stages"]))
        check_links(stages)
        states = _object(found, "states")
        return Header(
            run_ids=msgspec.convert(found.get("runIds", [found["runId"]]), list[str]),
            started_at=msgspec.convert(found["startedAt"], int),
            first_index=msgspec.convert(found.get("firstIndex", 0), int),
            stages=stages,
            dials=msgspec.convert(found["dials"], Dials),
            facts=msgspec.convert(found["facts"], RunFacts),
            about=freeze(_object(found, "about")),
            base_state=_object(found, "state"),
            base_states={str(int(key)): _object(states, key) for key in states},
            structure=None if chart.get("structure") is None else _object(chart, "structure"),
            rows=msgspec.convert(found.get("rows"), int | None),
        )
    except (LookupError, TypeError, ValueError, AttributeError, msgspec.ValidationError) as missing:
        what = repr(missing.args[0]) if isinstance(missing, KeyError) else str(missing)
        raise NotARecordingError(
            f"{name} is not a recording: its header lacks a part or holds it in another form ({what}).",
            fix="Write one with result.recording.save(...).",
            where=name,
        ) from missing


def restored_to_wire(
    first_index: int, state: Mapping[str, Value], states: Mapping[int, Mapping[str, Value]]
) -> dict[str, Any]:
    """What was there before the first row, as JSON: only what there is."""
    found: dict[str, Any] = {}
    if first_index:
        found["firstIndex"] = first_index
    if state:
        found["state"] = _state_to_wire(state)
    if states:
        found["states"] = {str(index): _state_to_wire(each) for index, each in states.items()}
    return found


def read_late(header: Header, rows: list[Any]) -> list[int]:
    """Complete the header of a log that was written while its run went on, by what stands in its rows.

    Args:
        header: Its first line; it is changed.
        rows: All lines, decoded; those that were changed hold numbers of stages, as in a file that was saved.

    Returns:
        The numbers of the lines that were changed.
    """
    changed: list[int] = []
    for number, row in enumerate(rows):
        if number and row[0] == "r":
            restored = row[1]
            header.first_index = msgspec.convert(restored.get("firstIndex", header.first_index), int)
            header.base_state = {**header.base_state, **_object(restored, "state")}
            states = _object(restored, "states")
            header.base_states = {**header.base_states, **{str(int(key)): _object(states, key) for key in states}}
        elif number and row[0] == "f" and row[1] == "grew" and any(type(stage) is list for stage in row[3]):
            stages = list(header.stages)
            for place, stage in row[3]:
                stages[place : place + 1] = [stage_from_wire(place, stage)]
            header.stages = tuple(stages)
            rows[number] = [*row[:3], [place for place, _ in row[3]]]
            changed.append(number)
    if changed:
        check_links(header.stages)
    return changed


def _object(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A member that is an object; empty when it is not there."""
    value = found.get(key, {})
    if not isinstance(value, Mapping):
        raise TypeError(key)
    return cast("Mapping[str, Any]", value)


def _state_to_wire(state: Mapping[str, Value]) -> dict[str, Any]:
    writer = ValueWriter()
    return {key: writer.write_apart(value) for key, value in state.items()}
