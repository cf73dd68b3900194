"""What a recorded value is: JSON-shaped, frozen once where it enters, then shared by everyone who holds it.

Invariants: a frozen value is never changed again, so state, log, events and snapshots share it by reference
(01b LIN-4). Frozen values are `None`, `bool`, `int`, `float`, `str`, `FrozenDict`, `FrozenList` and `Record`.
None of the three containers is seen by the cyclic garbage collector, so none may take part in a cycle.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import math
import pathlib
import uuid
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast, overload

import msgspec
from msgspec.structs import astuple

from agentfootprint.errors import AgentFootprintError
from agentfootprint.trace.members import equal_at_any_depth, record_items, thawed_at_any_depth

__all__ = [
    "ABSENT",
    "Absent",
    "FrozenDict",
    "FrozenList",
    "Json",
    "JsonObject",
    "Record",
    "Value",
    "ValueRefusedError",
    "View",
    "deep_equal",
    "freeze",
    "thaw",
]

Json: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
JsonObject: TypeAlias = Mapping[str, Any]
Value: TypeAlias = Any
"""A frozen value; the checker can't say it better without recursion that it does not follow."""


class _Absent(enum.Enum):
    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> bool:
        return False


ABSENT: Final = _Absent.ABSENT
"""Never written, or deleted: not the same as `None` (FLOW-MEM-4)."""
Absent: TypeAlias = Literal[_Absent.ABSENT]


class ValueRefusedError(AgentFootprintError, TypeError):
    """A value that JSON can't hold was about to be recorded (DEC-13); `path` says where in it."""

    code = "ERR_VALUE_REFUSED"

    def __init__(self, path: tuple[str | int, ...], found: str) -> None:
        self.path = path
        self.found = found
        where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        super().__init__(
            f"{found} can't be recorded{f' (at {where})' if where else ''}.",
            fix="Give a JSON value, or a datetime, Decimal, UUID, Path, Enum, bytes, dataclass or pydantic model.",
        )


class Record(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Base of the typed records that may stand inside frozen values: an object whose shape is known.

    A record is written as a JSON object under camelCase keys, without the fields that have their default.
    Subclasses say `frozen=True, gc=False, rename="camel", omit_defaults=True` again, and hold frozen values only.
    """


class FrozenDict(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A mapping from text to frozen values that nobody can change.

    Make one with `freeze`; `FrozenDict(data)` takes ownership of `data` and trusts that it is frozen.
    """

    data: dict[str, Any]

    def __getitem__(self, key: str) -> Value:
        return self.data[key]

    def get(self, key: str, default: Value = None) -> Value:
        """The value of `key`, or `default`."""
        return self.data.get(key, default)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __contains__(self, key: object) -> bool:
        return key in self.data

    def keys(self) -> Iterable[str]:
        """The keys, in order."""
        return self.data.keys()

    def values(self) -> Iterable[Any]:
        """The values, in the order of the keys."""
        return self.data.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of key and value, in order."""
        return self.data.items()

    def __eq__(self, other: object) -> bool:
        return deep_equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(self.data)

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (thaw(self),)


class FrozenList(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A list that nobody can change and that grows by sharing: a buffer and a length (01b LIN-5).

    `append` and `extend` cost what they add when this list is the newest of its buffer, else a copy.
    `FrozenList(buffer, n)` takes ownership of `buffer` and trusts that its elements are frozen.
    """

    buf: list[Any]
    n: int

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> FrozenList: ...
    def __getitem__(self, index: int | slice) -> Value:
        if isinstance(index, slice):
            start, stop, step = index.indices(self.n)
            if start == 0 and step == 1:
                return FrozenList(self.buf, stop)
            items = self.buf[start:stop:step] if step > 0 else self.buf[: self.n][index]
            return FrozenList(items, len(items))
        if index < 0:
            index += self.n
        if not 0 <= index < self.n:
            raise IndexError("list index out of range")
        return self.buf[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.buf[: self.n] if self.n < len(self.buf) else tuple(self.buf))

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self.buf[: self.n])

    def __contains__(self, item: object) -> bool:
        return any(item is x or deep_equal(item, x) for x in self.buf[: self.n])

    def index(self, item: object) -> int:
        """Position of the first element equal to `item`.

        Raises:
            ValueError: There is none.
        """
        for position, x in enumerate(self.buf[: self.n]):
            if item is x or deep_equal(item, x):
                return position
        raise ValueError("no such element in this list")

    def count(self, item: object) -> int:
        """How many elements equal `item`."""
        return sum(1 for x in self.buf[: self.n] if item is x or deep_equal(item, x))

    def append(self, item: Value) -> FrozenList:
        """This list and one frozen element more; O(1) on the newest list of a buffer."""
        return self.extend((item,))

    def extend(self, items: Iterable[Any]) -> FrozenList:
        """This list and more frozen elements; O(added) on the newest list of a buffer."""
        buf = self.buf
        if self.n != len(buf) or self.n == 0:  # an older view, or the shared empty list: never write into it
            buf = buf[: self.n]
        buf.extend(items)
        return FrozenList(buf, len(buf))

    def starts_with(self, base: FrozenList) -> bool:
        """Whether `base` is known, without comparing, to be a prefix of this list."""
        return self.buf is base.buf and base.n <= self.n

    def tail(self, start: int) -> FrozenList:
        """The elements from `start` on, as a list of their own."""
        items = self.buf[start : self.n]
        return FrozenList(items, len(items))

    def __eq__(self, other: object) -> bool:
        return deep_equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(self.buf[: self.n])

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (thaw(self),)


class View(msgspec.Struct, frozen=True, gc=False, eq=False):
    """A list that is computed from another frozen value when it is read, and recorded as just that (01b LIN-6, LIN-12).

    Subclasses add the fields they are computed from, `fn` as `name/version`, `__len__` and `item`.
    """

    fn: ClassVar[str]

    def item(self, index: int) -> Value:
        """Element `index`, from 0 to length - 1; a frozen value."""
        raise IndexError(index)

    def __len__(self) -> int:
        return 0

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> FrozenList: ...
    def __getitem__(self, index: int | slice) -> Value:
        length = len(self)
        if isinstance(index, slice):
            items = [self.item(i) for i in range(*index.indices(length))]
            return FrozenList(items, len(items))
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError("list index out of range")
        return self.item(index)

    def __iter__(self) -> Iterator[Any]:
        return map(self.item, range(len(self)))

    def __eq__(self, other: object) -> bool:
        return deep_equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # compared by content, so not a key

    def __repr__(self) -> str:
        return repr(list(self))

    def __copy__(self) -> View:
        return self

    def __deepcopy__(self, memo: object) -> View:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return freeze, (thaw(self),)


cast("ABCMeta", Mapping).register(FrozenDict)
cast("ABCMeta", Sequence).register(FrozenList)
cast("ABCMeta", Sequence).register(View)

_EXACT: Final = frozenset((str, int, bool, type(None), FrozenDict, FrozenList))


def freeze(value: Value) -> Value:
    """Make a value that nobody can change; what is frozen already is returned as it is.

    Args:
        value: Anything JSON can hold, or what the table of DEC-13 converts: `datetime`, `date`, `time` (ISO 8601),
            `timedelta` (seconds), `Decimal`, `UUID`, `Path` (text), `Enum` (its value), `bytes`
            (`{"$bytes": base64}`), dataclasses and pydantic models (objects).

    Returns:
        The frozen value; cost O(size of what was not frozen yet).

    Raises:
        ValueRefusedError: A set, NaN, an infinity, a lone surrogate, a cycle, any other object, or more levels of
            nesting than the stack has room for.
    """
    try:
        return _quick(value)
    except (ValueRefusedError, RecursionError):
        try:
            return _freeze(value, (), ())  # once more, now with the way to what is wrong
        except RecursionError:
            raise ValueRefusedError((), "A value nested too deeply") from None


def _quick(value: Value) -> Value:  # noqa: PLR0911  one case a kind
    """Freeze without keeping the way and without watching for cycles."""
    kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
    if kind is str:
        return value if value.isascii() else _text(value, ())
    if kind in _EXACT:
        return value
    if kind is dict:
        out: dict[str, Any] = {}
        for key, item in value.items():
            if type(key) is not str or not key.isascii():
                return _freeze(value, (), ())
            out[key] = _quick(item)
        return FrozenDict(out)
    if kind is list or kind is tuple:
        items = [_quick(item) for item in value]
        return FrozenList(items, len(items))
    if isinstance(value, Record):
        return value
    return _freeze(value, (), ())


def _freeze(value: Value, path: tuple[str | int, ...], open_ids: tuple[int, ...]) -> Value:  # noqa: PLR0911  one case a kind
    kind = cast("type[object]", type(value))
    if kind is str:
        return _text(value, path)
    if kind in _EXACT:
        return value
    if kind is float:
        if math.isfinite(value):
            return value
        raise ValueRefusedError(path, "A number that is not finite")
    if isinstance(value, (Record, View)):
        return value
    if isinstance(value, (dict, list, tuple)) or dataclasses.is_dataclass(value):
        if id(cast("object", value)) in open_ids:
            raise ValueRefusedError(path, "A value that contains itself")
        open_ids = (*open_ids, id(cast("object", value)))
    if isinstance(value, (list, tuple)):
        source = cast("Sequence[Any]", value)
        items = [_freeze(item, (*path, i), open_ids) for i, item in enumerate(source)]
        return FrozenList(items, len(items))
    if isinstance(value, Mapping):
        return _freeze_mapping(cast("Mapping[Any, Any]", value), path, open_ids)
    return _freeze_other(value, path, open_ids)


def _text(value: str, path: tuple[str | int, ...]) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueRefusedError(path, "A text with a lone surrogate") from None
    return value


def _freeze_mapping(value: Mapping[Any, Any], path: tuple[str | int, ...], open_ids: tuple[int, ...]) -> FrozenDict:
    out: dict[str, Any] = {}
    for key, item in value.items():
        if type(key) is not str:
            raise ValueRefusedError(path, f"A mapping with a key of type {type(key).__name__}")
        out[_text(key, path)] = _freeze(item, (*path, key), open_ids)
    return FrozenDict(out)


def _freeze_other(value: Value, path: tuple[str | int, ...], open_ids: tuple[int, ...]) -> Value:  # noqa: C901, PLR0911  the table of DEC-13, a case a kind
    if isinstance(value, enum.Enum):
        return _freeze(value.value, path, open_ids)
    if isinstance(value, (str, bool, int, float)):  # a subclass: keep the plain value
        for plain in (str, bool, int):
            if isinstance(value, plain):
                return _freeze(plain(value), path, open_ids)
        return _freeze(float(value), path, open_ids)
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    if isinstance(value, (decimal.Decimal, uuid.UUID, pathlib.PurePath)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return FrozenDict({"$bytes": base64.b64encode(bytes(cast("bytes", value))).decode("ascii")})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _freeze_mapping(fields, path, open_ids)
    dump = cast("Callable[..., Any] | None", getattr(cast("type[object]", type(value)), "model_dump", None))
    if dump is not None:
        return _freeze(dump(value, mode="json"), path, open_ids)
    if isinstance(value, msgspec.Struct):
        return _freeze(msgspec.to_builtins(value), path, open_ids)
    if isinstance(value, Sequence):
        return _freeze(list(cast("Sequence[Any]", value)), path, open_ids)
    raise ValueRefusedError(path, f"A value of type {type(value).__name__}")


def thaw(value: Value) -> Value:
    """Copy a frozen value into plain dicts and lists that the caller owns; records become objects in wire form."""
    try:
        return _thawed(value)
    except RecursionError:
        return thawed_at_any_depth(value, _members)


def _thawed(value: Value) -> Value:  # noqa: PLR0911  one case a kind
    kind = cast("type[object]", type(value))
    if kind in (str, int, float, bool, type(None)):
        return value
    if kind is FrozenDict:
        return {key: _thawed(item) for key, item in value.data.items()}
    if kind is FrozenList:
        return [_thawed(item) for item in value.buf[: value.n]]
    if isinstance(value, Record):
        return {key: _thawed(item) for key, item in record_items(value)}
    if isinstance(value, Mapping):
        return {key: _thawed(item) for key, item in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, Sequence):
        return [_thawed(item) for item in cast("Sequence[Any]", value)]
    return value


def _members(value: Value) -> Mapping[str, Any] | Sequence[Any] | None:
    """What a value consists of, if it has members."""
    if type(cast("object", value)) is FrozenDict:
        return value.data
    if isinstance(value, Record):
        return dict(record_items(value))
    if isinstance(value, (str, bytes)):
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, (Mapping, Sequence)) else None


def deep_equal(a: object, b: object) -> bool:
    """Whether two values are the same JSON value (FLOW-MEM-2).

    A bool is never a number, `1` equals `1.0`, NaN equals NaN, lists are ordered, mappings are not.
    """
    try:
        return a is b or _equal(a, b)
    except RecursionError:
        return equal_at_any_depth(a, b, _members, _equal)


def _equal(a: Any, b: Any) -> bool:  # noqa: ANN401, C901, PLR0911  one answer a kind
    kind: type[object] = type(a)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
    if kind is type(b):  # the frozen kinds first: they are what commits compare
        if kind is str:
            return a == b
        if isinstance(a, FrozenList):
            return a.n == b.n and (a.buf is b.buf or _all_equal(a.buf[: a.n], b.buf))
        if isinstance(a, FrozenDict):
            return _dicts_equal(a.data, b.data)
        if isinstance(a, (Record, View)):
            return _all_equal(astuple(a), astuple(b))
    if isinstance(a, bool) or isinstance(b, bool):
        return False  # True and False are singletons
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b or (a != a and b != b)  # noqa: PLR0124  NaN
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    if isinstance(a, Record) or isinstance(b, Record):
        return _equal(*(dict(record_items(x)) if isinstance(x, Record) else x for x in (a, b)))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return _dicts_equal(cast("Mapping[str, Any]", a), cast("Mapping[str, Any]", b))
    if isinstance(a, Sequence) and isinstance(b, Sequence):
        one, other = cast("Sequence[Any]", a), cast("Sequence[Any]", b)
        return len(one) == len(other) and _all_equal(one, other)
    if isinstance(a, (Mapping, Sequence)) or isinstance(b, (Mapping, Sequence)):
        return False  # two kinds; and `==` of a frozen container would ask here again
    return a == b


def _dicts_equal(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    if len(a) != len(b):
        return False
    for key, item in a.items():
        other = b.get(key, ABSENT)
        if item is not other and not _equal(item, other):
            return False
    return True


def _all_equal(a: Iterable[Any], b: Iterable[Any]) -> bool:
    for x, y in zip(a, b, strict=False):  # noqa: SIM110  a generator costs twice as much
        if x is not y and not _equal(x, y):
            return False
    return True
