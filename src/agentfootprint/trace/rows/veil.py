"""What of a run may not be seen: which keys are redacted here and now, and what stands for their values.

A key is redacted by the policy for good, by a write that says so for the whole run until it is deleted (FLOW-RED-1),
and in a mount because a declared map took its value from a redacted key. Names are kept, never values. The run asks
while it goes; the reader of its rows asks again in the same order and gets the same answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from agentfootprint.errors import AgentFootprintError
from agentfootprint.trace.bundle import as_object
from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.redacting import PLACEHOLDER, REDACTED, HiddenField, hide_at, hide_names
from agentfootprint.trace.values import ABSENT, FrozenDict, Value

__all__ = ["Covered", "Policy", "Veil"]

Path: TypeAlias = "tuple[str, ...]"
Pairs: TypeAlias = "Iterable[tuple[str, str]] | None"
Hiding: TypeAlias = "Literal[True] | tuple[HiddenField, ...]"
"""What is redacted of a key: all of it, or the places below it; `()` is nothing."""
_RUNS = "runs"
"""Where the namespaces of fork branches stand in the state (FLOW-MEM-9)."""
_SPACED = 2
"""Segments before the user's key in a namespace."""


class Policy(Protocol):
    """What a veil asks of a redaction policy."""

    @property
    def placeholder(self) -> str:
        """What stands for a hidden value outside of logs."""
        ...

    @property
    def hides_values(self) -> bool:
        """Whether any key or field is redacted."""
        ...

    def hides(self, key: str) -> bool:
        """Whether a key is redacted, by name or by pattern."""
        ...

    def fields_of(self, key: str) -> tuple[HiddenField, ...]:
        """The redacted places below a key."""
        ...

    def emitted(self, name: str, payload: Value) -> Value:
        """The payload of an event as its name and fields allow it."""
        ...


class Covered(NamedTuple):
    """A write as it may be shown."""

    path: Path
    """Shorter than it was when it led below something that is hidden as a whole."""
    value: Value
    hidden: tuple[str, ...]
    """Delimiter-joined paths whose value was replaced."""


class Veil:
    """The redaction of one run.

    Args:
        policy: What is redacted from the start; None when only writes that say so are.
        names: Keys redacted already, after a resume.
    """

    __slots__ = ("_forgotten", "_gathered", "_mapped", "names", "placeholder", "policy", "seen")

    def __init__(self, policy: Policy | None, names: Iterable[str] = ()) -> None:
        self.policy = policy
        self.names = dict.fromkeys(names)
        """Keys that a write redacted, in order."""
        self.seen: dict[str, None] = dict.fromkeys(names)
        """Keys that were found redacted when written, in order."""
        self.placeholder = PLACEHOLDER if policy is None else policy.placeholder
        self._forgotten: dict[int, set[str]] = {}
        self._mapped: dict[int, dict[str, Hiding]] = {}
        self._gathered: set[str] = set()

    @property
    def keeps_secrets(self) -> bool:
        """Whether texts that nobody can check for secrets (error messages) are to be withheld."""
        return bool(self.names) or (self.policy is not None and self.policy.hides_values)

    # which keys

    def of_key(self, key: str, mount: int = -1, *, ever: bool = False) -> Hiding:
        """What is redacted of a key in the runtime of a mount.

        Args:
            key: A top-level key of that state, or of a namespace in it.
            mount: Index of the mount's execution; -1 at the top.
            ever: Whether a delete counts for nothing: in namespaces, where older values stay.
        """
        policy = self.policy
        if policy is not None and policy.hides(key):
            return True
        if key in self.names and (ever or key not in self._forgotten.get(mount, ())):
            return True
        fields = () if policy is None else policy.fields_of(key)
        mapped = self._mapped.get(mount, {}).get(key, ())
        return True if mapped is True else (*fields, *mapped)

    def hides(self, key: str, mount: int = -1, *, ever: bool = False) -> bool:
        """Whether a key is redacted as a whole."""
        return self.of_key(key, mount, ever=ever) is True

    def hide(self, key: str, mount: int = -1) -> None:
        """A write redacts a key, from now on and everywhere in the run."""
        self.names[key] = None
        self._forgotten.get(mount, set()).discard(key)

    def forget(self, key: str, mount: int = -1) -> None:
        """A key was deleted in a runtime: what a write redacted is redacted no more there."""
        if key in self.names:
            self._forgotten.setdefault(mount, set()).add(key)
        self._mapped.get(mount, {}).pop(key, None)

    def saw(self, keys: Iterable[str], mount: int = -1) -> None:
        """Note which of the keys that a state has now are redacted, for the report."""
        self.seen.update(dict.fromkeys(key for key in keys if self.hides(key, mount)))

    def gather(self, key: str) -> None:
        """A for-each writes a key: it holds whole states of its branches, with names of their own."""
        self._gathered.add(key)

    def enter(self, mount: int, parent: int, pairs: Pairs, *, ever: bool = False) -> None:
        """A mount begins: what its declared map takes from a redacted key is redacted inside, whatever its name."""
        if parent in self._forgotten:
            self._forgotten[mount] = set(self._forgotten[parent])
        for target, source in pairs or ():
            hiding = self.of_key(source, parent, ever=ever)
            if hiding:
                self._mapped.setdefault(mount, {})[target] = hiding

    def leave(self, mount: int, parent: int, pairs: Pairs, state: Mapping[str, Value]) -> None:
        """A mount's declared map writes its `state` back: the same the other way."""
        for target, source in pairs or ():
            hiding = self.of_key(source, mount) if source in state else ()
            if hiding:
                there = self._mapped.setdefault(parent, {})
                before = there.get(target, ())
                there[target] = True if hiding is True or before is True else (*before, *hiding)

    def gone(self, mount: int) -> None:
        """A mount has ended, and nobody asks about it any more."""
        self._mapped.pop(mount, None)
        self._forgotten.pop(mount, None)

    def in_force(self) -> tuple[str, ...]:
        """Keys that writes redacted and that are still redacted at the top or in a mount; for a checkpoint."""
        top = self._forgotten.get(-1, set())
        others = [names for mount, names in self._forgotten.items() if mount != -1]
        return tuple(key for key in self.names if key not in top or any(key not in names for names in others))

    # what stands for their values

    def covered(self, path: Path, value: Value, mount: int, word: str, *, ever: bool = False) -> Covered:
        """A value at a place in a state, as it may be shown.

        Args:
            path: The place, from its top-level key.
            value: What is written there; `ABSENT` when it is deleted.
            mount: Index of the mount whose state it is.
            word: What stands for a hidden value.
            ever: As in `of_key`.
        """
        key = path[0]
        hiding = self.of_key(key, mount, ever=ever)
        if hiding is True:
            if len(path) == 1 and value is ABSENT:
                return Covered(path, value, ())
            return Covered((key,), word, (key,))
        if key == _RUNS and not ever:
            return self._in_namespaces(path, value, mount, word)
        if key in self._gathered:
            whole = self.whole(value, mount, word)
            if whole is not value:
                return Covered(path, whole, (PATH_DELIMITER.join(path),))
        return _fields_covered(path, value, hiding, word) if hiding else Covered(path, value, ())

    def _in_namespaces(self, path: Path, value: Value, mount: int, word: str) -> Covered:
        if len(path) > _SPACED:
            inner = self.covered(path[_SPACED:], value, mount, word, ever=True)
            front = PATH_DELIMITER.join(path[:_SPACED])
            hidden = tuple(f"{front}{PATH_DELIMITER}{place}" for place in inner.hidden)
            return Covered((*path[:_SPACED], *inner.path), inner.value, hidden)
        changed: dict[str, Any] = {}
        places: list[str] = []
        fields = as_object(value) or {}
        for key, item in fields.items():
            shown = self.covered((*path, key), item, mount, word)
            if shown.hidden:
                changed[key] = shown.value
                places.extend(shown.hidden)
        return Covered(path, FrozenDict({**fields, **changed}) if changed else value, tuple(places))

    def shown(self, key: str, value: Value, mount: int = -1, *, ever: bool = False) -> Value:
        """The value of a top-level key as events, trees and evidence show it."""
        return self.covered((key,), value, mount, self.placeholder, ever=ever).value

    def state(self, values: Mapping[str, Value], mount: int = -1, word: str | None = None) -> dict[str, Value]:
        """A state as it may be shown; `word` is `REDACTED` where it is a mirror."""
        word = self.placeholder if word is None else word
        return {key: self.covered((key,), value, mount, word).value for key, value in values.items()}

    def mirror(self, values: Mapping[str, Value], mount: int = -1) -> dict[str, Value]:
        """A state as a redacted log replays it (FLOW-RED-6)."""
        return self.state(values, mount, REDACTED)

    def whole(self, value: Value, mount: int = -1, word: str | None = None) -> Value:
        """Something handed out whole (input, answer, payload): redacted names are hidden in it at any depth."""
        shown = self.placeholder if word is None else word

        def cover(key: str, item: Value) -> Value:
            hiding = self.of_key(key, mount, ever=True)
            if hiding is True:
                return shown
            return _fields_covered((key,), item, hiding, shown).value if hiding else item

        return hide_names(value, cover)

    def emitted(self, name: str, payload: Value, mount: int = -1) -> Value:
        """The payload of an event (FLOW-RED-4)."""
        if self.policy is not None:
            payload = self.policy.emitted(name, payload)
        return self.whole(payload, mount)

    def noted(self, key: str, value: Value, mount: int = -1) -> Value:
        """A diagnostic under a name of the stage's choice."""
        return self.whole(FrozenDict({key: value}), mount)[key]

    def words(self, error: BaseException, message: str) -> str:
        """The message of an error; withheld where it may quote a secret (FLOW-DEC-6).

        Our own errors quote none, but those that say so by `quotes_others`. The error's `__class__` is not asked.
        """
        kind = type(error)
        is_safe = issubclass(kind, AgentFootprintError) and not getattr(kind, "quotes_others", False)
        return message if is_safe or not self.keeps_secrets else self.placeholder


def _fields_covered(path: Path, value: Value, fields: tuple[HiddenField, ...], word: str) -> Covered:
    """The same where only places below the key are hidden."""
    below = path[1:]
    places: list[str] = []
    for field in fields:
        segments = field.within(below[:1] if below else as_object(value) or ())
        way, taken = _along(below, segments)
        if way is None:
            continue
        if not way:
            if taken == len(below) and value is ABSENT:
                continue
            at = path[: taken + 1]
            return Covered(at, word, (PATH_DELIMITER.join(at),))
        value, found = hide_at(value, way, word)
        places.extend(PATH_DELIMITER.join((*path, *place)) for place in found)
    return Covered(path, value, tuple(dict.fromkeys(places)))


def _along(below: Path, segments: Path) -> tuple[Path | None, int]:
    """Go down a field's path as far as a write's path goes: what is left of it, and how many steps that took."""
    taken = step = 0
    while taken < len(below) and step < len(segments):
        if segments[step] in ("*", below[taken]):
            step += 1
        elif not below[taken].isdigit():  # an item of a list: lists are looked through
            return None, taken
        taken += 1
    return segments[step:], taken
