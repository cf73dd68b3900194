"""What does a server need of a run: to follow it at its own pace, to take up one that waits, to say more to it?

A reader is a cursor over the run's log (DEC-27): however far it falls behind, the run goes on and nothing is kept for
it. How far that is, is known, so that a server can let go of a client that no longer reads (SSE-3).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agentfootprint.agent.handle import RunHandle, RunStream
from agentfootprint.agent.pausing.entering import accept_answer
from agentfootprint.events import Event, LLMEnd, Token
from agentfootprint.recording import EventCursor, Place, hold

if TYPE_CHECKING:
    from agentfootprint.agent.agent import Agent
    from agentfootprint.agent.options import RunOptions
    from agentfootprint.agent.pausing.checkpoint import PauseCheckpoint
    from agentfootprint.agent.pausing.decisions import Decision
    from agentfootprint.agent.pausing.paused import Paused
    from agentfootprint.agent.result import RunResult
    from agentfootprint.context import ContextItem
    from agentfootprint.identity import Identity
    from agentfootprint.trace import JsonObject, Value

__all__ = ["RunReader", "resume_stream", "with_context"]

_SPOKEN: Final = (Token.type, LLMEnd.type)


def _spoken(rows: Sequence[object], place: Place) -> Iterator[str]:
    """The texts of tokens and replies as they were said, in order; asked for one only where there is one."""
    while True:
        row = rows[place.position]
        place.position += 1
        payload: object = cast("Event[object]", row).payload if isinstance(row, Event) else None
        if isinstance(payload, (Token, LLMEnd)):
            yield payload.content


class RunReader:
    """Reads the events of a run from the beginning, and knows how far behind it is.

    Args:
        handle: The run's.
    """

    def __init__(self, handle: RunHandle[Any]) -> None:
        self._handle = handle
        self._taken = 0
        self._left = 0
        self.text: str | None = None
        """Of the event that was read last, where it is a token or a reply and a policy covers the record: the text that
        the agent hands back to its caller, which no policy covers (NEW-101)."""

    @property
    def lag(self) -> int:
        """How many rows of the log, and events of the last batch, the reader has yet to see."""
        journal = self._handle.recording.journal
        return self._left if journal is None else self._left + len(journal.rows) - self._taken

    def __aiter__(self) -> AsyncIterator[Event[Any]]:
        return self._read()

    async def _read(self) -> AsyncGenerator[Event[Any]]:
        handle = self._handle
        scope = handle._run.scope  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the handle's own room
        rows = scope.journal.rows
        spoken = None if scope.cover is None else _spoken(rows, hold(rows))  # what a policy keeps out is in no file
        cursor = EventCursor(handle.recording) if spoken is None else handle.recording.feed()  # which joins nothing
        journal = handle.recording.journal
        while True:
            finished = handle.is_over
            batch = cursor.take()
            self._taken = 0 if journal is None else len(journal.rows)
            self._left = len(batch)
            for event in batch:
                self._left -= 1
                if spoken is not None:
                    self.text = next(spoken) if event.type in _SPOKEN else None
                yield event
            if finished:
                return
            if not cursor.is_behind():
                await handle.changed()


def resume_stream(
    agent: Agent[Any, Any],
    paused: Paused | PauseCheckpoint | JsonObject,
    answer: Decision | Value,
    *,
    deps: object = None,
    identity: Identity | None = None,
    options: RunOptions | None = None,
) -> RunStream[Any] | RunResult[Any]:
    """As `Agent.resume`, with the rest of the turn as a stream to enter.

    Args:
        agent: The one that paused, or one built alike; a composition too.
        paused: The question, or its checkpoint as it was stored.
        answer: As `Agent.resume` takes it.
        deps: Given to tools and rules again.
        identity: Whose run this is.
        options: Ids and recording of this run.

    Returns:
        The stream; or the result at once, where a request for values was answered in part and no step is taken.

    Raises:
        CheckpointFormatError: It is no checkpoint, or one of another agent.
        DecisionRequiredError: The question needs a decision.
        PauseAnswerRequiredError: No answer was given.
        StaleDecisionError: The answer was chosen on other data than the question showed.
        OpenQuestionsError: Several questions are open, and the answers are not one for each.
        InputRequestError: The reply does not fit the request for values.
    """
    own = getattr(agent, "resume_stream", None)
    if own is not None:  # a composition, whose agents have checkpoints of their own
        return own(paused, answer, deps=deps, identity=identity, options=options)
    accepted = accept_answer(agent.plan, paused, answer, identity=identity)
    settings, limits, gates = accepted.live.groups
    run = agent.accept(
        accepted.message,
        deps=deps,
        identity=accepted.identity,
        session_id=accepted.facts.session_id,
        settings=settings,
        limits=limits,
        gates=gates,
        options=options,
        resumed=accepted,
    )
    if accepted.is_partial:
        return run.still_waits()
    return RunStream(lambda: agent._begin(run, "native"))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the agent's own room


def with_context(agent: Agent[Any, Any], pieces: Iterable[ContextItem]) -> Agent[Any, Any]:
    """The same agent for one run that is told more; whoever listens to the agent hears that run too.

    Args:
        agent: Any.
        pieces: What stands after its own context.

    Raises:
        ConfigError: A piece can't stand beside those of the agent.
    """
    told = agent._like(list(agent.plan.tools.values()), [*agent._pieces(), *pieces], {})  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the agent's own room
    told.bus, told.wire_bus, told.removed = agent.bus, agent.wire_bus, agent.removed
    told.recorders, told._inflight = agent.recorders, agent._inflight  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  as above
    told.tool_sessions = agent.tool_sessions  # what its tools keep open for a session is the agent's
    return told
