"""What is the output when the answer missed it: the fallback's value, the canned one, or none (02 s.15.4)?

The tiers run inside the run, when its turn has ended: their events are the run's own, and the result's output is final.
"""

from __future__ import annotations

import logging
from typing import Final

from agentfootprint.agent.errors import OutputSchemaError
from agentfootprint.agent.finish import prepare_final
from agentfootprint.agent.output import Miss, OutputContract
from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.shaping.schemas import miss_of
from agentfootprint.events import ResilienceOutputCannedUsed, ResilienceOutputFallbackTriggered
from agentfootprint.flow import Handle

__all__ = ["prepare_final_with_tiers", "try_tiers"]

_log = logging.getLogger(__name__)
_PREVIEW: Final = 200


async def prepare_final_with_tiers(h: Handle) -> None:
    """Close the turn, and put something in the place of an answer that missed."""
    scope: RunScope = h.run.scope
    prepare_final(h)
    contract = scope.plan.output
    assert contract is not None  # noqa: S101  the chart mounts this only with one
    if scope.miss is not None and not scope.has_output:
        await try_tiers(h, scope, contract, scope.miss)


async def try_tiers(h: Handle, scope: RunScope, contract: OutputContract, miss: Miss) -> None:
    """Ask the fallback, then take the canned value; a run does not fail because both do.

    Args:
        h: The open step.
        scope: The run's; its output is set.
        contract: What was declared.
        miss: What was wrong with the answer.
    """
    spent = max(0, scope.attempts - 1)
    preview = scope.answer[:_PREVIEW]
    why = miss.error
    if contract.has_fallback:
        missed = OutputSchemaError(scope.answer, miss.stage, miss.path, scope.attempts)
        scope.emit(
            h,
            ResilienceOutputFallbackTriggered(
                stage=miss.stage, raw_output_preview=preview, primary_error_message=miss.error, retries_spent=spent
            ),
        )
        try:
            value = await contract.fall_back(missed, scope.answer)
        except Exception as error:  # noqa: BLE001  the caller's function; what it raised is kept for who reads the output
            scope.output_error = error
            why = miss_of(error).error
        else:
            scope.output_value, scope.output_source, scope.has_output = value, "fallback", True
            return
    if not contract.has_canned:
        return
    scope.emit(
        h, ResilienceOutputCannedUsed(raw_output_preview=preview, fallback_error_message=why, retries_spent=spent)
    )
    scope.output_value, scope.output_source, scope.has_output = contract.canned(), "canned", True
    if spent:
        _log.warning(
            "The output of run %s is the canned one, after %d answers that were paid for.",
            scope.facts.run_id,
            scope.attempts,
        )
