"""What a value looks like to those who may not see all of it.

Pure: nothing that is given is changed, and what has nothing to hide comes back as the same object. Hiding replaces a
value by a word; keys stay. A list on the way to a hidden place is looked through, item by item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from agentfootprint.trace.bundle import as_list, as_object
from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, JsonObject, Value

__all__ = ["PLACEHOLDER", "REDACTED", "HiddenField", "hide_at", "hide_names", "redact_patch"]

REDACTED: Final = "REDACTED"
"""What stands for a redacted payload in commit logs and in the states replayed from them (FLOW-RED-2)."""
PLACEHOLDER: Final = "[REDACTED]"
"""What stands for a redacted value everywhere else: events, trees, evidence, texts."""
_ANY: Final = "*"

Segments: TypeAlias = "tuple[str, ...]"


class HiddenField(NamedTuple):
    """A place below a key: as it was written, and as a path (FLOW-RED-3)."""

    literal: str
    segments: Segments

    @classmethod
    def of(cls, text: str) -> HiddenField:
        """Read `field` or `nested.path`; `*` stands for every key and every item."""
        return cls(text, tuple(text.split(".")))

    def within(self, keys: Iterable[str]) -> Segments:
        """The way to go in an object with these keys: a key that has the dots in it comes first."""
        return (self.literal,) if len(self.segments) > 1 and self.literal in keys else self.segments


def redact_patch(patch: JsonObject, paths: Iterable[str]) -> dict[str, Any]:
    """A copy of a commit's payload in which what stands at the paths is the word `REDACTED`.

    Args:
        patch: Payloads nested along their paths, as in `overwrite` and `updates`.
        paths: Segments joined by U+001F. One that leads nowhere is passed over.

    Example:
        >>> redact_patch({"ssn": "123-45", "name": "Dana"}, ["ssn"])
        {'ssn': 'REDACTED', 'name': 'Dana'}
    """
    out: dict[str, Any] = dict(patch.items())
    for path in paths:
        *parents, last = path.split(PATH_DELIMITER)
        if not _stands(out, (*parents, last)):
            continue
        inner = out
        for segment in parents:
            inner[segment] = inner = dict(as_object(inner[segment]) or {})
        inner[last] = REDACTED
    return out


def _stands(value: Value, segments: Sequence[str]) -> bool:
    for segment in segments:
        fields = as_object(value)
        if fields is None or segment not in fields:
            return False
        value = fields[segment]
    return value is not ABSENT


def hide_at(value: Value, segments: Segments, word: str) -> tuple[Value, list[Segments]]:
    """Replace what stands at a path inside a value.

    Args:
        value: Where to look.
        segments: The path; `*` goes to every key or item, and lists are looked through.
        word: What is put there.

    Returns:
        The value, and the places that were replaced; a place inside a list is told as the list.
    """
    if value is ABSENT:
        return value, []
    if not segments:
        return word, [()]
    head, rest = segments[0], segments[1:]
    fields = as_object(value)
    if fields is not None:
        return _hide_in_object(value, fields, head, rest, word)
    items = as_list(value)
    if items is None:
        return value, []
    shown = [hide_at(item, rest if head == _ANY else segments, word) for item in items]
    if not any(found for _, found in shown):
        return value, []
    return FrozenList([item for item, _ in shown], len(shown)), [()]


def _hide_in_object(
    value: Value, fields: Mapping[str, Any], head: str, rest: Segments, word: str
) -> tuple[Value, list[Segments]]:
    changed: dict[str, Any] = {}
    places: list[Segments] = []
    for key in fields if head == _ANY else (head,):
        if key in fields:
            shown, found = hide_at(fields[key], rest, word)
            if found:
                changed[key] = shown
                places.extend((key, *place) for place in found)
    return (FrozenDict({**fields, **changed}), places) if places else (value, places)


def hide_names(value: Value, cover: Callable[[str, Value], Value]) -> Value:
    """Go through a value that is handed out whole, and let `cover` see every member of every object in it.

    Args:
        value: Anything.
        cover: Gets a key and its value, already gone through, and gives what may be shown.
    """
    fields = as_object(value)
    if fields is not None:
        changed: dict[str, Any] = {}
        for key, item in fields.items():
            shown = cover(key, hide_names(item, cover))
            if shown is not item:
                changed[key] = shown
        return FrozenDict({**fields, **changed}) if changed else value
    items = as_list(value)
    if items is None:
        return value
    shown_items = [hide_names(item, cover) for item in items]
    if all(shown is item for shown, item in zip(shown_items, items, strict=True)):
        return value
    return FrozenList(shown_items, len(shown_items))
