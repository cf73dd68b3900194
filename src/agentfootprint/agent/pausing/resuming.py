"""What does the answer do to the call that asked, and to the calls behind it in its batch?

Three doors, one end: a tool's own question is answered by its answer, a check-in and a rule's question by a decision.
Whatever it was, the call gets its one message, the calls behind it are settled, and the loop goes on (02 s.12.2).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from agentfootprint.agent.dispatching.executing import declare_coverage, judge_result
from agentfootprint.agent.dispatching.settled import Settled
from agentfootprint.agent.pausing.deciding import file_decided, run_decided
from agentfootprint.agent.pausing.decisions import read_decision
from agentfootprint.agent.pausing.rejoining import in_call_order, read_noted
from agentfootprint.agent.pausing.settling import settle
from agentfootprint.agent.pausing.waiting import Waiting
from agentfootprint.agent.result import ToolCallRecord
from agentfootprint.agent.running.barrier import PENDING_WRITE, stored
from agentfootprint.agent.scope import RunScope
from agentfootprint.events import IterationEnd, MetaMarks, ToolEnd
from agentfootprint.flow import Handle
from agentfootprint.llm import CallRef, LLMMessage, NotDispatched, ToolCall
from agentfootprint.tools import NO_VALUE, result_text
from agentfootprint.trace import FrozenDict, FrozenList, JsonObject, Value, freeze

__all__ = ["OpenBatch", "forget", "land", "open_batch", "rejoined", "take_up"]

_FALSE: Final = ("pausedCheckIn", "pausedAsk", "pausedCredential")
_ABSENT: Final = (
    "pausedToolIndex",
    "pausedToolArgs",
    "pausedInput",
    "pausedCheckInArgs",
    "pausedAskArgs",
    "pausedAskIndex",
    "pausedAskMiddleware",
    "pausedCredentialArgs",
    "pausedCredentialService",
    "pausedComponentId",
    "pausedBatch",
)
_NO_ROWS: Final = FrozenList([], 0)
_NO_ARGS: Final = FrozenDict({})
_NOTHING: Final[JsonObject] = freeze({})


class OpenBatch(NamedTuple):
    """The batch that a call paused in."""

    call: ToolCall
    ordinal: int
    size: int
    """How many calls it proposed."""
    undispatched: tuple[tuple[int, ToolCall], ...] = ()
    """The calls behind it that nothing has answered, each with its place."""
    turn: int = -1
    """Where the turn that proposed it stands in the window."""
    landed: Mapping[int, int] = {}
    """Where the answers stand that are there already, by the place of their call."""


def open_batch(
    history: Sequence[LLMMessage] | FrozenList,
    call_id: str,
    name: str,
    index: int | None,
    answered: Sequence[int] | None = None,
) -> OpenBatch:
    """Find the batch of a call that paused, in the window alone (AGT-94).

    It is the latest turn that proposes the id. Its place is the one that was noted, else the first of that id without
    an answer after that turn. When no turn proposes it, the call stands alone: nothing is guessed.

    Args:
        history: The window.
        call_id: Its id, which may repeat and may be empty.
        name: Its tool.
        index: The place that was noted at the pause.
        answered: Places of the calls whose answers are the last messages of the window, where that was noted.
    """
    for turn in range(len(history) - 1, -1, -1):
        calls = history[turn].tool_calls if history[turn].role == "assistant" else ()
        if any(call.id == call_id for call in calls):
            break
    else:
        return OpenBatch(ToolCall(call_id, name, _NOTHING), 0, 1)
    noted = index if index is not None and 0 <= index < len(calls) and calls[index].id == call_id else None
    landed: dict[int, int] = {}
    first = len(history) - len(answered or ())
    if answered is not None and turn < first and all(place < len(calls) and place != noted for place in answered):
        landed = {place: first + at for at, place in enumerate(answered)}
    for at in range(turn + 1, len(history)):
        if (
            history[at].role == "tool" and at not in landed.values()
        ):  # answers the first open proposal of its id, but never the one that asked
            id_ = history[at].tool_call_id or ""
            fits = (n for n, call in enumerate(calls) if call.id == id_ and n not in landed and n != noted)
            place = next(fits, None)
            if place is not None:
                landed[place] = at
    ordinal = noted
    if ordinal is None:
        same = [place for place, call in enumerate(calls) if call.id == call_id]
        ordinal = next((place for place in same if place not in landed), same[-1])
    rest = tuple((place, calls[place]) for place in range(ordinal + 1, len(calls)) if place not in landed)
    return OpenBatch(calls[ordinal], ordinal, len(calls), rest, turn, landed)


def rejoined(history: FrozenList, batch: OpenBatch, added: Mapping[int, LLMMessage]) -> FrozenList:
    """The window with the answers that were missing, each where its call stands (AGT-57)."""
    if all(place < batch.ordinal for place in batch.landed):
        return history.extend(list(added.values()))
    there = {place: history[at] for place, at in batch.landed.items()}
    answers = [message for _, message in sorted({**there, **added}.items())]
    behind = range(batch.turn + 1, len(history))
    others = [history[at] for at in behind if at not in set(batch.landed.values())]
    return history[: batch.turn + 1].extend([*answers, *others])


async def take_up(h: Handle, answer: Value) -> None:
    """Answer the call that asked, settle the calls behind it, and open the next iteration."""
    scope: RunScope = h.run.scope
    scope.step = h
    pending = PENDING_WRITE.get()
    if pending is not None:
        await stored(pending)
    call_id: str = h["pausedToolCallId"]
    name: str = h["pausedToolName"]
    started: int = h.get("pausedToolStartMs", 0)
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    noted = h.get("pausedBatch")
    answered, announced = (None, 0) if noted is None else read_noted(noted)
    batch = open_batch(history, call_id, name, h.get("pausedToolIndex"), answered)
    call = batch.call
    scope.marks = MetaMarks(tool_ordinal=batch.ordinal)
    before = time.time()
    waiting = _gate_of(h, scope, batch, answer)
    if waiting is not None:
        decision = read_decision(answer)
        args = file_decided(h, scope, call, iteration, waiting, decision)
        settled, args = await run_decided(h, scope, call, iteration, waiting, decision, args)
    else:
        settled, args = Settled(result_text(answer), result=answer, ran=True), _answered_args(h, call)
        before = started / 1000 if started else before
    await judge_result(h, scope, call, args, iteration, settled)
    held, scope.held = scope.held, None
    if held is not None:
        await held.close()
    if settled.coverage is not None:
        declare_coverage(h, scope, call, iteration, settled.coverage)
    land(h, scope, call, settled, args, max(0, int((time.time() - before) * 1000)))
    mark = NotDispatched(paused_call=CallRef(call_id, name))
    behind = settle(h, scope, batch.undispatched, mark, count=batch.size, announced=announced)
    message = LLMMessage("tool", settled.text, tool_call_id=call_id, tool_name=name)
    places = [batch.ordinal, *(place for place, _ in batch.undispatched)]
    if answered is not None:
        new = in_call_order(history.extend([message, *behind]), [*answered, *places])
    else:
        new = rejoined(history, batch, dict(zip(places, [message, *behind], strict=True)))
    h["history"] = new
    forget(h)
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=1 + len(behind), history=new))
    h["iteration"] = iteration + 1


def _gate_of(h: Handle, scope: RunScope, batch: OpenBatch, answer: Value) -> Waiting | None:
    """The call as it waits for a decision; `None` when it waits for its result. Reads what it needs and no more."""
    call = batch.call
    if h.get("pausedCheckIn") is True:
        args, component = h.get("pausedCheckInArgs", _NO_ARGS), h.get("pausedComponentId")
        return Waiting(batch.ordinal, call.id, call.name, "checkIn", args, component_id=component)
    if h.get("pausedAsk") is not True:
        return None
    args, rule, component = (
        h.get("pausedAskArgs", _NO_ARGS),
        h.get("pausedAskMiddleware", ""),
        h.get("pausedComponentId"),
    )
    goes_on = scope.rules is not None and read_decision(answer).approved
    index = h.get("pausedAskIndex", -1) if goes_on else -1
    return Waiting(batch.ordinal, call.id, call.name, "ask", args, index, rule, component)


def _answered_args(h: Handle, call: ToolCall) -> FrozenDict:
    found = h.get("pausedToolArgs")
    return found if isinstance(found, FrozenDict) else FrozenDict(dict(call.args))


def land(h: Handle, scope: RunScope, call: ToolCall, settled: Settled, args: FrozenDict, elapsed_ms: int) -> None:
    """File what a call came to: its end, its record, and the state's rows of results."""
    end = ToolEnd(
        tool_call_id=call.id,
        duration_ms=elapsed_ms,
        error=True if settled.error else None,
        result=settled.result,
        status=settled.status,
    )
    scope.emit(h, end, scope.marks)
    scope.tool_calls.append(
        ToolCallRecord(
            call.name,
            args,
            None if settled.result is NO_VALUE else settled.result,
            ok=not settled.error,
            dispatched=settled.ran,
            denied=not settled.ran and not settled.error,
            duration_ms=elapsed_ms,
        )
    )
    row = {"toolName": call.name, "result": settled.text}
    status = {} if settled.status is None else {"status": settled.status}
    h["lastToolResult"] = FrozenDict({**row, **status})
    results: FrozenList = h.get("toolResults", _NO_ROWS)
    h["toolResults"] = results.append(FrozenDict({**row, "toolCallId": call.id, **status}))


def forget(h: Handle) -> None:
    """Take back what the pause noted (12.3)."""
    h["pausedToolCallId"] = ""
    h["pausedToolName"] = ""
    h["pausedToolStartMs"] = 0
    for key in _FALSE:
        if key in h:
            h[key] = False
    for key in _ABSENT:
        if key in h:
            del h[key]
