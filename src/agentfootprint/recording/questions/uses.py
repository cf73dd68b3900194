"""What did each tool call get and give, and which pieces of context were let in when? Views, worked out when read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import UNSET

from agentfootprint.events import (
    CheckInDecision,
    ContextEvaluated,
    MiddlewareDecision,
    PermissionCheck,
    ToolEnd,
    ToolStart,
)
from agentfootprint.recording.derived import field_of
from agentfootprint.recording.native.toplog import Mark
from agentfootprint.recording.questions.calls import ModelCall
from agentfootprint.recording.questions.trail import Trail
from agentfootprint.trace import ABSENT, JsonObject, Value, as_list, as_object, compact_json

__all__ = ["ActivePiece", "Evaluation", "Flavors", "Gate", "SkippedPiece", "ToolUse", "tool_uses_of"]

Gate: TypeAlias = PermissionCheck | MiddlewareDecision | CheckInDecision
"""What somebody said about a call: the permission checker, a rule, or a person who had to approve it."""

_GATES = (PermissionCheck.type, MiddlewareDecision.type, CheckInDecision.type)
_NOTED_ARGS = ("pausedToolArgs", "pausedCheckInArgs", "pausedAskArgs", "pausedCredentialArgs")
"""Where a pause notes what a call was to run with; one of them is there."""


class ToolUse:
    """One call of a tool, from the model's proposal to the text it read."""

    def __init__(self, batch: _Batch, ordinal: int, start: Mark) -> None:
        self._batch = batch
        self._mark = start
        self.ordinal = ordinal
        """Its place in the batch of its reply, from 0."""

    @cached_property
    def _start(self) -> ToolStart | None:
        if self._mark.type == ToolEnd.type:
            return self._batch.taken_up(self._mark)
        return self._batch.trail.payload(self._mark)

    @cached_property
    def _end(self) -> ToolEnd | None:
        return self._batch.end_of(self.ordinal)

    @property
    def step(self) -> str:
        """The step that ran it: `tool-calls#22`."""
        return self._batch.step

    @property
    def position(self) -> int:
        """How many commits of the top stood before it."""
        return self._mark.position

    @property
    def iteration(self) -> int | None:
        """The iteration, from 1; `None` when that is not recorded."""
        return self._batch.iteration

    @property
    def tool_call_id(self) -> str:
        """The provider's id, which may repeat and may be empty."""
        return self._said("tool_call_id", "toolCallId") if self._start is None else self._start.tool_call_id

    @property
    def tool_name(self) -> str:
        """The tool that was asked for."""
        return self._said("tool_name", "toolName") if self._start is None else self._start.tool_name

    def _said(self, name: str, key: str) -> str:
        """What its message says, where its start says nothing: a policy may keep that out."""
        found = field_of(self._batch.message(self.ordinal), name, key)
        return found if isinstance(found, str) else ""

    @property
    def args(self) -> JsonObject:
        """The model's own arguments."""
        return {} if self._start is None else as_object(self._start.args) or {}

    @property
    def finished(self) -> bool:
        """Whether it settled; a call that was open when a run ended did not."""
        return self._end is not None

    @property
    def value(self) -> Value:
        """What the tool gave; `ABSENT` when it gave nothing or did not settle."""
        return ABSENT if self._end is None or self._end.result is UNSET else self._end.result

    @cached_property
    def result(self) -> str | None:
        """The text that the model read; `None` when there is none on record."""
        content = field_of(self._batch.message(self.ordinal), "content", "content")
        if isinstance(content, str):
            return content
        if self.value is ABSENT:
            return None
        return self.value if isinstance(self.value, str) else compact_json(self.value)

    @property
    def message_index(self) -> int | None:
        """Where its message stands in the history as its step left it; `None` when there is none on record."""
        return self._batch.message_index(self.ordinal)

    @property
    def error(self) -> bool:
        """Whether it failed."""
        return self._end is not None and self._end.error is True

    @property
    def dispatched(self) -> bool:
        """Whether it was looked at at all; a call that was settled because another one paused the run was not."""
        return self._end is None or self._end.not_dispatched is None

    @cached_property
    def denied(self) -> bool:
        """Whether the permission checker, a rule or a person kept it from running."""
        return any(map(_denies, self.gates))

    @property
    def ok(self) -> bool:
        """Whether it settled, was dispatched and did not fail."""
        return self._end is not None and not self._end.error and self.dispatched

    @cached_property
    def gates(self) -> tuple[Gate, ...]:
        """What the permission checker, the rules and people said about it, in order."""
        return self._batch.gates_of(self.ordinal)

    @property
    def duration_ms(self) -> float | None:
        """How long it took; `None` when it did not settle."""
        return None if self._end is None else self._end.duration_ms

    def __repr__(self) -> str:
        return f"ToolUse({self.step}, {self.tool_name!r})"


def _denies(gate: Gate) -> bool:
    if isinstance(gate, PermissionCheck):
        return gate.result in ("deny", "halt")
    if isinstance(gate, CheckInDecision):
        return not gate.approved
    return gate.outcome == "deny" and gate.moment == "before-tool"


class _Batch:
    """The calls of one reply: what the events of one step say about them together."""

    def __init__(self, trail: Trail, starts: list[Mark], ends: list[Mark]) -> None:
        self.trail = trail
        self.starts = starts
        self.ends = ends
        self.gates: list[tuple[int, Mark]] = []
        """What gates said, each with the place of the call that had started last."""

    def gates_of(self, ordinal: int) -> tuple[Gate, ...]:
        own = self.trail.ordinal(self.starts[ordinal])
        found: list[Gate] = []
        for place, mark in self.gates:
            stated = self.trail.ordinal(mark)
            payload: object = self.trail.payload(mark)
            is_of_it = place == ordinal if stated is None or own is None else stated == own
            if is_of_it and isinstance(payload, (PermissionCheck, MiddlewareDecision, CheckInDecision)):
                found.append(payload)
        return tuple(found)

    @cached_property
    def step(self) -> str:
        return self.trail.step(self.starts[0])

    @cached_property
    def iteration(self) -> int | None:
        value = self.trail.value_at("iteration", self.starts[0].position)
        return value if type(value) is int else None

    @cached_property
    def _ends(self) -> dict[int, ToolEnd]:
        """Ends by the place of their call: by the stated place, else by id in order of arrival (EVT-30)."""
        ids = [field_of(self.trail.payload(mark), "tool_call_id", "toolCallId") for mark in self.starts]
        places = [self.trail.ordinal(mark) for mark in self.starts]
        found: dict[int, ToolEnd] = {}
        for mark in self.ends:
            payload = self.trail.payload(mark)
            if payload is None:
                continue
            stated = self.trail.ordinal(mark)
            open_places = [place for place in range(len(ids)) if place not in found]
            if stated is not None:
                named = [place for place in open_places if places[place] == stated]
            else:
                named = [place for place in open_places if ids[place] == payload.tool_call_id]
            if named:
                found[named[0]] = payload
        return found

    def taken_up(self, end: Mark) -> ToolStart | None:
        """The start of a call that an earlier run made and this one answered, as the pause noted it."""
        payload, trail = self.trail.payload(end), self.trail
        if not isinstance(payload, ToolEnd):
            return None
        if end is not self.starts[0]:  # it waited behind the one that asked first
            return self._taken_up_beside(end, payload)
        noted = {key: trail.value_at(key, end.position) for key in ("pausedToolName", *_NOTED_ARGS)}
        name = noted.pop("pausedToolName")
        if name is ABSENT:  # the wire form does not say what a run began with
            name = field_of(self.message(0), "tool_name", "toolName")
        args = next((value for value in noted.values() if value is not ABSENT), None)
        return ToolStart(
            tool_name=name if isinstance(name, str) else "",
            tool_call_id=payload.tool_call_id,
            args=as_object(args) or {},
        )

    def _taken_up_beside(self, end: Mark, payload: ToolEnd) -> ToolStart:
        rows = self.trail.value_at("pausedTogether", end.position)
        stated = self.trail.ordinal(end)
        objects = [as_object(row) for row in as_list(rows) or ()]
        noted = next((row for row in objects if row is not None and row.get("index") == stated), None)
        place = next(at for at, mark in enumerate(self.starts) if mark is end)
        name = field_of(self.message(place), "tool_name", "toolName") if noted is None else noted.get("toolName")
        return ToolStart(
            tool_name=name if isinstance(name, str) else "",
            tool_call_id=payload.tool_call_id,
            args={} if noted is None else as_object(noted.get("args")) or {},
        )

    def takes_up(self, end: Mark) -> bool:
        """Whether an end is that of one call more that an earlier run had announced."""
        if self.starts[0].type != ToolEnd.type:
            return False
        stated = self.trail.ordinal(end)
        return stated is not None and all(self.trail.ordinal(mark) != stated for mark in self.starts)

    def end_of(self, ordinal: int) -> ToolEnd | None:
        return self._ends.get(ordinal)

    @cached_property
    def _messages(self) -> list[tuple[int, Any]]:
        """The tool messages that the step added to the history, with their places among what it added."""
        position = self.trail.commit_of(self.starts[0])
        if position is None:
            return []
        added = self.trail.appended("history", position)
        if added is None:  # written whole: what was there before is no news
            after = as_list(self.trail.value_at("history", position + 1)) or ()
            rejoined = self._rejoined(after)
            if rejoined is not None:
                return rejoined
            added = after[self._length_before :]
        return [(place, item) for place, item in enumerate(added) if field_of(item, "role", "role") == "tool"]

    def _rejoined(self, after: Sequence[Any]) -> list[tuple[int, Any]] | None:
        """The same where a batch was put in call order when it was answered, as results stood behind the question.

        Each message then stands behind the turn, at the place of its call.
        """
        before = self._length_before
        turn = next((at for at in range(len(after) - 1, -1, -1) if field_of(after[at], "role", "role") != "tool"), -1)
        places = [self.trail.ordinal(mark) for mark in self.starts]
        if not 0 <= turn < before or any(place is None or turn + 1 + place >= len(after) for place in places):
            return None
        return [(turn + 1 + place - before, after[turn + 1 + place]) for place in places if place is not None]

    @cached_property
    def _length_before(self) -> int:
        position = self.trail.commit_of(self.starts[0])
        return 0 if position is None else len(as_list(self.trail.value_at("history", position)) or ())

    def message(self, ordinal: int) -> Any:  # noqa: ANN401  a message, or what a file holds in its place
        """The message that answers a call; `None` when there is none on record."""
        found = self._answer(ordinal)
        return None if found is None else found[1]

    def message_index(self, ordinal: int) -> int | None:
        """Where that message stands in the history."""
        found = self._answer(ordinal)
        return None if found is None else self._length_before + found[0]

    def _answer(self, ordinal: int) -> tuple[int, Any] | None:
        messages = self._messages
        if len(messages) == len(self.starts):
            return messages[ordinal]
        wanted = field_of(self.trail.payload(self.starts[ordinal]), "tool_call_id", "toolCallId")
        return next((each for each in messages if field_of(each[1], "tool_call_id", "toolCallId") == wanted), None)


def tool_uses_of(trail: Trail) -> list[ToolUse]:
    """The tool calls of a recording, in order of their starts."""
    batches: dict[Any, _Batch] = {}
    before: dict[Any, list[tuple[int, Mark]]] = {}
    found: list[ToolUse] = []
    for mark in trail.marks:
        if mark.type == ToolStart.type:
            batch = batches.get(mark.where)
            if batch is None:
                batch = batches[mark.where] = _Batch(trail, [], [])
            found.append(ToolUse(batch, len(batch.starts), mark))
            batch.starts.append(mark)
        elif mark.type == ToolEnd.type:
            batch = batches.get(mark.where)
            if batch is None:  # its start is in the record of the run that paused
                batch = batches[mark.where] = _Batch(trail, [mark], [])
                batch.gates += before.pop(mark.where, ())
                found.append(ToolUse(batch, 0, mark))
            elif batch.takes_up(mark):
                batch.starts.append(mark)
                found.append(ToolUse(batch, len(batch.starts) - 1, mark))
            batch.ends.append(mark)
        elif mark.type in _GATES:
            batch = batches.get(mark.where)
            if batch is None:  # what a person said of the call that an earlier run made
                before.setdefault(mark.where, []).append((0, mark))
            else:
                batch.gates.append((len(batch.starts) - 1, mark))
    return found


class ActivePiece(msgspec.Struct, frozen=True, gc=False):
    """A piece of context that was in."""

    id: str
    flavor: str | None
    """What kind of piece; `None` when that is not recorded."""
    trigger: str | None
    """The kind of its trigger; `None` when the recording does not say which of several it was."""


class SkippedPiece(msgspec.Struct, frozen=True, gc=False):
    """A piece that could not be judged."""

    id: str
    reason: str
    error: str | None


class Flavors:
    """What kind of piece each id is: as declared, else as the state said at that point.

    Args:
        trail: Where to look.
        declared: Flavors by id, as the header says.
    """

    def __init__(self, trail: Trail, declared: Mapping[str, str]) -> None:
        self._trail = trail
        self._declared = declared
        self._known: dict[int | None, Mapping[str, str]] = {}

    def at(self, position: int) -> Mapping[str, str]:
        """Flavors by id after so many commits; pieces that were let in unchanged are looked up once."""
        version = self._trail.version("activeInjections", position)
        known = self._known.get(version)
        if known is None:
            active = as_list(self._trail.value_at("activeInjections", position)) or ()
            pairs = ((field_of(piece, "id", "id"), field_of(piece, "flavor", "flavor")) for piece in active)
            stated = {name: flavor for name, flavor in pairs if isinstance(name, str) and isinstance(flavor, str)}
            known = self._known[version] = {**self._declared, **stated}
        return known


class Evaluation:
    """One evaluation of the context: what was let in for an iteration, and what could not be judged."""

    def __init__(self, trail: Trail, mark: Mark, call: ModelCall | None, flavors: Flavors) -> None:
        self._trail = trail
        self._mark = mark
        self._call = call
        self._flavors = flavors

    @cached_property
    def _payload(self) -> ContextEvaluated | None:
        return self._trail.payload(self._mark)

    @cached_property
    def step(self) -> str:
        """The step that judged: `sf-injection-engine/evaluate#25`."""
        return self._trail.step(self._mark)

    @property
    def iteration(self) -> int:
        """The iteration, from 1."""
        return 0 if self._payload is None else self._payload.iteration

    @property
    def evaluated_total(self) -> int:
        """How many pieces were declared."""
        return 0 if self._payload is None else self._payload.evaluated_total

    @property
    def trigger_counts(self) -> Mapping[str, int]:
        """Active pieces by the kind of their trigger."""
        counts = None if self._payload is None else as_object(self._payload.trigger_kind_counts)
        return {} if counts is None else cast("Mapping[str, int]", counts)

    @cached_property
    def active(self) -> tuple[ActivePiece, ...]:
        """The pieces that were in, in declaration order."""
        if self._payload is None:
            return ()
        kinds = [kind for kind, count in self.trigger_counts.items() if count]
        only = kinds[0] if len(kinds) == 1 else None
        position = self._mark.position + 1 if self._call is None else self._call.position
        flavors = self._flavors.at(position)
        return tuple(ActivePiece(piece, flavors.get(piece), only) for piece in as_list(self._payload.active_ids) or ())

    @property
    def skipped(self) -> tuple[SkippedPiece, ...]:
        """The pieces that could not be judged, with the reason."""
        if self._payload is None:
            return ()
        return tuple(
            SkippedPiece(
                field_of(each, "id", "id"), field_of(each, "reason", "reason"), field_of(each, "error", "error")
            )
            for each in as_list(self._payload.skipped_details) or ()
        )

    def __repr__(self) -> str:
        return f"Evaluation({self.step}, iteration {self.iteration}, {len(self.active)} active)"
