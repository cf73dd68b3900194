"""What a stage gets when it reads an object or a list: the committed value, whose changes are staged writes.

A view looks its value up each time, so it shows the stage's own writes, and never copies. Reading inside it records
nothing more: the read of its root key was recorded when the view was fetched (4.2). `raw` is the value itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, Final, Self, TypeAlias, cast, overload

from agentfootprint.flow.errors import AbsentKeyError, StageClosedError
from agentfootprint.flow.stage.commit import with_value
from agentfootprint.flow.stage.handle import frozen
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.trace import ABSENT, FrozenDict, FrozenList, Value, as_list, as_object, deep_equal

__all__ = ["SCALARS", "DictView", "ListView", "unwrapped", "wrapped"]

Path: TypeAlias = "tuple[str | int, ...]"


SCALARS: Final[frozenset[object]] = frozenset((str, int, float, bool, type(None)))
"""Types of values that need no view; asked first, since most values are of them."""


def wrapped(handle: TracedHandle, path: Path, value: Value) -> Value:
    """A view of a container, or the scalar itself."""
    if type(value) in SCALARS:
        return value
    if as_object(value) is not None:
        return DictView(handle, path)
    return ListView(handle, path) if as_list(value) is not None else value


def unwrapped(value: Value) -> Value:
    """The committed value behind a view; anything else as it is."""
    if type(value) in SCALARS:
        return value
    return value.raw if isinstance(value, (DictView, ListView)) else value


def _current(handle: TracedHandle, path: Path) -> Value:
    value = handle.look(cast("str", path[0]))
    for segment in path[1:]:
        if isinstance(segment, int):
            items = as_list(value)
            value = items[segment] if items is not None and segment < len(items) else ABSENT
        else:
            fields = as_object(value)
            value = ABSENT if fields is None else fields.get(segment, ABSENT)
    return value


def _stage_inside_list(handle: TracedHandle, path: Path, place: int, value: Value) -> None:
    """Stage the outermost list on a path with one place inside it changed, or removed when `value` is absent."""
    items = _current(handle, path[:place])
    below = tuple(str(segment) for segment in path[place:])
    _stage_whole(handle, path[:place], with_value(items, below, value))


def _stage_whole(handle: TracedHandle, path: Path, value: Value) -> None:
    keys = cast("tuple[str, ...]", path)
    if len(keys) == 1:
        handle[keys[0]] = value
    else:
        handle.set_path(keys, value)  # replaced, not united with what is there (FLOW-DIF-2)


def _dotted(path: Path) -> str:
    """A path as messages show it."""
    return ".".join(map(str, path))


def _first_list(path: Path) -> int | None:
    return next((place for place, segment in enumerate(path) if isinstance(segment, int)), None)


class DictView(MutableMapping[str, Any]):
    """An object in the state. Assigning a member merges it in; it never drops the others."""

    __slots__ = ("_handle", "_path")

    def __init__(self, handle: TracedHandle, path: Path) -> None:
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_path", path)

    @property
    def raw(self) -> FrozenDict:
        """The value itself, which nobody can change."""
        return _current(self._handle, self._path)

    def __getitem__(self, key: str) -> Value:
        fields = as_object(self.raw)
        if fields is None or key not in fields:
            raise KeyError(key)
        return wrapped(self._handle, (*self._path, key), fields[key])

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setitem__(self, key: str, value: Value) -> None:
        handle, path = self._handle, (*self._path, key)
        place = _first_list(path)
        value = frozen(_dotted(path), unwrapped(value), handle.info.id)
        if place is not None:
            _stage_inside_list(handle, path, place, value)
            return
        patch: Value = value
        for segment in reversed(path[1:]):
            patch = FrozenDict({cast("str", segment): patch})
        handle.update(cast("str", path[0]), patch)

    def __setattr__(self, name: str, value: Value) -> None:
        if name in _METHODS or name[:1] == "_":
            raise _no_key(name)
        self[name] = value

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        handle, path = self._handle, (*self._path, key)
        place = _first_list(path)
        if place is not None:
            _stage_inside_list(handle, path, place, ABSENT)
        else:
            handle.delete_path(cast("tuple[str, ...]", path))

    def __delattr__(self, name: str) -> None:
        if name in _METHODS or name[:1] == "_":
            raise _no_key(name)
        del self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(as_object(self.raw) or ())

    def __len__(self) -> int:
        return len(as_object(self.raw) or ())

    def __eq__(self, other: object) -> bool:
        return deep_equal(self.raw, unwrapped(other))

    __hash__ = None  # compared by content, so not a key

    def __or__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**self, **other}

    def __ror__(self, other: Mapping[str, Any]) -> dict[str, Any]:
        return {**other, **self}

    def __ior__(self, other: Mapping[str, Any]) -> Self:
        self.update(other)
        return self

    def __repr__(self) -> str:
        return _shown(self)


def _shown(view: DictView | ListView) -> str:
    try:
        return repr(view.raw)
    except StageClosedError:  # a debugger or an error report may look at it later than the stage did
        return "<view of a stage that has committed>"


_METHODS: Final = frozenset(dir(DictView))


def _no_key(name: str) -> AttributeError:
    """An attribute is a method of the view, so a member of that name is reached by item only (FLOW-MEM-6)."""
    return AttributeError(f"{name!r} is a method of every object; a member of that name is [{name!r}].", name=name)


class ListView(MutableSequence[Any]):
    """A list in the state. Every change stages the whole list, at the cost of what changed."""

    __slots__ = ("_handle", "_path")

    def __init__(self, handle: TracedHandle, path: Path) -> None:
        self._handle = handle
        self._path = path

    @property
    def raw(self) -> FrozenList:
        """The value itself, which nobody can change."""
        return _current(self._handle, self._path)

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Value:
        items = self._items()
        if isinstance(index, slice):
            return items[index]
        place = index + len(items) if index < 0 else index
        if not 0 <= place < len(items):
            raise IndexError("list index out of range")
        return wrapped(self._handle, (*self._path, place), items[place])

    @overload
    def __setitem__(self, index: int, value: Value) -> None: ...
    @overload
    def __setitem__(self, index: slice, value: Iterable[Any]) -> None: ...
    def __setitem__(self, index: int | slice, value: Value) -> None:
        items = list(self._items())
        if isinstance(index, slice):
            items[index] = [self._frozen(item) for item in value]
        else:
            items[index] = self._frozen(value)
        self._replace(FrozenList(items, len(items)))

    def __delitem__(self, index: int | slice) -> None:
        items = list(self._items())
        del items[index]
        self._replace(FrozenList(items, len(items)))

    def insert(self, index: int, value: Value) -> None:
        """Stage the list with one element more, before `index`."""
        items = list(self._items())
        items.insert(index, self._frozen(value))
        self._replace(FrozenList(items, len(items)))

    def append(self, value: Value) -> None:
        """Stage the list with one element more, at its end: O(1)."""
        self._replace(self._items().append(self._frozen(value)))

    def extend(self, values: Iterable[Any]) -> None:
        """Stage the list with more elements at its end: O(added)."""
        self._replace(self._items().extend([self._frozen(value) for value in values]))

    def sort(self, *, key: Value = None, reverse: bool = False) -> None:
        """Stage the list sorted."""
        items = sorted(self._items(), key=key, reverse=reverse)
        self._replace(FrozenList(items, len(items)))

    def reverse(self) -> None:
        """Stage the list in reverse order."""
        items = list(reversed(self._items()))
        self._replace(FrozenList(items, len(items)))

    def __len__(self) -> int:
        return len(as_list(self.raw) or ())

    def __iter__(self) -> Iterator[Any]:
        for place in range(len(self)):
            yield self[place]

    def __eq__(self, other: object) -> bool:
        return deep_equal(self.raw, unwrapped(other))

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __add__(self, other: Iterable[Any]) -> list[Any]:
        return [*self, *other]

    def __radd__(self, other: Iterable[Any]) -> list[Any]:
        return [*other, *self]

    def __repr__(self) -> str:
        return _shown(self)

    def _items(self) -> FrozenList:
        """The list, which the stage may have removed or replaced by something else since the view was made."""
        items = self.raw
        if as_list(items) is None:
            raise AbsentKeyError(_dotted(self._path), self._handle.info.id)
        return items

    def _frozen(self, value: Value) -> Value:
        return frozen(_dotted(self._path), unwrapped(value), self._handle.info.id)

    def _replace(self, items: FrozenList) -> None:
        place = _first_list(self._path)
        if place is None:
            _stage_whole(self._handle, self._path, items)
        else:
            _stage_inside_list(self._handle, self._path, place, items)
