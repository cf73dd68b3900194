"""How is an agent asked to replay a run of its own?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agentfootprint._blocking import blocking

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.options import Gates, Limits, ModelSettings
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.replaying.feeding import Replay
    from agentfootprint.recording import Recording
    from agentfootprint.trace import JsonObject

__all__ = ["Replaying"]


class Replaying:
    """What an agent does to replay a run of its own."""

    async def replay(
        self,
        recording: Recording,
        *,
        paused: Paused | PauseCheckpoint | JsonObject | None = None,
        deps: object = None,
        settings: ModelSettings | None = None,
        limits: Limits | None = None,
        gates: Gates | None = None,
    ) -> Replay:
        """Feed a recorded run through the loop once more, and say whether it says the same: a test of the loop.

        No model is asked, no tool runs, nobody who listens to the agent hears of it. Rules, checkers, triggers and
        validators do run. Compared are the events, but for clocks; a recording of the wire form in its own form.

        Args:
            recording: The run: of this process, or of a file in either form.
            paused: The checkpoint that the run was resumed from, when it was.
            deps: Your own object, given to rules again; it was not recorded.
            settings: As they were given to the run.
            limits: As they were given to the run.
            gates: As they were given to the run.

        Raises:
            ReplayRefusedError: Another agent made it, it has no end, or it holds nothing to feed; `reason` says which.

        Example:
            >>> from agentfootprint import Agent, Mock
            >>> agent = Agent(Mock("Paris."))
            >>> agent.replay_sync(agent.run_sync("What is the capital of France?").recording).same
            True
        """
        from agentfootprint.agent.replaying.feeding import replay

        return await replay(cast("Agent[Any, Any]", self), recording, paused, deps, (settings, limits, gates))

    replay_sync = blocking(replay)
