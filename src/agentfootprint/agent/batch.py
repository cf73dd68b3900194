"""The stage that runs the tool calls of a reply, one after the other, and writes what the model reads next (02 s.10).

Every proposal gets exactly one answer, in call order (AGT-57). A tool that raises is an answer, not a failure.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, cast

from agentfootprint.agent.finish import turn_end
from agentfootprint.agent.result import ToolCallRecord
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import CUT_OFF_TEXT, refused_arguments, unknown_tool
from agentfootprint.events import (
    IterationEnd,
    MetaMarks,
    Payload,
    ToolEnd,
    ToolsAbsent,
    ToolsCoverageDeclared,
    ToolsRepeatedCall,
    ToolStart,
    ValidationArgsInvalid,
)
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage, NotDispatched, ToolCall
from agentfootprint.tools import (
    NO_VALUE,
    CallContext,
    CheckedArgs,
    CoverageReading,
    check_args,
    current_cassette,
    execute_tool,
    refused_args_text,
    repeated_call_key,
    repeated_call_note,
)
from agentfootprint.trace import FrozenDict, FrozenList, Value

if TYPE_CHECKING:
    from agentfootprint.tools import ToolStatus

__all__ = ["run_tool_calls"]

_MARKS: Final = tuple(MetaMarks(tool_ordinal=ordinal) for ordinal in range(8))
"""The marks of the first calls of a batch, made once."""


def frozen_args(call: ToolCall) -> FrozenDict:
    """The arguments of a call, which its constructor froze."""
    return cast("FrozenDict", call.args)


class Settled:
    """What one call came to."""

    __slots__ = ("coverage", "error", "ran", "refused", "result", "status", "text")

    def __init__(self, text: str, *, result: Value = NO_VALUE, error: bool = False, ran: bool = False) -> None:
        self.text = text
        self.result = result
        self.error = error
        self.ran = ran
        self.refused = False
        self.status: ToolStatus | None = None
        self.coverage: CoverageReading | None = None


async def run_tool_calls(h: Handle) -> None:
    """Run the batch of the latest reply and hand the results to the next iteration."""
    scope: RunScope = h.run.scope
    calls: FrozenList = h["llmLatestToolCalls"]
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    content: str = h["llmLatestContent"]
    blocks: FrozenList = h["thinkingBlocks"]
    h["runIdentity"]
    messages = [LLMMessage("assistant", content, tool_calls=tuple(calls), thinking_blocks=tuple(blocks))]
    if scope.response is not None and scope.response.stop_reason == "max_tokens":
        _settle_cut(h, scope, iteration, history, calls, messages)
        return
    scope.step = h
    results: list[FrozenDict] = []
    count = len(calls)
    for ordinal, call in enumerate(calls):
        settled = await _one(h, scope, call, iteration, (ordinal, count))
        messages.append(LLMMessage("tool", settled.text, tool_call_id=call.id, tool_name=call.name))
        row = {"toolName": call.name, "result": settled.text}
        status = {} if settled.status is None else {"status": settled.status}
        results.append(FrozenDict({**row, "toolCallId": call.id, **status}))
        if ordinal == count - 1:
            h["lastToolResult"] = FrozenDict({**row, **status})
    h["toolResults"] = FrozenList(results, count)
    new = history.extend(messages)
    h["history"] = new
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=count, history=new))
    if scope.invalid_in_a_row >= scope.limits.invalid_args:
        scope.ended_because = "refused"
        scope.answer = content
        scope.emit(h, turn_end(scope, iteration, h["totalInputTokens"], h["totalOutputTokens"]))
        h.break_("too many calls in a row had arguments that could not be used")
        return
    h["iteration"] = iteration + 1


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
    ordinal, count = place
    marks = scope.marks = _MARKS[ordinal] if ordinal < len(_MARKS) else MetaMarks(tool_ordinal=ordinal)
    start = ToolStart(
        tool_name=call.name, tool_call_id=call.id, args=call.args, parallel_count=count if count > 1 else None
    )
    scope.emit(h, start, marks)
    started = perf_counter_ns()
    settled = await _settle(h, scope, call, iteration)
    elapsed_ms = (perf_counter_ns() - started) // 1_000_000
    if settled.coverage is not None:
        _declare_coverage(h, scope, call, iteration, settled.coverage)
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
        ToolCallRecord(
            call.name,
            frozen_args(call),
            None if settled.result is NO_VALUE else settled.result,
            ok=not settled.error,
            dispatched=settled.ran,
            duration_ms=elapsed_ms,
        )
    )
    if settled.ran and scope.gates.repeated_call_note:
        _note_repeat(h, scope, call, iteration, settled)
    return settled


async def _settle(h: Handle, scope: RunScope, call: ToolCall, iteration: int) -> Settled:
    tool = scope.plan.tools.get(call.name)
    if tool is None:
        text = unknown_tool(call.name)
        return Settled(text, result=text, error=True)
    if call.args_error is not None:
        return _refused(refused_arguments(call.name, call.args_error.problem))
    mode = scope.gates.tool_args
    checked: CheckedArgs | None = None
    if mode != "off":
        checked = check_args(tool, frozen_args(call))
        if checked.issues:
            scope.emit(
                h,
                ValidationArgsInvalid(
                    tool_name=call.name,
                    tool_call_id=call.id,
                    iteration=iteration,
                    issues=checked.issues,
                    enforced=mode == "enforce",
                ),
            )
            if mode == "enforce":
                return _refused(refused_args_text(call.name, checked.issues))
    cassette = current_cassette()
    replayed = None if cassette is None else cassette.answer(call.name, call.args)
    if replayed is not None:
        return Settled(replayed.text, result=replayed.value, error=replayed.is_error, ran=True)
    context = CallContext(
        scope.tool_run, tool_name=call.name, tool_call_id=call.id, iteration=iteration, args=frozen_args(call)
    )
    done = await execute_tool(tool, frozen_args(call), context, checked=checked)
    settled = Settled(done.text, result=done.value, error=done.is_error, ran=True)
    settled.status = done.status
    settled.coverage = done.coverage
    return settled


def _refused(text: str) -> Settled:
    settled = Settled(text, result=text, error=True)
    settled.refused = True
    return settled


def _declare_coverage(h: Handle, scope: RunScope, call: ToolCall, iteration: int, reading: CoverageReading) -> None:
    """File what a result says about its reach (RES-16)."""
    for each in reading.declared:
        lists = each.coverage
        if each.kind == "absence":
            payload: Payload = ToolsAbsent(
                tool_name=call.name,
                tool_call_id=call.id,
                iteration=iteration,
                looked_for=each.looked_for,
                checked=lists.checked,
                not_checked=lists.not_checked or None,
                cannot_cover=lists.cannot_cover or None,
            )
        else:
            payload = ToolsCoverageDeclared(
                tool_name=call.name,
                tool_call_id=call.id,
                iteration=iteration,
                checked=lists.checked or None,
                not_checked=lists.not_checked or None,
                cannot_cover=lists.cannot_cover or None,
            )
        scope.emit(h, payload)


def _note_repeat(h: Handle, scope: RunScope, call: ToolCall, iteration: int, settled: Settled) -> None:
    """Tell the model, once, that it asked the same and got the same (AGT-70)."""
    rules = scope.plan.tools[call.name].rules
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
