"""Where do two streams of events part? Clocks aside, and without showing what they hold.

Histories are compared by what was added since the last one, so that a run costs its length and not its square.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import msgspec

from agentfootprint.events import Event, Payload, UnknownEvent
from agentfootprint.trace import ABSENT, FrozenList, as_list, as_object, deep_equal, thaw

__all__ = ["ReplayDifference", "first_difference"]

_CLOCKS: Final = frozenset(("wallClockMs", "runOffsetMs"))
_CLOCK: Final = "Ms"
"""How the keys of a payload end that say how long something took."""


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """The first event that a replay does not say as the recording has it; names places, never what stands there."""

    kind: Literal["differs", "missing", "more"]
    """It is said otherwise; the replay has no such event; the replay has one more."""
    index: int
    """Its place among the events, from 0."""
    type: str
    """What the recording has there; what the replay has there when the recording has nothing."""
    step: str
    """The step that it happened in, such as `call-llm#18`."""
    path: str
    """The key that differs, such as `payload.args.city`; `type` when it is another event, empty when it is none."""
    replayed_type: str | None = None
    """What the replay has there; `None` for nothing."""

    def __str__(self) -> str:
        where = f"event {self.index}, {self.type} in {self.step or 'the run'}"
        if self.kind == "missing":
            return f"{where}, is missing from the replay"
        if self.kind == "more":
            return f"{where}, is not in the recording"
        if self.path == "type":
            return f"{where}, is {self.replayed_type} in the replay"
        return f"{where}, differs at {self.path}"


def first_difference(recorded: Sequence[Event[Any]], replayed: Sequence[Event[Any]]) -> ReplayDifference | None:
    """Compare two streams.

    Args:
        recorded: What was said.
        replayed: What is said now, in the same form.

    Returns:
        Where they part first; `None` when they don't.
    """
    known = _Known()
    for index in range(max(len(recorded), len(replayed))):
        if index >= len(replayed):
            return _at(index, recorded[index], "missing")
        if index >= len(recorded):
            return _at(index, replayed[index], "more", now=replayed[index].type)
        was, now = recorded[index], replayed[index]
        path = "type" if was.type != now.type else known.differs(was, now)
        if path is not None:
            return _at(index, was, "differs", path, now.type)
    return None


def _at(
    index: int,
    event: Event[Any],
    kind: Literal["differs", "missing", "more"],
    path: str = "",
    now: str | None = None,
) -> ReplayDifference:
    return ReplayDifference(kind, index, event.type, event.meta.runtime_stage_id, path, now)


class _Known:
    """What was found equal already."""

    def __init__(self) -> None:
        self._lists: dict[tuple[int, int], tuple[Any, Any, int]] = {}
        """By the identities of two storages: both, which stay alive so, and how far they are equal."""

    def differs(self, was: Event[Any], now: Event[Any]) -> str | None:
        """The path of the first key in which two events of one type differ."""
        path = self._payloads(was.payload, now.payload)
        if path is not None:
            return path
        before, after = _meta(was), _meta(now)
        return None if deep_equal(before, after) else "meta" + (_path(before, after) or "")

    def _payloads(self, was: Any, now: Any) -> str | None:  # noqa: ANN401  payloads of any class
        if type(was) is type(now) and isinstance(was, Payload):
            kind = cast("type[msgspec.Struct]", type(was))
            for name, key in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
                a, b = getattr(was, name), getattr(now, name)
                if not key.endswith(_CLOCK) and not self._equal(a, b):
                    return f"payload.{key}{_path(_plain(a), _plain(b)) or ''}"
            return None
        if self._equal(was, now):
            return None
        a, b = _plain(was), _plain(now)
        if not (isinstance(was, Payload) or isinstance(now, Payload)) or not isinstance(a, dict):
            return "payload" + (_path(a, b) or "")
        path = _path(_timeless(a), _timeless(b))
        return None if path is None else f"payload{path}"

    def _equal(self, a: Any, b: Any) -> bool:  # noqa: ANN401  JSON values
        if a is b:
            return True
        if type(a) is not FrozenList or type(b) is not FrozenList:
            return deep_equal(a, b)
        if len(a) != len(b):
            return False
        key = id(a.buf), id(b.buf)
        start = self._lists.get(key, (None, None, 0))[2]
        if start < len(a):
            if not all(deep_equal(x, y) for x, y in zip(a.tail(start), b.tail(start), strict=True)):
                return False
            self._lists[key] = a.buf, b.buf, len(a)
        return True


def _timeless(payload: Any) -> Any:  # noqa: ANN401  JSON
    found = as_object(payload)
    return payload if found is None else {key: found[key] for key in found if not key.endswith(_CLOCK)}


def _meta(event: Event[Any]) -> dict[str, Any]:
    found: Any = event.meta if not isinstance(event, UnknownEvent) or event.source is None else event.source["meta"]
    plain = cast("dict[str, Any]", thaw(found))
    return {key: value for key, value in plain.items() if key not in _CLOCKS}


def _plain(value: Any) -> Any:  # noqa: ANN401  JSON
    return None if value is msgspec.UNSET or value is ABSENT else thaw(value)


def _path(a: object, b: object) -> str | None:
    """Where two plain values differ first: keys with a dot, places in brackets; `None` when they are equal."""
    if deep_equal(a, b):
        return None
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        left, right = cast("Mapping[str, Any]", a), cast("Mapping[str, Any]", b)
        for key in dict.fromkeys((*left, *right)):
            if key not in left or key not in right:
                return f".{key}"
            deeper = _path(left[key], right[key])
            if deeper is not None:
                return f".{key}{deeper}"
    first, second = as_list(a), as_list(b)
    if first is not None and second is not None:
        for place in range(max(len(first), len(second))):
            if place >= len(first) or place >= len(second):
                return f"[{place}]"
            deeper = _path(first[place], second[place])
            if deeper is not None:
                return f"[{place}]{deeper}"
    return ""
