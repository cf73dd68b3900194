"""Does the loop of this agent, fed with what a recorded run heard, say the same once more (02 s.27.13)?

No model is asked and no tool runs. The application's own parts do run: checkers, rules, triggers, validators.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentfootprint.agent.loop import AgentRun
from agentfootprint.agent.replaying.comparing import ReplayDifference, first_difference
from agentfootprint.agent.replaying.heard import heard_in
from agentfootprint.agent.replaying.starting import (
    beginning_of,
    check_replayable,
    identity_of,
    ids_of,
    refuse_composed,
    refuse_if_stopped,
    refuse_redacted,
    resumption_of,
)
from agentfootprint.agent.replaying.told import (
    NothingHeard,
    RecordedModel,
    RecordedTeardown,
    RecordedThinking,
    RecordedTools,
)
from agentfootprint.tools import replaying

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.options import Gates, Limits, ModelSettings
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
    from agentfootprint.agent.pausing.entering import Resumption
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.events import Event
    from agentfootprint.recording import Recording
    from agentfootprint.trace import JsonObject

__all__ = ["Replay", "replay"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of replaying a recording."""

    difference: ReplayDifference | None
    """The first event that is not as it was; `None` when all are."""
    events: int
    """How many events the recording has."""
    recording: Recording
    """What the replay recorded."""

    @property
    def same(self) -> bool:
        """Whether the replay said what the recording has, event for event."""
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return f"The replay of {self.recording.run_id} is the same in all of its {self.events} events."
        return f"The replay of {self.recording.run_id} is not the same: {self.difference}."


async def replay(
    agent: Agent[Any, Any],
    recording: Recording,
    paused: Paused | PauseCheckpoint | JsonObject | None,
    deps: object,
    groups: tuple[ModelSettings | None, Limits | None, Gates | None],
) -> Replay:
    """Replay a recording.

    Args:
        agent: The agent that made it.
        recording: The run.
        paused: The checkpoint that it was resumed from.
        deps: What rules get again.
        groups: Settings, limits and gates as the run was given them.

    Raises:
        ReplayRefusedError: It can't be.
    """
    refuse_redacted(recording)
    refuse_composed(recording)
    events = recording.events
    heard = heard_in(recording, events)
    check_replayable(agent, recording, heard)
    copy = agent.without(())  # nobody listens to it, and its plan is its own
    if copy.plan.record.redaction is not None:  # what is compared is not served, and its recording has the real values
        copy.record = copy.plan.record = dataclasses.replace(copy.plan.record, redaction=None)
    resumed = resumption_of(copy, recording, events, paused)
    model = RecordedModel(copy.plan.provider, heard)
    copy.plan.provider = model
    if copy.plan.thinking is not None:
        copy.plan.thinking = RecordedThinking(copy.plan.thinking, model)
    tools = RecordedTools(heard, model)
    run = _begun(copy, recording, events, resumed, deps, groups)
    tools.scope = run.scope
    run.scope.teardown = run.scope.tool_run.teardown = RecordedTeardown(tools, run.scope)
    with replaying(tools):
        await _to_its_end(run)
    now = run.recording
    said: Sequence[Event[Any]] = now.events if recording.native else now.feed("wire").take()
    difference = first_difference(events, said)
    if difference is not None:
        refuse_if_stopped(recording, heard, events, said, difference.index)
    return Replay(difference, len(events), now)


def _begun(
    copy: Agent[Any, Any],
    recording: Recording,
    events: Sequence[Event[Any]],
    resumed: Resumption | None,
    deps: object,
    groups: tuple[ModelSettings | None, Limits | None, Gates | None],
) -> AgentRun:
    message = recording.user_message or "" if resumed is None else resumed.message
    session_id = events[0].meta.session_id
    settings, limits, gates = groups
    if resumed is not None:  # a run that is taken up keeps what it was given
        stored = resumed.live.groups
        settings, limits, gates = settings or stored[0], limits or stored[1], gates or stored[2]
    return AgentRun(
        copy,
        message,
        deps=deps,
        identity=identity_of(recording, session_id) if resumed is None else resumed.identity,
        session_id=session_id,
        settings=settings,
        limits=limits,
        gates=gates,
        options=ids_of(recording, events, copy.plan.model),
        resumed=resumed,
        continued=None if resumed is not None else beginning_of(copy, recording, message),
    )


async def _to_its_end(run: AgentRun) -> None:
    """Run; whatever ends it stands in its recording."""
    try:
        await run.execute()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():  # the replay itself
            raise
    except (NothingHeard, Exception):  # noqa: BLE001  as the recorded run may have ended too
        _log.debug("The replay of %s failed.", run.facts.run_id)
