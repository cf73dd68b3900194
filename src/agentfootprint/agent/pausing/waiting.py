"""Which calls of a batch wait for a person, or for one beside them; what is kept of each, and what became of it?

The first question is kept as it always was (02 s.12.3), so whoever knows of one question reads it as before. The calls
behind it that wait too stand in `pausedTogether`, in call order: those that ask, and those that ran into no question
and keep their turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias, cast

from agentfootprint.agent.errors import CheckpointFormatError
from agentfootprint.llm import LLMMessage
from agentfootprint.tools import PersonAsked
from agentfootprint.trace import FrozenDict, FrozenList, JsonObject

__all__ = [
    "TOGETHER",
    "GateKind",
    "TakenUp",
    "Waiting",
    "asks_at_a_gate",
    "first_waiting",
    "question_data",
    "read_waiting",
    "row_of",
]

GateKind: TypeAlias = Literal["checkIn", "ask"]

TOGETHER: Final = "pausedTogether"
"""The state's key for the calls behind the first question."""
_NO_ARGS: Final = FrozenDict({})
_FIX: Final = "Give the checkpoint as `result.paused.checkpoint` was, or as its `to_json()` was stored."


class Waiting(NamedTuple):
    """A call that waits."""

    ordinal: int
    """Its place in the batch."""
    call_id: str
    tool_name: str
    gate: GateKind | None
    """What asks; `None` when nothing does, and it only keeps its turn."""
    args: FrozenDict
    """As the gates left them so far."""
    rule_index: int = -1
    """Of the rule that asks, its place among the rules."""
    middleware: str = ""
    """The rule's name."""
    component_id: str | None = None
    """What the decision is to be made with."""


def asks_at_a_gate(asked: PersonAsked) -> bool:
    """Whether a question is about whether a call may run, and not one of the tool's own."""
    return "pausedCheckIn" in asked.state or "pausedAsk" in asked.state


def row_of(
    ordinal: int, call_id: str, tool_name: str, asked: PersonAsked | None, about: FrozenDict | None
) -> FrozenDict:
    """What is kept of a call behind the first question.

    Args:
        ordinal: Its place in the batch.
        call_id: Its id.
        tool_name: Its tool.
        asked: Its question, if it has one.
        about: What it may run with; of one with a question, the component that its decision is to be made with.
    """
    row: dict[str, Any] = {"toolCallId": call_id, "toolName": tool_name, "index": ordinal}
    if asked is None:
        return FrozenDict({**row, "args": about})
    if about is not None:
        row["componentId"] = about["componentId"]
    state = asked.state
    if "pausedCheckIn" in state:
        return FrozenDict({**row, "gate": "checkIn", "args": state["pausedCheckInArgs"]})
    rule = {"askIndex": state["pausedAskIndex"], "middleware": state["pausedAskMiddleware"]}
    return FrozenDict({**row, "gate": "ask", "args": state["pausedAskArgs"], **rule})


def first_waiting(state: Mapping[str, Any] | FrozenDict, ordinal: int) -> Waiting:
    """The call that asked first, from what a pause notes of it.

    Args:
        state: The state of the run.
        ordinal: Its place in the batch.
    """
    gate: GateKind | None = None
    if state.get("pausedCheckIn") is True:
        gate = "checkIn"
    elif state.get("pausedAsk") is True:
        gate = "ask"
    found = state.get("pausedAskArgs" if gate == "ask" else "pausedCheckInArgs")
    component = state.get("pausedComponentId")
    return Waiting(
        ordinal,
        str(state.get("pausedToolCallId", "")),
        str(state.get("pausedToolName", "")),
        gate,
        found if isinstance(found, FrozenDict) else _NO_ARGS,
        int(state.get("pausedAskIndex", -1)),
        str(state.get("pausedAskMiddleware", "")),
        component if isinstance(component, str) else None,
    )


def read_waiting(state: FrozenDict) -> tuple[Waiting, ...] | None:
    """All calls that wait for the answers to one pause, in call order; `None` when the first one waits alone.

    Raises:
        CheckpointFormatError: What the checkpoint says of them can't be read.
    """
    rows = state.get(TOGETHER)
    if rows is None:
        return None
    ordinal = state.get("pausedToolIndex")
    if not isinstance(rows, FrozenList) or type(ordinal) is not int:
        raise _malformed(None, "a list of calls")
    found = [first_waiting(state, ordinal)]
    for place, row in enumerate(rows):
        waiting = _read(row)
        if waiting is None or waiting.ordinal <= found[-1].ordinal:
            raise _malformed(place, "a call that waits")
        found.append(waiting)
    return tuple(found)


def _read(row: object) -> Waiting | None:
    if not isinstance(row, FrozenDict):
        return None
    ordinal, call_id, name = row.get("index"), row.get("toolCallId"), row.get("toolName")
    gate, args, index = row.get("gate"), row.get("args"), row.get("askIndex", -1)
    middleware, component = row.get("middleware", ""), row.get("componentId")
    texts = isinstance(call_id, str) and isinstance(name, str) and isinstance(middleware, str)
    numbers = type(ordinal) is int and type(index) is int
    known = gate in (None, "checkIn", "ask") and (component is None or isinstance(component, str))
    if not (texts and numbers and known and isinstance(args, FrozenDict)):
        return None
    return Waiting(ordinal, call_id, name, cast("GateKind | None", gate), args, index, middleware, component)


def _malformed(index: int | None, wanted: str) -> CheckpointFormatError:
    field = f"sharedState.{TOGETHER}" + ("" if index is None else f"[{index}]")
    return CheckpointFormatError(field, f"The checkpoint's {field!r} is not {wanted}.", fix=_FIX, index=index)


class TakenUp:
    """What becomes of calls that waited together, while the run that takes them up goes through them.

    Args:
        waiting: The calls, in call order.
    """

    __slots__ = ("answers", "running", "waiting")

    def __init__(self, waiting: Sequence[Waiting]) -> None:
        self.waiting = tuple(waiting)
        self.answers: dict[int, LLMMessage] = {}
        """What has landed, by the place of its call."""
        self.running: int | None = None
        """The call whose tool runs."""


def question_data(state: FrozenDict, data: JsonObject) -> tuple[JsonObject, ...]:
    """The questions of a pause as they are on record, the first one first, which is `data` itself."""
    also = data.get("alsoAsked") if isinstance(state.get(TOGETHER), FrozenList) else None
    rest = also if isinstance(also, FrozenList) else ()
    return (data, *(cast("JsonObject", each) for each in rest if isinstance(each, Mapping)))
