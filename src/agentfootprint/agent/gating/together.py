"""How does a batch ask about all of its calls at once, where that is wanted?

From the first question on, the calls behind it go through their gates too, in call order, and nothing more runs: what
a gate settles is settled, what asks becomes a further question, and what may run keeps its turn until the answers are
there, so the calls of a reply still act in the order in which they were proposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any, Final, NamedTuple, TypeAlias, cast

from agentfootprint.agent.dispatching.settled import Passed, Settled
from agentfootprint.agent.gating.halted import Halted
from agentfootprint.agent.pausing.settling import settle
from agentfootprint.agent.pausing.stopping import component_in, question_of, stop_to_ask
from agentfootprint.agent.pausing.waiting import TOGETHER, row_of
from agentfootprint.agent.running.abreast import Lane
from agentfootprint.agent.scope import RunScope
from agentfootprint.flow import Handle
from agentfootprint.llm import CallRef, LLMMessage, NotDispatched, ToolCall
from agentfootprint.tools import PersonAsked
from agentfootprint.trace import FrozenDict, FrozenList

__all__ = ["stop_together"]

_NS_PER_MS: Final = 1_000_000
Halt: TypeAlias = Callable[[Halted, int], None]


class _Gated(NamedTuple):
    """A call that has been through its gates."""

    ordinal: int
    call: ToolCall
    outcome: Settled | Passed | PersonAsked
    elapsed_ms: int = 0


async def stop_together(
    h: Handle,
    scope: RunScope,
    asked: PersonAsked,
    *,
    calls: Sequence[ToolCall],
    ordinal: int,
    lane: Lane[Passed, Settled],
    results: list[FrozenDict],
    landed: list[int],
    halt: Halt,
) -> FrozenDict | None:
    """Put the calls behind a question to their gates, and commit what has landed and who asks.

    Args:
        h: The open step.
        scope: The run's; its `landed` are the messages of the batch so far.
        asked: The first question, about whether a call may run.
        calls: The batch.
        ordinal: The place of the call that it is about.
        lane: How a call of the batch is gated and landed.
        results: The rows of `toolResults` so far.
        landed: The places of the calls that have a result, in the order of their messages.
        halt: Stops the run at a call that a checker halts on.

    Returns:
        What the person is asked: the wire's `pauseData`, with the further questions under `alsoAsked`; `None` when the
        run was stopped, and nobody is asked.

    Raises:
        InvalidAskComponentError: A question nominates a component that can't be shown.
    """
    first = _Gated(ordinal, calls[ordinal], asked)
    scope.asked_from = ordinal
    gated, halted = await _through_gates(calls, ordinal + 1, lane)
    if halted is not None:
        await _land_until(h, scope, [first, *gated], lane, calls)
        halt(halted, gated[-1].ordinal + 1 if gated else ordinal + 1)
        return None
    waiting: list[_Gated] = []
    for each in gated:
        if isinstance(each.outcome, Settled):
            await lane.land(each.ordinal, each.call, each.outcome, each.elapsed_ms)
            landed.append(each.ordinal)
        else:
            waiting.append(each)
    question = stop_to_ask(h, scope, asked, call=first.call, ordinal=ordinal, results=results)
    h["pausedBatch"] = FrozenDict({"answered": FrozenList(landed, len(landed)), "announced": len(calls)})
    if not waiting:
        return question
    rows, also = [_row(each) for each in waiting], [_asked(each) for each in waiting if _asks(each)]
    h[TOGETHER] = FrozenList(rows, len(rows))
    return FrozenDict({**dict(question.items()), "alsoAsked": FrozenList(also, len(also))}) if also else question


async def _through_gates(
    calls: Sequence[ToolCall], start: int, lane: Lane[Passed, Settled]
) -> tuple[list[_Gated], Halted | None]:
    """Announce the calls and ask their gates; gives what they came to, up to one that a checker halts on."""
    gated: list[_Gated] = []
    for ordinal in range(start, len(calls)):
        began = perf_counter_ns()
        outcome: Settled | Passed | PersonAsked
        try:
            outcome = await lane.gate(ordinal, calls[ordinal])
        except PersonAsked as also:
            outcome = also
        except Halted as halted:
            return gated, halted
        gated.append(_Gated(ordinal, calls[ordinal], outcome, (perf_counter_ns() - began) // _NS_PER_MS))
    return gated, None


async def _land_until(
    h: Handle, scope: RunScope, before: Sequence[_Gated], lane: Lane[Passed, Settled], calls: Sequence[ToolCall]
) -> None:
    """Answer the calls before one that a checker halts on: nobody is asked about them, and none of them runs."""
    halting = before[-1].ordinal + 1
    mark = NotDispatched(halted_call=CallRef(calls[halting].id, calls[halting].name), cause="halt")
    for each in before:
        if isinstance(each.outcome, Settled):
            await lane.land(each.ordinal, each.call, each.outcome, each.elapsed_ms)
            continue
        settled = settle(h, scope, [(each.ordinal, each.call)], mark, count=len(calls), announced=halting)
        cast("list[LLMMessage]", scope.landed).extend(settled)


def _asks(each: _Gated) -> bool:
    return isinstance(each.outcome, PersonAsked)


def _row(each: _Gated) -> FrozenDict:
    outcome, call = each.outcome, each.call
    if isinstance(outcome, Passed):
        return row_of(each.ordinal, call.id, call.name, None, outcome.args)
    asked = cast("PersonAsked", outcome)
    return row_of(each.ordinal, call.id, call.name, asked, component_in(question_of(asked, call)))


def _asked(each: _Gated) -> FrozenDict:
    """A further question, as it goes on record: with its place, since ids may repeat."""
    data: dict[str, Any] = dict(question_of(cast("PersonAsked", each.outcome), each.call).items())
    return FrozenDict({**data, "index": each.ordinal})
