"""Where a value already stands on record, so that it is written once (01b LIN-10 to LIN-13).

An address is `(row, n, segment, ...)`: the n-th value of a row, then keys and indices into it. A value is found by
identity, never by equality, so `1`, `1.0` and `True` can't be mixed up. The tables are bounded: a value that fell out
of them is written again, which is larger and never wrong. Values that the state holds now are always found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from agentfootprint.trace.bundle import as_object
from agentfootprint.trace.values import ABSENT, FrozenDict, FrozenList, Record, Value, View

__all__ = ["SHORT_TEXT", "Address", "ValueWriter", "is_plain"]

Address: TypeAlias = "tuple[int | str, ...]"

SHORT_TEXT: Final = 48
"""Texts shorter than this are always written out."""
_RESERVED: Final = frozenset(("$at", "$cat", "$fn", "$lit"))
_DERIVED: Final = frozenset(("$fn", "of"))
_TABLE: Final = 4096
_SCALARS: Final = frozenset((int, bool, float, type(None)))
_PLAIN: Final = frozenset((int, bool, float, type(None), type(ABSENT)))


def is_plain(value: Value) -> bool:
    """Whether a value is always written as it is: a number, nothing, or a short text."""
    kind = cast("type[object]", type(value))
    return kind in _PLAIN or (kind is str and len(value) < SHORT_TEXT)


class _Bounded:
    """A table of the latest entries: at least `_TABLE` of them, at most twice that."""

    __slots__ = ("_new", "_old")

    def __init__(self) -> None:
        self._new: dict[int, Any] = {}
        self._old: dict[int, Any] = {}

    def get(self, key: int) -> Any:  # noqa: ANN401  whatever was put
        found = self._new.get(key)
        if found is None:
            found = self._old.pop(key, None)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: int, entry: Any) -> None:  # noqa: ANN401
        if len(self._new) >= _TABLE:
            self._old, self._new = self._new, {}
        self._new[key] = entry


class ValueWriter:
    """Turns frozen values into JSON that refers to what was written before.

    An entry of its tables holds the value it is about, so that no other object can get that identity meanwhile.
    """

    def __init__(self) -> None:
        self._known = _Bounded()
        self._buffers = _Bounded()
        self._pins: dict[str, tuple[Value, Address]] = {}
        self._pinned: dict[int, tuple[Value, Address]] = {}
        self._home: Address = ()

    def write(self, value: Value, at: Address) -> Any:  # noqa: ANN401  JSON
        """The JSON of the n-th value of a row.

        Args:
            value: A frozen value.
            at: Its address, `(row, n)`.
        """
        self._home = at
        return self._write(value, at)

    def write_apart(self, value: Value) -> Any:  # noqa: ANN401  JSON
        """The JSON of a value that nothing can refer to later."""
        self._home = ()
        return self._write(value, None)

    def nested(self, value: Value) -> Any:  # noqa: ANN401  JSON
        """The JSON of a value inside the one that is being written, to which nothing can refer later."""
        return self._write(value, None)

    def write_tail(self, value: FrozenList, start: int, at: Address) -> list[Any]:
        """The JSON of the elements from `start` on, of a list whose place is `at`."""
        self._home = at
        tail = [self._write(value.buf[i], (*at, i)) for i in range(start, value.n)]
        self.keep(value, at)
        return tail

    def write_cut(self, value: FrozenList, before: FrozenList, at: Address) -> Any:  # noqa: ANN401  JSON
        """The JSON of a list, by the ranges it shares with the list that stood there before where there are any."""
        source = self.find(before)
        if source is None or self.find(value) is not None or self._grown(value) is not None:
            return self.write(value, at)
        self._home = at
        places = {id(item): i for i, item in enumerate(before.buf[: before.n]) if type(item) not in _SCALARS}
        pieces: list[Any] = []
        literal: list[Any] | None = None
        position = shared = 0
        while position < value.n:
            item = value.buf[position]
            place = places.get(id(item))
            if place is None:
                if literal is None:
                    literal = []
                    pieces.append(literal)
                literal.append(self._write(item, (*at, position)))
                position += 1
                continue
            length = 1
            while (
                position + length < value.n
                and place + length < before.n
                and value.buf[position + length] is before.buf[place + length]
            ):
                length += 1
            pieces.append({"of": source, "cut": (place, place + length)})
            literal = None
            position += length
            shared += length
        self.keep(value, at)
        return {"$cat": pieces} if shared else pieces[0] if pieces else []

    def pin(self, key: str, value: Value, at: Address) -> None:
        """Keep the address of what a key of the state holds now, however many other values come after it."""
        if type(value) in _SCALARS or type(value) is str:
            at = ()
        before = self._pins.pop(key, None)
        if before is not None:
            self._pinned.pop(id(before[0]), None)
        if at:
            entry = (value, self.find(value) or at)
            self._pins[key] = entry
            self._pinned[id(value)] = entry

    def find(self, value: Value) -> Address | None:
        """The address of a value that is on record."""
        entry = self._known.get(id(value)) or self._pinned.get(id(value))
        return None if entry is None else entry[1]

    def keep(self, value: Value, at: Address | None) -> None:
        """Remember where a value stands, if it stands anywhere."""
        if at is not None:
            self._known.put(id(value), (value, at))
            if type(value) is FrozenList:
                longest = self._buffers.get(id(value.buf))
                if longest is None or longest[0].n < value.n:
                    self._buffers.put(id(value.buf), (value, at))

    def _reference(self, value: Value) -> Address | None:
        address = self.find(value)
        return None if address is None or address[:2] == self._home else address

    def _write(self, value: Value, at: Address | None) -> Any:  # noqa: ANN401, PLR0911  one case a kind
        kind = cast("type[object]", type(value))
        if kind in _SCALARS:
            return value
        if kind is str:
            if len(value) < SHORT_TEXT:
                return value
            address = self._reference(value)
            if address is not None:
                return {"$at": address}
            self.keep(value, at)
            return value
        if isinstance(value, View):
            return self._view(value, at)
        if not value and not isinstance(value, Record):
            return {} if isinstance(value, Mapping) else []
        address = self._reference(value)
        if address is not None:
            return {"$at": address}
        if isinstance(value, FrozenDict):
            return self._object(value.items(), value, at)
        fields = as_object(value)
        if fields is not None:
            return self._object(fields.items(), value, at)
        return self._list(value, at)

    def _object(self, items: Iterable[tuple[str, Any]], value: Value, at: Address | None) -> dict[str, Any]:
        if at is None:
            found = {key: self._write(item, None) for key, item in items}
        else:
            found = {key: item if is_plain(item) else self._write(item, (*at, key)) for key, item in items}
            self.keep(value, at)
        return {"$lit": found} if _looks_reserved(found) else found

    def _list(self, value: Value, at: Address | None) -> Any:  # noqa: ANN401  JSON
        if type(value) is FrozenList:
            grown = self._grown(value)
            if grown is not None:
                base, address = grown
                if base.n > value.n:
                    self.keep(value, at)
                    return {"$cat": [{"of": address, "cut": (0, value.n)}]}
                tail = [self._write(value.buf[i], None if at is None else (*at, i)) for i in range(base.n, value.n)]
                self.keep(value, at)
                return {"$cat": [{"of": address}, tail]} if tail else {"$at": address}
        if at is None:
            return [self._write(item, None) for item in cast("Sequence[Any]", value)]
        items = cast("Sequence[Any]", value)
        found = [item if type(item) in _SCALARS else self._write(item, (*at, i)) for i, item in enumerate(items)]
        self.keep(value, at)
        return found

    def _grown(self, value: FrozenList) -> tuple[FrozenList, Address] | None:
        """The latest list on record that shares this one's storage."""
        entry = self._buffers.get(id(value.buf))
        if entry is None or not entry[0].n or entry[1][:2] == self._home:
            return None
        return entry

    def view(self, value: View, at: Address | None) -> Any:  # noqa: ANN401, ARG002  JSON; for those who keep it
        """The JSON of a list that computes its elements: written out here."""
        return [self._write(item, None) for item in value]

    def _view(self, value: View, at: Address | None) -> Any:  # noqa: ANN401  JSON
        address = self._reference(value)
        return self.view(value, at) if address is None else {"$at": address}


def _looks_reserved(fields: dict[str, Any]) -> bool:
    """Whether a user's object could be taken for a reference; such a one is written under `$lit` (LIN-13)."""
    return (len(fields) == 1 and not _RESERVED.isdisjoint(fields)) or fields.keys() == _DERIVED
