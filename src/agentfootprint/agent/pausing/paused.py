"""What does a paused run ask, and whom?

Read from the question as it is on record, so a stored one reads the same; nothing here asks the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
from agentfootprint.agent.pausing.waiting import TOGETHER, question_data
from agentfootprint.trace import FrozenDict, FrozenList, JsonObject, Value, freeze

__all__ = ["Asked", "AwaitedInput", "CheckIn", "Evidence", "PauseKind", "Paused", "Question", "paused_of"]

PauseKind: TypeAlias = Literal["ask_human", "check_in", "ask", "authorization", "input"]
_NO_DATA: JsonObject = freeze({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an approver is shown beside a call (02 s.13.2); a part that was not collected is empty."""

    will_do: str = ""
    """What the call will do."""
    read: tuple[JsonObject, ...] = ()
    """What the agent has read: `channel` and `summary` of each piece."""
    drivers: tuple[JsonObject, ...] = ()
    """The same pieces, those first that have most to do with the call."""
    trail: JsonObject = field(default_factory=lambda: _NO_DATA)
    """The tools that ran before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckIn:
    """A call that a person must approve before it runs."""

    tool: str
    args: JsonObject
    intent: str | None = None
    """What the model said when it asked for the call."""
    evidence: Evidence
    component: JsonObject | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a rule asks before a call runs."""

    question: str
    detail: Value = None
    component: JsonObject | None = None
    middleware: str | None = None
    """The rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwaitedInput:
    """Values that a tool asks for; answer with `{"requestId": ..., "values": {...}}`, also with some of them."""

    request_id: str
    id: str
    """What is asked for, in the application's words."""
    question: str
    fields: tuple[JsonObject, ...]
    supplied: JsonObject
    """Values that are known already."""
    missing: tuple[str, ...]
    """Required fields without a value."""
    context: JsonObject | None = None
    refused: JsonObject | None = None
    """Why an earlier answer was not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One of the questions that a run waits for."""

    id: str
    """Names it among those of its pause, and in no other pause; its call's id may repeat, and may be empty."""
    index: int
    """The place of its call in the batch that the model proposed, from 0."""
    kind: PauseKind
    question: str = field(repr=False)
    """A text for the person: the question, or what the call will do."""
    tool_name: str
    tool_call_id: str
    args: JsonObject = field(repr=False)
    """The arguments of the call, as they stand."""
    data: JsonObject = field(repr=False)
    """All that was asked, as it is on record."""
    check_in: CheckIn | None = field(default=None, repr=False)
    ask: Asked | None = field(default=None, repr=False)
    awaiting: AwaitedInput | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """The question that a run waits for; answer it with `agent.resume(result.paused, answer)`.

    It is always true, so `if result.paused:` asks whether the run waits. Where the calls of a reply are asked about
    together (`Gates(ask_together=True)`), there may be several: `questions` holds all, the rest of it is the first
    one, and each is answered: `agent.resume(result.paused, [answer, ...])` in their order, or `{question.id: answer}`.
    """

    kind: PauseKind
    question: str = field(repr=False)
    """A text for the person: the question, or what the call will do."""
    tool_name: str
    tool_call_id: str
    data: JsonObject = field(repr=False)
    """All that was asked, as it is on record."""
    checkpoint: PauseCheckpoint = field(repr=False)
    """What `resume` needs; store its `to_json()` to answer in another process."""
    check_in: CheckIn | None = field(default=None, repr=False)
    ask: Asked | None = field(default=None, repr=False)
    awaiting: AwaitedInput | None = field(default=None, repr=False)
    questions: tuple[Question, ...] = field(default=(), repr=False)
    """All that are open, in the order of their calls: one, unless several are asked together."""

    def __bool__(self) -> bool:
        return True

    def to_wire(self) -> dict[str, Any]:
        """Kind and question as plain JSON, without the checkpoint."""
        return {"kind": self.kind, "question": self.question, "pauseData": self.data}


def paused_of(checkpoint: PauseCheckpoint) -> Paused:
    """The questions that a checkpoint waits for."""
    found, state = checkpoint.pause_data, checkpoint.state
    data: JsonObject = freeze(found if isinstance(found, Mapping) else {"data": found})
    index = state.get("pausedToolIndex")
    first = _question_of(data, checkpoint.run_id, index if type(index) is int else 0, _args(state))
    also = [
        _question_of(each, checkpoint.run_id, _place(each), _args_of(state, _place(each)))
        for each in question_data(state, data)[1:]
    ]
    return Paused(
        kind=first.kind,
        question=first.question,
        tool_name=first.tool_name,
        tool_call_id=first.tool_call_id,
        data=data,
        checkpoint=checkpoint,
        check_in=first.check_in,
        ask=first.ask,
        awaiting=first.awaiting,
        questions=(first, *also),
    )


def _question_of(data: JsonObject, run_id: str, index: int, args: JsonObject | None = None) -> Question:
    check_in = _check_in(data.get("checkIn"))
    ask = None if check_in is not None else _asked(data.get("ask"))
    kind: PauseKind = "check_in" if check_in else "ask" if ask else _kind(data)
    question = data.get("question")
    if not isinstance(question, str):
        inner = data.get("data")
        question = inner if isinstance(inner, str) else ""
    if check_in is not None:
        question = check_in.evidence.will_do
    elif ask is not None:
        question = ask.question
    awaiting = _awaiting(data.get("awaitingInput")) if kind == "input" else None
    if awaiting is not None:
        question = awaiting.question
    return Question(
        id=f"{run_id or 'run'}:{index}",
        index=index,
        kind=kind,
        question=question,
        tool_name=_text(data.get("toolName")),
        tool_call_id=_text(data.get("toolCallId")),
        args=check_in.args if check_in is not None else args or _NO_DATA,
        data=data,
        check_in=check_in,
        ask=ask,
        awaiting=awaiting,
    )


def _args(state: FrozenDict) -> JsonObject | None:
    """The arguments of the call that asked first, of which only a check-in says them."""
    return _object(state.get("pausedAskArgs")) or _object(state.get("pausedToolArgs"))


def _args_of(state: FrozenDict, place: int) -> JsonObject | None:
    """The arguments of a call behind it."""
    rows = (row for row in state[TOGETHER] if isinstance(row, FrozenDict) and row.get("index") == place)
    return next((_object(row.get("args")) for row in rows), None)


def _place(data: JsonObject) -> int:
    index = data.get("index")
    return index if type(index) is int else 0


def _awaiting(found: object) -> AwaitedInput:
    asked = _object(found) or _NO_DATA
    missing = asked.get("missing")
    return AwaitedInput(
        request_id=_text(asked.get("requestId")),
        id=_text(asked.get("id")),
        question=_text(asked.get("question")),
        fields=_objects(asked.get("fields")),
        supplied=_object(asked.get("supplied")) or _NO_DATA,
        missing=tuple(_text(each) for each in missing) if isinstance(missing, FrozenList) else (),
        context=_object(asked.get("context")),
        refused=_object(asked.get("refused")),
    )


def _kind(data: JsonObject) -> PauseKind:
    if isinstance(data.get("authorization"), Mapping):
        return "authorization"
    return "input" if isinstance(data.get("awaitingInput"), Mapping) else "ask_human"


def _check_in(found: object) -> CheckIn | None:
    if not isinstance(found, Mapping):
        return None
    asked = cast("JsonObject", found)
    pack = asked.get("evidence")
    parts = cast("JsonObject", pack) if isinstance(pack, Mapping) else _NO_DATA
    return CheckIn(
        tool=_text(asked.get("tool")),
        args=_object(asked.get("args")) or _NO_DATA,
        intent=_text(asked.get("intent")) or None,
        evidence=Evidence(
            will_do=_text(parts.get("willDo")),
            read=_objects(parts.get("read")),
            drivers=_objects(parts.get("drivers")),
            trail=_object(parts.get("trail")) or _NO_DATA,
        ),
        component=_object(asked.get("component")),
    )


def _asked(found: object) -> Asked | None:
    if not isinstance(found, Mapping):
        return None
    asked = cast("JsonObject", found)
    return Asked(
        question=_text(asked.get("question")),
        detail=asked.get("detail"),
        component=_object(asked.get("component")),
        middleware=_text(asked.get("middleware")) or None,
    )


def _text(found: object) -> str:
    return found if isinstance(found, str) else ""


def _object(found: object) -> JsonObject | None:
    return cast("JsonObject", found) if isinstance(found, Mapping) else None


def _objects(found: object) -> tuple[JsonObject, ...]:
    if not isinstance(found, FrozenList):
        return ()
    return tuple(cast("JsonObject", each) for each in found if isinstance(each, Mapping))
