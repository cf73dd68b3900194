"""How is the agent started: on a new message, or on the answers to what it asked?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from agentfootprint.agent import Agent, resume_stream, with_context
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from agentfootprint.agent import Checkpoint, Paused, RunHandle, RunOptions, RunResult
    from agentfootprint.context import Fact
    from agentfootprint.identity import Identity
    from agentfootprint.trace import Value

__all__ = ["Start", "check_runner"]


def check_runner(agent: object) -> None:
    """Refuse what can't be run as a stream.

    Raises:
        ConfigError: It is no agent.
    """
    if isinstance(agent, type) or not callable(getattr(agent, "stream", None)):
        raise ConfigError(
            "agent", f"A {type(agent).__name__} is no agent.", fix="Give an Agent, or what is run like one."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a run begins with."""

    owner: Identity
    session_id: str
    facts: list[Fact]
    options: RunOptions | None
    message: str | None = None
    """What the user says; or, without it:"""
    paused: Paused | None = None
    answer: Value = None
    conversation: Checkpoint | None = None

    def stream(self, agent: Any) -> AbstractAsyncContextManager[RunHandle[Any]] | RunResult[Any]:  # noqa: ANN401  whatever runs
        """Begin; all refusals of the agent come here, and nothing has happened yet.

        Returns:
            The run, to enter; or its result, where it waits on and takes no step.
        """
        named = self.owner if self.owner.principal is not None or self.owner.tenant is not None else None
        if isinstance(agent, Agent):
            return self._of_agent(cast("Agent[Any, Any]", agent), named)
        if self.paused is not None:
            again: Any = getattr(agent, "resume_stream", None)
            if again is None:
                raise ConfigError(
                    "agent", f"A {type(agent).__name__} can't be resumed as a stream.", fix="Serve an Agent."
                )
            return again(self.paused, self.answer, identity=named, options=self.options)
        return agent.stream(self.message, identity=named, session_id=self.session_id, options=self.options)

    def _of_agent(
        self, agent: Agent[Any, Any], named: Identity | None
    ) -> AbstractAsyncContextManager[RunHandle[Any]] | RunResult[Any]:
        if self.facts:
            agent = with_context(agent, self.facts)
        if self.paused is not None:
            return resume_stream(agent, self.paused, self.answer, identity=named, options=self.options)
        return agent.stream(
            self.message or "",
            identity=named,
            session_id=self.session_id,
            continue_from=self.conversation,
            options=self.options,
        )
