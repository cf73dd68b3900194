"""What do the answers do to calls that waited together?

All decisions go on record first, in call order; then the calls run, one after the other, as the model proposed them.
Each has its one message, where its call stands in the batch, and nothing runs twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple, cast

from agentfootprint.agent.dispatching.executing import declare_coverage, judge_result
from agentfootprint.agent.dispatching.settled import Settled
from agentfootprint.agent.pausing.deciding import file_decided, run_approved, run_decided
from agentfootprint.agent.pausing.decisions import Decision, read_decision
from agentfootprint.agent.pausing.rejoining import in_call_order, read_noted
from agentfootprint.agent.pausing.resuming import OpenBatch, forget, land, open_batch, rejoined
from agentfootprint.agent.pausing.settling import settle
from agentfootprint.agent.pausing.waiting import TOGETHER, TakenUp, Waiting
from agentfootprint.agent.running.barrier import PENDING_WRITE, stored
from agentfootprint.agent.scope import RunScope
from agentfootprint.events import IterationEnd, MetaMarks
from agentfootprint.flow import Handle
from agentfootprint.llm import CallRef, LLMMessage, NotDispatched, ToolCall
from agentfootprint.trace import FrozenDict, FrozenList, Value

__all__ = ["batch_of", "take_up_together", "window_with"]


class _Decided(NamedTuple):
    """A call that waited, with what was decided about it."""

    call: ToolCall
    waiting: Waiting
    decision: Decision | None
    """`None` for one that nobody was asked about."""
    args: FrozenDict


async def take_up_together(h: Handle, taken: TakenUp, answers: Value) -> None:
    """Go through the calls that waited, and open the next iteration.

    Args:
        h: The open step.
        taken: The calls.
        answers: A decision for each that asked, in their order.
    """
    scope: RunScope = h.run.scope
    scope.step = h
    pending = PENDING_WRITE.get()
    if pending is not None:
        await stored(pending)
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    h[TOGETHER]  # read, so that the record says whence the calls come
    answered, announced = read_noted(h.get("pausedBatch"))
    batch = batch_of(taken, history, answered)
    for each in _decided(h, scope, taken, history, batch, iteration, answers):
        await _finish(h, scope, taken, each, iteration)
    first = taken.waiting[0]
    rest = [(place, call) for place, call in batch.undispatched if place not in taken.answers]
    mark = NotDispatched(paused_call=CallRef(first.call_id, first.tool_name))
    behind = settle(h, scope, rest, mark, count=batch.size, announced=announced)
    added = {**taken.answers, **dict(zip([place for place, _ in rest], behind, strict=True))}
    h["history"] = new = window_with(history, batch, answered, added)
    forget(h)
    del h[TOGETHER]
    scope.landed, scope.taken_up = (), None
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=len(added), history=new))
    h["iteration"] = iteration + 1


def batch_of(taken: TakenUp, history: FrozenList, answered: object) -> OpenBatch:
    """The batch that calls wait in; `answered` are the places that the pause noted."""
    first = taken.waiting[0]
    return open_batch(history, first.call_id, first.tool_name, first.ordinal, cast("list[int] | None", answered))


def window_with(history: FrozenList, batch: OpenBatch, answered: object, added: Mapping[int, LLMMessage]) -> FrozenList:
    """The window with the answers that were missing, each where its call stands (AGT-57)."""
    if answered is None:
        return rejoined(history, batch, dict(sorted(added.items())))
    places = cast("list[int]", answered)
    return in_call_order(history.extend(list(added.values())), [*places, *added])


def _decided(
    h: Handle,
    scope: RunScope,
    taken: TakenUp,
    history: FrozenList,
    batch: OpenBatch,
    iteration: int,
    answers: Value,
) -> list[_Decided]:
    """Put all decisions on record, before anything runs."""
    calls = history[batch.turn].tool_calls
    given = iter(cast("FrozenList", answers))
    decided: list[_Decided] = []
    for waiting in taken.waiting:
        call: ToolCall = calls[waiting.ordinal]
        if waiting.gate is None:
            decided.append(_Decided(call, waiting, None, waiting.args))
            continue
        scope.marks = MetaMarks(tool_ordinal=waiting.ordinal)
        decision = read_decision(next(given))
        args = file_decided(h, scope, call, iteration, waiting, decision)
        decided.append(_Decided(call, waiting, decision, args))
    return decided


async def _finish(h: Handle, scope: RunScope, taken: TakenUp, decided: _Decided, iteration: int) -> None:
    """Bring a call to its end."""
    call, waiting, decision, args = decided
    scope.marks = MetaMarks(tool_ordinal=waiting.ordinal)
    before = time.time()
    settled: Settled
    if decision is None or decision.approved:
        taken.running = waiting.ordinal
    if decision is None:
        settled, args = await run_approved(h, scope, call, iteration, args, validate=False)
    else:
        settled, args = await run_decided(h, scope, call, iteration, waiting, decision, args)
    await judge_result(h, scope, call, args, iteration, settled)
    if settled.coverage is not None:
        declare_coverage(h, scope, call, iteration, settled.coverage)
    land(h, scope, call, settled, args, max(0, int((time.time() - before) * 1000)))
    taken.running = None
    taken.answers[waiting.ordinal] = LLMMessage("tool", settled.text, tool_call_id=call.id, tool_name=call.name)
    scope.landed = list(taken.answers.values())
