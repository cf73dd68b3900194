"""What a stage sees of the state: attributes whose reads are recorded and whose writes are staged.

A subclass declares fields for the editor and the type checker; any other key works just as well, by attribute or by
item; a method of the subclass hides a key of its name from the attribute, which is then read and written by item
only (FLOW-MEM-6). Nothing but reading a key records a read: not `repr`, `==`, `vars` or `copy`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, cast

from agentfootprint.flow.errors import AbsentKeyError, ChartBuildError
from agentfootprint.flow.stage.traced import TracedHandle
from agentfootprint.flow.stage.views import SCALARS, DictView, ListView, unwrapped, wrapped
from agentfootprint.trace import ABSENT, FrozenDict, FrozenList, StageInfo, Value, ValueRefusedError, freeze

__all__ = ["State", "handle_of"]


class State:
    """The state of the run, as one stage sees it (FLOW-PY-11).

    Example:
        >>> class Loan(State):
        ...     score: int
        ...     status: str = "new"      # what a read gives while nothing was written; the state does not hold it
        ...     log: list[str] = []      # as above; a change of it is staged, and from then on the state holds it
    """

    __slots__ = ("__handle", "__views")

    __defaults: ClassVar[dict[str, Any]] = {}
    __hidden: ClassVar[frozenset[str]] = frozenset()
    """What a subclass has beside its fields: attributes that are no keys."""

    def __init_subclass__(cls, **options: Value) -> None:
        super().__init_subclass__(**options)
        defaults = dict(cls.__defaults)
        fields = {name for name, kind in inspect.get_annotations(cls).items() if _is_field(name, kind)}
        own = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
        for name in fields:
            if name in own:
                if callable(own[name]) or hasattr(own[name], "__get__"):
                    raise ChartBuildError(
                        f"The field {name!r} of {cls.__name__} is a method of it too.", fix="Rename one of them."
                    )
                defaults[name] = _default(cls.__name__, name, own[name])
            setattr(cls, name, property(_reader(name)))
        cls.__defaults = defaults
        cls.__hidden = (cls.__hidden | own.keys()) - fields

    def __init__(self, handle: TracedHandle) -> None:
        object.__setattr__(self, "_State__handle", handle)
        object.__setattr__(self, "_State__views", {})

    def __getitem__(self, key: str) -> Value:
        handle: TracedHandle = self.__handle
        value = handle.read(key)
        if value.__class__ in SCALARS:
            return value  # pyright: ignore[reportUnknownVariableType]  Any, narrowed by its class to less than Any
        if value is ABSENT:
            if key not in self.__defaults:
                raise AbsentKeyError(key, handle.info.id)
            value = self.__defaults[key]
            if not isinstance(value, (FrozenDict, FrozenList)):
                return value
            handle = cast("TracedHandle", _Defaulted(handle, key, value))
        views: dict[str, tuple[Value, Any]] = self.__views
        known = views.get(key)
        if known is not None and known[0] is value:
            return cast("Value", known[1])
        view: Value = wrapped(handle, (key,), value)
        if isinstance(view, (DictView, ListView)):
            views[key] = (value, view)
        return view

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):  # copy, pickle and debuggers ask for such names
            raise AttributeError(name)
        return self[name]

    def __setitem__(self, key: str, value: Value) -> None:
        known = self.__views.get(key)
        if known is None or known[1] is not value:  # else `s.list += [...]`, which has changed what the view shows
            self.__handle[key] = unwrapped(value)

    def __setattr__(self, name: str, value: Value) -> None:
        if name in self.__hidden or name[:1] == "_":
            raise _no_key(type(self).__name__, name)
        self[name] = value

    def __delitem__(self, key: str) -> None:
        del self.__handle[key]

    def __delattr__(self, name: str) -> None:
        if name in self.__hidden or name[:1] == "_":
            raise _no_key(type(self).__name__, name)
        del self.__handle[name]

    def __contains__(self, key: str) -> bool:
        return key in self.__handle

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of one stage>"

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: object) -> State:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("The state of a stage can't be pickled; take the values you need.")


class _Defaulted:
    """The handle behind a view of a field that nobody wrote: the first change of the view writes the default too."""

    __slots__ = ("_default", "_handle", "_key")

    def __init__(self, handle: TracedHandle, key: str, default: Value) -> None:
        self._handle = handle
        self._key = key
        self._default = default

    @property
    def info(self) -> StageInfo:
        return self._handle.info

    def look(self, key: str) -> Value:
        value = self._handle.look(key)
        return self._default if value is ABSENT else value

    def __setitem__(self, key: str, value: Value) -> None:
        self._handle[key] = value

    def update(self, key: str, value: Value) -> None:
        self._settled().update(key, value)

    def set_path(self, path: tuple[str, ...], value: Value) -> None:
        self._settled().set_path(path, value)

    def delete_path(self, path: tuple[str, ...]) -> None:
        self._settled().delete_path(path)

    def _settled(self) -> TracedHandle:
        if self._default and self._handle.look(self._key) is ABSENT:
            self._handle[self._key] = self._default
        return self._handle


def handle_of(state: State) -> TracedHandle:
    """The handle behind a stage's state."""
    return object.__getattribute__(state, "_State__handle")


def _default(kind: str, name: str, value: Value) -> Value:
    """The default of a field; an object or a list is made unchangeable, as all instances share it."""
    if not isinstance(value, (dict, list)):
        return value
    try:
        return freeze(value)
    except ValueRefusedError as refused:
        raise ChartBuildError(
            f"The default of the field {name!r} of {kind} can't be recorded: {refused.problem}", fix=refused.fix
        ) from refused


def _is_field(name: str, kind: object) -> bool:
    words = kind if isinstance(kind, str) else repr(kind)
    return not name.startswith("_") and not words.removeprefix("typing.").startswith("ClassVar")


def _no_key(kind: str, name: str) -> AttributeError:
    return AttributeError(f"{name!r} is an attribute of {kind} itself; a key of that name is s[{name!r}].", name=name)


def _reader(name: str) -> Callable[[State], Any]:
    def read(self: State) -> Value:
        return self[name]

    return read
