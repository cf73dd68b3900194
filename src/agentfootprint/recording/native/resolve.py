"""What a stored value is: references followed, lists grown and cut, derived values made (01b LIN-10 to LIN-13).

A value is made once and shared by all that refer to it. References are followed without recursion, since a list that
was cut in every iteration is a chain as long as the run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias, cast

from agentfootprint.errors import AgentFootprintError
from agentfootprint.recording.damage import BROKEN
from agentfootprint.recording.derived import (
    COMMITTED,
    JOINED_TOKENS,
    SLOT_TOTALS,
    HiddenRows,
    MessageRows,
    Totals,
    composed_slot,
    field_of,
)
from agentfootprint.recording.errors import NotARecordingError, UnknownDerivedValueError
from agentfootprint.recording.native.shapes import APPEND, Definition, EventShape, StepShape
from agentfootprint.recording.native.toplog import TopLog
from agentfootprint.trace import ABSENT, FrozenDict, FrozenList, Value, as_object

__all__ = ["Resolver", "Rows"]

Place: TypeAlias = "tuple[int, int | str]"
"""A line and the n-th value of it; the header's line and a key of the state before the run."""

_DEEP: Final = 20
"""How deep references are followed by recursion."""
_SCALARS: Final = frozenset((str, int, float, bool, type(None)))
_EVENT_VALUES: Final = 4
_STEP_VALUES: Final = 3
_DERIVED: Final = frozenset(("$fn", "of"))


class Rows(Protocol):
    """What following references needs of a run log."""

    definitions: list[Definition]
    top: TopLog

    def row(self, number: int) -> list[Any]:
        """A line, decoded."""
        ...

    def commit_of(self, index: int) -> int:
        """The line in which an execution committed; -1 when it did not."""
        ...

    def shape_of(self, row: list[Any]) -> StepShape:
        """The definition of a line of kind `x`, `c` or `s`."""
        ...


class Resolver:
    """The values of a run log, made when they are asked for.

    Args:
        rows: The run log.
        base: The state before the first row, as stored.
    """

    def __init__(self, rows: Rows, base: Mapping[str, Any]) -> None:
        self._rows = rows
        self._base = base
        self._made: dict[Place, Value] = {}
        self._totals = Totals()
        self._depth = 0

    def base(self, key: str) -> Value:
        """What a key held before the first row; `ABSENT` when nothing."""
        return self.value(0, key) if key in self._base else ABSENT

    def apart(self, raw: Any) -> Value:  # noqa: ANN401  JSON
        """A stored value that has no address of its own."""
        return self._read(raw, (-1, -1))

    def value(self, line: int, n: int | str) -> Value:
        """The n-th value of a line, as it was after that line.

        Raises:
            UnknownDerivedValueError: It is derived in a way that is not known here.
            NotARecordingError: A reference leads nowhere, or back to where it stands.
        """
        place: Place = (line, n)
        if place in self._made:
            return self._made[place]
        try:
            return self._at_once(place) if self._depth < _DEEP else self._step_by_step(place)
        except AgentFootprintError:
            raise
        except BROKEN as broken:
            raise _dangling(place) from broken

    def tail(self, line: int, n: int) -> FrozenList:
        """What a line added to a list, without the list; for a value that is growth."""
        whole = self._made.get((line, n))
        raw, before = self._stored((line, n))
        if whole is not None:
            return whole.tail(len(whole) - len(raw))
        assert before is not None  # noqa: S101  the caller looked
        items = [self._read(item, (line, n)) for item in raw]
        return FrozenList(items, len(items))

    def _at_once(self, place: Place) -> Value:
        """Make a value and, on the way, those it refers to; a list that grew is made from its beginning."""
        raw, before = self._stored(place)
        growth = [(place, raw)]
        if before is not None:
            before = self._grown_from(before, growth)
        made = self._made
        self._depth += 1
        try:
            if before is None:
                before, raw = growth.pop()
                made[before] = self._read(raw, before)
            for each, added in reversed(growth):
                made[each] = self._make(added, each, before)
                before = each
        finally:
            self._depth -= 1
        return made[place]

    def _grown_from(self, before: Place, growth: list[tuple[Place, Any]]) -> Place | None:
        """Collect what was added to a list, newest first, down to a value that is made already; `None` for none."""
        at: Place | None = before
        while at is not None and at not in self._made:
            raw, earlier = self._stored(at)
            growth.append((at, raw))
            at = earlier
        return at

    def _step_by_step(self, wanted: Place) -> Value:
        """Make a value at the end of a long chain of references, without recursion."""
        made = self._made
        waiting: list[Place] = [wanted]
        entered = set[Place]()
        while waiting:
            place = waiting[-1]
            if place in made:
                waiting.pop()
                continue
            raw, before = self._stored(place)
            missing = [need for need in self._needs(raw, place, before) if need not in made]
            if missing:
                entered.add(place)
                if not entered.isdisjoint(missing):
                    raise _dangling(place)
                waiting.extend(missing)
            else:
                made[place] = self._make(raw, place, before)
        return made[wanted]

    def _stored(self, place: Place) -> tuple[Any, Place | None]:
        """The JSON of a value, and for growth the place of the value that was there before."""
        line, n = place
        if line == 0:
            return self._base[cast("str", n)], None
        row, n = self._rows.row(line), cast("int", n)
        if row[0] == "e":
            shape = cast("EventShape", self._rows.definitions[row[1]])
            return ("".join(row[_EVENT_VALUES]) if shape.joined else row[_EVENT_VALUES + n]), None
        step = self._rows.shape_of(row)
        raw = row[_STEP_VALUES + (row[0] == "x" and step.link) + n]
        if n < len(step.ops) and step.ops[n][1] == APPEND:
            return raw, self._before(line, step.ops[n][0])
        return raw, None

    def _before(self, line: int, key: str) -> Place:
        """Where what a key of the top held before a line stands."""
        top = self._rows.top
        positions = top.keys[key]
        place = bisect_left(positions, line, key=top.rows.__getitem__)
        if place == 0:
            return (0, key)
        earlier = top.rows[positions[place - 1]]
        return earlier, self._rows.shape_of(self._rows.row(earlier)).place_of(key)

    def _committed(self, key: str, place: Place) -> Place:
        """Where what a key holds after the commit of an event's step stands."""
        line = self._rows.commit_of(self._rows.row(place[0])[2])
        return line, self._rows.shape_of(self._rows.row(line)).place_of(key)

    def _needs(self, raw: Any, place: Place, before: Place | None) -> Iterator[Place]:  # noqa: ANN401  JSON
        """The places that a value refers to."""
        if before is not None:
            yield before
        stack: list[Any] = [raw]
        while stack:
            item: Any = stack.pop()
            if type(item) is list:
                stack.extend(cast("list[Any]", item))
            elif type(item) is dict:
                fields = cast("dict[str, Any]", item)
                if fields.keys() == _DERIVED and fields["$fn"] in (COMMITTED, JOINED_TOKENS):
                    yield self._committed(fields["of"], place) if fields["$fn"] == COMMITTED else (fields["of"][0], 0)
                elif len(fields) == 1 and "$at" in fields:
                    yield fields["$at"][0], fields["$at"][1]
                elif len(fields) == 1 and "$cat" in fields:
                    pieces: list[Any] = fields["$cat"]
                    yield from ((piece["of"][0], piece["of"][1]) for piece in pieces if type(piece) is dict)
                    stack.extend(piece for piece in pieces if type(piece) is not dict)
                else:  # an object of the user, or one that looks like a reference and stands under `$lit`
                    stack.extend(fields["$lit"].values() if [*fields] == ["$lit"] else fields.values())

    def _make(self, raw: Any, place: Place, before: Place | None) -> Value:  # noqa: ANN401  JSON
        if before is not None:
            return self._made[before].extend(self._read(item, place) for item in raw)
        return self._read(raw, place)

    def _read(self, raw: Any, place: Place) -> Value:  # noqa: ANN401  JSON
        kind = cast("type[object]", type(raw))
        if kind is list:
            items = [item if type(item) in _SCALARS else self._read(item, place) for item in raw]
            return FrozenList(items, len(items))
        if kind is not dict:
            return raw
        if len(raw) == 1:
            if "$at" in raw:
                return self._follow(raw["$at"])
            if "$cat" in raw:
                return self._joined(raw["$cat"], place)
            if "$lit" in raw:
                raw = raw["$lit"]
        elif raw.keys() == _DERIVED:
            return self._derived(raw["$fn"], raw["of"], place)
        return FrozenDict(
            {key: item if type(item) in _SCALARS else self._read(item, place) for key, item in raw.items()}
        )

    def _follow(self, address: list[Any]) -> Value:
        value = self.value(address[0], address[1])
        for segment in address[2:]:
            if type(segment) is int:
                value = value[segment]
            else:
                fields = as_object(value)
                assert fields is not None  # noqa: S101  a corrupt address is caught by the caller
                value = fields[segment]
        return value

    def _joined(self, pieces: list[Any], place: Place) -> FrozenList:
        """The list that pieces come to; one that only continues another shares its storage."""
        found: FrozenList | None = None
        for piece in pieces:
            if isinstance(piece, dict):
                cut = cast("dict[str, Any]", piece)
                items = self._follow(cut["of"])
                if "cut" in cut:
                    items = items[cut["cut"][0] : cut["cut"][1]]
            else:
                items = [self._read(item, place) for item in piece]
                items = FrozenList(items, len(items))
            found = items if found is None else found.extend(items)
        return FrozenList([], 0) if found is None else found

    def _derived(self, name: str, of: Any, place: Place) -> Value:  # noqa: ANN401  JSON
        if name == MessageRows.fn:
            window = self._read(of, place)
            if type(window) is not FrozenList:
                raise TypeError(name)
            return MessageRows(window)
        if name == HiddenRows.fn:
            stored, names, word = of
            window = self._read(stored, place)
            if type(window) is not FrozenList:
                raise TypeError(name)
            return HiddenRows(window, tuple(names), word)
        if name == SLOT_TOTALS:
            stored, cap, iteration, *slot = of
            rows: Any = self._read(stored, place)
            is_window = isinstance(rows, MessageRows)
            named = slot[0] if slot else "messages" if is_window else field_of(rows[0], "slot", "slot")
            return composed_slot(named, self._totals.of(rows), cap, iteration)
        if name == COMMITTED:
            return self.value(*self._committed(of, place))
        if name == JOINED_TOKENS:
            return self.value(of[0], 0)
        raise UnknownDerivedValueError(name)


def _dangling(place: Place) -> NotARecordingError:
    return NotARecordingError(
        f"Line {place[0] + 1} of the recording refers to something that is not there.",
        fix="Read the file as it was written; a line was changed, moved or lost.",
    )
