"""Does the answer fit the declared output, and if not: asked again, or reported (02 s.15.2)?

Every answer that would end the turn is judged once, the retries included. The text that is judged is the one that the
caller would get: message rules at the output come first.
"""

from __future__ import annotations

import logging
from typing import Final, Literal, TypeAlias

from agentfootprint.agent.output import Miss, OutputContract
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.texts import SCHEMA_CHECK_FRAME_PREFIX, schema_correction
from agentfootprint.events import OutputContractUnmet, OutputSchemaRetry
from agentfootprint.flow import Handle
from agentfootprint.llm import LLMMessage
from agentfootprint.trace import FrozenDict, FrozenList, fnv1a, freeze

__all__ = ["Verdict", "correct", "corrective_turn", "is_schema_check_message", "judge_answer"]

Verdict: TypeAlias = Literal["fits", "again", "misses"]

_log = logging.getLogger(__name__)
_NO_ROWS: Final = FrozenList([], 0)


def judge_answer(
    h: Handle,
    scope: RunScope,
    contract: OutputContract,
    iteration: int,
    text: str,
    *,
    may_retry: bool = True,
    raw: str | None = None,
    changed_by: str | None = None,
) -> Verdict:
    """Judge an answer, and record how it came out.

    Args:
        h: The step that judges.
        scope: The run's.
        contract: What was declared.
        iteration: The iteration, from 1.
        text: What the caller would get.
        may_retry: Whether the run may go on at all; a limit that ends it takes the retries with it.
        raw: What the model said, where output rules changed it.
        changed_by: The last rule that did; if what the model said fits, that rule broke it, and asking again would not
            help (AGT-128).

    Returns:
        `again` when another answer is to be asked for.
    """
    stop_reason = scope.response.stop_reason if scope.response is not None else "stop"
    value, miss = contract.judge(text, stop_reason=stop_reason)
    if miss is None:
        scope.output_value = value
        scope.output_source = "model"
        scope.has_output = True
        scope.miss = None
        _attempt(h, scope, iteration, "passed", None)
        return "fits"
    scope.miss = miss
    broken_by = None
    if raw is not None and raw != text and contract.judge(raw)[1] is None:
        broken_by = changed_by
    if scope.attempts < contract.retries and broken_by is None:
        if may_retry:
            return "again"
        if scope.ended_because == "answer":
            scope.ended_because = "budget"  # a further answer was allowed, and a limit stood before it
    _unmet(h, scope, contract, iteration, miss, broken_by)
    return "misses"


def correct(h: Handle, scope: RunScope, contract: OutputContract, miss: Miss) -> list[LLMMessage]:
    """The answer that missed and what was wrong with it, for the model to read (AGT-124); recorded as a retry."""
    iteration: int = h["iteration"]
    answer: str = h["llmLatestContent"]
    turn = corrective_turn(answer, miss.error, attempt=scope.attempts + 1, total=contract.retries + 1)
    digest = fnv1a(turn[-1].content)
    _attempt(h, scope, iteration, "retried", miss, hash_=digest)
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
    return turn


def corrective_turn(answer: str, report: str, *, attempt: int, total: int) -> list[LLMMessage]:
    """The two messages that a retry puts back: the answer as it was, and the validator's report as data (AGT-124)."""
    return [LLMMessage("assistant", answer), LLMMessage("user", schema_correction(attempt, total, report))]


def is_schema_check_message(message: LLMMessage) -> bool:
    """Whether a message is the library's own, of a retry; by its prefix, which is protocol."""
    return message.role == "user" and message.content.startswith(SCHEMA_CHECK_FRAME_PREFIX)


def _attempt(
    h: Handle,
    scope: RunScope,
    iteration: int,
    outcome: str,
    miss: Miss | None,
    *,
    hash_: str | None = None,
    broken_by: str | None = None,
) -> None:
    scope.attempts += 1
    row: dict[str, object] = {"attempt": scope.attempts, "iteration": iteration, "outcome": outcome}
    if miss is not None:
        row |= {"stage": miss.stage, "error": miss.error}
        if miss.path:
            row["path"] = miss.path
    if hash_ is not None:
        row["correctiveMessageHash"] = hash_
    if broken_by is not None:
        row["brokenBy"] = broken_by
    h["outputAttempts"] = h.get("outputAttempts", _NO_ROWS).append(freeze(row))


def _unmet(
    h: Handle, scope: RunScope, contract: OutputContract, iteration: int, miss: Miss, broken_by: str | None
) -> None:
    """The answer stands, and that it does not fit is said once (AGT-127)."""
    _attempt(h, scope, iteration, "exhausted", miss, broken_by=broken_by)
    spent = scope.attempts - 1
    unmet: dict[str, object] = {"stage": miss.stage, "error": miss.error}
    if miss.path:
        unmet["path"] = miss.path
    unmet |= {"attempts": scope.attempts, "retriesSpent": spent, "fallbackConfigured": contract.has_tiers}
    if broken_by is not None:
        unmet["brokenBy"] = broken_by
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
            fallback_configured=contract.has_tiers,
            iteration=iteration,
            broken_by=broken_by,
        ),
    )
    _log.warning("The answer of run %s does not fit the declared output type.", scope.facts.run_id)
