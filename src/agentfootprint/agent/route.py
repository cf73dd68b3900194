"""Where the loop goes after a reply: to its tool calls, back with a question of the library's own, or to the end.

The decider says which branch (02 s.9); the branches that loop back append what the model reads next.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Literal, TypeAlias

from agentfootprint.agent.judging.answers import Verdict, correct, judge_answer
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import WRAP_UP_INSTRUCTION
from agentfootprint.events import BudgetExhausted, CostLimitHit, IterationEnd, RouteDecided
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenList, freeze

if TYPE_CHECKING:
    from agentfootprint.agent.gating.gates import RunGates

__all__ = ["retry_output", "route", "wrap_up"]

Branch: TypeAlias = Literal["tool-calls", "wrap-up", "output-retry", "final"]

_log = logging.getLogger(__name__)


def route(h: Handle) -> str | Awaitable[str]:
    """Choose the branch (02 s.9.1, 9.2)."""
    scope: RunScope = h.home.run.scope
    if scope.rules is not None and scope.rules.messages:
        return _heard(h, scope, scope.rules)
    return _choose(h, scope)


async def _heard(h: Handle, scope: RunScope, rules: RunGates) -> str:
    """Choose, with the answer put to the rules at the output: before all else that judges it (AGT-51).

    Where nothing else does, the branch is said first (AGT-52).
    """
    iteration: int = h["iteration"]
    if scope.plan.output is not None:
        if _ends(h, scope):
            await rules.speak(h, scope, iteration)
        return _choose(h, scope)
    chosen = _choose(h, scope)
    if chosen == "final":
        await rules.speak(h, scope, iteration)
    return chosen


def _ends(h: Handle, scope: RunScope) -> bool:
    """Whether the reply would be the answer, were it not asked for again."""
    if not len(h["llmLatestToolCalls"]) or scope.wrap_up_asked:
        return True
    if h["costBudgetHit"] and h.get("costBudgetOnExceed") == "halt":
        return True
    return h["iteration"] >= h["maxIterations"] and not (scope.plan.wraps_up and scope.limits.wrap_up)


def _choose(h: Handle, scope: RunScope) -> str:
    calls: FrozenList = h["llmLatestToolCalls"]
    iteration: int = h["iteration"]
    hit: bool = h["costBudgetHit"]
    maximum: int = h["maxIterations"]
    halted = hit and h.get("costBudgetOnExceed") == "halt"
    if len(calls) and not scope.wrap_up_asked:
        if halted:  # before the iteration limit: a wrap-up would spend past the budget (AGT-50)
            return _halt(h, scope, iteration, len(calls))
        if iteration < maximum:
            return _decided(h, scope, iteration, "tool-calls", f"{len(calls)} tool call(s) proposed")
        return _cut(h, scope, iteration, maximum, len(calls))
    if scope.wrap_up_asked:
        _close_early_stop(h, scope)
    if _judged(h, scope, iteration, may_retry=not halted) == "again":
        return _decided(h, scope, iteration, "output-retry", "the answer does not fit the output type")
    return _decided(h, scope, iteration, "final", "no tool call proposed" if not len(calls) else "the wrap-up answer")


def _judged(h: Handle, scope: RunScope, iteration: int, *, may_retry: bool) -> Verdict | None:
    contract = scope.plan.output
    if contract is None:
        return None
    spoken = scope.spoken
    if spoken is None:
        answer = scope.response.content if scope.response else ""
        return judge_answer(h, scope, contract, iteration, answer, may_retry=may_retry)
    if spoken.is_denied:  # by nobody else (AGT-129), and nothing stands in for it
        scope.miss = None
        return None
    raw, by = spoken.raw, spoken.changed_by
    return judge_answer(h, scope, contract, iteration, spoken.text, may_retry=may_retry, raw=raw, changed_by=by)


def _decided(h: Handle, scope: RunScope, iteration: int, chosen: Branch, why: str) -> str:
    scope.emit(h, RouteDecided(turn_index=0, iter_index=iteration, chosen=chosen, rationale=why))
    return chosen


def _cut(h: Handle, scope: RunScope, iteration: int, maximum: int, pending: int) -> str:
    """The iteration limit cuts a turn that still has calls pending (AGT-133, AGT-135)."""
    wraps = scope.plan.wraps_up and scope.limits.wrap_up
    scope.ended_because = "budget"
    if not wraps:
        _judged(h, scope, iteration, may_retry=False)
    chosen = _decided(h, scope, iteration, "wrap-up" if wraps else "final", f"the limit of {maximum} iterations")
    scope.emit(h, CostLimitHit(kind="max_iterations", limit=maximum, actual=iteration, action="abort"))
    scope.emit(
        h,
        BudgetExhausted(
            reason="max-iterations",
            iteration=iteration,
            limit=maximum,
            pending_tool_calls=pending,
            action="wrapped-up" if wraps else "cut-short",
        ),
    )
    scope.stopped_early = {"reason": "max-iterations", "iteration": iteration, "pendingToolCalls": pending}
    if not wraps:
        _close_early_stop(h, scope)
    return chosen


def _halt(h: Handle, scope: RunScope, iteration: int, pending: int) -> str:
    """The cost budget ends a turn that still has calls pending; what was answered beside them stands (AGT-139)."""
    scope.ended_because = "budget"
    _judged(h, scope, iteration, may_retry=False)
    why = "the cost budget is spent"
    if scope.purse is not None and scope.spending is not None and scope.purse.crossed(scope.spending) == "unpriced":
        why = "the cost of a call is not known, so the cost budget can't be kept"
    chosen = _decided(h, scope, iteration, "final", why)
    scope.emit(
        h,
        BudgetExhausted(reason="cost-budget", iteration=iteration, pending_tool_calls=pending, action="cut-short"),
    )
    scope.stopped_early = {"reason": "cost-budget", "iteration": iteration, "pendingToolCalls": pending}
    _close_early_stop(h, scope)
    return chosen


def _close_early_stop(h: Handle, scope: RunScope) -> None:
    empty = not (scope.response and scope.response.content)
    early = scope.stopped_early
    if early is None:
        return
    early["answerWasEmpty"] = empty
    if scope.wrap_up_asked:
        early["wrappedUp"] = True
    h["stoppedEarly"] = freeze(early)
    if empty:
        _log.warning("The run %s was stopped early and its answer is empty.", scope.facts.run_id)


def wrap_up(h: Handle) -> None:
    """Ask once more, without tools (AGT-135)."""
    scope: RunScope = h.home.run.scope
    scope.wrap_up_asked = True
    h["wrapUpAsked"] = True
    _again(h, scope, [LLMMessage("user", WRAP_UP_INSTRUCTION)])


def retry_output(h: Handle) -> None:
    """Show the answer and what was wrong with it, and ask again (AGT-124)."""
    scope: RunScope = h.home.run.scope
    contract, miss = scope.plan.output, scope.miss
    assert contract is not None and miss is not None  # noqa: S101, PT018  the route judged so
    _again(h, scope, correct(h, scope, contract, miss))


def _again(h: Handle, scope: RunScope, messages: list[LLMMessage]) -> None:
    """Close this iteration with more in the history and open the next (AGT-53)."""
    iteration: int = h["iteration"]
    history: FrozenList = h["history"].extend(messages)
    h["history"] = history
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=0, history=history))
    h["iteration"] = iteration + 1
