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
from agentfootprint.flow.stage.views import DictView, ListView, unwrapped, wrapped
from agentfootprint.trace import ABSENT, Value

__all__ = ["State", "handle_of"]


class State:
    """The state of the run, as one stage sees it (FLOW-PY-11).

    Example:
        >>> class Loan(State):
        ...     score: int
        ...     status: str = "new"      # what a read gives while nothing was written; the state does not hold it
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
                defaults[name] = own[name]
            setattr(cls, name, property(_reader(name)))
        cls.__defaults = defaults
        cls.__hidden = (cls.__hidden | own.keys()) - fields

    def __init__(self, handle: TracedHandle) -> None:
        object.__setattr__(self, "_State__handle", handle)
        object.__setattr__(self, "_State__views", {})

    def __getitem__(self, key: str) -> Value:
        handle: TracedHandle = self.__handle
        value = handle.read(key)
        if value is ABSENT:
            if key in self.__defaults:
                return self.__defaults[key]
            raise AbsentKeyError(key, handle.info.id)
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
        self.__handle[key] = unwrapped(value)

    def __setattr__(self, name: str, value: Value) -> None:
        if name in self.__hidden or name[:1] == "_":
            raise _no_key(type(self).__name__, name)
        self.__handle[name] = unwrapped(value)

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


def handle_of(state: State) -> TracedHandle:
    """The handle behind a stage's state."""
    return object.__getattribute__(state, "_State__handle")


def _is_field(name: str, kind: object) -> bool:
    words = kind if isinstance(kind, str) else repr(kind)
    return not name.startswith("_") and not words.removeprefix("typing.").startswith("ClassVar")


def _no_key(kind: str, name: str) -> AttributeError:
    return AttributeError(f"{name!r} is an attribute of {kind} itself; a key of that name is s[{name!r}].", name=name)


def _reader(name: str) -> Callable[[State], Any]:
    def read(self: State) -> Value:
        return self[name]

    return read
