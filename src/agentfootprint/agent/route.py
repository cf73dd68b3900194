"""Where the loop goes after a reply: to its tool calls, back with a question of the library's own, or to the end.

The decider judges and says which branch (02 s.9); the branches that loop back append what the model reads next.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, TypeAlias

from agentfootprint.agent.output import Miss
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import WRAP_UP_INSTRUCTION, schema_correction
from agentfootprint.events import (
    BudgetExhausted,
    CostLimitHit,
    IterationEnd,
    OutputContractUnmet,
    OutputSchemaRetry,
    RouteDecided,
)
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenDict, FrozenList, fnv1a, freeze

__all__ = ["retry_output", "route", "wrap_up"]

Branch: TypeAlias = Literal["tool-calls", "wrap-up", "output-retry", "final"]

_log = logging.getLogger(__name__)
_NO_ROWS: Final = FrozenList([], 0)


def route(h: Handle) -> str:
    """Choose the branch (02 s.9.1, 9.2)."""
    scope: RunScope = h.run.scope
    calls: FrozenList = h["llmLatestToolCalls"]
    iteration: int = h["iteration"]
    h["costBudgetHit"]
    maximum: int = h["maxIterations"]
    out = iteration >= maximum
    if len(calls) and not out and not scope.wrap_up_asked:
        return _decided(h, scope, iteration, "tool-calls", f"{len(calls)} tool call(s) proposed")
    if out and len(calls) and not scope.wrap_up_asked:
        return _cut(h, scope, iteration, maximum, len(calls))
    if scope.wrap_up_asked:
        _close_early_stop(h, scope)
    contract = scope.plan.output
    if contract is not None:
        value, miss = contract.judge(scope.response.content if scope.response else "")
        if miss is None:
            scope.output_value = value
            scope.has_output = True
            _attempt(h, scope, iteration, "passed", None)
        elif scope.attempts < contract.retries:
            scope.miss = miss
            return _decided(h, scope, iteration, "output-retry", "the answer does not fit the output type")
        else:
            _unmet(h, scope, iteration, miss)
    return _decided(h, scope, iteration, "final", "no tool call proposed" if not len(calls) else "the wrap-up answer")


def _decided(h: Handle, scope: RunScope, iteration: int, chosen: Branch, why: str) -> str:
    scope.emit(h, RouteDecided(turn_index=0, iter_index=iteration, chosen=chosen, rationale=why))
    return chosen


def _cut(h: Handle, scope: RunScope, iteration: int, maximum: int, pending: int) -> str:
    """The iteration limit cuts a turn that still has calls pending (AGT-133, AGT-135)."""
    wraps = scope.plan.wraps_up and scope.limits.wrap_up
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
    scope.ended_because = "budget"
    if not wraps:
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


def _attempt(
    h: Handle, scope: RunScope, iteration: int, outcome: str, miss: Miss | None, hash_: str | None = None
) -> None:
    scope.attempts += 1
    row: dict[str, object] = {"attempt": scope.attempts, "iteration": iteration, "outcome": outcome}
    if miss is not None:
        row |= {"stage": miss.stage, "error": miss.error}
        if miss.path:
            row["path"] = miss.path
    if hash_ is not None:
        row["correctiveMessageHash"] = hash_
    h["outputAttempts"] = h.get("outputAttempts", _NO_ROWS).append(freeze(row))


def _unmet(h: Handle, scope: RunScope, iteration: int, miss: Miss) -> None:
    """The answer stands, and that it does not fit is said once (AGT-127)."""
    contract = scope.plan.output
    assert contract is not None  # noqa: S101  only called with one
    _attempt(h, scope, iteration, "exhausted", miss)
    spent = scope.attempts - 1
    unmet: dict[str, object] = {"stage": miss.stage, "error": miss.error}
    if miss.path:
        unmet["path"] = miss.path
    unmet |= {"attempts": scope.attempts, "retriesSpent": spent, "fallbackConfigured": False}
    scope.unmet = FrozenDict(unmet)
    scope.ended_because = "output_unmet" if scope.ended_because == "answer" else scope.ended_because
    h["outputContractUnmet"] = scope.unmet
    scope.emit(
        h,
        OutputContractUnmet(
            stage=miss.stage,
            error=miss.error,
            path=miss.path,
            attempts=scope.attempts,
            retries_spent=spent,
            fallback_configured=False,
            iteration=iteration,
        ),
    )
    _log.warning("The answer of run %s does not fit the declared output type.", scope.facts.run_id)


def wrap_up(h: Handle) -> None:
    """Ask once more, without tools (AGT-135)."""
    scope: RunScope = h.run.scope
    scope.wrap_up_asked = True
    h["wrapUpAsked"] = True
    _again(h, scope, [LLMMessage("user", WRAP_UP_INSTRUCTION)])


def retry_output(h: Handle) -> None:
    """Show the answer and what was wrong with it, and ask again (AGT-124)."""
    scope: RunScope = h.run.scope
    contract, miss = scope.plan.output, scope.miss
    assert contract is not None and miss is not None  # noqa: S101, PT018  the route judged so
    iteration: int = h["iteration"]
    answer: str = h["llmLatestContent"]
    correction = schema_correction(scope.attempts + 1, contract.retries + 1, miss.error)
    digest = fnv1a(correction)
    _attempt(h, scope, iteration, "retried", miss, digest)
    scope.emit(
        h,
        OutputSchemaRetry(
            attempt=scope.attempts,
            retries_remaining=contract.retries - scope.attempts,
            iteration=iteration,
            stage=miss.stage,
            error=miss.error,
            path=miss.path,
            corrective_message_hash=digest,
        ),
    )
    _again(h, scope, [LLMMessage("assistant", answer), LLMMessage("user", correction)])


def _again(h: Handle, scope: RunScope, messages: list[LLMMessage]) -> None:
    """Close this iteration with more in the history and open the next (AGT-53)."""
    iteration: int = h["iteration"]
    history: FrozenList = h["history"].extend(messages)
    h["history"] = history
    scope.emit(h, IterationEnd(turn_index=0, iter_index=iteration, tool_call_count=0, history=history))
    h["iteration"] = iteration + 1
