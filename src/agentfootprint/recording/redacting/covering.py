"""What does a value look like to whoever may not see all of it, at a cost that depends on what is new (LIN-37)?

A name is hidden wherever it stands: at any depth of what is handed out whole, and of what the state holds. Nothing that
is given is changed; what has nothing to hide comes back as the same object. A value that was covered before is found
by identity, and a list that grew goes on from what it was, so that what shared its storage still does.

Never hidden, because they are the record's address or its measure: numbers and enumerated words in the library's own
records, hashes, ids of run, stage, session and trace. Where such records are hidden as a whole their shape stays.
"""

from __future__ import annotations

import bisect
import copy
import json
import re
import weakref
from functools import cached_property
from types import MappingProxyType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin

import msgspec

from agentfootprint.events import (
    Event,
    LLMEnd,
    Origin,
    ResilienceOutputCannedUsed,
    RunFacts,
    ThinkingDelta,
    ThinkingParseFailed,
    Token,
    ToolsSessionCloseFailed,
    UnknownEvent,
    build_event_meta,
)
from agentfootprint.llm import ToolCall
from agentfootprint.recording.derived import HiddenRows, MessageRows
from agentfootprint.recording.native.decode_events import read_payload
from agentfootprint.trace import (
    ABSENT,
    REDACTED,
    Execution,
    FilterCondition,
    FrozenDict,
    FrozenList,
    Record,
    Value,
    ValueRefusedError,
    Veil,
    View,
    as_object,
    compact_json,
    freeze,
    hide_at,
    hide_names,
)

__all__ = ["Cover"]

_SCALARS: Final = frozenset((str, int, float, bool, type(None), type(ABSENT), msgspec.UnsetType))
_UNTOUCHED: Final = frozenset(
    ("runId", "resumedRunId", "stageId", "runtimeStageId", "sessionId", "traceId", "toolOrdinal", "inputSchema")
)
"""Where a record of the library's own says which run, stage, session and trace it is of, and what a tool takes."""
_OTHER_NAMES: Final = MappingProxyType({"pausedToolCallId": "toolCallId"})
"""Keys of the library's own state under which something else with a name of its own is noted."""
_MESSAGES: Final = ("message", "userMessage")
"""Names of the one thing that a case of a composition looks at."""
_MEASURES: Final = frozenset[object]((int, float, bool, type(None), msgspec.UnsetType))
_OPENING: Final = frozenset("{[")
_PROSE: Final = frozenset(("willDo", "summary"))
_JSON: Final = json.JSONDecoder()
_OBJECT: Final = re.compile(r'\{\s*"')
"""How an object that names something begins."""
_BEGUN: Final = re.compile(r'\{\s*(?:"|\Z)')
"""The same in a piece of a text, of which more may come."""
_NAME: Final = re.compile(r'\\*"([^"\\]{1,256})\\*"\s*:')
"""What names something in JSON, also where that stands in a text of its own."""
_PER_LOOK: Final = 64
"""How many characters are counted through in the time of one that is looked at."""
_LOOKS: Final = 4
"""How often each character of a text may be looked at in search of JSON."""
_ERRORS: Final = MappingProxyType(
    {
        ResilienceOutputCannedUsed.type: "fallback_error_message",
        ThinkingParseFailed.type: "error",
        ToolsSessionCloseFailed.type: "error",
    }
)
"""Where an event quotes what others raised, in which nobody can look for a name."""
_REMEMBERED: Final = 4096
_ROW_NAMES: Final = ("contentSummary", "source", "sourceId", "reason", "rawContent", "asRole", "asRecency")
"""What a row of the messages slot says; they are worked out when they are read."""

Known: TypeAlias = "dict[int, tuple[Value, Value]]"


class Cover:
    """What a policy leaves of the values of one run.

    Args:
        veil: The run's redaction, with its policy.
    """

    def __init__(self, veil: Veil) -> None:
        assert veil.policy is not None  # noqa: S101  an agent is redacted by a policy only
        self.policy = veil.policy
        self.word = veil.placeholder
        self._new: Known = {}
        self._old: Known = {}
        self._lists: dict[int, tuple[list[Any], int, FrozenList]] = {}
        """The longest list of a buffer that was covered: its buffer, its length, and what is shown of it."""
        self.steps: dict[int, Execution] = {}
        """What is shown of each execution, as far as the shown journal goes."""
        self._speaking: dict[tuple[type[Record], object], bool | None] = {}
        """Who is speaking, aloud or in thought, and whether that is JSON by now, when it is known."""
        self._facts: tuple[RunFacts, RunFacts] | None = None
        self._row_names: tuple[str, ...] = tuple(name for name in _ROW_NAMES if self._reaches(name))

    @cached_property
    def blank(self) -> Cover:
        """Covers what is hidden as a whole and keeps its shape."""
        return _Blank(self)

    def _reaches(self, name: str) -> bool:
        return self.policy.hides(name) or bool(self.policy.fields_of(name))

    # values

    def of(self, value: Value) -> Value:
        """A value as it may be shown; the same object where nothing of it is hidden."""
        kind = cast("type[object]", type(value))
        if kind is str:
            if "{" not in value:
                return value
        elif kind in _SCALARS:
            return value
        if kind is FrozenList:
            return self._list(value)
        if kind is tuple:
            return self._tuple(value)
        known = self._new.get(id(value))
        if known is None:
            known = self._old.pop(id(value), None)
            if known is None:
                known = value, self._made(value)
            self._keep(known)
        return known[1]

    def member(self, key: str, value: Value) -> Value:
        """What stands under a key of an object, as it may be shown."""
        policy = self.policy
        if policy.hides(key) or (key in _OTHER_NAMES and policy.hides(_OTHER_NAMES[key])):
            return self.blank.of(value) if _is_of_records(value) else self.word
        if key == "evidence" and isinstance(value, FrozenDict) and "willDo" in value and policy.hides_values:
            return hide_names(value, self._quoted)
        value = self.of(value)
        for field in policy.fields_of(key):
            value, _ = hide_at(value, field.within(as_object(value) or ()), self.word)
        return value

    def _quoted(self, key: str, value: Value) -> Value:
        """What an approver is shown: prose made of arguments and results, which nobody can check, is withheld."""
        return self.word if key in _PROSE and isinstance(value, str) else self.member(key, value)

    def _keep(self, known: tuple[Value, Value]) -> None:
        if len(self._new) >= _REMEMBERED:
            self._old, self._new = self._new, {}
        self._new[id(known[0])] = known

    def _made(self, value: Value) -> Value:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, FrozenDict):
            return self._object(value)
        if isinstance(value, Record):
            return self._record(value)
        if isinstance(value, View):
            return self._view(value)
        return value

    def _text(self, value: str) -> str:
        """A text with JSON objects in it, as a tool's result is where the model reads it: what they name is hidden too.

        Looks at each character a few times at most. A text that can't be searched so is hidden as a whole, and one in
        which an object was cut off is hidden from the first name on that is not to be seen.
        """
        pieces: list[str] = []
        whole: list[tuple[int, int]] = []
        is_cut = False
        done, left = 0, _LOOKS * len(value) + _REMEMBERED
        begun = _OBJECT.search(value)
        while begun is not None:
            place = begun.start()
            try:
                read, end = _JSON.raw_decode(value, place)
                found = freeze(read)
            except json.JSONDecodeError as broken:
                left -= broken.pos - place + 1 + place // _PER_LOOK  # the error counts the lines before it
                end = place + 1
                is_cut = True
            except (ValueRefusedError, RecursionError):
                return self.word
            else:
                whole.append((place, end))
                shown = self.of(found)
                if shown is not found:
                    pieces += value[done:place], compact_json(shown)
                    done = end
            if left < 0:
                return self.word
            begun = _OBJECT.search(value, end)
        hidden = self._first_hidden(value, whole) if is_cut else -1
        if hidden >= 0:
            return self._text(value[:hidden]) + self.word
        return "".join((*pieces, value[done:])) if pieces else value

    def _first_hidden(self, text: str, whole: list[tuple[int, int]]) -> int:
        """Where the first hidden name stands that is in no whole object; -1 where there is none."""
        for found in _NAME.finditer(text):
            if self._reaches(found[1]):
                before = bisect.bisect_right(whole, (found.start(), len(text))) - 1
                if before < 0 or found.start() >= whole[before][1]:
                    return found.start()
        return -1

    def _object(self, value: FrozenDict) -> FrozenDict:
        changed: dict[str, Any] = {}
        for key, item in value.data.items():  # what is a record under a key is the library's own, by source or id
            shown = self.of(item) if isinstance(item, Record) else self.member(key, item)
            if shown is not item:
                changed[key] = shown
        return FrozenDict({**value.data, **changed}) if changed else value

    def _record(self, value: Record) -> Record:
        """The same kind of record: a field that is hidden holds the placeholder, whatever its type."""
        changed: dict[str, Any] = {}
        kind = type(value)
        if kind is FilterCondition:
            return self._compared(cast("FilterCondition", value))
        for name, key, default in _members(kind):
            item: Value = getattr(value, name)
            if item is default or item is msgspec.UNSET:
                continue
            shown = self.member("toolCallId" if kind is ToolCall and key == "id" else key, item)
            if shown is not item:
                changed[name] = shown
        if not changed:
            return value
        made = copy.copy(value)
        for name, shown in changed.items():
            msgspec.structs.force_setattr(made, name, shown)
        return made

    def _compared(self, value: FilterCondition) -> FilterCondition:
        """What a rule compared, without the value where its name is hidden (FLOW-DEC-8)."""
        names = _MESSAGES if value.key in _MESSAGES else (value.key,)
        if value.redacted or not any(map(self._reaches, names)):
            return value
        return msgspec.structs.replace(value, threshold=self.word, actual_summary=self.word, redacted=True)

    def _view(self, value: View) -> Value:
        if not isinstance(value, MessageRows):
            items = [self.of(item) for item in value]
            return FrozenList(items, len(items))
        window = self.window(value.of)
        if self._row_names:
            return HiddenRows(window, self._row_names, self.word)
        return value if window is value.of else MessageRows(window)

    def window(self, messages: FrozenList) -> FrozenList:
        """What is shown of the messages that rows are made from."""
        hidden = self.policy.hides("history")
        return self.blank._list(messages, own=True) if hidden else self._list(messages, own=True)  # noqa: SLF001  its own kind

    def _tuple(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        items = tuple(map(self.of, value))
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items

    def _list(self, value: FrozenList, *, own: bool = False) -> FrozenList:
        """What is shown of a list; one that grew by sharing costs what it grew by, and shares what is shown of it.

        Args:
            value: The list.
            own: Whether it may grow, so that what is shown of it must not share with it: the first hidden value would
                part the two.
        """
        buf, n = value.buf, value.n
        known = self._lists.pop(id(buf), None)
        if known is None or known[0] is not buf:
            known = buf, 0, FrozenList(buf, 0)
        _, done, shown = known
        if own and shown.buf is buf:
            shown = FrozenList(buf[:done], done)
        if n > done:
            shown = self._grown(buf, done, n, shown)
            done = n
        if len(self._lists) >= _REMEMBERED:
            self._lists.pop(next(iter(self._lists)))
        self._lists[id(buf)] = buf, done, shown
        if shown.buf is buf:
            return value
        return shown if done == n else FrozenList(shown.buf, n)

    def _grown(self, buf: list[Any], done: int, n: int, shown: FrozenList) -> FrozenList:
        items = [self.of(item) for item in buf[done:n]]
        if shown.buf is not buf:
            return shown.extend(items)
        if all(one is other for one, other in zip(items, buf[done:n], strict=True)):
            return FrozenList(buf, n)
        made = [*buf[:done], *items]
        return FrozenList(made, n)

    # what a key of the state holds

    def held(self, value: Value, hiding: object) -> Value:
        """The value of a key of the state as a log has it.

        Args:
            value: What it holds; `ABSENT` when it is deleted.
            hiding: What the veil says of the key: `True` when it is hidden as a whole, or the hidden places below it.
        """
        if value is ABSENT or (hiding is True and type(value) in _MEASURES):
            return value
        if hiding is True:
            return self.blank.held(value, ()) if _is_of_records(value) else REDACTED
        if type(value) is FrozenList and not hiding:
            return self._list(value, own=True)
        value = self.of(value)
        for field in cast("tuple[Any, ...]", hiding):
            value, _ = hide_at(value, field.within(as_object(value) or ()), self.word)
        return value

    # events

    def facts(self, facts: RunFacts) -> RunFacts:
        """The facts of a run; whose it is, is hidden by name."""
        known = self._facts
        if known is None or known[0] is not facts:
            hidden = {
                name: self.word
                for name in ("principal", "tenant")
                if getattr(facts, name) is not None and self.policy.hides(name)
            }
            known = self._facts = facts, msgspec.structs.replace(facts, **hidden) if hidden else facts
        return known[1]

    def event(self, event: Event[Any], where: Origin) -> Event[Any]:
        """An event as it may be served (BRG-5, BRG-8, NEW-102).

        Args:
            event: What happened.
            where: Where it stands in what is served.
        """
        kind, payload, facts, marks = event.type, event.payload, self.facts(event.facts), event.marks
        if isinstance(payload, (Token, ThinkingDelta)):
            if self.policy.hides_values and self._speaks_json(payload, event.execution):
                payload = msgspec.structs.replace(payload, content=self.word)
        elif type(payload) is LLMEnd:
            for kind_of_piece in (Token, ThinkingDelta):
                self._speaking.pop((kind_of_piece, _who(event.execution)), None)
        elif kind in _ERRORS and self.policy.hides_values and isinstance(payload, Record):
            payload = msgspec.structs.replace(payload, **{_ERRORS[kind]: self.word})
        told = self.policy.emitted(kind, payload)
        shown: Value = told if isinstance(told, str) else self.of(told)
        if isinstance(payload, Record) and not isinstance(event, UnknownEvent) and not isinstance(shown, type(payload)):
            fields = as_object(shown)
            record = None if fields is None else read_payload(kind, fields)
            shown = shown if record is None else _measured(record, payload)
        if isinstance(shown, Record) and not isinstance(event, UnknownEvent):
            return Event(cast("Any", shown), where, event.dt, facts, marks)
        meta = build_event_meta(where, facts, event.dt, marks)
        return UnknownEvent(kind, shown, meta, _execution=where, _dt=event.dt, _facts=facts, _marks=marks)

    def _speaks_json(self, piece: Token | ThinkingDelta, where: Origin) -> bool:
        """Whether a piece is of JSON, in which names can't be told apart before it is whole; then all behind it is."""
        speaker = type(piece), _who(where)
        known = None if piece.token_index == 0 else self._speaking.get(speaker)
        if not known and piece.content.strip():
            begins = known is None and piece.content.lstrip()[0] in _OPENING
            known = begins or _BEGUN.search(piece.content) is not None
        self._speaking[speaker] = known
        return known is True

    def implied(self, event: Event[Any]) -> Event[Any]:
        """The same of an event that a commit implies, or will: it stands where it says, in what is shown."""
        where = event.execution
        if isinstance(where, Execution):
            where = self.steps.get(where.index, where)
        return self.event(event, where)


class _Blank(Cover):
    """Covers records that are hidden as a whole: what they are is left, and nothing of what they say."""

    def __init__(self, cover: Cover) -> None:
        self._cover: Cover = weakref.proxy(cover)  # which keeps this one
        super().__init__(Veil(cover.policy))
        self._row_names = _ROW_NAMES

    @cached_property
    def blank(self) -> Cover:
        """Itself."""
        return self

    def member(self, key: str, value: Value) -> Value:  # noqa: ARG002  whatever its name
        """The placeholder, but for records."""
        return self.of(value) if _is_of_records(value) else self.word

    def window(self, messages: FrozenList) -> FrozenList:
        """As elsewhere: the rows are hidden, and not what they are made from."""
        return self._cover.window(messages)


def _who(where: Origin) -> object:
    """Who speaks: a step, which is seen again as a copy of it."""
    return where.index if isinstance(where, Execution) else where


def _is_of_records(value: Value) -> bool:
    """Whether a value consists of the library's own records."""
    if isinstance(value, (FrozenList, tuple)):
        items = cast("tuple[Any, ...]", value)
        return len(items) > 0 and isinstance(items[0], Record)
    return isinstance(value, (Record, View))


_MEMBERS: dict[type[Record], tuple[tuple[str, str, Any], ...]] = {}


def _members(kind: type[Record]) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a record that may be hidden: name, key on the wire, and the value that stands for its absence."""
    known = _MEMBERS.get(kind)
    if known is None:
        names, given = kind.__struct_fields__, kind.__struct_defaults__
        defaults = (msgspec.NODEFAULT,) * (len(names) - len(given)) + given
        fixed = {field.name for field in msgspec.structs.fields(kind) if _is_fixed(field)}
        each = zip(names, kind.__struct_encode_fields__, defaults, strict=True)
        known = _MEMBERS[kind] = tuple(member for member in each if member[0] not in fixed)
    return known


def _measured(record: Record, before: Record) -> Record:
    """A record that was just made, with the address and the measures of the one before it."""
    hideable = {name for name, _, _ in _members(type(before))}
    for name in record.__struct_fields__:
        if name not in hideable:
            msgspec.structs.force_setattr(record, name, getattr(before, name))
    return record


def _is_fixed(field: msgspec.structs.FieldInfo) -> bool:
    """Whether a field is the record's address or its measure."""
    declared = field.type
    options = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    measured = all(option in _MEASURES or get_origin(option) is Literal for option in options)
    return measured or field.encode_name in _UNTOUCHED or field.encode_name.endswith(("Hash", "Fingerprint"))
