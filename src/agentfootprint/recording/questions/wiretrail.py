"""The trail of a recording in the wire form: the stored log, tree and events, as they are.

Nothing is copied at opening; a payload is frozen when it is asked for. What an older writer left out is missing here
and nowhere an error (NEW-66).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from typing import Any, cast, overload

from agentfootprint.events import Event, UnknownEvent, event_from_wire
from agentfootprint.recording.damage import guarded
from agentfootprint.recording.native.toplog import MARKED, Mark
from agentfootprint.recording.questions.trail import GROUP, Trail
from agentfootprint.trace import (
    ABSENT,
    JsonObject,
    KeysReadSource,
    LogIndex,
    Value,
    as_list,
    as_object,
    freeze,
    keys_read_from_execution_tree,
    keys_read_from_map,
    payload_of,
    split_path,
    value_at,
)

__all__ = ["StoredEvents", "WireTrail"]

_event = guarded(event_from_wire)


class StoredEvents(Sequence[Event[Any]]):
    """The events of a file, each decoded when it is first looked at."""

    __slots__ = ("_made", "raw")

    def __init__(self, raw: Sequence[JsonObject]) -> None:
        self.raw = raw
        """The events as the file has them."""
        self._made: dict[int, Event[Any]] = {}

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, index: int) -> Event[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event[Any]]: ...
    def __getitem__(self, index: int | slice) -> Event[Any] | list[Event[Any]]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        made = self._made.get(place)
        if made is None:
            made = self._made[place] = _event(self.raw[place])
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(cast("Sequence[Any]", other))

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return f"<{len(self)} events>"


class WireTrail(Trail):
    """The trail of a file in the wire form.

    Args:
        snapshot: The engine's snapshot.
        events: The events.
    """

    def __init__(self, snapshot: JsonObject, events: StoredEvents) -> None:
        self._snapshot = snapshot
        self._events = events
        self.log = LogIndex(snapshot.get("commitLog") or ())
        self._first: dict[str, int] = {}
        for position, bundle in enumerate(snapshot.get("commitLog") or ()):
            self._first.setdefault(bundle.get("runtimeStageId", ""), position)
        self._groups = [
            (_index_of(step), position) for step, position in self._first.items() if step.startswith(f"{GROUP}#")
        ]
        self._values: dict[tuple[str, int], Value] = {}
        self.marks = self._find_marks()

    def _find_marks(self) -> list[Mark]:
        found: list[Mark] = []
        position = 0
        for place, event in enumerate(self._events.raw):
            kind = event.get("type")
            if kind not in MARKED:
                continue
            step = str((as_object(event.get("meta")) or {}).get("runtimeStageId", ""))
            position = self._in_group(step) if step.startswith(f"{GROUP}/") else self._first.get(step, position)
            found.append(Mark(kind, step, place, position))
        return found

    def _in_group(self, step: str) -> int:
        """Where the mount of a grouped turn ends that a step stands in; the end of the log when it did not."""
        index = _index_of(step)
        at = bisect_left(self._groups, (index, -1)) - 1
        if at < 0:
            return len(self.log)
        mount, position = self._groups[at]
        later = (_index_of(bundle.runtime_stage_id) for bundle in self.log[position + 1 : position + 3])
        follows = next((each for each in later if each != mount), index)
        return len(self.log) if follows < index else position

    @guarded
    def payload(self, mark: Mark) -> Any:  # noqa: ANN401  a payload of the mark's type
        """Decoded from the event."""
        event = self._events[mark.row]
        return None if isinstance(event, UnknownEvent) else event.payload

    @guarded
    def ordinal(self, mark: Mark) -> int | None:
        """As the event's meta says; the reference's says nothing."""
        return self._events[mark.row].meta.tool_ordinal

    def step(self, mark: Mark) -> str:
        """The address in the event's meta."""
        return str(mark.where or "")

    @guarded
    def value_at(self, key: str, position: int) -> Value:
        """By replaying what the log says of the key."""
        version = self.version(key, position)
        if version is None:
            return ABSENT
        known = self._values.get((key, version))
        if known is None:
            found = value_at(self.log, version, key)
            known = self._values[key, version] = found if found is ABSENT else freeze(found)
        return known

    @guarded
    def appended(self, key: str, position: int) -> Sequence[Any] | None:
        """As the bundle says."""
        bundle = self.log[position]
        for entry in bundle.trace:
            if entry.path == key and entry.verb == "append":
                return as_list(payload_of(bundle, entry))
        return None

    @cached_property
    def _reads(self) -> KeysReadSource:
        tree = self._snapshot.get("executionTree")
        return keys_read_from_map({}) if tree is None else keys_read_from_execution_tree(tree)

    @guarded
    def reads_of(self, step: str) -> tuple[str, ...]:
        """As the execution tree says."""
        return tuple(self._reads(step))

    @guarded
    def writes_of(self, step: str) -> tuple[str, ...] | None:
        """As the top log says; what a step inside a mount changed is not looked up."""
        position = self._first.get(step)
        if position is None:
            return None
        return tuple(dict.fromkeys(split_path(entry.path)[0] for entry in self.log[position].trace))

    @guarded
    def commit_of(self, mark: Mark) -> int | None:
        """The first commit of the step."""
        return self._first.get(str(mark.where or ""))


def _index_of(step: str) -> int:
    """The number behind an address; -1 when it has none."""
    index = step.rpartition("#")[2]
    return int(index) if index.isascii() and index.isdigit() else -1
