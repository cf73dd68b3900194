"""What one stage execution changed: the commit bundle, as a record and as wire JSON (2.2).

A log is any sequence of bundles in either form; `as_bundle` reads both without copying their values.
A payload that is absent (a delete in full mode) is simply not in `overwrite`, while its trace entry stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

from agentfootprint.trace.errors import MalformedBundleError
from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.members import record_items
from agentfootprint.trace.values import (
    ABSENT,
    FrozenDict,
    FrozenList,
    JsonObject,
    Record,
    Value,
    freeze,
    thaw,
)

__all__ = [
    "AnyBundle",
    "CommitBundle",
    "TraceEntry",
    "as_bundle",
    "as_list",
    "as_object",
    "dig",
    "payload_of",
]


class TraceEntry(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """One operation that survived its commit."""

    path: str
    """Segments joined by U+001F."""
    verb: str
    """`set`, `merge`, `append` or `delete`."""
    read_keys: tuple[str, ...] | None = None
    """Keys read in the stage before this write; `()` is "none", `None` is "not recorded" (FLOW-MEM-41)."""


class CommitBundle(Record, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The net change of one stage execution."""

    idx: int
    """Position in its log."""
    stage: str
    """Display name, with the iteration suffix after a loop re-entry."""
    stage_id: str
    """The full id, with the path of the mounts."""
    runtime_stage_id: str
    """`""` for the bundle that seeds a mount (FLOW-MEM-31); several bundles may share one (FLOW-MEM-30)."""
    trace: tuple[TraceEntry, ...]
    overwrite: JsonObject
    """Payloads of `set` and tails of `append`, nested along their paths."""
    updates: JsonObject
    """Payloads of `merge`, nested along their paths."""
    redacted_paths: tuple[str, ...]
    untracked_sources: tuple[str, ...] = ()
    """`args`, `env`, `silent`: what the stage consumed that no read records, in first-use order."""

    @classmethod
    def from_wire(cls, wire: JsonObject, *, position: int | None = None) -> CommitBundle:
        """A bundle of its own from wire JSON; its payloads are frozen.

        Raises:
            MalformedBundleError: A field is missing or of the wrong kind; `position` is repeated in the message.
        """
        shared = as_bundle(wire, position)
        return CommitBundle(
            shared.idx,
            shared.stage,
            shared.stage_id,
            shared.runtime_stage_id,
            shared.trace,
            freeze(shared.overwrite),
            freeze(shared.updates),
            shared.redacted_paths,
            shared.untracked_sources,
        )

    def to_wire(self) -> dict[str, Any]:
        """The bundle as plain JSON that the caller owns."""
        wire: dict[str, Any] = {
            "idx": self.idx,
            "stage": self.stage,
            "stageId": self.stage_id,
            "runtimeStageId": self.runtime_stage_id,
            "trace": [thaw(entry) for entry in self.trace],
            "overwrite": _plain(self.overwrite),
            "updates": _plain(self.updates),
            "redactedPaths": list(self.redacted_paths),
        }
        if self.untracked_sources:
            wire["untrackedSources"] = list(self.untracked_sources)
        return wire


AnyBundle: TypeAlias = "CommitBundle | JsonObject"
"""An element of a log, in either form."""


def as_bundle(bundle: AnyBundle, position: int | None = None) -> CommitBundle:
    """The bundle as a record that shares its payloads; costs the length of its trace.

    Raises:
        MalformedBundleError: A field is missing or of the wrong kind.
    """
    if type(bundle) is CommitBundle:
        return bundle
    wire = cast("JsonObject", bundle)
    if not isinstance(wire, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  a log may come from a file
        raise MalformedBundleError(position, "form")
    return CommitBundle(
        _field(wire, "idx", int, position),
        _field(wire, "stage", str, position),
        _field(wire, "stageId", str, position),
        _field(wire, "runtimeStageId", str, position),
        tuple(_entry(raw, position) for raw in _field(wire, "trace", Sequence, position)),
        _field(wire, "overwrite", Mapping, position),
        _field(wire, "updates", Mapping, position),
        tuple(_field(wire, "redactedPaths", Sequence, position, default=())),
        tuple(_field(wire, "untrackedSources", Sequence, position, default=())),
    )


def _field(wire: JsonObject, name: str, kind: type[Any], position: int | None, default: Value = None) -> Value:
    value = wire.get(name, default)
    if not isinstance(value, kind):
        raise MalformedBundleError(position, name)
    return value


def _entry(raw: Value, position: int | None) -> TraceEntry:
    if type(raw) is TraceEntry:
        return raw
    if not isinstance(raw, Mapping):
        raise MalformedBundleError(position, "trace")
    wire = cast("JsonObject", raw)
    path, verb, read_keys = wire.get("path"), wire.get("verb"), wire.get("readKeys")
    if not isinstance(path, str) or not isinstance(verb, str):
        raise MalformedBundleError(position, "trace")
    return TraceEntry(path, verb, None if read_keys is None else tuple(read_keys))


def payload_of(bundle: CommitBundle, entry: TraceEntry) -> Value:
    """What an entry wrote: the value, the tail or the merge delta; `ABSENT` when nothing is recorded."""
    source = bundle.updates if entry.verb == "merge" else bundle.overwrite
    if PATH_DELIMITER not in entry.path:
        return source.get(entry.path, ABSENT)
    return dig(source, entry.path.split(PATH_DELIMITER))


def dig(value: Value, segments: Sequence[str]) -> Value:
    """The value at a place inside a value, `ABSENT` where there is none."""
    for segment in segments:
        found = as_object(value)
        if found is not None:
            value = found.get(segment, ABSENT)
            continue
        items = as_list(value)
        if items is None or not (segment.isascii() and segment.isdigit()) or int(segment) >= len(items):
            return ABSENT
        value = items[int(segment)]
    return value


def as_object(value: Value) -> Mapping[str, Any] | None:
    """The value as a mapping (a record under its wire keys), or `None` when it is no object."""
    kind = cast("type[object]", type(value))
    if kind is FrozenDict or kind is dict:
        return value
    if kind is str or value is None:
        return None
    if isinstance(value, Record):
        return dict(record_items(value))
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else None


def as_list(value: Value) -> Sequence[Any] | None:
    """The value as a sequence, or `None` when it is no list."""
    kind = cast("type[object]", type(value))
    if kind is FrozenList or kind is list:
        return value
    if kind is str or value is None or isinstance(value, (str, bytes)):
        return None
    return cast("Sequence[Any]", value) if isinstance(value, Sequence) else None


def _plain(payload: JsonObject) -> dict[str, Any]:
    return cast("dict[str, Any]", _without_absent(thaw(payload)))


def _without_absent(value: Value) -> Value:
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: _without_absent(item) for key, item in fields.items() if item is not ABSENT}
    if isinstance(value, list):
        return [_without_absent(item) for item in cast("list[Any]", value)]
    return value
