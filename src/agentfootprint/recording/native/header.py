"""What the first line of a run log says: whose run it is, of which chart, and what was there before it began."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from agentfootprint.events import RunFacts
from agentfootprint.recording.errors import NotARecordingError
from agentfootprint.recording.native.references import ValueWriter
from agentfootprint.recording.native.shapes import FORMAT
from agentfootprint.trace import Dials, Journal, JsonObject, StageInfo, Value, compact_json, freeze, thaw

__all__ = ["IMPLEMENTATION", "Header", "header_of", "read_header", "version"]

IMPLEMENTATION: Final = "python"
_SKIPPED: Final = frozenset(("number", "local_id", "path"))


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
    stages = [_stage_to_wire(stage) for stage in journal.stages]
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
    if journal.first_index:
        found["firstIndex"] = journal.first_index
    if journal.base_state:
        found["state"] = _state_to_wire(journal.base_state)
    if journal.base_states:
        found["states"] = {str(index): _state_to_wire(state) for index, state in journal.base_states.items()}
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
        stages = tuple(_stage_from_wire(number, stage) for number, stage in enumerate(chart["stages"]))
        _check_links(stages)
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


def _stage_to_wire(stage: StageInfo) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, key in _KEYS:
        value = getattr(stage, name)
        if value != _DEFAULTS.get(name, msgspec.NODEFAULT):
            found[key] = value
    local, path = _implied_place(stage.id)
    if stage.local_id != local:
        found["localId"] = stage.local_id
    if stage.path != path:
        found["path"] = stage.path
    return found


def _stage_from_wire(number: int, found: Mapping[str, Any]) -> StageInfo:
    local, path = _implied_place(found["id"])
    fields = {name: _tuples(found[key]) for name, key in _KEYS if key in found}
    fields |= {"number": number, "local_id": found.get("localId", local), "path": _tuples(found.get("path", path))}
    for name, value in fields.items():
        if not _fits(name, value):
            raise TypeError(f"chart.stages[{number}].{name}")
    return StageInfo(**fields)


def _fits(name: str, value: Any) -> bool:  # noqa: ANN401  a member of a stage
    """Whether a member of a stage is of its kind."""
    if name in ("in_map", "out_map"):
        return value is None or (isinstance(value, tuple) and all(map(_is_pair, cast("tuple[object, ...]", value))))
    if name in ("path", "children"):
        kind = str if name == "path" else int
        return isinstance(value, tuple) and all(type(item) is kind for item in cast("tuple[object, ...]", value))
    if name == "description":
        return value is None or type(value) is str
    return type(value) is type(_DEFAULTS.get(name, 0 if name == "number" else ""))


def _is_pair(item: object) -> bool:
    return isinstance(item, tuple) and [type(part) for part in cast("tuple[object, ...]", item)] == [str, str]


def _check_links(stages: Sequence[StageInfo]) -> None:
    """Refuse a chart whose stages name stages that it does not have."""
    for stage in stages:
        named = (stage.mount, stage.branch_of, stage.next, stage.loop_to, stage.entry, *stage.children)
        if not all(-1 <= number < len(stages) for number in named):
            raise ValueError("chart.stages")


def _object(found: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """A member that is an object; empty when it is not there."""
    value = found.get(key, {})
    if not isinstance(value, Mapping):
        raise TypeError(key)
    return cast("Mapping[str, Any]", value)


def _tuples(value: Any) -> Any:  # noqa: ANN401  a member of a stage
    return tuple(map(_tuples, cast("Sequence[Any]", value))) if isinstance(value, (list, tuple)) else value


def _implied_place(full: str) -> tuple[str, tuple[str, ...]]:
    *path, local = full.split("/")
    return local, tuple(path)


def _state_to_wire(state: Mapping[str, Value]) -> dict[str, Any]:
    writer = ValueWriter()
    return {key: writer.write_apart(value) for key, value in state.items()}


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


_NAMES: Final = StageInfo.__struct_fields__
_KEYS: Final = tuple((name, _camel(name)) for name in _NAMES if name not in _SKIPPED)
_DEFAULTS: Final = dict(
    zip(_NAMES[len(_NAMES) - len(StageInfo.__struct_defaults__) :], StageInfo.__struct_defaults__, strict=True)
)
