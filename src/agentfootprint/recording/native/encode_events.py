"""How an event becomes a line: the keys of its payload as a definition, the values by reference, its meta not at all.

What a payload says about the iteration and the turn follows from the state; the address, the paths and the clocks of
the meta follow from the execution, the facts of the run and the time (01b LIN-14).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from agentfootprint.events import PAYLOAD_BY_TYPE, Event, LLMEnd, RunFacts, Token, UnknownEvent, event_to_wire
from agentfootprint.recording.derived import COMMITTED, JOINED_TOKENS
from agentfootprint.recording.native.references import SHORT_TEXT, is_plain
from agentfootprint.recording.native.shapes import EventShape
from agentfootprint.trace import Execution, FrozenList, Record, Value, as_object, freeze, thaw

if TYPE_CHECKING:
    from agentfootprint.recording.native.encode import Lines

__all__ = ["EventWriter", "implied"]

_ITERATION_KEYS: Final = frozenset(("iteration", "iterIndex"))
_IMPLIED: Final = ("turnIndex", "iteration", "iterIndex")


def implied(key: str, state: Mapping[str, Value]) -> Value:
    """What a payload key is when the row does not hold it (LIN-14): as the agent's state says; `None` if it can't."""
    if key in _ITERATION_KEYS:
        return state.get("iteration")
    turn = state.get("turnNumber")
    return turn - 1 if key == "turnIndex" and type(turn) is int else None


class EventWriter:
    """Writes events into the lines of a run log.

    Args:
        lines: Where to.
        state: The state of the top, kept up to date by the owner.
        facts: The facts of the run.
    """

    def __init__(self, lines: Lines, state: Mapping[str, Value], facts: RunFacts) -> None:
        self._lines = lines
        self._state = state
        self._facts = facts
        self.tokens: list[Event[Token]] = []
        """Those of the line being made."""
        self._shapes: dict[tuple[Any, ...], int] = {}
        self._spoken: tuple[int, int, str] | None = None
        """The execution, the line and the text of the tokens written last."""

    def joins(self, event: Event[Any]) -> bool:
        """Whether the event is one more token of the line being made, so that nothing needs to be written before it."""
        tokens, payload = self.tokens, event.payload
        return (
            len(tokens) > 0
            and self._is_plain_token(event)
            and event.execution is tokens[-1].execution
            and payload.token_index == tokens[-1].payload.token_index + 1
            and payload.iteration == tokens[-1].payload.iteration
        )

    def write(self, event: Event[Any], *, is_open: bool) -> None:
        """Write an event.

        Args:
            event: What happened.
            is_open: Whether the step it happened in has not committed yet.
        """
        if self._is_plain_token(event):
            self.tokens.append(event)
            return
        lines, marks = self._lines, self._marks(event)
        payload = event.payload if event.source is None else freeze(event_to_wire(event)["payload"])
        fields = _fields_of(payload)
        stored: dict[str, Value] = {"": payload} if fields is None else fields
        left_out: tuple[str, ...] = ()
        for key in _IMPLIED:
            value = None if fields is None else fields.get(key)
            if fields is not None and type(value) is int and value == implied(key, self._state):
                left_out = (*left_out, key)
                del fields[key]
        number = self._shape(event, tuple(stored), left_out, tuple(marks), whole=fields is None)
        row = lines.next
        values = [
            value if is_plain(value) else self._value(event, value, (row, n), is_open=is_open)
            for n, value in enumerate(stored.values())
        ]
        if isinstance(payload, LLMEnd):
            self._join(event, payload, values, [*stored].index("content"))
        lines.append("e", number, _place(event), lines.since(event.dt), *values, *marks.values())

    def _shape(
        self,
        event: Event[Any],
        keys: tuple[str, ...],
        left_out: tuple[str, ...],
        marks: tuple[str, ...],
        *,
        whole: bool,
    ) -> int:
        """The number of a definition; the usual ones are found without making it."""
        kind, facts = event.type, self._other_facts(event)
        is_app = isinstance(event, UnknownEvent) and kind in PAYLOAD_BY_TYPE
        key = (kind, keys, left_out, marks, whole, is_app, facts)
        number = self._shapes.get(key)
        if number is None:
            stored = () if whole else keys
            shape = EventShape(kind, stored, left_out, marks, whole=whole, app=is_app, facts=facts)
            number = self._shapes[key] = self._lines.define(shape)
        return number

    def flush(self) -> None:
        """Write the tokens that were held back, as one line (LIN-16)."""
        tokens = self.tokens
        if not tokens:
            return
        self.tokens = []
        lines = self._lines
        number = lines.define(EventShape(Token.type, joined=True))
        first = tokens[0].payload.token_index
        start, *later = [lines.since(token.dt) for token in tokens]
        texts = [token.payload.content for token in tokens]
        place = _place(tokens[0])
        if isinstance(place, int):
            self._spoken = (place, lines.next, "".join(texts))
        iteration = tokens[0].payload.iteration
        said = [] if iteration == implied("iteration", self._state) else [iteration]  # a part's own, of a composition
        lines.append("e", number, place, start, texts, later, *([first] if first or said else []), *said)

    def _is_plain_token(self, event: Event[Any]) -> bool:
        return (
            type(event.payload) is Token
            and event.execution is not None
            and not self._marks(event)
            and self._other_facts(event, define=False) < 0
        )

    def _value(self, event: Event[Any], value: Value, at: tuple[int, int], *, is_open: bool) -> Any:  # noqa: ANN401
        if is_open and type(value) is FrozenList and value.n:
            where = event.execution
            assert isinstance(where, Execution)  # noqa: S101  open steps are executions
            for key, committed in where.writes.items():
                if committed is value:
                    return {"$fn": COMMITTED, "of": key}
        return self._lines.values.write(value, at)

    def _join(self, event: Event[Any], payload: LLMEnd, values: list[Any], n: int) -> None:
        """Say of a reply's text that it is what its tokens said, when it is."""
        spoken = self._spoken
        where = event.execution
        if (
            spoken is not None
            and isinstance(where, Execution)
            and where.index == spoken[0]
            and len(payload.content) >= SHORT_TEXT
            and payload.content == spoken[2]
            and type(values[n]) is str
        ):
            values[n] = {"$fn": JOINED_TOKENS, "of": [spoken[1]]}

    def _marks(self, event: Event[Any]) -> dict[str, Any]:
        if event.execution is None:
            return {"meta": event_to_wire(event)["meta"]}
        marks = event.marks  # not `meta`, which each event would keep
        return {} if marks is None else thaw(marks)

    def _other_facts(self, event: Event[Any], *, define: bool = True) -> int:
        facts = event.facts
        if facts is self._facts or event.execution is None or facts == self._facts:
            return -1
        return self._lines.define(facts) if define else 0


def _place(event: Event[Any]) -> int | str | None:
    where = event.execution
    if isinstance(where, Execution):
        return where.index
    return where.runtime_stage_id if where is not None and not isinstance(where, str) else where


_GETTERS: dict[type[Record], tuple[Callable[[Any], tuple[Any, ...]], tuple[str, ...], tuple[Any, ...]]] = {}


def _fields_of(payload: Value) -> dict[str, Value] | None:
    """The wire keys of a payload that are there, with their values; `None` when it is no object.

    What `as_object` gives, without a step for each field: a run has many events of few classes.
    """
    if not isinstance(payload, Record):
        fields = as_object(payload)
        return None if fields is None else dict(fields)
    kind = type(payload)
    known = _GETTERS.get(kind)
    if known is None:
        names, given = kind.__struct_fields__, kind.__struct_defaults__
        defaults = (msgspec.NODEFAULT,) * (len(names) - len(given)) + given
        # one name would give the value itself, so the first is asked for twice and dropped by `zip`
        read: Callable[[Any], tuple[Any, ...]] = attrgetter(*names, names[0])
        known = _GETTERS[kind] = read, kind.__struct_encode_fields__, defaults
    read, keys, defaults = known
    return {
        key: value
        for key, value, default in zip(keys, read(payload), defaults, strict=False)
        if value is not default and value is not msgspec.UNSET
    }
