"""How does a run that paused hand over: the event that says so, and the checkpoint with all that the answer needs?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from agentfootprint.agent.options import Gates, Limits, ModelSettings
from agentfootprint.agent.pausing.checkpoint import LiveParts, PauseCheckpoint, PauseFacts
from agentfootprint.agent.pausing.paused import Paused, paused_of
from agentfootprint.agent.scope import RunScope
from agentfootprint.events import PauseRequest
from agentfootprint.flow import PauseCheckpoint as EngineCheckpoint
from agentfootprint.trace import FrozenDict, JsonObject, freeze

__all__ = ["leave"]

_NO_REASON: Final = "stage requested pause"


def leave(
    scope: RunScope,
    checkpoint: EngineCheckpoint,
    *,
    groups: tuple[ModelSettings | None, Limits | None, Gates | None],
) -> Paused:
    """Say that the run waits (AGT-75), and make what it waits with.

    Args:
        scope: The run's.
        checkpoint: The engine's.
        groups: Options that were given to the run.
    """
    data = checkpoint.pause_data
    asked: JsonObject = freeze(data if type(data) is FrozenDict else {"data": data})
    reason = asked.get("reason")
    scope.emit(
        f"{checkpoint.paused_stage_id}#paused",
        PauseRequest(
            reason=reason if isinstance(reason, str) and reason else _NO_REASON, question_payload=_shown(asked)
        ),
    )
    run = scope.tool_run
    facts = PauseFacts(
        run_id=scope.facts.run_id,
        origin_run_id=run.origin_run_id or scope.facts.run_id,
        call_counts=run.calls.counts(),
        agent_id=scope.plan.chosen_id,
        identity=scope.identity,
        session_id=scope.facts.session_id,
    )
    live = LiveParts(scope.teardown, scope.held, groups)
    return paused_of(PauseCheckpoint.of(checkpoint, facts, live))


def _shown(asked: JsonObject) -> JsonObject:
    """The question as it goes into an event: without the address that a person gives their consent at."""
    consent = asked.get("authorization")
    if not isinstance(consent, Mapping):
        return asked
    kept = {key: value for key, value in cast("JsonObject", consent).items() if key != "authorizationUrl"}
    return freeze({**asked, "authorization": kept})
