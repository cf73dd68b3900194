"""The stage that runs the tool calls of a reply, one after the other, and writes what the model reads next (02 s.10).

Every proposal gets exactly one answer, in call order (AGT-57). A tool that raises is an answer, not a failure.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from time import perf_counter_ns
from typing import Final, cast

from agentfootprint.agent.dispatching.executing import declare_coverage, judge_result, refused_call, run_call, validated
from agentfootprint.agent.dispatching.settled import Passed, Settled, frozen_args
from agentfootprint.agent.finish import turn_end
from agentfootprint.agent.gating.halted import Halted
from agentfootprint.agent.result import LandedCall, ToolCallRecord
from agentfootprint.agent.running.barrier import PENDING_WRITE, stored
from agentfootprint.agent.scope import CALL_MARKS, RunScope
from agentfootprint.agent.texts import CUT_OFF_TEXT, refused_arguments, unknown_tool
from agentfootprint.events import (
    IterationEnd,
    MetaMarks,
    ToolEnd,
    ToolsRepeatedCall,
    ToolStart,
)
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage, NotDispatched, ToolCall
from agentfootprint.tools import (
    NO_VALUE,
    PersonAsked,
    asked_in,
    questions_are_answered,
    repeated_call_key,
    repeated_call_note,
)
from agentfootprint.trace import FrozenDict, FrozenList

__all__ = ["run_tool_calls"]

_MARKS: Final = tuple(MetaMarks(tool_ordinal=ordinal) for ordinal in range(8))
"""The marks of the first calls of a batch, made once."""
_CURSOR_TOOLS: Final = frozenset(("read_skill", "skip_step"))
"""Calls that change what the calls behind them may do."""


async def run_tool_calls(h: Handle) -> FrozenDict | None:
    """Run the batch of the latest reply and hand the results to the next iteration.

    Returns:
        What a person is asked, which pauses the run (02 s.12); `None` when nobody is.
    """
    scope: RunScope = h.home.run.scope
    calls: FrozenList = h["llmLatestToolCalls"]
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    content: str = h["llmLatestContent"]
    blocks: FrozenList = h["thinkingBlocks"]
    h["runIdentity"]
    messages = [LLMMessage("assistant", content, tool_calls=tuple(calls), thinking_blocks=tuple(blocks))]
    if scope.response is not None and scope.response.stop_reason == "max_tokens":
        _settle_cut(h, scope, iteration, history, calls, messages)
        return None
    scope.step = h
    scope.landed = messages
    scope.dispatched_before = len(scope.tool_run.calls)
    pending = PENDING_WRITE.get()
    if pending is not None:
        await stored(pending)
    results: list[FrozenDict] = []
    count = len(calls)
    run = _side_by_side if count > 1 and scope.limits.parallel_tools else _in_turn
    question = await run(h, scope, calls, iteration, results)
    if question is not None or scope.refusal is not None:
        return question
    h["toolResults"] = FrozenList(results, count)
    rules = scope.rules
    new = history.extend(messages) if rules is None else rules.window(history, messages)
    h["history"] = new
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=count, history=new))
    if scope.invalid_in_a_row >= scope.limits.invalid_args:
        await _give_up(h, scope, iteration, content)
        return None
    h["iteration"] = iteration + 1
    return None


async def _give_up(h: Handle, scope: RunScope, iteration: int, content: str) -> None:
    """End a run whose model keeps asking with arguments that can't be used; what it said beside is its answer."""
    scope.ended_because = "refused"
    if scope.rules is not None and scope.rules.messages:
        content = (await scope.rules.speak(h, scope, iteration)).text
    scope.answer = content
    scope.emit(h, turn_end(scope, iteration, h["totalInputTokens"], h["totalOutputTokens"]))
    h.break_("too many calls in a row had arguments that could not be used")


def _note(call: ToolCall, settled: Settled, messages: list[LLMMessage], results: list[FrozenDict]) -> FrozenDict:
    """Add a call's message and its row of `toolResults`; gives what `lastToolResult` is then."""
    messages.append(LLMMessage("tool", settled.text, tool_call_id=call.id, tool_name=call.name))
    row = {"toolName": call.name, "result": settled.text}
    status = {} if settled.status is None else {"status": settled.status}
    results.append(FrozenDict({**row, "toolCallId": call.id, **status}))
    return FrozenDict({**row, **status})


async def _in_turn(
    h: Handle, scope: RunScope, calls: FrozenList, iteration: int, results: list[FrozenDict]
) -> FrozenDict | None:
    """Run the batch one call after the other; gives what a person is asked, when somebody is."""
    count, last = len(calls), None
    messages = cast("list[LLMMessage]", scope.landed)
    for ordinal, call in enumerate(calls):
        try:
            settled = await _one(h, scope, call, iteration, (ordinal, count))
        except (PersonAsked, BaseExceptionGroup) as raised:
            asked = asked_in(raised)
            if asked is None:
                raise
            return await _ask(h, scope, asked, calls, ordinal, iteration, results)
        except Halted as halted:
            _halt(h, scope, halted, calls, ordinal, iteration, results)
            return None
        last = _note(call, settled, messages, results)
    h["lastToolResult"] = last
    return None


async def _side_by_side(
    h: Handle, scope: RunScope, calls: FrozenList, iteration: int, results: list[FrozenDict]
) -> FrozenDict | None:
    """Run the batch with calls beside each other (AGT-60); gives what a person is asked, when somebody is."""
    from agentfootprint.agent.running.abreast import run_abreast  # where calls run side by side

    most = scope.limits.parallel_tools
    lane = _Lane(h, scope, iteration, len(calls), results)
    stopped = await run_abreast(cast("Sequence[ToolCall]", calls), lane, most=None if most is True else most)
    if stopped is None:
        h["lastToolResult"] = lane.last
        return None
    if isinstance(stopped.error, Halted):
        _halt(h, scope, stopped.error, calls, stopped.ordinal, iteration, results)
        return None
    if not isinstance(stopped.error, PersonAsked):
        raise stopped.error
    place = stopped.ordinal
    question = await _ask(h, scope, stopped.error, calls, place, iteration, results, stopped.landed)
    if stopped.announced > place + 1:
        landed = FrozenList(stopped.landed, len(stopped.landed))
        h["pausedBatch"] = FrozenDict({"answered": landed, "announced": stopped.announced})
    return question


async def _ask(
    h: Handle,
    scope: RunScope,
    asked: PersonAsked,
    calls: FrozenList,
    ordinal: int,
    iteration: int,
    results: list[FrozenDict],
    landed: list[int] | None = None,
) -> FrozenDict | None:
    """Stop the batch at a question; where questions are asked together, with those about the calls behind it.

    `landed` are the places of the calls that have a result; `None` for all before the one that asks.
    """
    if scope.gates.ask_together and ordinal + 1 < len(calls):
        from agentfootprint.agent.gating.together import stop_together  # where several are asked at once
        from agentfootprint.agent.pausing.waiting import asks_at_a_gate

        if asks_at_a_gate(asked):
            return await stop_together(
                h,
                scope,
                asked,
                calls=cast("Sequence[ToolCall]", calls),
                ordinal=ordinal,
                lane=_Lane(h, scope, iteration, len(calls), results),
                results=results,
                landed=[*range(ordinal)] if landed is None else landed,
                halt=lambda halted, place: _halt(h, scope, halted, calls, place, iteration, results),
            )
    from agentfootprint.agent.pausing.stopping import stop_to_ask  # with the first question

    return stop_to_ask(h, scope, asked, call=calls[ordinal], ordinal=ordinal, results=results)


def _halt(
    h: Handle,
    scope: RunScope,
    halted: Halted,
    calls: FrozenList,
    ordinal: int,
    iteration: int,
    results: list[FrozenDict],
) -> None:
    """Land the call that a checker halted on, and stop the run there."""
    call: ToolCall = calls[ordinal]
    settled = Settled(halted.text, result=halted.text)
    settled.denied = True
    _land(h, scope, call, iteration, settled, halted.elapsed_ms, marks_of(ordinal))
    _note(call, settled, cast("list[LLMMessage]", scope.landed), results)
    assert scope.rules is not None  # noqa: S101  nobody else halts
    scope.rules.halt(h, scope, halted, calls, ordinal, iteration, results)


class _Lane:
    """What `run_abreast` does with the calls of one batch."""

    def __init__(self, h: Handle, scope: RunScope, iteration: int, count: int, results: list[FrozenDict]) -> None:
        self._h = h
        self._scope = scope
        self._iteration = iteration
        self._count = count
        self._results = results
        self.last: FrozenDict | None = None
        self._args: dict[int, FrozenDict] = {}

    def alone(self, call: ToolCall) -> bool:
        tool = self._scope.offer.by_name.get(call.name)
        if tool is None:
            return False
        rules = tool.rules
        return tool.check_in is not None or call.name in _CURSOR_TOOLS or (rules is not None and rules.sequential)

    async def gate(self, ordinal: int, call: ToolCall) -> Settled | Passed:
        _announce(self._h, self._scope, call, (ordinal, self._count))
        return await _gated(self._h, self._scope, call, self._iteration)

    def settled(self, outcome: Settled | Passed) -> bool:
        return type(outcome) is Settled

    def execute(self, ordinal: int, call: ToolCall, passed: Passed) -> Awaitable[Settled]:
        self._scope.marks = None  # several calls have one each
        CALL_MARKS.set(marks_of(ordinal))
        self._args[ordinal] = passed.args
        return run_call(self._scope, call, self._iteration, passed)

    def refused(self, text: str) -> Settled:
        return Settled(text, result=text, error=True, ran=True)

    async def land(self, ordinal: int, call: ToolCall, result: Settled, elapsed_ms: int) -> None:
        marks = self._scope.marks = marks_of(ordinal)
        if self._scope.rules is not None and ordinal in self._args:
            await judge_result(self._h, self._scope, call, self._args[ordinal], self._iteration, result)
        _land(self._h, self._scope, call, self._iteration, result, elapsed_ms, marks)
        self.last = _note(call, result, cast("list[LLMMessage]", self._scope.landed), self._results)


def _settle_cut(
    h: Handle, scope: RunScope, iteration: int, history: FrozenList, calls: FrozenList, messages: list[LLMMessage]
) -> None:
    """A reply that the token limit cut runs nothing: each proposal is answered by one fixed sentence (DEC-31)."""
    for call in calls:
        messages.append(
            LLMMessage(
                "tool",
                CUT_OFF_TEXT,
                tool_call_id=call.id,
                tool_name=call.name,
                not_dispatched=NotDispatched(cause="cut"),
            )
        )
        scope.tool_calls.append(ToolCallRecord(call.name, frozen_args(call), None, ok=False, dispatched=False))
    new = history.extend(messages)
    h["toolResults"] = FrozenList([], 0)
    h["history"] = new
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=0, history=new))
    h["iteration"] = iteration + 1


async def _one(h: Handle, scope: RunScope, call: ToolCall, iteration: int, place: tuple[int, int]) -> Settled:
    marks = _announce(h, scope, call, place)
    started = perf_counter_ns()
    tool = scope.offer.by_name.get(call.name)
    if tool is not None and scope.rules is None and tool.check_in is None and call.args_error is None:
        checked = validated(h, scope, tool, call, frozen_args(call), iteration)  # nobody else is asked
        passed = checked if isinstance(checked, Settled) else Passed(tool, frozen_args(call), checked)
    else:
        passed = await _gated(h, scope, call, iteration)
    if type(passed) is Settled:
        settled = passed
    else:
        settled = await run_call(scope, call, iteration, cast("Passed", passed))
        if scope.rules is not None:
            await judge_result(h, scope, call, cast("Passed", passed).args, iteration, settled)
    _land(h, scope, call, iteration, settled, (perf_counter_ns() - started) // 1_000_000, marks)
    return settled


def _announce(h: Handle, scope: RunScope, call: ToolCall, place: tuple[int, int]) -> MetaMarks:
    """Say that a call's turn has come, before any gate looks at it."""
    ordinal, count = place
    marks = scope.marks = marks_of(ordinal)
    start = ToolStart(
        tool_name=call.name, tool_call_id=call.id, args=call.args, parallel_count=count if count > 1 else None
    )
    scope.emit(h, start, marks)
    return marks


def marks_of(ordinal: int) -> MetaMarks:
    """What the events of a call add to their meta."""
    return _MARKS[ordinal] if ordinal < len(_MARKS) else MetaMarks(tool_ordinal=ordinal)


def _land(
    h: Handle, scope: RunScope, call: ToolCall, iteration: int, settled: Settled, elapsed_ms: int, marks: MetaMarks
) -> None:
    """File what a call came to: what it covers, its end, its record, and whether it was a repeat."""
    if settled.coverage is not None:
        declare_coverage(h, scope, call, iteration, settled.coverage)
    end = ToolEnd(
        tool_call_id=call.id,
        duration_ms=elapsed_ms,
        error=True if settled.error else None,
        result=settled.result,
        status=settled.status,
    )
    scope.emit(h, end, marks)
    scope.invalid_in_a_row = scope.invalid_in_a_row + 1 if settled.refused else 0
    scope.tool_calls.append(
        LandedCall(
            call.name,
            frozen_args(call),
            None if settled.result is NO_VALUE else settled.result,
            not settled.error,
            settled.ran,
            settled.denied,
            elapsed_ms,
        )
    )
    if settled.ran and scope.gates.repeated_call_note:
        _note_repeat(h, scope, call, iteration, settled)


async def _gated(h: Handle, scope: RunScope, call: ToolCall, iteration: int) -> Settled | Passed:
    """Put a call through its gates: what it came to already, or what it may run with."""
    tool = scope.offer.by_name.get(call.name)
    args = frozen_args(call)
    if scope.rules is not None:
        gated = await scope.rules.gate(h, scope, call, iteration, tool)
        if isinstance(gated, Settled):
            return gated
        args = gated
    if tool is None:
        text = unknown_tool(call.name)
        return Settled(text, result=text, error=True)
    if call.args_error is not None:
        return refused_call(refused_arguments(call.name, call.args_error.problem))
    checked = validated(h, scope, tool, call, args, iteration)
    if isinstance(checked, Settled):
        return checked
    if tool.check_in is not None and not questions_are_answered():
        from agentfootprint.agent.pausing.checking import ask_if_it_trips  # for tools that declare a check-in

        await ask_if_it_trips(h, scope, tool, call, args, iteration)
    return Passed(tool, args, checked)


def _note_repeat(h: Handle, scope: RunScope, call: ToolCall, iteration: int, settled: Settled) -> None:
    """Tell the model, once, that it asked the same and got the same (AGT-70)."""
    rules = scope.offer.by_name[call.name].rules
    mode = "result" if rules is None else rules.repeated_when
    if scope.repeated.landed(call.name, frozen_args(call), settled.text, mode) != 2:  # noqa: PLR2004  the second time exactly
        return
    key = repeated_call_key(call.name, call.args, settled.text, mode)
    scope.emit(
        h,
        ToolsRepeatedCall(
            tool_name=call.name,
            tool_call_id=call.id,
            iteration=iteration,
            occurrences=2,
            args_fingerprint=key.args_fingerprint,
            result_fingerprint=key.result_fingerprint,
            mode=None if mode == "result" else mode,
        ),
    )
    settled.text += repeated_call_note(call.name, mode)
